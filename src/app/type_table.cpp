// Looking up what other processes name, and saying what is wrong when it is not the same.

#include "seaway/app/type_table.hpp"

#include <utility>

#include "base/random.hpp"

namespace seaway::internal {

std::string fingerprint_text(std::uint64_t number) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i > 0; number >>= 4) text[--i] = kDigits[number & 15];
  return text;
}

namespace {

template <class Map>
std::string names_of(const Map& map) {
  constexpr std::size_t kNamed = 8;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, entry] : map) {
    if (++count > kNamed) return text + " and " + std::to_string(map.size() - kNamed) + " more";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

std::string constructors_of(const std::map<std::string, Construct>& constructors) {
  std::string text;
  for (const auto& [signature, construct] : constructors) {
    text += (text.empty() ? "(" : ", (") + signature + ")";
  }
  return text;
}

Status differs(const std::string& what, std::uint64_t there, std::uint64_t here) {
  return invalid_argument(what + " is not the same in both programs: its fingerprint is " +
                          fingerprint_text(there) + " there and " + fingerprint_text(here) +
                          " here; build both from one source, and start the host again");
}

}  // namespace

void TypeTable::add_actor(const std::shared_ptr<const ActorTypeInfo>& type,
                          const std::string& signature, Construct construct) {
  if (mistake_.ok()) mistake_ = type->mistake;
  Entry& entry = actors_[type->full_name];
  if (entry.type && entry.type != type && mistake_.ok()) {
    mistake_ = invalid_argument("two classes of actors are called " + type->full_name +
                                ", and other processes know them by that name; rename one");
  }
  entry.type = type;
  entry.constructors[signature] = std::move(construct);
}

void TypeTable::add_combine(Combine combine) {
  const std::string name = combine.name;
  if (name.empty() && mistake_.ok()) {
    mistake_ = invalid_argument("a reduction has no name; other processes know it by that");
  }
  if (!combines_.emplace(name, std::move(combine)).second && mistake_.ok()) {
    mistake_ = invalid_argument("two reductions are called \"" + name + "\"; rename one");
  }
}

std::shared_ptr<const ActorTypeInfo> TypeTable::find(std::string_view full_name) const {
  const auto found = actors_.find(full_name);
  return found == actors_.end() ? nullptr : found->second.type;
}

bool TypeTable::has(const ActorTypeInfo& type, const std::string& signature) const {
  const auto found = actors_.find(type.full_name);
  return found != actors_.end() && found->second.type->fingerprint == type.fingerprint &&
         found->second.constructors.contains(signature);
}

bool TypeTable::has(const Combine& combine) const {
  const auto found = combines_.find(combine.name);
  return found != combines_.end() && found->second.fingerprint == combine.fingerprint;
}

Result<ObjectFactory> TypeTable::make_factory(
    std::string_view full_name, std::uint64_t fingerprint,
    const std::shared_ptr<const Construction>& from) const {
  const std::string name(full_name);
  const auto found = actors_.find(full_name);
  if (found == actors_.end()) {
    return not_found("the program of this host knows no actors of class " + name +
                     "; it knows: " + names_of(actors_) +
                     ". Register it in the host's main(): Registry::actor<" + name + ", ..>()");
  }
  const Entry& entry = found->second;
  if (entry.type->fingerprint != fingerprint) {
    return differs("class " + name, fingerprint, entry.type->fingerprint);
  }
  const auto constructor = entry.constructors.find(from->signature);
  if (constructor == entry.constructors.end()) {
    return invalid_argument("the program of this host makes " + name + " from " +
                            constructors_of(entry.constructors) + ", and not from (" +
                            from->signature + "); spawn it with these, or register that one");
  }
  auto made = constructor->second(from);
  if (made.ok()) return made;
  return Status(made.status().code(), name + ": " + made.status().message());
}

Result<Combine> TypeTable::find_combine(const std::string& name, std::uint64_t fingerprint) const {
  const auto found = combines_.find(name);
  if (found == combines_.end()) {
    return not_found("the program of this host knows no reduction \"" + name +
                     "\"; it knows: " + names_of(combines_) +
                     ". Register it in the host's main(): Registry::reduction<R>(..)");
  }
  if (found->second.fingerprint != fingerprint) {
    return differs("what the reduction \"" + name + "\" combines", fingerprint,
                   found->second.fingerprint);
  }
  return found->second;
}

namespace {

void mix(std::uint64_t& hash, std::uint64_t value) { hash = mix64(hash ^ value) + value; }

std::uint64_t of(const ::capnp::_::RawSchema* schema) {
  return schema ? schema_fingerprint(*schema) : 0;
}

}  // namespace

std::uint64_t fingerprint_of(const ActorTypeInfo& type) {
  std::uint64_t hash = hash_of(type.full_name);
  for (const MethodInfo& method : type.methods) {
    mix(hash, method.request);
    mix(hash, method.reply);
    mix(hash, of(method.request_schema));
    mix(hash, of(method.reply_schema));
    mix(hash, (method.is_interleaved ? 1 : 0) + (method.is_stream ? 2 : 0));
  }
  mix(hash, type.mailbox_max);
  mix(hash, type.on_death ? 1 : 0);
  mix(hash, of(type.snapshot_schema));
  mix(hash, type.snapshot_every);
  return hash;
}

}  // namespace seaway::internal
