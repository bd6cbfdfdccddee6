// Writes and reads XLA's CompileOptionsProto, as far as it says where a program runs.

#include "pjrt/compile_options.hpp"

#include "base/limits.hpp"
#include "pjrt/proto.hpp"

namespace seaway::pjrt {
namespace {

// Fields of CompileOptionsProto, ExecutableBuildOptionsProto and DeviceAssignmentProto.
constexpr int kBuildOptions = 3, kPortable = 4;
constexpr int kOrdinal = 1, kReplicas = 4, kPartitions = 5, kDeviceAssignment = 9;
constexpr int kReplicaCount = 1, kComputationCount = 2, kComputationDevices = 3;
constexpr int kReplicaDeviceIds = 1;

constexpr std::uint64_t kShardsMax = limits::kMeshDevices.max;

/// Device ids of one partition, for each replica.
using Column = std::vector<std::int64_t>;

Status no_options() {
  return invalid_argument("the compile options are no message of XLA's CompileOptionsProto");
}

/// Packed or one by one.
bool read_ids(const ProtoField& field, Column& ids) {
  if (field.kind == ProtoField::Kind::kNumber) {
    ids.push_back(static_cast<std::int64_t>(field.value));
    return true;
  }
  std::string_view left = field.bytes;
  while (!left.empty()) {
    const auto id = ProtoReader::take_number(left);
    if (!id) return false;
    ids.push_back(static_cast<std::int64_t>(*id));
  }
  return true;
}

bool read_assignment(std::string_view bytes, std::vector<Column>& columns) {
  ProtoReader assignment(bytes);
  while (const auto field = assignment.next()) {
    if (field->number != kComputationDevices) continue;
    ProtoReader computation(field->bytes);
    columns.emplace_back();
    while (const auto ids = computation.next()) {
      if (ids->number == kReplicaDeviceIds && !read_ids(*ids, columns.back())) return false;
    }
    if (!computation.is_done()) return false;
  }
  return assignment.is_done();
}

}  // namespace

std::string device_assignment(const Placing& placing, std::span<const int> devices) {
  std::string assignment;
  put_number(assignment, kReplicaCount, placing.replicas);
  put_number(assignment, kComputationCount, placing.partitions);
  for (std::uint32_t partition = 0; partition < placing.partitions; ++partition) {
    std::string ids, computation;
    for (std::uint32_t replica = 0; replica < placing.replicas; ++replica) {
      put_varint(ids,
                 static_cast<std::uint64_t>(devices[replica * placing.partitions + partition]));
    }
    put_message(computation, kReplicaDeviceIds, ids);
    put_message(assignment, kComputationDevices, computation);
  }
  return assignment;
}

std::string portable_options() {
  std::string build, options;
  put_number(build, kReplicas, 1);
  put_number(build, kPartitions, 1);
  put_message(options, kBuildOptions, build);
  put_number(options, kPortable, 1);
  return options;
}

std::string gang_options(std::span<const int> devices) {
  const Placing placing{static_cast<std::uint32_t>(devices.size()), 1, {}};
  std::string build, options;
  put_number(build, kReplicas, placing.replicas);
  put_number(build, kPartitions, 1);
  put_message(build, kDeviceAssignment, device_assignment(placing, devices));
  put_message(options, kBuildOptions, build);
  return options;
}

Result<Placing> read_placing(const std::string& options) {
  Placing placing;
  std::vector<Column> columns;
  ProtoReader all(options);
  while (const auto field = all.next()) {
    if (field->number != kBuildOptions) continue;
    ProtoReader build(field->bytes);
    while (const auto one = build.next()) {
      const bool is_count = one->number == kReplicas || one->number == kPartitions;
      if (is_count && one->value > kShardsMax) return no_options();
      const auto count = static_cast<std::uint32_t>(one->value > 0 ? one->value : 1);
      if (one->number == kReplicas) placing.replicas = count;
      if (one->number == kPartitions) placing.partitions = count;
      if (one->number == kDeviceAssignment && !read_assignment(one->bytes, columns)) {
        return no_options();
      }
    }
    if (!build.is_done()) return no_options();
  }
  if (!all.is_done() || std::uint64_t{placing.replicas} * placing.partitions > kShardsMax) {
    return no_options();
  }
  if (columns.empty()) return placing;
  placing.devices.resize(placing.shards());
  bool is_whole = columns.size() == placing.partitions;
  for (std::size_t partition = 0; is_whole && partition < columns.size(); ++partition) {
    is_whole = columns[partition].size() == placing.replicas;
    for (std::size_t replica = 0; is_whole && replica < placing.replicas; ++replica) {
      placing.devices[replica * placing.partitions + partition] = columns[partition][replica];
    }
  }
  if (is_whole) return placing;
  return invalid_argument("the device assignment of the compile options is not one of " +
                          std::to_string(placing.replicas) + " replicas of " +
                          std::to_string(placing.partitions) + " partitions");
}

Result<std::string> placed_options(const std::string& options, std::span<const int> devices) {
  const auto placing = read_placing(options);
  if (!placing.ok()) return placing.status();
  if (!devices.empty() && devices.size() != placing->shards()) {
    return invalid_argument("compile options of " + std::to_string(placing->shards()) +
                            " shards are to be placed on " + std::to_string(devices.size()) +
                            " devices");
  }
  std::string build, placed;
  ProtoReader all(options);
  while (const auto field = all.next()) {
    if (field->number == kPortable) continue;
    if (field->number != kBuildOptions) {
      placed += field->whole;
      continue;
    }
    ProtoReader old(field->bytes);
    while (const auto one = old.next()) {
      const bool is_kept = one->number != kOrdinal && one->number != kReplicas &&
                           one->number != kPartitions && one->number != kDeviceAssignment;
      if (is_kept) build += one->whole;
    }
  }
  put_number(build, kReplicas, placing->replicas);
  put_number(build, kPartitions, placing->partitions);
  if (!devices.empty()) put_message(build, kDeviceAssignment, device_assignment(*placing, devices));
  put_message(placed, kBuildOptions, build);
  if (devices.empty()) put_number(placed, kPortable, 1);
  return placed;
}

}  // namespace seaway::pjrt
