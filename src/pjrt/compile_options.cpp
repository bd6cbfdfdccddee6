// Writes XLA's CompileOptionsProto by hand: a handful of fields need no protobuf.

#include "pjrt/compile_options.hpp"

#include <cstdint>

namespace seaway::pjrt {
namespace {

// Fields of CompileOptionsProto, ExecutableBuildOptionsProto and DeviceAssignmentProto.
constexpr int kBuildOptions = 3, kPortable = 4;
constexpr int kReplicas = 4, kPartitions = 5, kDeviceAssignment = 9;
constexpr int kReplicaCount = 1, kComputationCount = 2, kComputationDevices = 3;
constexpr int kReplicaDeviceIds = 1;

void put_varint(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
  bytes += static_cast<char>(number);
}

void put_number(std::string& bytes, int field, std::uint64_t number) {
  put_varint(bytes, static_cast<std::uint64_t>(field) << 3);
  put_varint(bytes, number);
}

void put_message(std::string& bytes, int field, const std::string& message) {
  put_varint(bytes, (static_cast<std::uint64_t>(field) << 3) | 2);
  put_varint(bytes, message.size());
  bytes += message;
}

}  // namespace

std::string portable_options() {
  std::string build, options;
  put_number(build, kReplicas, 1);
  put_number(build, kPartitions, 1);
  put_message(options, kBuildOptions, build);
  put_number(options, kPortable, 1);
  return options;
}

std::string gang_options(std::span<const int> devices) {
  std::string ids, computation, assignment, build, options;
  for (const int id : devices) put_varint(ids, static_cast<std::uint64_t>(id));
  put_message(computation, kReplicaDeviceIds, ids);
  put_number(assignment, kReplicaCount, devices.size());
  put_number(assignment, kComputationCount, 1);
  put_message(assignment, kComputationDevices, computation);
  put_number(build, kReplicas, devices.size());
  put_number(build, kPartitions, 1);
  put_message(build, kDeviceAssignment, assignment);
  put_message(options, kBuildOptions, build);
  return options;
}

}  // namespace seaway::pjrt
