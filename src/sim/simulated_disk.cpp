// A tree of directories and files, each as it is now and as a crash would find it.

#include "sim/simulated_disk.hpp"

#include <algorithm>
#include <utility>

namespace seaway::sim {
namespace {

constexpr std::uint64_t kDiskStream = 0x6469736b00000000;

/// Stream `purpose` of one machine.
RandomStream stream_of(const DiskOptions& options, std::uint64_t purpose) {
  return RandomStream(options.seed, kDiskStream + std::uint64_t{options.machine} * 16 + purpose);
}

void put(std::vector<std::byte>& content, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

struct SimulatedDisk::Node {
  bool is_directory = false;
  // Of a file: `content` is what is read, and `synced` with `unsynced` on top of it.
  std::vector<std::byte> content, synced;
  std::vector<Write> unsynced;
  std::uint64_t syncs_failed = 0;
  // Of a directory, in the same way.
  std::map<std::string, NodePtr> names, synced_names;
  std::vector<Change> changes;
};

class SimulatedDisk::OpenFile final : public File {
 public:
  OpenFile(SimulatedDisk& disk, NodePtr node, std::string name)
      : disk_(disk),
        node_(std::move(node)),
        name_(std::move(name)),
        life_(disk.life_),
        syncs_failed_(node_->syncs_failed) {}

  Result<std::uint64_t> size() const override {
    if (Status status = check_alive(); !status.ok()) return status;
    return std::uint64_t{node_->content.size()};
  }

  Result<std::vector<std::byte>> read(std::uint64_t offset, std::size_t bytes_max) const override {
    if (Status status = check_alive(); !status.ok()) return status;
    if (disk_.happens(disk_.read_errors_, disk_.options_.faults.read_error)) {
      ++disk_.counts_.read_errors;
      return failed("read");
    }
    const std::vector<std::byte>& content = node_->content;
    const std::uint64_t begin = std::min<std::uint64_t>(offset, content.size());
    const std::uint64_t count = std::min<std::uint64_t>(bytes_max, content.size() - begin);
    const auto first = content.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<std::byte>(first, first + static_cast<std::ptrdiff_t>(count));
  }

  Status append(std::span<const std::byte> bytes) override {
    return write_at(node_->content.size(), bytes);
  }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (Status status = check_synced(); !status.ok()) return status;
    return disk_.write(*node_, name_, offset, bytes);
  }
  Status sync() override {
    if (Status status = check_synced(); !status.ok()) return status;
    return disk_.sync(*node_, name_);
  }

 private:
  Status check_alive() const {
    if (life_ == disk_.life_) return {};
    return {StatusCode::kHostLost, name_ + " was opened before its machine crashed; open it again"};
  }
  Status check_synced() const {
    if (Status status = check_alive(); !status.ok()) return status;
    if (syncs_failed_ == node_->syncs_failed) return {};
    return failed("sync");
  }
  Status failed(const char* what) const {
    return {StatusCode::kDataCorruption, "cannot " + std::string(what) + " " + name_ +
                                             ": the disk fails; what was not synced is lost"};
  }

  SimulatedDisk& disk_;
  const NodePtr node_;
  const std::string name_;
  const std::uint64_t life_, syncs_failed_;
};

SimulatedDisk::SimulatedDisk(const DiskOptions& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      read_errors_(stream_of(options, 0)),
      write_errors_(stream_of(options, 1)),
      short_writes_(stream_of(options, 2)),
      sync_errors_(stream_of(options, 3)),
      crashes_(stream_of(options, 4)),
      latencies_(stream_of(options, 5)),
      root_(std::make_shared<Node>()) {
  root_->is_directory = true;
}

SimulatedDisk::~SimulatedDisk() = default;

std::string SimulatedDisk::named(std::string_view path) const {
  return "'" + std::string(path) + "' on the disk of machine " + std::to_string(options_.machine);
}

/// Each call draws once, whatever it is asked.
bool SimulatedDisk::happens(RandomStream& random, std::uint32_t per_mille) {
  return random.below(1000) < per_mille;
}

/// One thing after another: it is done when all before it are.
void SimulatedDisk::pass_time() {
  const std::uint64_t took_ns = latencies_.below(1 + options_.latency_max_ns);
  if (options_.latency_max_ns == 0) return;
  due_ns_ = std::max(due_ns_, clock_.now_ns()) + took_ns;
}

std::uint64_t SimulatedDisk::used_bytes() const {
  std::uint64_t bytes = 0;
  std::vector<const Node*> left = {root_.get()};
  while (!left.empty()) {
    const Node& node = *left.back();
    left.pop_back();
    bytes += node.content.size();
    for (const auto& [name, child] : node.names) left.push_back(child.get());
  }
  return bytes;
}

// ---- Names ----------------------------------------------------------------------------------

Result<SimulatedDisk::NodePtr> SimulatedDisk::find_directory(std::string_view directory) const {
  if (directory.empty()) return root_;
  const auto place = find(directory);
  if (!place.ok()) return place.status();
  if (!place->node) return not_found("there is no " + named(directory));
  if (!place->node->is_directory) return invalid_argument(named(directory) + " is a file");
  return place->node;
}

Result<SimulatedDisk::Place> SimulatedDisk::find(std::string_view path) const {
  const auto parts = split_path(path);
  if (!parts.ok()) return parts.status();
  NodePtr directory = root_;
  for (std::size_t i = 0;; ++i) {
    const auto found = directory->names.find((*parts)[i]);
    const NodePtr node = found == directory->names.end() ? nullptr : found->second;
    if (i + 1 == parts->size()) return Place{directory, (*parts)[i], node};
    if (!node || !node->is_directory) {
      return not_found("there is no directory that " + named(path) + " could be in");
    }
    directory = node;
  }
}

void SimulatedDisk::change(Node& directory, Change change) {
  pass_time();
  if (!change.gone.empty()) directory.names.erase(change.gone);
  if (!change.come.empty()) directory.names[change.come] = change.node;
  directory.changes.push_back(std::move(change));
}

Result<std::unique_ptr<File>> SimulatedDisk::open(std::string_view path, OpenMode mode) {
  const auto place = find(path);
  if (!place.ok()) return place.status();
  NodePtr node = place->node;
  if (node && mode == OpenMode::kNew) return invalid_argument(named(path) + " exists already");
  if (node && node->is_directory) return invalid_argument(named(path) + " is a directory");
  if (!node && mode == OpenMode::kExisting) return not_found("there is no " + named(path));
  if (!node) {
    node = std::make_shared<Node>();
    change(*place->directory, {"", place->name, node});
  }
  return std::unique_ptr<File>(std::make_unique<OpenFile>(*this, node, named(path)));
}

Status SimulatedDisk::rename(std::string_view from, std::string_view to) {
  const auto source = find(from);
  if (!source.ok()) return source.status();
  const auto target = find(to);
  if (!target.ok()) return target.status();
  if (source->directory != target->directory) {
    return invalid_argument(named(from) + " and " + named(to) + " are in different directories");
  }
  if (!source->node) return not_found("there is no " + named(from));
  if (source->node->is_directory) return invalid_argument(named(from) + " is a directory");
  if (target->node && target->node->is_directory) {
    return invalid_argument(named(to) + " is a directory");
  }
  if (source->node == target->node) return {};
  change(*source->directory, {source->name, target->name, source->node});
  return {};
}

Status SimulatedDisk::remove(std::string_view path) {
  const auto place = find(path);
  if (!place.ok()) return place.status();
  if (!place->node) return not_found("there is no " + named(path));
  if (!place->node->names.empty()) return invalid_argument(named(path) + " is not empty");
  change(*place->directory, {place->name, "", nullptr});
  return {};
}

Status SimulatedDisk::make_directory(std::string_view path) {
  const auto place = find(path);
  if (!place.ok()) return place.status();
  if (place->node) return invalid_argument(named(path) + " exists already");
  const auto node = std::make_shared<Node>();
  node->is_directory = true;
  change(*place->directory, {"", place->name, node});
  return {};
}

Result<std::vector<std::string>> SimulatedDisk::list(std::string_view directory) {
  const auto node = find_directory(directory);
  if (!node.ok()) return node.status();
  std::vector<std::string> names;
  for (const auto& [name, child] : (*node)->names) names.push_back(name);
  return names;
}

Status SimulatedDisk::sync_directory(std::string_view directory) {
  const auto node = find_directory(directory);
  if (!node.ok()) return node.status();
  ++counts_.syncs;
  pass_time();
  if (happens(sync_errors_, options_.faults.sync_error)) {
    ++counts_.sync_errors;
    return {StatusCode::kDataCorruption, "cannot sync " + named(directory) + ": the disk fails"};
  }
  (*node)->synced_names = (*node)->names;
  (*node)->changes.clear();
  return {};
}

// ---- Content --------------------------------------------------------------------------------

Status SimulatedDisk::write(Node& node, const std::string& name, std::uint64_t offset,
                            std::span<const std::byte> bytes) {
  ++counts_.writes;
  pass_time();
  const bool is_failing = happens(write_errors_, options_.faults.write_error);
  const bool is_short = happens(short_writes_, options_.faults.short_write);
  const std::uint64_t part = short_writes_.below(1 + bytes.size());
  const Status failure(StatusCode::kDataCorruption, "cannot write to " + name +
                                                        ": the disk fails; what was not synced is "
                                                        "lost");
  if (is_failing) {
    ++counts_.write_errors;
    return failure;
  }
  const std::uint64_t used = options_.bytes_max == 0 ? 0 : used_bytes();
  const std::uint64_t size = node.content.size();
  const std::uint64_t growth =
      offset + bytes.size() > size ? offset + bytes.size() - size : std::uint64_t{0};
  std::uint64_t fitting = bytes.size();
  const bool is_full = options_.bytes_max != 0 && used + growth > options_.bytes_max;
  if (is_full) {
    const std::uint64_t end = size + options_.bytes_max - std::min(used, options_.bytes_max);
    fitting = std::min<std::uint64_t>(fitting, end > offset ? end - offset : 0);
  }
  if (is_short) fitting = std::min(fitting, part);
  if (fitting > 0) {
    const auto taken = bytes.first(fitting);
    put(node.content, offset, taken);
    node.unsynced.push_back({offset, std::vector<std::byte>(taken.begin(), taken.end())});
  }
  if (is_short) {
    ++counts_.short_writes;
    return failure;
  }
  if (!is_full) return {};
  ++counts_.refusals;
  return resource_exhausted("cannot write " + std::to_string(bytes.size()) + " bytes to " + name +
                            ": " + std::to_string(used) + " of " +
                            std::to_string(options_.bytes_max) +
                            " bytes are in use; make room on the disk, or use another one");
}

Status SimulatedDisk::sync(Node& node, const std::string& name) {
  ++counts_.syncs;
  pass_time();
  if (happens(sync_errors_, options_.faults.sync_error)) {
    ++counts_.sync_errors;
    ++node.syncs_failed;
    node.content = node.synced;
    node.unsynced.clear();
    return {StatusCode::kDataCorruption,
            "cannot sync " + name + ": the disk fails; what was not synced is lost"};
  }
  for (const Write& write : node.unsynced) put(node.synced, write.offset, write.bytes);
  node.unsynced.clear();
  return {};
}

// ---- Crash ----------------------------------------------------------------------------------

void SimulatedDisk::crash() {
  ++life_;
  due_ns_ = 0;
  crash(*root_);
}

void SimulatedDisk::crash(Node& node) {
  if (!node.is_directory) return crash_file(node);
  const std::uint64_t kept = crashes_.below(1 + node.changes.size());
  counts_.undone += node.changes.size() - kept;
  for (std::uint64_t i = 0; i < kept; ++i) {
    const Change& change = node.changes[i];
    if (!change.gone.empty()) node.synced_names.erase(change.gone);
    if (!change.come.empty()) node.synced_names[change.come] = change.node;
  }
  node.names = node.synced_names;
  node.changes.clear();
  for (const auto& [name, child] : node.names) crash(*child);
}

void SimulatedDisk::crash_file(Node& node) {
  for (const Write& write : node.unsynced) {
    const std::uint64_t fate = crashes_.below(3);
    if (fate == 0) {
      ++counts_.losses;
      continue;
    }
    std::span<const std::byte> left = write.bytes;
    // The sectors before the tear are new, and those behind it are as they were.
    const std::uint64_t first = write.offset / kSectorBytes;
    const std::uint64_t last = (write.offset + write.bytes.size() - 1) / kSectorBytes;
    if (fate == 1 && last > first) {
      const std::uint64_t tear = (first + 1 + crashes_.below(last - first)) * kSectorBytes;
      left = left.first(tear - write.offset);
      ++counts_.tears;
    } else {
      ++counts_.survivals;
    }
    put(node.synced, write.offset, left);
  }
  node.unsynced.clear();
  node.content = node.synced;
}

}  // namespace seaway::sim
