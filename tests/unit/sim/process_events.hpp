// ProcessEvents: hand-made stories of processes, for the checkers that watch them.

#pragma once

#include <string>
#include <vector>

#include "sim/process_sink.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

constexpr cluster::RoleName kTheController{actor::Role::kController, 0};
constexpr cluster::RoleName host(std::uint32_t island) { return {actor::Role::kHost, island}; }
constexpr cluster::RoleName scheduler(std::uint32_t island) {
  return {actor::Role::kIsland, island};
}
constexpr cluster::RoleName annex(std::uint32_t island, std::uint32_t host) {
  return {actor::Role::kAnnex, actor::annex_of(island, host)};
}
constexpr cluster::RoleName client(std::uint32_t id) { return {actor::Role::kClient, id}; }

inline constexpr std::uint64_t kMsNs = 1'000'000;

/// What was reported, each as "I8: text"; "clean" if there is nothing.
inline std::vector<std::string> texts_of(const Verdict& verdict) {
  std::vector<std::string> texts;
  for (const Violation& one : verdict.violations()) {
    texts.push_back(one.invariant + ": " + one.text);
  }
  return texts.empty() ? std::vector<std::string>{"clean"} : texts;
}

}  // namespace seaway::sim
