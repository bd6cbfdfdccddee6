// Interning of device groups and specs, and which of them mean the same.

#include "program/layout_table.hpp"

#include <algorithm>

#include "transfer/shard_layout.hpp"

namespace seaway::program {

Binding part_of(const Binding& slice, const Mesh& mesh) {
  if (mesh.devices().empty()) return slice;
  Binding part{slice.island, {}};
  for (const std::uint32_t device : mesh.devices()) part.devices.push_back(slice.devices[device]);
  return part;
}

Result<Layout> LayoutTable::intern(const Mesh& mesh, const PartitionSpec& spec) {
  if (last_group_ == kNone || !(mesh == last_mesh_)) {
    Result<std::uint32_t> group = intern_mesh(mesh);
    if (!group.ok()) return group.status();
    last_group_ = *group;
    last_mesh_ = mesh;
  }
  return Layout{last_group_, intern_spec(spec)};
}

Result<std::uint32_t> LayoutTable::intern_mesh(const Mesh& mesh) {
  const auto known = group_of_mesh_.find(mesh);
  if (known != group_of_mesh_.end()) return known->second;
  const std::string slice = "slice " + std::to_string(mesh.slice());
  const auto bound = bindings_.find(mesh.slice());
  if (bound == bindings_.end()) {
    return invalid_argument(slice + " is not bound to devices; acquire it before the program runs");
  }
  const std::size_t devices = bound->second.devices.size();
  if (!mesh.fits(static_cast<std::int64_t>(devices))) {
    return invalid_argument(slice + " is bound to " + std::to_string(devices) + " devices, but " +
                            mesh.to_string() + " has " + std::to_string(mesh.device_count()));
  }
  const Binding binding = part_of(bound->second, mesh);
  std::vector<DeviceId> sorted = binding.devices;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return invalid_argument(slice + " is bound to device " + std::to_string(*twice) +
                            " of island " + std::to_string(binding.island) + " twice");
  }
  const auto next = static_cast<std::uint32_t>(groups_.size());
  const auto [it, is_new] =
      group_of_devices_.try_emplace({binding.island, binding.devices, mesh.axes()}, next);
  if (is_new) groups_.push_back({binding.island, {binding.devices, mesh.axes()}});
  group_of_mesh_.emplace(mesh, it->second);
  return it->second;
}

std::uint32_t LayoutTable::intern_spec(const PartitionSpec& spec) {
  if (last_spec_ != kNone && specs_[last_spec_] == spec) return last_spec_;
  const auto next = static_cast<std::uint32_t>(specs_.size());
  const auto [it, is_new] = spec_index_.try_emplace(spec.dims(), next);
  if (is_new) specs_.push_back(spec);
  last_spec_ = it->second;
  return last_spec_;
}

bool LayoutTable::same(Layout a, Layout b) {
  if (a == b) return true;
  const Group& group_a = groups_[a.group];
  const Group& group_b = groups_[b.group];
  if (a.group != b.group &&
      (group_a.island != group_b.island || group_a.devices.devices != group_b.devices.devices)) {
    return false;
  }
  const auto [it, is_new] = same_.try_emplace({a.group, a.spec, b.group, b.spec}, false);
  if (is_new) {
    it->second = same_boxes(transfer::ShardLayout(group_a.devices.axes, specs_[a.spec]),
                            transfer::ShardLayout(group_b.devices.axes, specs_[b.spec]));
  }
  return it->second;
}

}  // namespace seaway::program
