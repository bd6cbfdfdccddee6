// Request by request.

#include "campaign/real_judge.hpp"

#include <algorithm>
#include <optional>

namespace seaway::campaign {
namespace {

/// Whose causes are losses; all others of the closed set are what somebody did wrong, and nobody in
/// these campaigns does.
bool is_of_a_loss(StatusCode code) {
  switch (code) {
    case StatusCode::kDeviceLost:
    case StatusCode::kHostLost:
    case StatusCode::kIslandUnavailable:
    case StatusCode::kInputLost:
    case StatusCode::kControllerRestarted:
    case StatusCode::kMaybeExecuted:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kCancelled:
      return true;
    default:
      return false;
  }
}

class Judge {
 public:
  Judge(const std::vector<RealDone>& done, const RealJudgeOptions& options)
      : done_(done), options_(options) {}

  void hear(const RealHistory& history) {
    std::map<std::uint64_t, RealLine> open;
    std::uint64_t last_ns = 0;
    for (const RealLine& line : history.lines) {
      last_ns = std::max(last_ns, line.at_ns);
      const std::string name = history.client + ", request " + std::to_string(line.id);
      if (line.kind == RealLine::Kind::kSubmit) {
        ++verdict_.requests;
        open[line.id] = line;
      } else if (line.kind == RealLine::Kind::kOutcome) {
        const auto found = open.find(line.id);
        if (found == open.end()) {
          blame(verdict_.twice, name + " has an outcome that nothing waited for");
          continue;
        }
        end(name, found->second, line);
        open.erase(found);
      }
    }
    for (const auto& [id, line] : open) {
      if (history.killed_ns) {
        ++verdict_.given_up;
        continue;
      }
      blame(verdict_.pending, history.client + ", request " + std::to_string(id) +
                                  " has no outcome, at the end of all faults");
    }
  }

  RealVerdict take() { return std::move(verdict_); }

 private:
  void blame(std::uint64_t& count, const std::string& why) {
    ++count;
    if (verdict_.examples.size() < options_.examples_max) verdict_.examples.push_back(why);
  }

  void end(const std::string& name, const RealLine& submit, const RealLine& outcome) {
    const std::uint64_t took_ns = outcome.at_ns - std::min(outcome.at_ns, submit.at_ns);
    verdict_.longest_ns = std::max(verdict_.longest_ns, took_ns);
    std::uint64_t since_ns = submit.at_ns;
    bool is_explained = false, is_short = false;
    for (const RealDone& one : done_) {
      if (one.begin_ns > outcome.at_ns) break;
      since_ns = std::max(since_ns, std::min(one.end_ns, outcome.at_ns));
      is_explained = is_explained || (is_of_loss(one.event.fault) &&
                                      one.end_ns + options_.blame_ns >= submit.at_ns);
      is_short = is_short || (is_of_shortage(one.event.fault) &&
                              one.end_ns + options_.blame_ns >= submit.at_ns);
    }
    if (outcome.at_ns > since_ns + options_.settle_ns) {
      blame(verdict_.late, name + " had its outcome " + std::to_string(took_ns / 1'000'000) +
                               " ms later, and nothing happened for " +
                               std::to_string((outcome.at_ns - since_ns) / 1'000'000) +
                               " ms before");
    }
    if (outcome.code == StatusCode::kOk) {
      ++verdict_.values;
      if (!outcome.is_right) blame(verdict_.wrong, name + " has a value that it must not have");
      return;
    }
    // An error that had to come is as good as a value.
    if (outcome.code == StatusCode::kUserFunctionError && outcome.is_right) {
      ++verdict_.values;
      return;
    }
    ++verdict_.errors;
    const std::string code(to_string(outcome.code));
    ++verdict_.codes[code];
    if (is_explained && is_of_a_loss(outcome.code)) return;
    if (is_short && outcome.code == StatusCode::kResourceExhausted) return;
    blame(verdict_.unexplained, name + " ended with " + code + ", which nothing has caused");
  }

  const std::vector<RealDone>& done_;
  const RealJudgeOptions& options_;
  RealVerdict verdict_;
};

}  // namespace

RealVerdict judge_real(const std::vector<RealHistory>& histories, const std::vector<RealDone>& done,
                       const RealJudgeOptions& options) {
  Judge judge(done, options);
  for (const RealHistory& history : histories) judge.hear(history);
  return judge.take();
}

}  // namespace seaway::campaign
