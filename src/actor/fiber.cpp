// Fibers on ucontext, with AddressSanitizer told about each switch.

#include "actor/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace seaway::actor {
namespace {

void start_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* stack,
                  [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#endif
}

void finish_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** stack,
                   [[maybe_unused]] std::size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
#endif
}

}  // namespace

Fiber::Fiber(std::function<void()> body, std::size_t stack_bytes) : body_(std::move(body)) {
  page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped_bytes_ = (stack_bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_ + page_bytes_;
  void* const memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  SEAWAY_CHECK(memory != MAP_FAILED, mapped_bytes_);
  memory_ = static_cast<std::byte*>(memory);
  SEAWAY_CHECK(mprotect(memory_, page_bytes_, PROT_NONE) == 0);
  getcontext(&own_);
  own_.uc_stack.ss_sp = memory_ + page_bytes_;
  own_.uc_stack.ss_size = mapped_bytes_ - page_bytes_;
  own_.uc_link = nullptr;
  // makecontext hands over ints only.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

Fiber::~Fiber() {
  SEAWAY_CHECK(is_finished_);
  munmap(memory_, mapped_bytes_);
}

void Fiber::enter(unsigned high, unsigned low) {
  const auto self = static_cast<std::uintptr_t>(high) << 32 | low;
  reinterpret_cast<Fiber*>(self)->run();
}

void Fiber::run() {
  finish_switch(nullptr, &caller_stack_, &caller_stack_bytes_);
  body_();
  body_ = nullptr;
  is_finished_ = true;
  // No fake stack is kept for a fiber that never runs again.
  start_switch(nullptr, caller_stack_, caller_stack_bytes_);
  setcontext(&caller_);
}

void Fiber::resume() {
  SEAWAY_CHECK(!is_finished_);
  exchange_exceptions();
  start_switch(&caller_fake_stack_, own_.uc_stack.ss_sp, own_.uc_stack.ss_size);
  swapcontext(&caller_, &own_);
  finish_switch(caller_fake_stack_, nullptr, nullptr);
  exchange_exceptions();
}

/// The run-time library keeps exceptions by thread, as a stack; those of two fibers would mix.
void Fiber::exchange_exceptions() {
  void* const of_thread = abi::__cxa_get_globals();
  Exceptions taken;
  std::memcpy(&taken, of_thread, sizeof(taken));
  std::memcpy(of_thread, &exceptions_, sizeof(exceptions_));
  exceptions_ = taken;
}

void Fiber::suspend() {
  start_switch(&own_fake_stack_, caller_stack_, caller_stack_bytes_);
  swapcontext(&own_, &caller_);
  finish_switch(own_fake_stack_, &caller_stack_, &caller_stack_bytes_);
}

}  // namespace seaway::actor
