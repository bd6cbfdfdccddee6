// Fiber: a body of code with a stack of its own, which runs when told to and stops where it waits.

#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace seaway::actor {

/// One body on its own stack, with a page that may not be touched below it: a body that needs more
/// stops the process instead of writing over another's memory. Not thread-safe; neither copied nor
/// moved. A switch costs about a microsecond. Must be finished before it is destroyed, for nothing
/// can run the destructors of what lies on its stack. Exceptions do not leave `body`, which may
/// suspend while it handles one. Fibers may resume others, and finish before they go on.
class Fiber {
 public:
  Fiber(std::function<void()> body, std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body from where it stopped until it suspends or ends. Not from inside itself.
  void resume();
  /// Called inside the body: returns to whoever resumed it.
  void suspend();
  bool finished() const { return is_finished_; }

 private:
  /// Which exceptions are on their way and being handled: the layout is that of the C++ ABI.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static void enter(unsigned high, unsigned low);
  void run();
  void exchange_exceptions();

  std::function<void()> body_;
  std::size_t page_bytes_ = 0, mapped_bytes_ = 0;
  std::byte* memory_ = nullptr;
  ucontext_t own_ = {}, caller_ = {};
  bool is_finished_ = false;
  Exceptions exceptions_;  // Those of the side that does not run.
  // For AddressSanitizer, which must be told about every change of stack.
  void* own_fake_stack_ = nullptr;
  void* caller_fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
};

}  // namespace seaway::actor
