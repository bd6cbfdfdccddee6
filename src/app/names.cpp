// Placements, parts of meshes, and what all of them are called.

#include <string>
#include <utility>

#include "base/limits.hpp"
#include "base/random.hpp"
#include "seaway/app/actor.hpp"

namespace seaway {

Placement Placement::each(std::string axis, std::uint32_t count) const {
  Placement more;
  more.axes = axes;
  more.axes.push_back({std::move(axis), count});
  // spawn() says that these are too many; the axes tell it how many.
  if (count > 0 && hosts.size() > limits::kMembers.max / count) return more;
  more.hosts.reserve(hosts.size() * count);
  for (const std::uint32_t host : hosts) more.hosts.insert(more.hosts.end(), count, host);
  return more;
}

Placement Placement::at(const std::vector<std::uint32_t>& positions) const {
  Placement chosen;
  chosen.axes.push_back({"place", static_cast<std::uint32_t>(positions.size())});
  chosen.hosts.reserve(positions.size());
  for (const std::uint32_t position : positions) {
    // No cluster has that many hosts: spawn() says so.
    chosen.hosts.push_back(position < hosts.size() ? hosts[position] : UINT32_MAX);
  }
  return chosen;
}

namespace {

std::string axes_text(const std::vector<Placement::Axis>& axes) {
  std::string text;
  for (const Placement::Axis& axis : axes) {
    text += (text.empty() ? "" : ", ") + axis.name + "=" + std::to_string(axis.size);
  }
  return text;
}

}  // namespace

std::string Placement::to_string() const {
  std::string text = "placement(" + axes_text(axes) + ") on hosts";
  std::size_t named = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (i > 0 && hosts[i] == hosts[i - 1]) continue;
    if (++named > 16) return text + " ..";
    text += (named > 1 ? ", " : " ") + std::to_string(hosts[i]);
  }
  return text;
}

std::string to_string(const Death& death) {
  return death.name + (death.is_escalated ? " was given up: " : " died: ") +
         death.cause.to_string() + (death.restarts ? "; it restarts" : "");
}

Placement Self::here() const {
  Placement place;
  place.hosts.push_back(port_->host());
  return place;
}

namespace internal {

Members select(const Members& members, std::vector<Placement::Axis>& axes, std::string_view axis,
               std::uint32_t begin, std::uint32_t end) {
  Members part;
  part.mesh = members.mesh;
  std::size_t at = 0;
  while (at < axes.size() && axes[at].name != axis) ++at;
  if (at == axes.size()) {
    part.mistake = std::make_shared<const std::string>("there is no axis \"" + std::string(axis) +
                                                       "\" among (" + axes_text(axes) + ")");
    return part;
  }
  if (begin >= end || end > axes[at].size) {
    part.mistake = std::make_shared<const std::string>(
        "positions " + std::to_string(begin) + " .. " + std::to_string(end) + " of axis \"" +
        axes[at].name + "\", which has " + std::to_string(axes[at].size));
    return part;
  }
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < at; ++i) outer *= axes[i].size;
  for (std::size_t i = at + 1; i < axes.size(); ++i) inner *= axes[i].size;
  auto list = std::make_shared<std::vector<std::uint32_t>>();
  for (std::size_t i = 0; i < outer; ++i) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t k = 0; k < inner; ++k) {
        list->push_back(
            members.at(static_cast<std::uint32_t>((i * axes[at].size + j) * inner + k)));
      }
    }
  }
  axes[at].size = end - begin;
  part.count = static_cast<std::uint32_t>(list->size());
  part.list = std::move(list);
  return part;
}

std::shared_ptr<const std::string> no_position(std::size_t count, std::size_t position) {
  return std::make_shared<const std::string>("position " + std::to_string(position) + " of " +
                                             std::to_string(count));
}

std::string to_string(const Members& members, const std::vector<Placement::Axis>& axes) {
  if (!members.mesh) return "mesh of nobody";
  if (members.count == 0) return members.mesh->type->name + " mesh without members";
  if (axes.empty()) return member_name(members.mesh.get(), members.at(0));
  return members.mesh->type->name + " mesh(" + axes_text(axes) + ")";
}

std::string member_name(const MeshInfo* mesh, std::uint32_t index) {
  if (!mesh) return "nobody";
  if (index == UINT32_MAX) return mesh->type->name + "[?]";
  return mesh->type->name + "[" + std::to_string(index) + "]";
}

Status wrong_count(const Members& members, std::string_view call, std::string_view request) {
  const std::string what = std::string(call) + " of " + std::string(request);
  if (!members.mesh) return not_found(what + ": the reference is empty");
  if (members.count == 0) {
    return not_found(what + ": no member of " + members.mesh->type->name + " is meant" +
                     (members.mistake ? "; " + *members.mistake : ""));
  }
  if (members.count == 1 || (call != "call_one" && call != "actor()")) {
    return not_found(what +
                     ": its reference is of a message that nobody has received, so there is " +
                     "nobody in whose name to call; take it from a request or an answer");
  }
  return invalid_argument(what + ": " + std::to_string(members.count) + " members are meant, not " +
                          "one; use call(), choose() or at()");
}

Status wrong_class(std::uint32_t number, const Reference& reference, std::string_view asked) {
  return invalid_argument("attachment " + std::to_string(number) + " is " +
                          to_string(reference.members, reference.axes) + ", not of class " +
                          std::string(asked));
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace internal

}  // namespace seaway
