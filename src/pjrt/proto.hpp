// The encoding of XLA's messages, by hand: a handful of fields need no protobuf.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seaway::pjrt {

/// One field of a message, as it stands there.
struct ProtoField {
  enum class Kind : std::uint8_t { kNumber = 0, kEight = 1, kBytes = 2, kFour = 5 };

  int number = 0;
  Kind kind = Kind::kNumber;
  std::uint64_t value = 0;  // Of kNumber.
  std::string_view bytes;   // Of kBytes: a message, a text, or packed numbers.
  std::string_view whole;   // With its tag: what has to be copied to keep it.
};

/// Goes through the fields of one message, which stays where it is.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : left_(message) {}

  /// The next field; none at the end, and at bytes that are no message.
  std::optional<ProtoField> next();
  /// Whether all of it was read: else the bytes are no message.
  bool is_done() const { return left_.empty() && !is_broken_; }
  /// A number that begins `bytes`, which loses it; none when there is none.
  static std::optional<std::uint64_t> take_number(std::string_view& bytes);

 private:
  std::string_view left_;
  bool is_broken_ = false;
};

void put_varint(std::string& bytes, std::uint64_t number);
void put_number(std::string& bytes, int field, std::uint64_t number);
void put_message(std::string& bytes, int field, std::string_view message);

}  // namespace seaway::pjrt
