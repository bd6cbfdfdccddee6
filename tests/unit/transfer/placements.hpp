// Values that lie in shards, in all the ways that small meshes know.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "transfer/reshard_plan.hpp"

namespace seaway::transfer {

using Shards = std::vector<std::vector<std::byte>>;

/// The naive way: element by element through global coordinates.
inline Shards scatter(const TensorType& type, const Placement& placement,
                      const std::vector<std::byte>& global) {
  const Mesh mesh(0, placement.axes);
  const TensorType shard_type = NamedSharding(mesh, placement.spec).shard_type(type);
  const std::size_t element = size_of(type.dtype);
  Shards shards(static_cast<std::size_t>(mesh.device_count()));
  for (std::size_t s = 0; s < shards.size(); ++s) {
    shards[s].resize(shard_type.bytes());
    for (std::int64_t i = 0; i < shard_type.elements(); ++i) {
      std::int64_t rest = i, index = 0, stride = 1;
      for (std::size_t d = type.shape.size(); d-- > 0;) {
        std::int64_t piece = 0;
        if (d < placement.spec.dims().size()) {
          for (const std::string& axis : placement.spec.dims()[d]) {
            const int a = mesh.axis_index(axis);
            piece = piece * mesh.axes()[static_cast<std::size_t>(a)].second +
                    mesh.coordinate(static_cast<std::int64_t>(s), a);
          }
        }
        index += (piece * shard_type.shape[d] + rest % shard_type.shape[d]) * stride;
        rest /= shard_type.shape[d];
        stride *= type.shape[d];
      }
      std::memcpy(&shards[s][static_cast<std::size_t>(i) * element],
                  &global[static_cast<std::size_t>(index) * element], element);
    }
  }
  return shards;
}

/// Every spec for two dimensions over the axes of `axes`, in every order of axes.
inline std::vector<PartitionSpec> all_specs(const std::vector<MeshAxis>& axes) {
  std::vector<DimAxes> choices{{}};
  for (const MeshAxis& a : axes) {
    choices.push_back({a.first});
    for (const MeshAxis& b : axes) {
      if (a.first != b.first) choices.push_back({a.first, b.first});
    }
  }
  std::vector<PartitionSpec> specs;
  for (const DimAxes& first : choices) {
    for (const DimAxes& second : choices) {
      const bool overlap = std::any_of(first.begin(), first.end(), [&second](const auto& axis) {
        return std::find(second.begin(), second.end(), axis) != second.end();
      });
      if (!overlap) specs.push_back(PartitionSpec::from({first, second}));
    }
  }
  return specs;
}

inline std::vector<Placement> all_placements() {
  const std::vector<std::vector<MeshAxis>> meshes = {
      {}, {{"a", 2}}, {{"a", 2}, {"b", 3}}, {{"b", 2}, {"a", 2}}, {{"a", 4}}, {{"a", 1}, {"b", 6}}};
  std::vector<Placement> placements;
  for (const auto& axes : meshes) {
    for (PartitionSpec& spec : all_specs(axes)) placements.push_back({axes, spec, {}});
  }
  return placements;
}

}  // namespace seaway::transfer
