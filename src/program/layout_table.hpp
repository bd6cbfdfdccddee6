// LayoutTable: small numbers for the device groups and partition specs of one program.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "program/lowering.hpp"

namespace seaway::program {

/// Where a value lies: a group of devices and a spec, by their numbers in the LayoutTable.
struct Layout {
  std::uint32_t group = 0;
  std::uint32_t spec = 0;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Interns what lowering compares often. Lives for one lowering; borrows the bindings.
class LayoutTable {
 public:
  struct Group {
    IslandId island = 0;
    DeviceGroup devices;
  };

  explicit LayoutTable(const std::map<SliceId, Binding>& bindings) : bindings_(bindings) {}

  /// kInvalidArgument when the mesh's slice is not bound, or its binding does not fit the mesh.
  Result<Layout> intern(const Mesh& mesh, const PartitionSpec& spec);

  const Group& group(std::uint32_t index) const { return groups_[index]; }
  const PartitionSpec& spec(std::uint32_t index) const { return specs_[index]; }
  /// True when the two hold the same boxes on the same devices: nothing needs to be copied.
  bool same(Layout a, Layout b);

 private:
  using GroupKey = std::tuple<IslandId, std::vector<DeviceId>, std::vector<MeshAxis>>;

  Result<std::uint32_t> intern_mesh(const Mesh& mesh);
  std::uint32_t intern_spec(const PartitionSpec& spec);

  const std::map<SliceId, Binding>& bindings_;
  std::vector<Group> groups_;
  std::vector<PartitionSpec> specs_;
  std::map<Mesh, std::uint32_t> group_of_mesh_;
  std::map<GroupKey, std::uint32_t> group_of_devices_;
  std::map<std::vector<DimAxes>, std::uint32_t> spec_index_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, bool> same_;
  // The mesh and spec asked for last: programs ask for the same ones again and again.
  Mesh last_mesh_;
  std::uint32_t last_group_ = kNone, last_spec_ = kNone;
};

}  // namespace seaway::program
