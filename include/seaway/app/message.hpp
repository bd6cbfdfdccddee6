// Message: one Cap'n Proto message of a user's schema, owned, immutable, shared by all who read it.

#pragma once

#include <capnp/generated-header-support.h>
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "seaway/app/runtime.hpp"

namespace seaway {

template <class A>
class ActorMesh;
template <class A>
class ActorRef;

namespace internal {

/// The words of a finished builder, as a frame in Cap'n Proto's standard stream framing.
Frame freeze(capnp::MessageBuilder& builder);
/// Why a message cannot be read; call inside a catch block.
Status status_of_message_error();

/// "Counter" of `seaway::internal::type_name() [with T = demo::Counter]`.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  const std::size_t begin = name.find("T = ") + 4;
  const std::size_t end = name.find_first_of(";]", begin);
  name = name.substr(begin, end - begin);
  const std::size_t colon = name.rfind("::", name.find('<'));
  return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

/// "demo::Counter" of the same.
template <class T>
constexpr std::string_view full_type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  const std::size_t begin = name.find("T = ") + 4;
  return name.substr(begin, name.find_first_of(";]", begin) - begin);
}

/// Of all that a schema's type consists of: equal when two processes read each other's messages of
/// that type, with the same names.
std::uint64_t schema_fingerprint(const ::capnp::_::RawSchema& schema);
template <class T>
std::uint64_t schema_fingerprint() {
  static const std::uint64_t fingerprint = schema_fingerprint(capnp::_::rawSchema<T>());
  return fingerprint;
}

/// The name, found at compile time.
template <class T>
inline constexpr std::string_view kTypeName = type_name<T>();

/// A frame that is open for reading. Its content may come from a stranger: limits hold.
template <class T>
class OpenMessage {
 public:
  explicit OpenMessage(Frame frame) : frame_(std::move(frame)) {
    const auto words = frame_.words();
    capnp::ReaderOptions limits;
    limits.traversalLimitInWords = kTraversals * words.size() + 1024;
    limits.nestingLimit = kNestingMax;
    const auto* begin = reinterpret_cast<const capnp::word*>(words.data());
    if (!words.empty() && words[0] == std::uint64_t{words.size() - 1} << 32) {
      segment_ = kj::arrayPtr(begin + 1, words.size() - 1);
      segments_ = kj::arrayPtr(&segment_, 1);
      reader_ = new (&storage_) capnp::SegmentArrayMessageReader(segments_, limits);
    } else {
      reader_ =
          new (&storage_) capnp::FlatArrayMessageReader(kj::arrayPtr(begin, words.size()), limits);
    }
    try {
      root_ = reader_->template getRoot<T>();
    } catch (...) {
      reader_->~MessageReader();
      throw;
    }
  }
  ~OpenMessage() { reader_->~MessageReader(); }
  OpenMessage(const OpenMessage&) = delete;
  OpenMessage& operator=(const OpenMessage&) = delete;

  const typename T::Reader& root() const { return root_; }

 private:
  /// A reader may look at each part of a message so often.
  static constexpr std::uint64_t kTraversals = 64;
  static constexpr int kNestingMax = 64;

  Frame frame_;
  kj::ArrayPtr<const capnp::word> segment_;
  kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments_;
  std::aligned_union_t<1, capnp::SegmentArrayMessageReader, capnp::FlatArrayMessageReader> storage_;
  capnp::MessageReader* reader_ = nullptr;  // In storage_.
  typename T::Reader root_;
};

}  // namespace internal

/// A message of schema type `T` that is owned: copies share its bytes. Reading it costs no copy and
/// one allocation, at the first look. A value; one object is for one thread, copies are not.
template <class T>
class Message {
 public:
  using Type = T;

  /// The message in which nothing was set.
  Message() = default;
  explicit Message(internal::RawMessage raw) : raw_(std::move(raw)) {}
  Message(const Message& other) : raw_(other.raw_) {}
  Message(Message&& other) noexcept = default;
  Message& operator=(Message other) noexcept {
    raw_ = std::move(other.raw_);
    open_ = std::move(other.open_);
    return *this;
  }

  /// The message's reader; valid as long as this object. On a malformed message that came from
  /// another process it throws kj::Exception; handlers only ever see messages that passed check().
  const typename T::Reader& reader() const {
    if (!open_) {
      if (raw_.frame.empty()) {
        static const typename T::Reader nothing = {};
        return nothing;
      }
      open_ = std::make_unique<internal::OpenMessage<T>>(raw_.frame);
    }
    return open_->root();
  }
  const typename T::Reader* operator->() const { return &reader(); }
  const typename T::Reader& operator*() const { return reader(); }

  /// Errors: kProtocolError for bytes that are no message.
  Status check() const {
    try {
      reader();
      return {};
    } catch (...) {
      return internal::status_of_message_error();
    }
  }

  /// What travels beside it: `number` is what Attached::add() returned.
  /// Errors: kNotFound for another number, kInvalidArgument for another type.
  Result<Array> array(std::uint32_t number) const { return attachment<Array>(number, "array"); }
  Result<Bytes> bytes(std::uint32_t number) const { return attachment<Bytes>(number, "bytes"); }
  /// Other actors: a reference to one, or to several. In the name of whoever received the message,
  /// an actor or a client; they may have died meanwhile, as any others.
  /// Errors: also kInvalidArgument for a mesh of another class, or not of one member.
  template <class A>
  Result<ActorRef<A>> actor(std::uint32_t number) const;
  template <class A>
  Result<ActorMesh<A>> mesh(std::uint32_t number) const;

  const internal::RawMessage& raw() const { return raw_; }

 private:
  template <class Kind>
  Result<Kind> attachment(std::uint32_t number, const char* what) const {
    const std::size_t count = raw_.attachments ? raw_.attachments->size() : 0;
    if (number >= count) {
      return not_found("a message of type " + std::string(internal::kTypeName<T>) + " has " +
                       std::to_string(count) + " attachments and no number " +
                       std::to_string(number));
    }
    if (const auto* found = std::get_if<Kind>(&(*raw_.attachments)[number])) return *found;
    return invalid_argument("attachment " + std::to_string(number) + " of a message of type " +
                            std::string(internal::kTypeName<T>) + " is not " + what);
  }

  internal::RawMessage raw_;
  mutable std::unique_ptr<internal::OpenMessage<T>> open_;
};

/// What a handler answers with.
template <class T>
using Reply = Message<T>;

/// What a handler is asked: a message, and who asks.
template <class T>
class Request : public Message<T> {
 public:
  using Message<T>::Message;
  Request(internal::RawMessage raw, MemberName caller)
      : Message<T>(std::move(raw)), caller_(caller) {}
  /// {} for a client.
  const MemberName& caller() const { return caller_; }

 private:
  MemberName caller_;
};

/// Collects what is to travel beside a message while that is written.
class Attached {
 public:
  /// Returns the number to write into the message, for Message::array(), bytes(), actor() or
  /// mesh().
  std::uint32_t add(Attachment attachment);
  template <class A>
  std::uint32_t add(const ActorMesh<A>& mesh);
  template <class A>
  std::uint32_t add(const ActorRef<A>& actor);
  std::shared_ptr<const Attachments> take() {
    if (attachments_.empty()) return nullptr;
    return std::make_shared<const Attachments>(std::move(attachments_));
  }

 private:
  Attachments attachments_;
};

/// Builds a message: `fill(T::Builder)`, or `fill(T::Builder, Attached&)` for one with arrays,
/// bytes or other actors beside it. (A list of numbers is set with kj::arrayPtr(data, size).)
template <class T, class Fill>
Message<T> make(Fill&& fill) {
  constexpr std::size_t kScratchWords = 64;
  alignas(capnp::word) std::array<std::byte, kScratchWords * sizeof(capnp::word)> scratch{};
  capnp::MallocMessageBuilder builder(
      kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch.data()), kScratchWords));
  internal::RawMessage raw;
  if constexpr (std::is_invocable_v<Fill&, typename T::Builder, Attached&>) {
    Attached attached;
    fill(builder.initRoot<T>(), attached);
    raw.attachments = attached.take();
  } else {
    fill(builder.initRoot<T>());
  }
  raw.frame = internal::freeze(builder);
  return Message<T>(std::move(raw));
}

}  // namespace seaway
