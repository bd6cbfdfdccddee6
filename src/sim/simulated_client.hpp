// SimulatedClient: one client that does random things through the public API, and checks each
// outcome.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "seaway/client.hpp"
#include "sim/client_scribe.hpp"
#include "sim/functions.hpp"
#include "sim/oracle.hpp"
#include "sim/verdict.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

/// What is known about an outcome before it is there.
enum class Expectation : std::uint8_t {
  kValue,    // The oracle's value, and no error.
  kFailure,  // An error: a function fails, or an input has failed.
  kEither,   // A cancel, or something that a cancel may have poisoned: a value is the oracle's.
};

/// Lives on the stack of one client body. Only the public API is used; the oracle works beside it.
class SimulatedClient {
 public:
  /// Called in a contest when the client is about to compete; returns when all are.
  using Begin = std::function<void()>;
  /// Called once, when all that the client began is over, with the ids of the arrays that it still
  /// has handles of. Returns when nothing moves in the whole world and what is left was looked at.
  using Rest = std::function<void(const std::set<ArrayId>& held)>;

  /// What may excuse an error of a loss. Asked when there is one.
  struct Excuses {
    /// What depends on the slice: it lay where something was lost, or has been bound there since.
    std::function<bool(SliceId slice)> of_slice;
    /// A wish for devices, whichever they are.
    std::function<bool()> of_devices;
    /// What concerns the client as a whole.
    std::function<bool()> of_session = [] { return false; };
    /// A request that was not answered in time.
    std::function<bool()> of_delay = [] { return false; };
    /// An error of memory that changed or was short, of what depends on the slice.
    std::function<bool(const Status& status, SliceId slice)> of_mischief =
        [](const Status&, SliceId) { return false; };
    /// Anything that depends on the slice: what was computed there may be wrong, and nobody has
    /// promised to notice.
    std::function<bool(SliceId slice)> of_wrong_bits = [](SliceId) { return false; };
  };

  /// Called between actions now and then: lets others run, for as long as it likes, and for
  /// `time_min_ns` at least where time passes by itself.
  using Pause = std::function<void(std::uint64_t time_min_ns)>;

  SimulatedClient(const World& world, std::uint32_t index, Pause pause, Verdict& verdict,
                  Begin begin, Rest rest, Excuses excuses, ClientScribe scribe)
      : world_(world),
        index_(index),
        pause_(std::move(pause)),
        verdict_(verdict),
        begin_(std::move(begin)),
        rest_(std::move(rest)),
        excuses_(std::move(excuses)),
        scribe_(scribe),
        random_(world.seed, kStream + index) {}

  /// The whole life of the client, from its connection to its last outcome. The session ends with
  /// the call.
  void live(Client client);

  /// What it has counted so far, this one alone.
  const Counts& counts() const { return counts_; }
  /// It was told that its controller is gone, with all that it had.
  bool has_lost_controller() const { return has_lost_controller_; }
  /// From now on it notes by `clock`, which outlives it, since when it waits.
  void note_times(const Clock& clock) { clock_ = &clock; }
  /// Since when the oldest of its futures that have no outcome, or its present request, waits.
  /// While something is being checked it waits for that. None: for nothing.
  std::optional<std::uint64_t> waits_since_ns() const;

 private:
  struct Held {  // An array whose handle is held.
    Array array;
    Expectation expectation = Expectation::kValue;
    program::GlobalArray value;  // Unknown when empty.
    bool is_put = false;
    std::set<SliceId> slices =
        {};               // That it can depend on: its own, and those of what it is made of.
    ValueId written = 0;  // In the history.
  };
  struct Traits {  // Of a program.
    bool is_sequential = false, is_irregular = false, is_uncompilable = false;
    bool has_effects = false;
    std::set<SliceId> slices = {};
    CodeSet wishes = {};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> effects = {};  // By function.
  };
  struct Fetch {  // A value on its way to the host.
    Future<void> done;
    std::shared_ptr<std::vector<std::byte>> bytes;
    Expectation expectation = Expectation::kValue;
    program::GlobalArray value;
    std::uint64_t id = 0;
    std::string name;
    bool is_put = false;
    std::set<SliceId> slices;  // As of the array.
    std::uint64_t since_ns = 0;
  };
  struct Flight {  // A run whose outcome has not been looked at.
    Future<void> status;
    Expectation expectation = Expectation::kValue;
    std::string name;
    Run run;                        // Empty when its handle was dropped.
    std::set<SliceId> slices = {};  // That it and its arguments can depend on.
    std::uint64_t since_ns = 0;
    bool has_effects = false;
    CallId written = 0;  // In the history.
  };

  static constexpr std::uint64_t kStream = 0x636c69656e740000;
  /// More than a body ever needs to hold; then it lets something go.
  static constexpr std::size_t kHeldMax = 12;

  std::string name_of(const char* what, std::size_t number) const;
  bool prepare();
  bool note_refusal(const char* what, const Status& status);
  bool make_program(std::size_t number);
  ArraySpec random_spec();
  void act();
  void flood();
  void compete();
  std::uint64_t effect_key(std::size_t number) const;
  CallId write_run(std::size_t number, const std::vector<Held>& arguments);
  void put();
  void execute();
  Held take_argument(const ArraySpec& spec);
  Held put_value(const ArraySpec& spec);
  void note_run(const Program& program, const Traits& traits, const std::vector<Held>& arguments,
                Run run, CallId written);
  void fetch(const Held& held, bool waits);
  void check(Fetch& fetch);
  void check(Flight& flight);
  void cancel();
  void reshard();
  void rebind();
  void drop();
  void finish();
  void settle();
  bool is_excused(const Status& status, const std::set<SliceId>& slices) const;
  bool is_of_loss(const Status& status, const std::set<SliceId>& slices) const;
  bool may_be_wrong(const std::set<SliceId>& slices) const;
  bool is_of_session(const Status& status) const;
  void count(std::uint64_t Counts::*field);
  std::uint64_t now_ns() const { return clock_ ? clock_->now_ns() : 0; }
  /// A request to the controller that waits for its answer.
  template <typename Request>
  auto ask(CallKind kind, const Request& request, CodeSet wishes = {}) {
    asked_ns_ = now_ns();
    auto answer = scribe_.ask(kind, request, wishes);
    asked_ns_ = 0;
    return answer;
  }
  Result<Slice> acquire(const SliceRequest& request);
  void cover(Feature feature) { verdict_.coverage.add(feature); }
  void complain(const char* invariant, std::string text,
                const std::source_location& at = std::source_location::current());

  const World& world_;
  const std::uint32_t index_;
  const Pause pause_;
  Verdict& verdict_;
  const Begin begin_;
  const Rest rest_;
  const Excuses excuses_;
  ClientScribe scribe_;
  const Clock* clock_ = nullptr;
  std::uint64_t asked_ns_ = 0;  // When its present request was sent; 0: there is none.
  Counts counts_;
  bool has_lost_controller_ = false;
  RandomStream random_;
  Oracle oracle_;
  Client client_;
  std::vector<Slice> slices_;
  std::set<SliceId> late_rebinds_;  // Slices whose rebind was not answered within its deadline.
  std::vector<FunctionPlan> functions_;
  std::vector<ArraySpec> specs_;
  std::vector<Program> programs_;
  std::vector<Traits> traits_;  // Parallel.
  std::vector<Held> held_;
  std::vector<Fetch> fetches_;
  std::vector<Flight> flights_;
  std::map<std::uint64_t, std::string> stories_;  // By array: what made it.
};

}  // namespace seaway::sim
