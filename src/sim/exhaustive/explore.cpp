// The story of the world that is explored now, where a crash finds it.

#include "sim/exhaustive/explore.hpp"

namespace seaway::exhaustive {
namespace {

const std::function<std::string()>* running = nullptr;

}  // namespace

RunningStory::RunningStory(std::function<std::string()> tell) : tell_(std::move(tell)) {
  running = &tell_;
}
RunningStory::~RunningStory() { running = nullptr; }

std::string story_so_far() { return running ? (*running)() : std::string(); }

}  // namespace seaway::exhaustive
