// Constructor arguments as bytes: what actors of other processes are made from. For the library.
//
// One after the other, in the order of the constructor:
//
//   integer   a byte that is 1 if it is negative, and 8 bytes of two's complement
//   bool      a byte, 0 or 1
//   number    a float or double: the 8 bytes of the double
//   text      its length in 8 bytes, and its bytes
//   list      its length in 8 bytes, and its elements
//   message   the number of words of its frame in 8 bytes, these words, and how many attachments
//             are its own, in 8 bytes
//   actors    nothing: the next attachment
//   array     nothing: the next attachment
//   slice     its id, its axes, each a text and its size, and to what it is bound: island and
//             devices; each list with its length before it; an id 0 alone is an empty one
//
// All numbers are little-endian. A reader takes any integer that fits what its constructor wants.

#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "seaway/app/mesh.hpp"
#include "seaway/app/message.hpp"
#include "seaway/app/runtime.hpp"
#include "seaway/client.hpp"

namespace seaway::internal {

/// Puts arguments behind each other.
class ArgumentWriter {
 public:
  void byte(bool value);
  void word(std::uint64_t value);
  void append(std::span<const std::byte> bytes);
  void attach(const Attachment& attachment);
  void attach_actors(const Members& members, const std::vector<Placement::Axis>& axes);
  Construction take() { return std::move(made_); }

 private:
  Construction made_;
};

/// Takes them apart again. After the first mistake everything reads as nothing. What is read in
/// whose name others are called: `caller`'s.
class ArgumentReader {
 public:
  ArgumentReader(const Construction& from, std::shared_ptr<Caller> caller)
      : from_(from), caller_(std::move(caller)) {}

  bool byte() {
    const auto found = take(1);
    return !found.empty() && found.front() != std::byte{0};
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    const auto found = take(sizeof(value));
    if (!found.empty()) std::memcpy(&value, found.data(), sizeof(value));
    return value;
  }
  /// Empty when there are not so many.
  std::span<const std::byte> take(std::uint64_t count);
  /// How many elements follow, each of at least one byte or attachment: never more than there are.
  std::uint64_t count();
  Attachment attachment();
  Reference reference();
  Array array();
  const std::shared_ptr<Caller>& caller() const { return caller_; }

  void fail(std::string what) {
    if (status_.ok()) status_ = invalid_argument(std::move(what));
  }
  /// To be asked when all is read: that nothing is left, too.
  Status end();
  bool ok() const { return status_.ok(); }

 private:
  const Construction& from_;
  std::shared_ptr<Caller> caller_;
  std::size_t at_ = 0;
  std::size_t attachment_ = 0;
  Status status_;
};

/// How one type travels; there is none for types that do not.
template <class T>
struct ArgumentCodec;

template <class T>
concept Encodable = requires(ArgumentWriter& writer, const T& value) {
  { ArgumentCodec<T>::name() } -> std::convertible_to<std::string>;
  ArgumentCodec<T>::write(writer, value);
};
template <class T>
concept Decodable = Encodable<T> && requires(ArgumentReader& reader) {
  { ArgumentCodec<T>::read(reader) } -> std::convertible_to<T>;
};

template <>
struct ArgumentCodec<bool> {
  static std::string name() { return "bool"; }
  static void write(ArgumentWriter& writer, bool value) { writer.byte(value); }
  static bool read(ArgumentReader& reader) { return reader.byte(); }
};

template <std::integral T>
struct ArgumentCodec<T> {
  static std::string name() { return "integer"; }
  static void write(ArgumentWriter& writer, T value) {
    writer.byte(value < T{});
    writer.word(static_cast<std::uint64_t>(value));
  }
  static T read(ArgumentReader& reader) {
    const bool is_negative = reader.byte();
    const std::uint64_t word = reader.word();
    const bool fits =
        is_negative ? std::in_range<T>(static_cast<std::int64_t>(word)) : std::in_range<T>(word);
    if (!fits) {
      reader.fail(
          "the integer " +
          (is_negative ? std::to_string(static_cast<std::int64_t>(word)) : std::to_string(word)) +
          " does not fit " + std::to_string(8 * sizeof(T)) +
          (std::is_signed_v<T> ? " bits with a sign" : " bits without a sign"));
      return {};
    }
    return static_cast<T>(word);
  }
};

template <class T>
requires std::is_same_v<T, float> || std::is_same_v<T, double>
struct ArgumentCodec<T> {
  static std::string name() { return "number"; }
  static void write(ArgumentWriter& writer, T value) {
    writer.word(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  }
  static T read(ArgumentReader& reader) {
    return static_cast<T>(std::bit_cast<double>(reader.word()));
  }
};

template <>
struct ArgumentCodec<std::string> {
  static std::string name() { return "text"; }
  static void write(ArgumentWriter& writer, std::string_view value) {
    writer.word(value.size());
    writer.append(std::as_bytes(std::span(value.data(), value.size())));
  }
  static std::string read(ArgumentReader& reader) {
    const auto bytes = reader.take(reader.count());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};
/// A literal; whoever reads it gets a std::string.
template <>
struct ArgumentCodec<const char*> {
  static std::string name() { return "text"; }
  static void write(ArgumentWriter& writer, const char* value) {
    ArgumentCodec<std::string>::write(writer, value);
  }
};

template <class T>
requires Encodable<T>
struct ArgumentCodec<std::vector<T>> {
  static std::string name() { return "list of " + std::string(ArgumentCodec<T>::name()); }
  static void write(ArgumentWriter& writer, const std::vector<T>& values) {
    writer.word(values.size());
    for (const auto& value : values) ArgumentCodec<T>::write(writer, value);
  }
  static std::vector<T> read(ArgumentReader& reader) requires Decodable<T> {
    std::vector<T> values;
    const std::uint64_t count = reader.count();
    for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
      values.push_back(ArgumentCodec<T>::read(reader));
    }
    return values;
  }
};

template <class T>
struct ArgumentCodec<Message<T>> {
  static std::string name() { return "message " + std::string(full_type_name<T>()); }
  static void write(ArgumentWriter& writer, const Message<T>& value) {
    const auto words = value.raw().frame.words();
    writer.word(words.size());
    writer.append(std::as_bytes(words));
    const Attachments* const beside = value.raw().attachments.get();
    writer.word(beside ? beside->size() : 0);
    if (beside) {
      for (const Attachment& one : *beside) writer.attach(one);
    }
  }
  static Message<T> read(ArgumentReader& reader) {
    RawMessage raw;
    const std::uint64_t count = reader.count();
    const auto bytes = reader.take(count * sizeof(std::uint64_t));
    if (!bytes.empty()) {
      raw.frame = Frame::make(static_cast<std::size_t>(count), [bytes](auto words) {
        std::memcpy(words.data(), bytes.data(), bytes.size());
      });
    }
    if (const std::uint64_t beside = reader.word(); beside > 0) {
      auto attachments = std::make_shared<Attachments>();
      for (std::uint64_t i = 0; i < beside && reader.ok(); ++i) {
        attachments->push_back(reader.attachment());
      }
      raw.attachments = std::move(attachments);
    }
    Message<T> message(bound(std::move(raw), reader.caller()));
    if (Status status = message.check(); !status.ok()) reader.fail(status.message());
    return message;
  }
};

template <class A>
struct ArgumentCodec<ActorMesh<A>> {
  static std::string name() { return "actors of " + std::string(full_type_name<A>()); }
  static void write(ArgumentWriter& writer, const ActorMesh<A>& value) {
    writer.attach_actors(value.members(), value.axes());
  }
  static ActorMesh<A> read(ArgumentReader& reader) {
    Reference found = reader.reference();
    return ActorMesh<A>(reader.caller(), std::move(found.members), std::move(found.axes));
  }
};
template <class A>
struct ArgumentCodec<ActorRef<A>> {
  static std::string name() { return ArgumentCodec<ActorMesh<A>>::name(); }
  static void write(ArgumentWriter& writer, const ActorRef<A>& value) {
    ArgumentCodec<ActorMesh<A>>::write(writer, value.mesh());
  }
  static ActorRef<A> read(ArgumentReader& reader) {
    const ActorMesh<A> found = ArgumentCodec<ActorMesh<A>>::read(reader);
    if (found.size() > 1) reader.fail("it takes one actor, and is given several");
    return found.at(0);
  }
};

template <>
struct ArgumentCodec<Array> {
  static std::string name() { return "array"; }
  static void write(ArgumentWriter& writer, const Array& value) { writer.attach(value); }
  static Array read(ArgumentReader& reader) { return reader.array(); }
};

/// Whoever reads it has it as if it had been acquired in the session of the actor that is made.
/// That it was released there he hears when he uses it.
template <>
struct ArgumentCodec<Slice> {
  static std::string name() { return "slice"; }
  static void write(ArgumentWriter& writer, const Slice& value);
  static Slice read(ArgumentReader& reader);
};

template <class... Arguments>
std::string signature_of() {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + std::string(ArgumentCodec<Arguments>::name())), ...);
  return text;
}

template <class... Arguments>
Construction construction_of(const std::tuple<Arguments...>& arguments) {
  ArgumentWriter writer;
  std::apply(
      [&writer](const Arguments&... each) { (ArgumentCodec<Arguments>::write(writer, each), ...); },
      arguments);
  Construction made = writer.take();
  made.signature = signature_of<Arguments...>();
  return made;
}

/// Why `number`, counted from 1, of the arguments of `actor` cannot travel.
Status not_encodable(std::string_view actor, std::size_t number, std::string_view type);

template <class... Arguments>
Status no_construction(std::string_view actor) {
  std::size_t number = 0;
  Status status;
  const auto look = [&](bool is_encodable, std::string_view type) {
    ++number;
    if (!is_encodable && status.ok()) status = not_encodable(actor, number, type);
  };
  (look(Encodable<Arguments>, full_type_name<Arguments>()), ...);
  return status;
}

}  // namespace seaway::internal
