// What a plan says is done to real processes, at its times, and with rests in between.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "campaign/real_growth.hpp"
#include "campaign/real_judge.hpp"
#include "campaign/real_plan.hpp"
#include "real_cluster.hpp"

namespace seaway::tools {

/// Executes one plan. Between rounds nothing is done to anybody: until all that was asked for has
/// its outcome and new requests have their values, or, each fifth time and where that does not
/// come, for as long as the judge needs to see it. One thread.
class RealCampaign {
 public:
  RealCampaign(RealCluster& cluster, const campaign::RealJudgeOptions& bounds, bool is_quiet)
      : cluster_(cluster), bounds_(bounds), is_quiet_(is_quiet) {}

  /// Errors: those of a cluster that is not there any more, or of a network that does not heal.
  Status run(const std::vector<campaign::RealEvent>& plan);

  /// What was made, by its begins: of links what has harmed a byte.
  std::vector<campaign::RealDone> done() const;
  std::uint64_t skipped() const;
  /// About once a second.
  const std::vector<campaign::RealSample>& samples() const { return samples_; }
  /// Memory that somebody had of a host that was gone, at the end of a rest.
  const std::vector<std::string>& left() const { return left_; }

 private:
  struct Made {
    campaign::RealDone done;
    bool is_made = true;
  };

  void after(std::uint64_t ns, std::function<void()> deed);
  Status step();
  Status do_round(const std::vector<campaign::RealEvent>& events);
  Status rest(bool is_whole);
  void hear_of_links();
  bool kill(const campaign::RealProcess& process);
  void kill_again(const campaign::RealProcess& process, pid_t before, int times, std::size_t entry);
  void begin(const campaign::RealEvent& event);
  bool make(const campaign::RealEvent& event, std::size_t entry);
  bool make_deaths(const campaign::RealEvent& event, std::size_t entry);
  bool make_on_links(const campaign::RealEvent& event, std::size_t entry);
  bool make_partition(const campaign::RealEvent& event, std::size_t entry);
  bool drop(const std::string& from, const std::string& to, std::uint64_t for_ns);
  void hold(const std::string& name, const std::string& other, std::uint64_t for_ns,
            std::size_t entry);
  void heal(std::uint64_t after_ns, std::function<Status()> deed);
  void swizzle(const std::string& name, std::uint64_t for_ns, std::size_t entry);
  bool stop(const campaign::RealProcess& process, std::uint64_t for_ns);
  bool straggle(const campaign::RealProcess& process, std::uint64_t until_ns,
                std::uint64_t period_ns);
  bool say_nonsense(const campaign::RealEvent& event);
  bool flood(const campaign::RealEvent& event);

  RealCluster& cluster_;
  const campaign::RealJudgeOptions bounds_;
  const bool is_quiet_;
  std::uint64_t sampled_ns_ = 0;
  std::vector<Made> made_;
  std::size_t never_ = 0;  // Events that could not be begun.
  std::multimap<std::uint64_t, std::function<void()>> later_;
  Status healing_;
  std::vector<campaign::RealSample> samples_;
  std::vector<std::string> left_;
};

}  // namespace seaway::tools
