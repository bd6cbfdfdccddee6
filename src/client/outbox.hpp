// Outbox: what client threads have said and the control thread has not yet sent, in order.

#pragma once

#include <cstdint>
#include <vector>

#include "base/frame.hpp"
#include "base/ids.hpp"
#include "client/array_keeper.hpp"

namespace seaway::client {

/// One thing that a client says (ClientRecord of the schema), or a frame built beforehand.
struct Said {
  /// kDrop: a release that is for the session's keeper.
  enum class Kind : std::uint8_t {
    kRun,
    kPut,
    kRelease,
    kFetch,
    kCancel,
    kGot,
    kForget,
    kFrame,
    kDrop
  };
  Kind kind = Kind::kRun;
  std::uint32_t argument_count = 0;
  std::uint64_t id = 0;
  std::uint64_t object = 0;  // kFrame: index into frames.
  std::uint64_t first = 0;
};

/// A limit in time that the control thread is to keep: on a run or a put, or on a request.
struct TimeLimit {
  bool is_run = false;
  std::uint64_t id = 0;
  std::uint64_t timeout_ns = 0;
};

/// A value, guarded by whoever owns it. Bounded by the session's limits on runs and uploads; the
/// rest (releases, fetches) by what the client holds.
struct Outbox {
  std::vector<Said> said;
  std::vector<ArrayId> arguments;  // Of all runs, one after the other.
  std::vector<Frame> frames;
  std::vector<TimeLimit> limits;
  // For a keeper: what the runs and puts make, and questions.
  std::vector<Made> made;
  std::vector<Asked> asked;
  bool is_last = false;  // Ends with the goodbye.

  bool empty() const { return said.empty() && limits.empty() && asked.empty(); }
  void clear() {
    said.clear();
    arguments.clear();
    frames.clear();
    limits.clear();
    made.clear();
    asked.clear();
    is_last = false;
  }
};

}  // namespace seaway::client
