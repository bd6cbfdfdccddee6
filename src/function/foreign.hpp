// ForeignProgram: a function that Seaway does not read; only the compiler of a device does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace seaway::function {

/// A program in a format of the compiler's, with the options that it is to be compiled with.
struct ForeignProgram {
  std::string name;
  std::string format;  // "mlir": StableHLO as text or as bytecode.
  std::string code;
  std::string options;  // As that compiler has them; empty: its defaults.
  /// Devices that one execution runs on. Several: its parameters and outputs are those of shard 0,
  /// then those of shard 1 and so on, and each lies on the device of its shard alone.
  std::uint32_t shards = 1;
};

/// What only its compiler knows of it.
struct ForeignTraits {
  std::uint32_t shards = 1;
  std::vector<std::uint32_t> donated;  // Parameters whose memory its outputs may take; rising.
  std::string format, description;     // The compiled program, for whoever asks; may be empty.
};

}  // namespace seaway::function
