// Fields of messages: their tags, lengths and numbers.

#include "pjrt/proto.hpp"

namespace seaway::pjrt {

std::optional<std::uint64_t> ProtoReader::take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0, at = 0; at < bytes.size() && shift < 64; shift += 7, ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      bytes.remove_prefix(at + 1);
      return number;
    }
  }
  return {};
}

std::optional<ProtoField> ProtoReader::next() {
  if (left_.empty() || is_broken_) return {};
  const std::string_view begin = left_;
  is_broken_ = true;  // Until the field is read.
  const auto tag = take_number(left_);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return {};
  ProtoField field;
  field.number = static_cast<int>(*tag >> 3);
  field.kind = static_cast<ProtoField::Kind>(*tag & 7);
  std::size_t size = 0;
  switch (field.kind) {
    case ProtoField::Kind::kNumber: {
      const auto value = take_number(left_);
      if (!value) return {};
      field.value = *value;
      break;
    }
    case ProtoField::Kind::kBytes: {
      const auto length = take_number(left_);
      if (!length || *length > left_.size()) return {};
      size = static_cast<std::size_t>(*length);
      field.bytes = left_.substr(0, size);
      break;
    }
    case ProtoField::Kind::kEight:
      size = 8;
      break;
    case ProtoField::Kind::kFour:
      size = 4;
      break;
    default:
      return {};
  }
  if (size > left_.size()) return {};
  left_.remove_prefix(size);
  field.whole = begin.substr(0, begin.size() - left_.size());
  is_broken_ = false;
  return field;
}

void put_varint(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
  bytes += static_cast<char>(number);
}

void put_number(std::string& bytes, int field, std::uint64_t number) {
  put_varint(bytes, static_cast<std::uint64_t>(field) << 3);
  put_varint(bytes, number);
}

void put_message(std::string& bytes, int field, std::string_view message) {
  put_varint(bytes, (static_cast<std::uint64_t>(field) << 3) | 2);
  put_varint(bytes, message.size());
  bytes += message;
}

}  // namespace seaway::pjrt
