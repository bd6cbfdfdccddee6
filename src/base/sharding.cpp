// Names, coordinates and checks of meshes, partition specs and shardings.

#include "seaway/sharding.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"

namespace seaway {
namespace {

std::string name_axes(const DimAxes& axes) {
  if (axes.size() == 1) return "\"" + axes[0] + "\"";
  if (axes.empty()) return "\"\"";
  std::string text = "{";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) text += ", ";
    text += "\"" + axes[i] + "\"";
  }
  return text + "}";
}

/// Into how many pieces `axes` split one dimension. Requires that the mesh has them all.
std::int64_t pieces_of(const Mesh& mesh, const DimAxes& axes) {
  std::int64_t pieces = 1;
  for (const std::string& axis : axes) {
    pieces *= mesh.axes()[static_cast<std::size_t>(mesh.axis_index(axis))].second;
  }
  return pieces;
}

}  // namespace

Mesh::Mesh(std::uint64_t slice, std::vector<MeshAxis> axes)
    : slice_(slice), axes_(std::move(axes)) {}

Mesh Mesh::part(std::vector<std::uint32_t> devices, std::vector<MeshAxis> axes) const {
  for (std::uint32_t& device : devices) {
    if (device < devices_.size()) device = devices_[device];
  }
  if (axes.empty() && devices.size() != 1) {
    axes = {{"devices", static_cast<std::int64_t>(devices.size())}};
  }
  Mesh part(slice_, std::move(axes));
  part.devices_ = std::move(devices);
  return part;
}

bool Mesh::fits(std::int64_t slice_devices) const {
  if (devices_.empty()) return device_count() == slice_devices;
  std::vector<std::uint32_t> sorted = devices_;
  std::sort(sorted.begin(), sorted.end());
  return static_cast<std::int64_t>(devices_.size()) == device_count() &&
         static_cast<std::int64_t>(sorted.back()) < slice_devices &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

Mesh Mesh::device(std::uint32_t index) const {
  return axes_.empty() && index == 0 ? *this : part({index});
}

std::int64_t Mesh::device_count() const {
  std::int64_t count = 1;
  for (const MeshAxis& axis : axes_) count *= axis.second;
  return count;
}

int Mesh::axis_index(std::string_view name) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].first == name) return static_cast<int>(i);
  }
  return -1;
}

std::int64_t Mesh::coordinate(std::int64_t device, int axis) const {
  std::int64_t stride = 1;
  for (std::size_t i = axes_.size() - 1; i > static_cast<std::size_t>(axis); --i) {
    stride *= axes_[i].second;
  }
  return device / stride % axes_[static_cast<std::size_t>(axis)].second;
}

std::string Mesh::to_string() const {
  std::string text = "mesh(";
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (i > 0) text += ", ";
    text += axes_[i].first + "=" + std::to_string(axes_[i].second);
  }
  text += ")";
  if (!devices_.empty()) text += " of devices";
  for (const std::uint32_t device : devices_) text += " " + std::to_string(device);
  return text;
}

std::string PartitionSpec::to_string() const {
  std::string text = "P(";
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ", ";
    text += name_axes(dims_[i]);
  }
  return text + ")";
}

Status NamedSharding::validate(const TensorType& type) const {
  if (Status status = seaway::validate(type); !status.ok()) return status;
  if (Status status = limits::check_mesh(mesh_); !status.ok()) return status;
  const std::vector<DimAxes>& dims = spec_.dims();
  if (dims.size() > type.shape.size()) {
    return invalid_argument(spec_.to_string() + " has " + std::to_string(dims.size()) +
                            " dimensions, but " + seaway::to_string(type) + " has " +
                            std::to_string(type.shape.size()) + "; leave out the last ones");
  }
  std::vector<bool> is_used(mesh_.axes().size(), false);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (const std::string& axis : dims[d]) {
      const int index = mesh_.axis_index(axis);
      if (index < 0) {
        return invalid_argument(spec_.to_string() + " names axis \"" + axis + "\", which " +
                                mesh_.to_string() + " does not have");
      }
      if (is_used[static_cast<std::size_t>(index)]) {
        return invalid_argument(spec_.to_string() + " uses axis \"" + axis +
                                "\" twice; an axis can split one dimension only, once");
      }
      is_used[static_cast<std::size_t>(index)] = true;
    }
    const std::int64_t pieces = pieces_of(mesh_, dims[d]);
    if (type.shape[d] % pieces != 0) {
      return invalid_argument("dimension " + std::to_string(d) + " of " + seaway::to_string(type) +
                              " has size " + std::to_string(type.shape[d]) + ", which " +
                              spec_.to_string() + " over " + mesh_.to_string() + " splits into " +
                              std::to_string(pieces) + " pieces; " + std::to_string(type.shape[d]) +
                              " is not divisible by " + std::to_string(pieces));
    }
  }
  return {};
}

TensorType NamedSharding::shard_type(const TensorType& type) const {
  TensorType shard = type;
  for (std::size_t d = 0; d < spec_.dims().size(); ++d) {
    shard.shape[d] /= pieces_of(mesh_, spec_.dims()[d]);
  }
  return shard;
}

std::string NamedSharding::to_string() const {
  return spec_.to_string() + " over " + mesh_.to_string();
}

std::string to_string(const ArraySpec& spec) {
  return to_string(spec.type) + " as " + spec.sharding.to_string();
}

}  // namespace seaway
