// Snapshots of what the next gangs will read, compared when they begin or are forgotten.

#include "sim/foresight_check.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace seaway::sim {
namespace {

using device::ForeseenGang;

std::vector<std::byte> bytes_at(const function::ShardedBuffer& buffer, std::size_t shards,
                                std::size_t bytes) {
  std::vector<std::byte> all(shards * bytes);
  for (std::size_t s = 0; s < shards && bytes > 0; ++s) {
    std::memcpy(all.data() + s * bytes, buffer.shard(s), bytes);
  }
  return all;
}

std::vector<std::byte> operand_bytes(const device::GangWork& work,
                                     const function::ShardedBuffer& buffer, std::size_t operand) {
  return bytes_at(buffer, work.executable->shards_of_value(work.shards),
                  work.executable->parameter_types()[operand].bytes());
}

}  // namespace

ForesightCheck::ForesightCheck(std::function<void(std::string)> complain)
    : complain_(std::move(complain)) {}

void ForesightCheck::begin(const device::GangWork& work) {
  take(work);
  for (const ForeseenGang* next = work.next; next; next = next->work.next) expect(work, *next);
}

/// If it is foreseen, it is the next one, as it was foretold.
void ForesightCheck::take(const device::GangWork& work) {
  if (foreseen_.empty()) {
    runs_ = {work.stamp, work.gang};
    ++number_;
    return;
  }
  const Foreseen& next = foreseen_.front();
  if (work.stamp != next.work.stamp || work.gang != next.work.gang) {
    const auto devices = work.devices();
    if (std::find_first_of(devices.begin(), devices.end(), next.devices.begin(),
                           next.devices.end()) != devices.end()) {
      complain_("a gang begins on a device where another one is foreseen");
    }
    if (work.next) complain_("gangs are foreseen behind two that run");
    return;
  }
  runs_ = {work.stamp, work.gang};
  ++number_;
  check_untouched(next, "it began");
  for (std::size_t i = 0; i < next.operands.size(); ++i) {
    const Operand& operand = next.operands[i];
    if (!operand.is_known) {
      complain_("a foreseen gang begins before one ahead of it has made operand " +
                std::to_string(i));
    } else if (operand.bytes != operand_bytes(work, work.operands[i], i)) {
      complain_("a gang begins with another operand " + std::to_string(i) + " than was foreseen");
    }
  }
  foreseen_.pop_front();
}

void ForesightCheck::expect(const device::GangWork& work, const ForeseenGang& next) {
  if (next.place != foreseen_.size() + 1) {
    complain_("a gang is foreseen at place " + std::to_string(next.place) + " behind " +
              std::to_string(foreseen_.size()) + " others");
    return;
  }
  Foreseen foreseen{.work = next.work,
                    .devices = {next.work.devices().begin(), next.work.devices().end()},
                    .operands = {},
                    .outputs = next.work.executable->output_types().size()};
  const auto devices = work.devices();
  if (!std::equal(devices.begin(), devices.end(), foreseen.devices.begin(),
                  foreseen.devices.end())) {
    complain_("a gang is foreseen on other devices than the one ahead of it");
  }
  if (next.sources.size() != next.work.operands.size() ||
      next.sources.size() != next.work.executable->parameter_types().size()) {
    complain_("a gang is foreseen with a wrong number of operands");
    return;
  }
  for (std::size_t i = 0; i < next.sources.size(); ++i) {
    const auto [places, output] = next.sources[i];
    Operand operand{.buffer = next.work.operands[i], .output = output, .bytes = {}};
    if (places == 0) {
      operand.is_known = true;
      operand.bytes = operand_bytes(next.work, operand.buffer, i);
    } else {
      const std::size_t ahead = next.place - std::min(next.place, places);  // 0: the one that runs.
      const std::size_t outputs = ahead == 0 ? work.outputs.size() : foreseen_[ahead - 1].outputs;
      if (places > next.place || output >= outputs) {
        complain_("operand " + std::to_string(i) + " of a foreseen gang is an output that no gang" +
                  " ahead has");
        return;
      }
      operand.maker = number_ + ahead;
    }
    foreseen.operands.push_back(std::move(operand));
  }
  foreseen_.push_back(std::move(foreseen));
}

void ForesightCheck::made(const device::GangWork& work) {
  if (runs_ != std::pair(work.stamp, work.gang)) return;
  for (Foreseen& foreseen : foreseen_) {
    for (std::size_t i = 0; i < foreseen.operands.size(); ++i) {
      Operand& operand = foreseen.operands[i];
      if (operand.maker != number_) continue;
      operand.is_known = true;
      operand.bytes = operand_bytes(foreseen.work, work.outputs[operand.output], i);
    }
  }
}

void ForesightCheck::check_untouched(const Foreseen& foreseen, const std::string& when) const {
  for (std::size_t i = 0; i < foreseen.operands.size(); ++i) {
    const Operand& operand = foreseen.operands[i];
    if (operand.maker > 0 || operand.bytes == operand_bytes(foreseen.work, operand.buffer, i)) {
      continue;
    }
    complain_("operand " + std::to_string(i) + " of a foreseen gang changed before " + when);
  }
}

void ForesightCheck::forget() {
  for (const Foreseen& foreseen : foreseen_) check_untouched(foreseen, "it was forgotten");
  foreseen_.clear();
}

}  // namespace seaway::sim
