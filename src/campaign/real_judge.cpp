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

std::string ms(std::uint64_t ns) { return std::to_string(ns / 1'000'000) + " ms"; }

class Judge {
 public:
  Judge(const std::vector<RealHistory>& histories, const std::vector<RealDone>& done,
        const RealJudgeOptions& options)
      : done_(done), options_(options), end_ns_(options.end_ns) {
    for (const RealHistory& history : histories) {
      last_ns_ = std::max(last_ns_, history.killed_ns.value_or(0));
      for (const RealLine& line : history.lines) {
        last_ns_ = std::max(last_ns_, line.at_ns);
        const bool is_asked = line.kind == RealLine::Kind::kSubmit;
        if (options.end_ns == 0 && is_asked) end_ns_ = std::max(end_ns_, line.at_ns);
      }
    }
    find_rests();
  }

  void hear(const RealHistory& history) {
    std::map<std::uint64_t, RealLine> open;
    for (const RealLine& line : history.lines) {
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
        end(history, name, found->second, line);
        open.erase(found);
      }
    }
    for (const auto& [id, line] : open) {
      const std::string name = history.client + ", request " + std::to_string(id);
      // It lived for as long as that, and waited.
      check_time(name, line.at_ns, history.killed_ns.value_or(std::max(last_ns_, end_ns_)));
      if (history.killed_ns) {
        ++verdict_.given_up;
        continue;
      }
      blame(verdict_.pending, name + " has no outcome, at the end of all faults");
    }
  }

  /// To be called when all histories have been heard.
  void check_progress(const std::vector<RealHistory>& histories) {
    for (const RealHistory& history : histories) values_of_[history.index];
    for (const Rest& rest : rests_) {
      const std::uint64_t from_ns = rest.begin_ns + rest.settle_ns;
      const std::uint64_t until_ns = std::min(rest.end_ns, end_ns_);
      if (rest.begin_ns == 0 || until_ns < from_ns + options_.quiet_ns) continue;
      for (const auto& [client, values] : values_of_) {
        const bool has_one = std::any_of(values.begin(), values.end(), [&](const Value& value) {
          return value.asked_ns >= from_ns && value.got_ns <= rest.end_ns;
        });
        if (has_one) continue;
        blame(verdict_.stalled, "client " + std::to_string(client) + " got no value within " +
                                    ms(until_ns - from_ns) + ", though nothing had happened for " +
                                    ms(rest.settle_ns) + " before");
      }
    }
  }

  RealVerdict take() { return std::move(verdict_); }

 private:
  /// While nothing is done to anybody.
  struct Rest {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint64_t settle_ns = 0;  // For what happened since the rest before that was long enough.
  };
  struct Value {
    std::uint64_t asked_ns, got_ns;
  };

  void find_rests() {
    bool is_after_deaths = true;
    Rest rest;
    const auto add = [&](std::uint64_t end_ns) {
      rest.end_ns = end_ns;
      rest.settle_ns = is_after_deaths ? options_.death_settle_ns : options_.settle_ns;
      if (rest.end_ns <= rest.begin_ns) return;
      is_after_deaths = is_after_deaths || rest.end_ns - rest.begin_ns >= rest.settle_ns;
      rests_.push_back(rest);
    };
    for (const RealDone& one : done_) {
      add(one.begin_ns);
      is_after_deaths = is_after_deaths && is_of_death(one.event.fault);
      rest.begin_ns = std::max({rest.begin_ns, one.begin_ns, one.end_ns});
    }
    add(std::max(end_ns_, last_ns_));
  }

  void blame(std::uint64_t& count, const std::string& why) {
    ++count;
    if (verdict_.examples.size() < options_.examples_max) verdict_.examples.push_back(why);
  }

  /// What happens later excuses nothing: it was open for too long before.
  void check_time(const std::string& name, std::uint64_t asked_ns, std::uint64_t got_ns) {
    for (const Rest& rest : rests_) {
      const std::uint64_t begin_ns = std::max(asked_ns, rest.begin_ns);
      const std::uint64_t end_ns = std::min(got_ns, rest.end_ns);
      if (end_ns <= begin_ns) continue;
      verdict_.settled_ns = std::max(verdict_.settled_ns, end_ns - begin_ns);
      if (end_ns - begin_ns <= rest.settle_ns) continue;
      blame(verdict_.late, name + " was open for " + ms(end_ns - begin_ns) +
                               " in which nothing happened; it may be for " + ms(rest.settle_ns));
      return;
    }
  }

  bool is_explained(StatusCode code, std::uint32_t client, std::uint64_t asked_ns,
                    std::uint64_t got_ns) const {
    return std::any_of(done_.begin(), done_.end(), [&](const RealDone& one) {
      if (one.begin_ns > got_ns || one.end_ns + options_.settle_ns < asked_ns) return false;
      if (!may_cost(one.event, client, options_.islands)) return false;
      if (code == StatusCode::kResourceExhausted) return is_of_shortage(one.event.fault);
      return is_of_a_loss(code);
    });
  }

  void end(const RealHistory& history, const std::string& name, const RealLine& submit,
           const RealLine& outcome) {
    const std::uint64_t took_ns = outcome.at_ns - std::min(outcome.at_ns, submit.at_ns);
    verdict_.longest_ns = std::max(verdict_.longest_ns, took_ns);
    check_time(name, submit.at_ns, outcome.at_ns);
    // An error that had to come is as good as a value.
    const bool is_meant = outcome.code == StatusCode::kUserFunctionError && outcome.is_right;
    if (outcome.code == StatusCode::kOk || is_meant) {
      ++verdict_.values;
      if (outcome.is_right) {
        values_of_[history.index].push_back({submit.at_ns, outcome.at_ns});
      } else {
        blame(verdict_.wrong, name + " has a value that it must not have");
      }
      return;
    }
    ++verdict_.errors;
    const std::string code(to_string(outcome.code));
    ++verdict_.codes[code];
    if (is_explained(outcome.code, history.index, submit.at_ns, outcome.at_ns)) return;
    blame(verdict_.unexplained, name + " ended with " + code + " at " +
                                    std::to_string(outcome.at_ns) + ", which nothing has caused");
  }

  const std::vector<RealDone>& done_;
  const RealJudgeOptions& options_;
  std::uint64_t end_ns_ = 0, last_ns_ = 0;
  std::vector<Rest> rests_;
  std::map<std::uint32_t, std::vector<Value>> values_of_;  // By clients, not by their lives.
  RealVerdict verdict_;
};

}  // namespace

bool may_cost(const RealEvent& event, std::uint32_t client, std::uint32_t islands) {
  if (!is_of_loss(event.fault)) return false;
  const auto concerns = [&](const RealProcess& process) {
    if (process.role == RealRole::kController) return true;
    if (process.role == RealRole::kClient) return process.index == client;
    return process.index < islands;
  };
  const bool is_scheduler = event.target.role == RealRole::kScheduler;
  if (event.fault == RealFault::kKill && is_scheduler) return false;
  if (is_of_links(event.fault) && event.peer && !concerns(*event.peer)) return false;
  return concerns(event.target);
}

bool may_give_up(std::uint64_t at_ns, const std::vector<RealDone>& done,
                 const RealJudgeOptions& options) {
  return std::any_of(done.begin(), done.end(), [&](const RealDone& one) {
    return one.begin_ns <= at_ns && at_ns <= one.end_ns + options.settle_ns;
  });
}

RealVerdict judge_real(const std::vector<RealHistory>& histories, const std::vector<RealDone>& done,
                       const RealJudgeOptions& options) {
  Judge judge(histories, done, options);
  for (const RealHistory& history : histories) judge.hear(history);
  judge.check_progress(histories);
  return judge.take();
}

}  // namespace seaway::campaign
