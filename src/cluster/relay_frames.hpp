// What a relay has to know of messages that are not its own (schemas/seaway.capnp).

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/frame.hpp"
#include "base/ids.hpp"
#include "client/outbox.hpp"
#include "seaway/status.hpp"

namespace seaway::cluster {

/// Records as a client says them; the arguments of their runs one after the other.
struct SaidRecords {
  std::vector<client::Said> said;
  std::vector<ArrayId> arguments;
};
/// What a frame of records says; nothing for another one. Of frames that have passed the door.
std::optional<SaidRecords> read_records(const Frame& frame);
/// The function, program or spec that a frame defines; nothing for another one.
std::optional<std::uint64_t> read_definition(const Frame& frame);
/// Which array a frame of payload brings. Errors: kProtocolError.
Result<ArrayId> read_upload(const Frame& frame);

struct ResolvedRun {
  std::uint64_t id = 0;  // A run's, or an upload's.
  Status status;
};
/// What the controller or a host says to a client, by what it is about.
struct Answer {
  enum class Kind : std::uint8_t { kOther, kReply, kValue, kPull, kFetched, kResolved };
  Kind kind = Kind::kOther;
  std::uint64_t id = 0;                 // The request; of a pull the array.
  std::vector<std::uint64_t> requests;  // kFetched.
  std::vector<ResolvedRun> resolved;
};
/// Errors: kProtocolError.
Result<Answer> read_answer(const Frame& frame);
Frame resolved_frame(ClientId client, const std::vector<ResolvedRun>& all);

}  // namespace seaway::cluster
