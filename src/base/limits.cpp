// Checks against the table of limits.

#include "base/limits.hpp"

#include <string>

#include "base/printable.hpp"
#include "seaway/sharding.hpp"

namespace seaway::limits {

Status check(const Limit& limit, std::uint64_t value, std::string_view what) {
  if (value <= limit.max) return {};
  return invalid_argument(std::string(what) + ": " + std::to_string(value) + " " +
                          std::string(limit.unit) + "; the limit is " + std::to_string(limit.max));
}

Status check_name(std::string_view name, std::string_view what, const Limit& limit) {
  if (Status status = check(limit, name.size(), what); !status.ok()) return status;
  const std::size_t zero = name.find('\0');
  if (zero == name.npos) return {};
  return invalid_argument(std::string(what) + ": byte " + std::to_string(zero) + " of " +
                          std::to_string(name.size()) + " is zero; a name has none");
}

Status check_tenant(std::string_view name) {
  if (Status status = check_name(name, "name of a tenant", kTenantBytes); !status.ok()) {
    return status;
  }
  if (is_printable(name)) return {};
  return invalid_argument("name of a tenant: \"" + printable(name) +
                          "\" has control characters or is not UTF-8; use visible characters");
}

Status check_axes(std::span<const MeshAxis> axes) {
  Status status = check(kMeshAxes, axes.size(), "mesh");
  for (std::size_t i = 0; i < axes.size() && status.ok(); ++i) {
    status = check_name(axes[i].first, "name of axis " + std::to_string(i) + " of a mesh");
  }
  return status;
}

Status check_mesh(const Mesh& mesh) {
  const auto& axes = mesh.axes();
  if (Status status = check_axes(axes); !status.ok()) return status;
  std::uint64_t devices = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [name, size] = axes[i];
    if (name.empty()) {
      return invalid_argument("axis " + std::to_string(i) + " of " + mesh.to_string() +
                              " has no name; give each axis one");
    }
    if (size < 1) {
      return invalid_argument("axis \"" + name + "\" of " + mesh.to_string() + " has size " +
                              std::to_string(size) + "; it must be >= 1");
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (axes[k].first != name) continue;
      return invalid_argument(mesh.to_string() + " has two axes called \"" + name +
                              "\"; rename one");
    }
    // Saturates: the product of two that are larger than the limit would wrap around.
    const auto wide = static_cast<std::uint64_t>(size);
    devices = wide > UINT64_MAX / devices ? UINT64_MAX : devices * wide;
  }
  return check(kMeshDevices, devices, "mesh");
}

}  // namespace seaway::limits
