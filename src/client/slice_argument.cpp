// Slices as arguments of constructors: as bytes, and back into the session of whoever is made.

#include <memory>
#include <mutex>
#include <utility>

#include "client/session.hpp"
#include "seaway/app/actor.hpp"
#include "seaway/app/arguments.hpp"

namespace seaway::internal {

void ArgumentCodec<Slice>::write(ArgumentWriter& writer, const Slice& value) {
  writer.word(value.id());
  if (!value) return;
  const auto& axes = value.mesh().axes();
  writer.word(axes.size());
  for (const auto& [name, size] : axes) {
    ArgumentCodec<std::string>::write(writer, name);
    writer.word(static_cast<std::uint64_t>(size));
  }
  client::SliceRecord& record = *value.record();
  std::lock_guard guard(record.mutex);
  writer.word(record.binding.size());
  for (const std::uint32_t number : record.binding) writer.word(number);
}

Slice ArgumentCodec<Slice>::read(ArgumentReader& reader) {
  const SliceId id = reader.word();
  if (id == 0 || !reader.ok()) return {};
  std::vector<MeshAxis> axes;
  const std::uint64_t count = reader.count();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    std::string name = ArgumentCodec<std::string>::read(reader);
    axes.emplace_back(std::move(name), static_cast<std::int64_t>(reader.word()));
    if (axes.back().second < 1) reader.fail("a slice has an axis without devices");
  }
  std::vector<std::uint32_t> binding;
  const std::uint64_t numbers = reader.count();
  for (std::uint64_t i = 0; i < numbers && reader.ok(); ++i) {
    binding.push_back(static_cast<std::uint32_t>(reader.word()));
  }
  // Nobody is being made: the bytes are looked at alone.
  const auto port = std::dynamic_pointer_cast<MemberPort>(reader.caller());
  if (!reader.ok() || !port) return {};
  const auto client = port->client();
  if (!client.ok()) {
    reader.fail("a slice that nobody can use: " + client.status().message());
    return {};
  }
  return Slice(client->session().adopt_slice(Mesh(id, std::move(axes)), std::move(binding)));
}

}  // namespace seaway::internal
