// Bytes of a file, and what becomes of them.

#include "sim/sim_spill.hpp"

#include <algorithm>
#include <utility>

namespace seaway::sim {
namespace {

constexpr std::uint64_t kFaultStream = 0x7370696c6c666c74;
constexpr std::uint64_t kFileStream = 0x7370696c6c000000;

}  // namespace

std::vector<FaultLine> SpillFaults::lines() const {
  std::vector<FaultLine> lines;
  const auto add = [&lines](const char* name, std::uint32_t per_mille, const char* what) {
    if (per_mille == 0) return;
    lines.push_back({std::string("file ") + name, "disk",
                     std::to_string(per_mille) + " of 1000 " + what, 0, 0});
  };
  add("full", full, "arrays find the disk full");
  add("write", write_error, "arrays are not written, as the disk fails");
  add("short", short_write, "arrays are written in part, and the disk is full");
  add("read", read_error, "arrays cannot be read from the file");
  add("flip", flip, "arrays lose a bit in the file");
  return lines;
}

void SpillFaults::leave_out(const std::set<std::string>& names) {
  if (names.contains("file full")) full = 0;
  if (names.contains("file write")) write_error = 0;
  if (names.contains("file short")) short_write = 0;
  if (names.contains("file read")) read_error = 0;
  if (names.contains("file flip")) flip = 0;
}

SpillFaults make_spill_faults(std::uint64_t seed, bool is_wild) {
  SpillFaults faults;
  std::uint64_t number = 0;
  const auto draw = [&](std::uint32_t& per_mille) {
    RandomStream random(seed, kFaultStream + ++number);
    // Seldom, or nearly always.
    if (is_wild || random.chance(25)) {
      per_mille = static_cast<std::uint32_t>(1 + random.below(random.chance(70) ? 200 : 1000));
    }
  };
  draw(faults.full);
  draw(faults.write_error);
  draw(faults.short_write);
  draw(faults.read_error);
  draw(faults.flip);
  RandomStream delays(seed, kFaultStream);
  faults.delay_max_ns = std::uint64_t{1} << delays.between(0, 24);
  return faults;
}

SimSpill::SimSpill(actor::Engine& engine, std::uint64_t seed, IslandId island, std::uint32_t life,
                   const SpillFaults& faults, Tell tell, Complain complain)
    : engine_(engine),
      island_(island),
      faults_(faults),
      tell_(std::move(tell)),
      complain_(std::move(complain)),
      delays_(seed, kFileStream + 65536 * life + island),
      fulls_(seed, kFileStream + (1ULL << 60) + 65536 * life + island),
      write_errors_(seed, kFileStream + (2ULL << 60) + 65536 * life + island),
      short_writes_(seed, kFileStream + (3ULL << 60) + 65536 * life + island),
      read_errors_(seed, kFileStream + (4ULL << 60) + 65536 * life + island),
      flips_(seed, kFileStream + (5ULL << 60) + 65536 * life + island) {}

void SimSpill::write(std::shared_ptr<store::SpillJob> job, Done done) {
  later([this, job = std::move(job)] { return write_now(*job); }, std::move(done));
}

void SimSpill::read(std::shared_ptr<store::SpillJob> job, Done done) {
  later([this, job = std::move(job)] { return read_now(*job); }, std::move(done));
}

void SimSpill::later(std::function<Status()> work, Done done) {
  engine_.schedule(
      engine_.clock().now_ns() + 1 + delays_.below(faults_.delay_max_ns),
      [work = std::move(work), done = std::move(done), here = std::weak_ptr<bool>(is_here_)] {
        if (!here.expired()) done(work());
      });
}

Status SimSpill::write_now(store::SpillJob& job) {
  if (happens(fulls_, faults_.full)) return resource_exhausted("the disk is full");
  if (happens(write_errors_, faults_.write_error)) {
    return {StatusCode::kDataCorruption, "the disk fails"};
  }
  // What nobody needs any more is given up anywhere in between.
  const bool is_short = happens(short_writes_, faults_.short_write);
  const bool is_given_up = job.is_cancelled && short_writes_.chance(50);
  std::uint64_t left = is_short || is_given_up ? short_writes_.below(1024) : UINT64_MAX;
  job.is_cancelled = false;
  const Status status =
      store::move_shards(job, true, [this, &left](std::uint64_t offset, auto bytes) {
        const std::uint64_t part = std::min<std::uint64_t>(left, bytes.size());
        left -= part;
        if (Status put_first = put(offset, bytes.first(part)); !put_first.ok()) return put_first;
        return part == bytes.size() ? Status() : resource_exhausted("the disk is full");
      });
  if (is_given_up) return cancelled("nobody needs it in the file");
  if (status.ok() && happens(flips_, faults_.flip)) flip_a_bit(job);
  return status;
}

Status SimSpill::read_now(store::SpillJob& job) {
  if (happens(read_errors_, faults_.read_error)) {
    tell_({island_, job.array, false});
    return {StatusCode::kDataCorruption, "the disk fails"};
  }
  bool has_changed = false;
  const Status status =
      store::move_shards(job, false, [this, &has_changed](std::uint64_t offset, auto bytes) {
        const auto first = flipped_.lower_bound(8 * offset);
        has_changed =
            has_changed || (first != flipped_.end() && *first < 8 * (offset + bytes.size()));
        return get(offset, bytes);
      });
  if (has_changed) tell_({island_, job.array, true});
  return status;
}

Status SimSpill::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t end = offset + bytes.size();
  if (end > bytes_.size()) {
    bytes_.resize(end);
    is_written_.resize(end);
  }
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  std::fill_n(is_written_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), true);
  flipped_.erase(flipped_.lower_bound(8 * offset), flipped_.lower_bound(8 * end));
  return {};
}

Status SimSpill::get(std::uint64_t offset, std::span<std::byte> bytes) {
  const std::uint64_t end = offset + bytes.size();
  const bool is_there =
      end <= bytes_.size() && std::all_of(is_written_.begin() + static_cast<std::ptrdiff_t>(offset),
                                          is_written_.begin() + static_cast<std::ptrdiff_t>(end),
                                          [](bool is_written) { return is_written; });
  if (!is_there) {
    complain_("bytes " + std::to_string(offset) + " to " + std::to_string(end) +
              " of the file of island " + std::to_string(island_) +
              " are read, and were never written");
    return {StatusCode::kDataCorruption, "nothing is there"};
  }
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
  return {};
}

void SimSpill::flip_a_bit(const store::SpillJob& job) {
  const store::SpillShard& shard = job.shards[flips_.below(job.shards.size())];
  const store::Extent& place = shard.places[flips_.below(shard.places.size())];
  const std::uint64_t bit = 8 * place.offset + flips_.below(8 * place.bytes);
  bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
  if (flipped_.erase(bit) == 0) flipped_.insert(bit);
}

}  // namespace seaway::sim
