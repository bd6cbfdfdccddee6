// Counts of workers, compared.

#include "demos/support/parameter_server_check.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace seaway::demos {

using parameter_server::Parameters;
using parameter_server::Trained;

void Tally::count(std::uint64_t version, Parameters::Reader answer) {
  ++steps_;
  used_ += answer.getIsUsed();
  behind_max_ = std::max(behind_max_, answer.getVersion() - version - answer.getIsUsed());
}

Message<Trained> Tally::message() const {
  return make<Trained>([this](Trained::Builder m) {
    m.setSteps(steps_);
    m.setUsed(used_);
    m.setBehindMax(behind_max_);
  });
}

Status check_steps(const ValueMesh<Result<Message<Trained>>>& workers, std::size_t straggler,
                   std::uint64_t updates) {
  std::uint64_t used = 0, fewest = UINT64_MAX;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!workers.at(i).ok()) return workers.at(i).status();
    const Trained::Reader worker = **workers.at(i);
    std::printf("worker %zu  %4d steps, %4d used; at most %3d updates behind%s\n", i,
                static_cast<int>(worker.getSteps()), static_cast<int>(worker.getUsed()),
                static_cast<int>(worker.getBehindMax()), i == straggler ? " (the straggler)" : "");
    used += worker.getUsed();
    if (i != straggler) fewest = std::min(fewest, worker.getSteps());
  }
  if (used != updates) {
    return {StatusCode::kDataCorruption, "the workers count " + std::to_string(used) +
                                             " updates, and the server " + std::to_string(updates)};
  }
  if (2 * (*workers.at(straggler))->getSteps() > fewest) {
    return {StatusCode::kDataCorruption, "somebody has waited for the straggler"};
  }
  return {};
}

}  // namespace seaway::demos
