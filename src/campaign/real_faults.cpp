// The list, and the table that is printed of it.

#include "campaign/real_faults.hpp"

#include <algorithm>
#include <map>

#include "sim/fault_catalogue.hpp"

namespace seaway::campaign {
namespace {

std::vector<RealFaultInfo> make_catalogue() {
  using enum RealFault;
  const std::vector<RealFaultInfo> made = {
      {4, {kStraggle}, "--stop", "SIGSTOP and SIGCONT in turn, some milliseconds each"},
      {5, {kKill}, "--kill host, annex", "SIGKILL of a host, or of an annex with --hosts"},
      {6, {kStop}, "--stop", "SIGSTOP of a host for 50 ms to 4 s, then SIGCONT"},
      {7, {kMachine}, "--kill host", "SIGKILL of an island's hosts and scheduler at once"},
      {8, {kKill, kMachine}, "--kill scheduler", "SIGKILL of a scheduler"},
      {9, {kKill}, "--kill controller", "SIGKILL of the controller"},
      {10, {kKill, kStop}, "--kill client", "SIGKILL of a client; with --stop it stands still"},
      {11, {kLoop}, "--kill host", "SIGKILL of a host three times, each as soon as it is back"},
      {12,
       {kIsolate, kDeafen, kMute, kSever},
       "--net proxy, netns",
       "a proxy holds, or a network drops, all that a process says, hears, or says to another one"},
      {13, {kSwizzle}, "--net proxy, netns", "so for all links of a process, one after the other"},
      {14, {kDelay}, "--net proxy", "the proxy hands bytes on up to 300 ms later, in their order"},
      {15, {kCut, kReset, kHalfOpen}, "--net proxy", "the proxy ends a connection behind a byte"},
      {16, {kLose}, "--net proxy", "the proxy drops bytes: a request, an answer, or part of one"},
      {17, {kReplay}, "--net proxy", "the proxy hands on a second time what has passed last"},
      {18, {kFlip}, "--net proxy", "the proxy changes one bit in each of up to 8,192 bytes"},
      {19, {kStranger}, "--strangers", "bytes that are no message, or too large, to a listener"},
      {20, {kFlood}, "--strangers", "16 to 255 connections that say nothing, but for a byte"},
      {21, {kDisk}, "--enospc", "the file system that all roles write to has no room (a tmpfs)"},
      {23, {}, "always", "devices of 4 MiB, where each client asks for up to 18 MiB at once"},
      {24, {kMemory}, "--stop", "a host may have no more addresses than it has (RLIMIT_AS)"},
      {25, {kFiles}, "--stop", "a role may open no more files than it has (RLIMIT_NOFILE)"},
      {28,
       {kFlip},
       "--net proxy",
       "half of F18's flips, where most passes: values on their way; none where they lie"},
      {29, {}, "always", "one run in 16 calls a native function that fails"},
      {30, {}, "always", "one request in 400 is a burst of 300"},
      {32, {kStop}, "--stop", "a client does not read while it stands still"},
      {33, {kAgain, kLoop}, "--kill host", "another SIGKILL while the cluster recovers"},
  };
  std::vector<RealFaultInfo> all;
  for (const sim::Fault& fault : sim::fault_catalogue()) {
    const auto found = std::find_if(made.begin(), made.end(), [&fault](const RealFaultInfo& one) {
      return one.number == fault.number;
    });
    all.push_back(found == made.end() ? RealFaultInfo{fault.number, {}, "-", "not made yet"}
                                      : *found);
  }
  return all;
}

void pad(std::string& line, std::size_t columns) {
  line.resize(std::max(line.size(), columns), ' ');
}

}  // namespace

std::span<const RealFaultInfo> real_fault_catalogue() {
  static const std::vector<RealFaultInfo> kAll = make_catalogue();
  return kAll;
}

std::string real_fault_table() {
  constexpr std::size_t kNameColumn = 5, kFlagColumn = 56, kHowColumn = 75;
  std::string text = "fault";
  pad(text, kFlagColumn);
  text += "flag";
  pad(text, kHowColumn);
  text += "how\n";
  std::size_t made = 0;
  const auto names = sim::fault_catalogue();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const RealFaultInfo& fault = real_fault_catalogue()[i];
    std::string line = "F" + std::to_string(fault.number);
    pad(line, kNameColumn);
    line += names[i].name;
    pad(line, kFlagColumn);
    line += fault.flag;
    pad(line, kHowColumn);
    text += line + std::string(fault.how) + "\n";
    made += fault.is_made() ? 1 : 0;
  }
  return text + std::to_string(made) + " of " + std::to_string(names.size()) +
         " are made with real processes\n";
}

}  // namespace seaway::campaign
