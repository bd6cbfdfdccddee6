// Snapshots of what the next gang will read, compared when it begins or is forgotten.

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

bool ForesightCheck::is_foreseen(const device::GangWork& work) const {
  return work.stamp == foreseen_->work.stamp && work.gang == foreseen_->work.gang;
}

void ForesightCheck::expect(const device::GangWork& ahead, const ForeseenGang& next) {
  if (foreseen_) complain_("a gang is foreseen while another one is");
  Foreseen foreseen{.work = next.work,
                    .devices = {next.work.devices().begin(), next.work.devices().end()},
                    .operands = {}};
  const auto devices = ahead.devices();
  if (!std::equal(devices.begin(), devices.end(), foreseen.devices.begin(),
                  foreseen.devices.end())) {
    complain_("a gang is foreseen on other devices than the one ahead of it");
  }
  if (next.made.size() != next.work.operands.size() ||
      next.made.size() != next.work.executable->parameter_types().size()) {
    complain_("a gang is foreseen with a wrong number of operands");
    return;
  }
  for (std::size_t i = 0; i < next.made.size(); ++i) {
    Operand operand{.buffer = next.work.operands[i], .made = next.made[i], .bytes = {}};
    if (operand.made == ForeseenGang::kIsThere) {
      operand.bytes = operand_bytes(next.work, operand.buffer, i);
    } else if (operand.made >= ahead.outputs.size()) {
      complain_("operand " + std::to_string(i) + " of a foreseen gang is an output that the gang" +
                " ahead does not have");
      return;
    }
    foreseen.operands.push_back(std::move(operand));
  }
  foreseen_ = std::move(foreseen);
}

void ForesightCheck::made(const device::GangWork& ahead) {
  if (!foreseen_) return;
  for (std::size_t i = 0; i < foreseen_->operands.size(); ++i) {
    Operand& operand = foreseen_->operands[i];
    if (operand.made == ForeseenGang::kIsThere) continue;
    operand.bytes = operand_bytes(foreseen_->work, ahead.outputs[operand.made], i);
  }
  foreseen_->is_ahead_done = true;
}

void ForesightCheck::check_untouched(const std::string& when) const {
  for (std::size_t i = 0; i < foreseen_->operands.size(); ++i) {
    const Operand& operand = foreseen_->operands[i];
    if (operand.made != ForeseenGang::kIsThere ||
        operand.bytes == operand_bytes(foreseen_->work, operand.buffer, i)) {
      continue;
    }
    complain_("operand " + std::to_string(i) + " of a foreseen gang changed before " + when);
  }
}

void ForesightCheck::begin(const device::GangWork& work) {
  if (!foreseen_) return;
  if (!is_foreseen(work)) {
    const auto devices = work.devices();
    if (std::find_first_of(devices.begin(), devices.end(), foreseen_->devices.begin(),
                           foreseen_->devices.end()) != devices.end()) {
      complain_("a gang begins on a device where another one is foreseen");
    }
    return;
  }
  check_untouched("it began");
  for (std::size_t i = 0; i < foreseen_->operands.size(); ++i) {
    const Operand& operand = foreseen_->operands[i];
    const bool is_made = operand.made != ForeseenGang::kIsThere;
    if (is_made && !foreseen_->is_ahead_done) {
      complain_("a foreseen gang begins before the one ahead of it has made operand " +
                std::to_string(i));
    } else if (operand.bytes != operand_bytes(work, work.operands[i], i)) {
      complain_("a gang begins with another operand " + std::to_string(i) + " than was foreseen");
    }
  }
  foreseen_.reset();
}

void ForesightCheck::forget() {
  if (!foreseen_) return;
  check_untouched("it was forgotten");
  foreseen_.reset();
}

}  // namespace seaway::sim
