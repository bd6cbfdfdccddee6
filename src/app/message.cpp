// Frames of users' messages, and what is wrong with those that cannot be read.

#include "seaway/app/message.hpp"

#include <capnp/schema.capnp.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <exception>
#include <set>
#include <string>

#include "base/random.hpp"
#include "seaway/app/actor.hpp"
#include "seaway/app/task.hpp"
#include "wire/frame_builder.hpp"

namespace seaway {

std::uint32_t Attached::add(Attachment attachment) {
  attachments_.push_back(std::move(attachment));
  return static_cast<std::uint32_t>(attachments_.size() - 1);
}

}  // namespace seaway

namespace seaway::internal {

Frame freeze(capnp::MessageBuilder& builder) { return wire::freeze(builder); }

namespace {

/// Adds up what the types that one names consist of, each once.
class SchemaHash {
 public:
  void add(const capnp::_::RawSchema& schema) {
    if (!seen_.insert(schema.id).second) return;
    add(schema.id);
    const auto node = capnp::readMessageUnchecked<capnp::schema::Node>(
        reinterpret_cast<const capnp::word*>(schema.encodedNode));
    if (node.isStruct()) {
      add(node.getStruct().getDataWordCount());
      add(node.getStruct().getPointerCount());
      for (const auto field : node.getStruct().getFields()) add_field(field);
    } else if (node.isEnum()) {
      for (const auto word : node.getEnum().getEnumerants()) add(hash_of(word.getName().cStr()));
    }
    for (std::uint32_t i = 0; i < schema.dependencyCount; ++i) add(*schema.dependencies[i]);
  }
  std::uint64_t value() const { return value_; }

 private:
  void add(std::uint64_t number) { value_ = mix64(value_ ^ number) + number; }
  void add_field(capnp::schema::Field::Reader field) {
    add(hash_of(field.getName().cStr()));
    add(field.getDiscriminantValue());
    if (field.isGroup()) return add(field.getGroup().getTypeId());
    add(field.getSlot().getOffset());
    for (auto type = field.getSlot().getType();; type = type.getList().getElementType()) {
      add(static_cast<std::uint64_t>(type.which()));
      if (type.isStruct()) add(type.getStruct().getTypeId());
      if (type.isEnum()) add(type.getEnum().getTypeId());
      if (!type.isList()) break;
    }
  }

  std::set<std::uint64_t> seen_;
  std::uint64_t value_ = 0;
};

}  // namespace

std::uint64_t schema_fingerprint(const capnp::_::RawSchema& schema) {
  SchemaHash hash;
  hash.add(schema);
  return hash.value();
}

RawMessage bound(RawMessage message, const std::shared_ptr<Caller>& caller) {
  const auto is_reference = [](const Attachment& one) {
    return std::holds_alternative<Reference>(one);
  };
  if (!message.attachments ||
      std::none_of(message.attachments->begin(), message.attachments->end(), is_reference)) {
    return message;
  }
  // The others who share the message are other callers.
  auto own = std::make_shared<Attachments>(*message.attachments);
  for (Attachment& one : *own) {
    if (auto* reference = std::get_if<Reference>(&one)) reference->caller = caller;
  }
  message.attachments = std::move(own);
  return message;
}

Status status_of_message_error() {
  try {
    throw;
  } catch (const kj::Exception& error) {
    return protocol_error(std::string("a message cannot be read: ") +
                          error.getDescription().cStr());
  } catch (const std::exception& error) {
    return protocol_error(std::string("a message cannot be read: ") + error.what());
  }
}

}  // namespace seaway::internal
