// Gatehouse: the questions of callers, and who may talk: what a controller's process and a worker's
// decide about those who connect to them.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/enrolment.hpp"
#include "cluster/enrolment_messages.hpp"
#include "cluster/sessions.hpp"
#include "cluster/shape.hpp"
#include "seaway/status.hpp"

namespace seaway::cluster {

/// The controller's: enrols processes by what they show, and ends their sessions when that counts
/// no more. A pure core; the control thread only.
class Gatehouse {
 public:
  struct Options {
    Shape shape = 1;
    std::uint32_t life = 1;
    std::uint64_t cluster = 0;
    std::string spec;
    std::uint64_t heartbeat_ns = 0, silence_ns = 0;
    std::function<void(const std::string& line)> audit;
    std::function<std::uint64_t()> utc_s;
  };
  /// `clock` outlives it.
  Gatehouse(Options options, std::string key, const Clock& clock);

  Enrolment& enrolment() { return enrolment_; }
  const Enrolment& enrolment() const { return enrolment_; }
  Doorkeeper& doorkeeper() { return doorkeeper_; }
  Sessions& sessions() { return sessions_; }

  /// `status` answers who asks for the state, `stop` ends the cluster.
  Result<Frame> answer(const transport::Caller& caller, const Question& question,
                       const std::function<std::string()>& status,
                       const std::function<void()>& stop);
  /// Whether `caller` may do that to that island; who may is told to the log.
  Status may_drain(const transport::Caller& caller, const DrainQuestion& drain);
  /// Whether `caller` may hear what runs wait for, whosever they are.
  Status may_ask_why(const transport::Caller& caller);
  /// Whether `caller` may talk as `process`. Errors: kUnauthenticated for whoever is not enrolled
  /// here in that life, and never will be: it begins a new one.
  Status admit(transport::ProcessId process, const transport::Caller& caller) const;

  /// A client did what no client may do.
  void offend(transport::ProcessId process, const Status& offence);
  /// Sessions that end now, for what their holders have shown counts no more.
  std::vector<std::pair<transport::ProcessId, Status>> end_invalid();
  /// From now on these tokens count.
  void use(transport::TokenStore store);
  void came(transport::ProcessId process);
  void went(transport::ProcessId process);
  /// So many lines of the log an address gets in a minute as it has tries (TriesLimiter).
  void refused(const transport::Caller& caller, const Status& why);

 private:
  Result<Frame> enrol(const transport::Caller& caller, const Identity& identity,
                      const EnrolQuestion& question);

  const Options options_;
  Enrolment enrolment_;
  Doorkeeper doorkeeper_;
  Sessions sessions_;
  transport::TriesLimiter lines_;                 // Of the log, about refusals.
  std::string last_drain_;                        // That the log tells of.
  std::optional<std::set<std::string>> revoked_;  // Ids, of the tokens that count.
};

}  // namespace seaway::cluster
