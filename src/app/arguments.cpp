// Reading constructor arguments: nothing is taken that is not there.

#include "seaway/app/arguments.hpp"

#include <string>
#include <utility>

namespace seaway::internal {

static_assert(std::endian::native == std::endian::little);

void ArgumentWriter::byte(bool value) { made_.bytes.push_back(std::byte{value}); }

void ArgumentWriter::word(std::uint64_t value) { append(std::as_bytes(std::span(&value, 1))); }

void ArgumentWriter::append(std::span<const std::byte> bytes) {
  made_.bytes.insert(made_.bytes.end(), bytes.begin(), bytes.end());
}

void ArgumentWriter::attach(const Attachment& attachment) {
  made_.attachments.push_back(attachment);
}

void ArgumentWriter::attach_actors(const Members& members,
                                   const std::vector<Placement::Axis>& axes) {
  made_.attachments.emplace_back(Reference{members, axes, nullptr});
}

std::span<const std::byte> ArgumentReader::take(std::uint64_t count) {
  if (!ok()) return {};
  if (count > from_.bytes.size() - at_) {
    fail("arguments (" + from_.signature + ") end too early: " + std::to_string(count) +
         " bytes are wanted at byte " + std::to_string(at_) + " of " +
         std::to_string(from_.bytes.size()));
    return {};
  }
  const auto found = std::span(from_.bytes).subspan(at_, static_cast<std::size_t>(count));
  at_ += static_cast<std::size_t>(count);
  return found;
}

std::uint64_t ArgumentReader::count() {
  const std::uint64_t wanted = word();
  const std::size_t most = from_.bytes.size() - at_ + (from_.attachments.size() - attachment_);
  if (ok() && wanted > most) {
    fail("arguments (" + from_.signature + ") announce " + std::to_string(wanted) +
         " elements, and " + std::to_string(most) + " bytes and references follow");
  }
  return ok() ? wanted : 0;
}

Attachment ArgumentReader::attachment() {
  if (ok() && attachment_ >= from_.attachments.size()) {
    fail("arguments (" + from_.signature + ") name more references than the " +
         std::to_string(from_.attachments.size()) + " that came with them");
  }
  if (!ok()) return Bytes();
  return from_.attachments[attachment_++];
}

Reference ArgumentReader::reference() {
  Attachment found = attachment();
  if (auto* reference = std::get_if<Reference>(&found)) return std::move(*reference);
  fail("arguments (" + from_.signature + "): something else stands where actors are to be named");
  return {};
}

Array ArgumentReader::array() {
  Attachment found = attachment();
  if (auto* array = std::get_if<Array>(&found)) return std::move(*array);
  fail("arguments (" + from_.signature + "): something else stands where an array is to be");
  return {};
}

Status ArgumentReader::end() {
  if (ok() && (at_ != from_.bytes.size() || attachment_ != from_.attachments.size())) {
    fail("arguments (" + from_.signature + ") have " + std::to_string(from_.bytes.size() - at_) +
         " bytes and " + std::to_string(from_.attachments.size() - attachment_) +
         " references that nobody reads");
  }
  return status_;
}

Status not_encodable(std::string_view actor, std::size_t number, std::string_view type) {
  return invalid_argument(
      std::string(actor) + ": argument " + std::to_string(number) + " of its constructor is a " +
      std::string(type) +
      ", which does not travel to another process; give it integers, bool, float, double, "
      "std::string, Message, ActorMesh, ActorRef, Slice, Array, or vectors of these");
}

}  // namespace seaway::internal
