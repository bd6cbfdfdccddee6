// The body of the philosophers demo, for whatever cluster a client is connected to.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "seaway/client.hpp"

namespace seaway::demos {

struct DinnerOptions {
  std::uint32_t meals = 20;  // Of each, >= 3.
  /// Is given a picture of the table after each bite, and a word when something has happened.
  std::function<void(const std::string& picture)> show = {};
  std::function<void(const std::string& word)> say = {};
};

/// Five philosophers dine; one of them falls asleep with both forks in hand and is killed.
/// Errors: kDataCorruption when a fork was held twice, is held in the end, or somebody is hungry.
Status dine(const Client& client, const DinnerOptions& options);

}  // namespace seaway::demos
