// Limits: the largest sizes that a cluster takes, in one table.
//
// The API checks a call against it, decoders check a stranger's bytes against it, docs/limits.md
// shows it, and tests/unit/docs/limits_test.cpp walks it.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "seaway/status.hpp"

namespace seaway {

class Mesh;

namespace limits {

struct Limit {
  std::uint64_t max = 0;
  std::string_view unit;  // What is counted, as messages print it behind the number.
};

// [limits]
// Tensors, meshes and names.
inline constexpr Limit kRank{32, "dimensions"};  // Of a tensor.
inline constexpr Limit kTensorBytes{std::uint64_t{1} << 40, "bytes"};
inline constexpr Limit kMeshAxes{32, "axes"};  // Of devices, and of actors.
inline constexpr Limit kMeshDevices{1 << 20, "devices"};
inline constexpr Limit kNameBytes{4096, "bytes"};   // Of a function, program, axis, kind or mesh.
inline constexpr Limit kTenantBytes{256, "bytes"};  // Of the name of a tenant.

// Functions and programs.
inline constexpr Limit kCapturedRank{16, "dimensions"};  // Of a tensor in a captured function.
inline constexpr Limit kOperations{1'000'000, "operations"};
inline constexpr Limit kScratchBytes{std::uint64_t{1} << 40, "bytes of scratch"};  // Of a shard.
inline constexpr Limit kInPlacePairs{4096, "outputs over operands"};
inline constexpr Limit kForeignBytes{std::uint64_t{12} << 20, "bytes"};  // Of code and options.
inline constexpr Limit kProgramOutputs{4'000'000, "outputs"};
inline constexpr Limit kFrameBytes{std::uint64_t{256} << 20, "bytes"};  // Of each, encoded.

// Actors.
inline constexpr Limit kMembers{1 << 22, "actors"};  // Of one mesh.

// Clusters.
inline constexpr Limit kIslands{1024, "islands"};
inline constexpr Limit kIslandDevices{65'536, "devices"};  // Of one island.
inline constexpr Limit kClusterDevices{1 << 18, "devices"};
inline constexpr Limit kClusterHosts{4096, "hosts"};
// [/limits]

/// OK up to the limit. Error: kInvalidArgument "`what`: 33 dimensions; the limit is 32".
Status check(const Limit& limit, std::uint64_t value, std::string_view what);

/// A name of at most `limit` bytes without a zero byte, where a C string would end.
/// Error: kInvalidArgument. The message has the sizes and not the name.
Status check_name(std::string_view name, std::string_view what, const Limit& limit = kNameBytes);

/// The name of a tenant, which people read: check_name(), and only visible characters.
/// Error: kInvalidArgument.
Status check_tenant(std::string_view name);

/// The number of axes of a mesh and the lengths of their names: small enough to be printed.
/// Error: kInvalidArgument.
Status check_axes(std::span<const std::pair<std::string, std::int64_t>> axes);

/// check_axes(), and names that differ, sizes of at least 1, and the product of the sizes.
/// Error: kInvalidArgument.
Status check_mesh(const Mesh& mesh);

/// The same refusal of what has come in a frame: kProtocolError.
inline Status of_stranger(Status status) {
  return status.ok() ? status : protocol_error(status.message());
}

}  // namespace limits
}  // namespace seaway
