// Mesh, PartitionSpec, NamedSharding: how one logical array lies on many devices (words of JAX).

#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway {

/// One named axis of a mesh and its size.
using MeshAxis = std::pair<std::string, std::int64_t>;

/// The virtual devices of one slice, or some of them (a sub-mesh), arranged in named axes; device i
/// has the row-major coordinates of i. A value; two meshes are equal when slice, axes and devices
/// are.
class Mesh {
 public:
  Mesh() = default;
  Mesh(std::uint64_t slice, std::vector<MeshAxis> axes);

  std::uint64_t slice() const { return slice_; }
  const std::vector<MeshAxis>& axes() const { return axes_; }
  /// Which devices of the slice it has, by their numbers there; empty: all of them, in order.
  const std::vector<std::uint32_t>& devices() const { return devices_; }
  /// The sub-mesh of these devices, numbered as here, in this order, each once. Without `axes`: one
  /// device without axes, or one axis "devices". Whoever is given a mesh checks that it fits.
  Mesh part(std::vector<std::uint32_t> devices, std::vector<MeshAxis> axes = {}) const;
  /// The sub-mesh of one device, which is this mesh if it has no other and no axes.
  Mesh device(std::uint32_t index) const;
  /// Whether a slice of so many devices has them all, and each has one place.
  bool fits(std::int64_t slice_devices) const;
  /// Product of the axis sizes; 1 for a mesh without axes.
  std::int64_t device_count() const;
  /// Index of the axis called `name`, or -1.
  int axis_index(std::string_view name) const;
  /// Coordinate of `device` along axis `axis`.
  std::int64_t coordinate(std::int64_t device, int axis) const;

  /// "mesh(data=2, model=4)", and of a sub-mesh "mesh(data=2) of devices 0 3".
  std::string to_string() const;
  friend bool operator==(const Mesh&, const Mesh&) = default;
  friend auto operator<=>(const Mesh&, const Mesh&) = default;

 private:
  std::uint64_t slice_ = 0;
  std::vector<MeshAxis> axes_;
  std::vector<std::uint32_t> devices_;
};

/// For each dimension of an array the mesh axes it is split over, major first; no axes: not split.
/// Dimensions beyond the end are not split. P() is replicated; P("data"), P("", "model"),
/// P(DimAxes{"data", "model"}).
using DimAxes = std::vector<std::string>;
class PartitionSpec {
 public:
  PartitionSpec() = default;
  template <class... Dims>
  explicit PartitionSpec(Dims... dims) {
    (dims_.push_back(to_axes(std::move(dims))), ...);
  }
  static PartitionSpec from(std::vector<DimAxes> dims) {
    PartitionSpec spec;
    spec.dims_ = std::move(dims);
    return spec;
  }

  const std::vector<DimAxes>& dims() const { return dims_; }
  /// `P("data", "")`.
  std::string to_string() const;
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;

 private:
  static DimAxes to_axes(const char* axis) { return *axis ? DimAxes{axis} : DimAxes{}; }
  static DimAxes to_axes(std::string axis) { return axis.empty() ? DimAxes{} : DimAxes{axis}; }
  static DimAxes to_axes(DimAxes axes) { return axes; }

  std::vector<DimAxes> dims_;
};
using P = PartitionSpec;

/// A mesh and how an array is split over it. A value.
class NamedSharding {
 public:
  NamedSharding() = default;
  NamedSharding(Mesh mesh, PartitionSpec spec) : mesh_(std::move(mesh)), spec_(std::move(spec)) {}

  const Mesh& mesh() const { return mesh_; }
  const PartitionSpec& spec() const { return spec_; }

  /// kInvalidArgument when the spec names an unknown axis or one twice, has more dimensions than
  /// `type`, or splits a dimension that the axis sizes do not divide.
  Status validate(const TensorType& type) const;
  /// What one device holds of an array of `type`. Requires validate(type).ok().
  TensorType shard_type(const TensorType& type) const;

  std::string to_string() const;
  friend bool operator==(const NamedSharding&, const NamedSharding&) = default;

 private:
  Mesh mesh_;
  PartitionSpec spec_;
};

/// Global type and sharding of one array.
struct ArraySpec {
  TensorType type;
  NamedSharding sharding;

  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};
std::string to_string(const ArraySpec& spec);

}  // namespace seaway
