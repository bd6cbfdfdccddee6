// SimulatedDisk: the disk of one simulated machine, which is full, slow, fails and crashes as a
// seed says.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/random.hpp"

namespace seaway::sim {

/// What a crash leaves whole or not at all.
constexpr std::uint64_t kSectorBytes = 512;

/// How often what goes wrong with one call, in a thousand.
struct DiskFaults {
  std::uint32_t read_error = 0;
  std::uint32_t write_error = 0;  // Nothing is written.
  std::uint32_t short_write = 0;  // A first part is written, and then the disk fails.
  std::uint32_t sync_error = 0;   // What was not synced is gone.
};

struct DiskOptions {
  std::uint64_t seed = 0;
  std::uint32_t machine = 0;         // Each has random streams of its own.
  std::uint64_t bytes_max = 0;       // Of all files. 0: unlimited.
  std::uint64_t latency_max_ns = 0;  // Of one write, removal or sync; the seed draws it.
  DiskFaults faults = {};
};

/// In memory. Single-threaded; all draws are of streams that belong to one kind of fault, so that
/// one fault less leaves the others where they were. A process that is killed loses nothing of it;
/// a machine that crashes does.
class SimulatedDisk final : public Disk {
 public:
  struct Counts {
    std::uint64_t writes = 0, syncs = 0, read_errors = 0, write_errors = 0, short_writes = 0;
    std::uint64_t sync_errors = 0, refusals = 0;         // Refused for it is full.
    std::uint64_t survivals = 0, losses = 0, tears = 0;  // Writes that a crash found unsynced.
    std::uint64_t undone = 0;  // Changes of directories that a crash found unsynced and took back.
  };

  /// The clock outlives it.
  SimulatedDisk(const DiskOptions& options, const Clock& clock);
  ~SimulatedDisk() override;

  /// The machine stops here and begins anew. Each write that was not synced survives, is lost, or
  /// is torn at a sector, by itself; of the changes of a directory that were not synced the first
  /// ones survive. Files that are open say HOST_LOST from now on.
  void crash();
  /// From now on other faults; with {} none.
  void set_faults(const DiskFaults& faults) { options_.faults = faults; }

  const Counts& counts() const { return counts_; }
  std::uint64_t used_bytes() const;

  // Disk.
  Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) override;
  Status rename(std::string_view from, std::string_view to) override;
  Status remove(std::string_view path) override;
  Status make_directory(std::string_view path) override;
  Result<std::vector<std::string>> list(std::string_view directory) override;
  Status sync_directory(std::string_view directory) override;
  std::uint64_t due_ns() const override { return due_ns_; }

 private:
  struct Node;
  class OpenFile;
  using NodePtr = std::shared_ptr<Node>;
  /// A write that was not synced.
  struct Write {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  /// A change of a directory that was not synced: a name that goes, one that comes, or both.
  struct Change {
    std::string gone, come;
    NodePtr node;
  };
  /// Where a path leads: the directory that it is in, and its last part.
  struct Place {
    NodePtr directory;
    std::string name;
    NodePtr node;  // Null: nothing is there.
  };

  std::string named(std::string_view path) const;
  Result<Place> find(std::string_view path) const;
  Result<NodePtr> find_directory(std::string_view directory) const;
  void change(Node& directory, Change change);
  void pass_time();
  bool happens(RandomStream& random, std::uint32_t per_mille);
  Status write(Node& node, const std::string& name, std::uint64_t offset,
               std::span<const std::byte> bytes);
  Status sync(Node& node, const std::string& name);
  void crash(Node& node);
  void crash_file(Node& node);

  DiskOptions options_;
  const Clock& clock_;
  RandomStream read_errors_, write_errors_, short_writes_, sync_errors_, crashes_, latencies_;
  NodePtr root_;
  std::uint64_t life_ = 1;  // One more with each crash.
  std::uint64_t due_ns_ = 0;
  Counts counts_;
};

}  // namespace seaway::sim
