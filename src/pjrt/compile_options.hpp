// Options of a compilation, in the bytes that plugins want them in.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::pjrt {

/// A program without collectives: for one device, and to be run on whichever is named then.
std::string portable_options();

/// A program of a gang: shard s is replica s, on the device of the plugin's id `devices[s]`.
std::string gang_options(std::span<const int> devices);

/// What a stranger's options say of where a program runs.
struct Placing {
  std::uint32_t replicas = 1, partitions = 1;
  /// The device of each shard; shard s is partition s % partitions of replica s / partitions. Empty
  /// when the options name none.
  std::vector<std::int64_t> devices;

  std::uint32_t shards() const { return replicas * partitions; }
};

/// Errors: kInvalidArgument for bytes that are no options, or name another number of devices than
/// they have shards.
Result<Placing> read_placing(const std::string& options);

/// The same options for the devices of the plugin's ids `devices`; without any, for one device that
/// is named when the program runs.
Result<std::string> placed_options(const std::string& options, std::span<const int> devices);

/// XLA's DeviceAssignmentProto of these devices, one for each shard.
std::string device_assignment(const Placing& placing, std::span<const int> devices);

}  // namespace seaway::pjrt
