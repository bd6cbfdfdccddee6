// Names of unions' members, and damage.

#include "hostile/damaged_frames.hpp"

#include <app.capnp.h>
#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <relay.capnp.h>
#include <seaway.capnp.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "app/envelope.hpp"
#include "cluster/peers.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::hostile {
namespace {

using actor::Role;
using capnp::DynamicList;
using capnp::DynamicStruct;

constexpr std::array<std::string_view, actor::kRoles> kRoleNames = {"controller", "island", "host",
                                                                    "client", "annex"};

std::string member_of(DynamicStruct::Reader message) {
  KJ_IF_MAYBE (which, message.which()) {
    return which->getProto().getName().cStr();
  }
  return "unknown";
}

std::string enumerant_of(DynamicStruct::Reader message, const char* field) {
  KJ_IF_MAYBE (enumerant, message.get(field).as<capnp::DynamicEnum>().getEnumerant()) {
    return enumerant->getProto().getName().cStr();
  }
  return "unknown";
}

/// Lists are named by their first element.
std::string name_of(wire::Message::Reader message) {
  const std::string name = member_of(message);
  const auto first = [&name](auto list) {
    return list.size() == 0 ? name : name + "." + member_of(list[0]);
  };
  switch (message.which()) {
    case wire::Message::BULK:
      return name + "." + enumerant_of(message.getBulk(), "kind");
    case wire::Message::REQUEST:
      return name + "." + member_of(message.getRequest());
    case wire::Message::RUNS:
      return message.getRuns().getRecords().size() == 0
                 ? name
                 : name + "." + enumerant_of(message.getRuns().getRecords()[0], "kind");
    case wire::Message::ARRAYS:
      return message.getArrays().size() == 0
                 ? name
                 : name + "." + enumerant_of(message.getArrays()[0], "kind");
    case wire::Message::EDGES:
      return message.getEdges().size() == 0
                 ? name
                 : name + "." + enumerant_of(message.getEdges()[0], "kind");
    case wire::Message::ANNEX_ORDERS:
      return first(message.getAnnexOrders());
    case wire::Message::ANNEX_ANSWERS:
      return first(message.getAnnexAnswers());
    case wire::Message::EXCHANGE_WORDS:
      return first(message.getExchangeWords().getWords());
    default:
      return name;
  }
}

std::string name_of(schema::EnvelopeBatch::Reader batch) {
  if (batch.getEnvelopes().size() == 0) return "actors.news";
  const auto kind = static_cast<app::Kind>(batch.getEnvelopes()[0].getKind());
  return "actors." + std::string(app::to_string(kind));
}

template <class Root>
std::string read_name(const Frame& frame) {
  std::string name = "malformed";
  static_cast<void>(
      wire::read_frame<Root>(frame, [&name](typename Root::Reader root) { name = name_of(root); }));
  return name;
}

/// Visits the numbers of one message in order, and changes one of them: pointers stay whole, so the
/// receiver reads it to its end.
class NumberChange {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;
  NumberChange(std::size_t wanted, RandomStream& random) : wanted_(wanted), random_(random) {}

  void visit(DynamicStruct::Builder message) {
    for (const auto field : message.getSchema().getFields()) {
      if (field.getProto().getDiscriminantValue() != 0xffff) {
        KJ_IF_MAYBE (which, message.which()) {
          if (!(*which == field)) continue;
        } else {
          continue;
        }
      }
      const capnp::Type type = field.getType();
      const bool is_slot = field.getProto().isSlot();
      if (type.isStruct()) {
        if (!is_slot || message.has(field)) visit(message.get(field).as<DynamicStruct>());
      } else if (type.isList()) {
        if (message.has(field)) visit(message.get(field).as<DynamicList>());
      } else if (is_number(type) && at_++ == wanted_) {
        message.set(field, changed(type, message.get(field).asReader()));
      }
    }
  }
  std::size_t count() const { return at_; }

 private:
  static bool is_number(capnp::Type type) {
    return type.isEnum() || type.isBool() || type.isInt8() || type.isInt16() || type.isInt32() ||
           type.isInt64() || type.isUInt8() || type.isUInt16() || type.isUInt32() ||
           type.isUInt64();
  }
  void visit(DynamicList::Builder list) {
    const capnp::Type type = list.getSchema().getElementType();
    for (unsigned i = 0; i < list.size(); ++i) {
      if (type.isStruct()) {
        visit(list[i].as<DynamicStruct>());
      } else if (type.isList()) {
        visit(list[i].as<DynamicList>());
      } else if (is_number(type) && at_++ == wanted_) {
        list.set(i, changed(type, list[i].asReader()));
      }
    }
  }
  capnp::DynamicValue::Reader changed(capnp::Type type, capnp::DynamicValue::Reader value) {
    switch (type.which()) {
      case capnp::schema::Type::BOOL:
        return !value.as<bool>();
      case capnp::schema::Type::ENUM: {
        const auto raw = static_cast<std::uint16_t>(
            random_.chance(90) ? random_.below(type.asEnum().getEnumerants().size() + 1)
                               : random_.below(65536));
        return capnp::DynamicEnum(type.asEnum(), raw);
      }
      case capnp::schema::Type::INT8:
        return static_cast<std::int8_t>(
            number(static_cast<std::uint64_t>(value.as<std::int8_t>()), 8));
      case capnp::schema::Type::INT16:
        return static_cast<std::int16_t>(
            number(static_cast<std::uint64_t>(value.as<std::int16_t>()), 16));
      case capnp::schema::Type::INT32:
        return static_cast<std::int32_t>(
            number(static_cast<std::uint64_t>(value.as<std::int32_t>()), 32));
      case capnp::schema::Type::INT64:
        return static_cast<std::int64_t>(
            number(static_cast<std::uint64_t>(value.as<std::int64_t>()), 64));
      case capnp::schema::Type::UINT8:
        return static_cast<std::uint8_t>(number(value.as<std::uint8_t>(), 8));
      case capnp::schema::Type::UINT16:
        return static_cast<std::uint16_t>(number(value.as<std::uint16_t>(), 16));
      case capnp::schema::Type::UINT32:
        return static_cast<std::uint32_t>(number(value.as<std::uint32_t>(), 32));
      default:
        return number(value.as<std::uint64_t>(), 64);
    }
  }
  std::uint64_t number(std::uint64_t value, unsigned bits) {
    switch (random_.below(6)) {
      case 0:
        return 0;
      case 1:
        return UINT64_MAX >> (64 - bits);
      case 2:
        return value + random_.below(5) - 2;
      case 3:
        return random_.below(8);
      case 4:
        return value ^ std::uint64_t{1} << random_.below(std::min(bits, 4u));
      default:
        return value ^ std::uint64_t{1} << random_.below(bits);
    }
  }

  const std::size_t wanted_;
  RandomStream& random_;
  std::size_t at_ = 0;
};

/// One to three numbers are others. `frame` itself where it has none.
template <class Root>
Frame with_other_numbers(const Frame& frame, RandomStream& random) {
  Frame made = frame;
  static_cast<void>(wire::read_frame<Root>(frame, [&](typename Root::Reader root) {
    capnp::MallocMessageBuilder builder;
    builder.setRoot(root);
    NumberChange counting(NumberChange::kNone, random);
    counting.visit(builder.getRoot<Root>());
    if (counting.count() == 0) return;
    for (std::uint64_t left = random.chance(70) ? 1 : random.between(2, 3); left > 0; --left) {
      NumberChange change(random.below(counting.count()), random);
      change.visit(builder.getRoot<Root>());
    }
    made = wire::freeze(builder);
  }));
  return made;
}

Frame with_other_numbers(Role from, std::uint32_t channel, const Frame& frame,
                         RandomStream& random) {
  const std::uint32_t kind = channel >> cluster::kChannelKindShift;
  if (kind == cluster::kSiloChannels) {
    return with_other_numbers<schema::EnvelopeBatch>(frame, random);
  }
  const bool are_words = kind == cluster::kRelayChannels &&
                         (channel << (32 - cluster::kChannelKindShift)) == cluster::kRelayWords;
  if (!are_words) return with_other_numbers<wire::Message>(frame, random);
  return from == Role::kClient ? with_other_numbers<schema::ClientWords>(frame, random)
                               : with_other_numbers<schema::DelegateWords>(frame, random);
}

/// Mostly one that says something: many are padding.
std::uint64_t& any_word(std::vector<std::uint64_t>& words, RandomStream& random) {
  std::size_t at = random.below(words.size());
  for (int tries = 0; tries < 4 && words[at] == 0; ++tries) at = random.below(words.size());
  return words[at];
}

/// Of numbers of 8, 16, 32 and 64 bits.
std::uint64_t any_bit(RandomStream& random) {
  if (random.chance(40)) return std::uint64_t{1} << random.below(64);
  return std::uint64_t{1} << (8 * random.below(8) + random.below(3));
}

void change(std::vector<std::uint64_t>& words, const Frame& other, RandomStream& random) {
  constexpr std::array<std::uint64_t, 8> kExtremes = {0,
                                                      1,
                                                      UINT32_MAX,
                                                      UINT64_MAX,
                                                      std::uint64_t{1} << 63,
                                                      std::uint64_t{1} << 40,
                                                      std::uint64_t{UINT32_MAX} << 32,
                                                      0x7fffffff7fffffff};
  std::uint64_t& word = any_word(words, random);
  switch (random.below(10)) {
    case 0:
      word = kExtremes[random.below(kExtremes.size())];
      return;
    case 1:
      word = any_word(words, random);
      return;
    case 2: {
      const auto at = static_cast<std::size_t>(&word - words.data());
      if (at < other.words().size()) word = other.words()[at];
      return;
    }
    case 3:  // Half of it.
      word = random.chance(50)
                 ? (word & ~std::uint64_t{UINT32_MAX}) |
                       (kExtremes[random.below(kExtremes.size())] & UINT32_MAX)
                 : (word & UINT32_MAX) | kExtremes[random.below(kExtremes.size())] << 32;
      return;
    case 4:
      word += (random.below(7) - 3) << (16 * random.below(4));
      return;
    default:
      for (std::uint64_t left = random.between(1, 3); left > 0; --left) word ^= any_bit(random);
  }
}

}  // namespace

std::string to_string(const MessageKind& kind) {
  return std::string(kRoleNames[static_cast<std::size_t>(kind.from)]) + ">" +
         std::string(kRoleNames[static_cast<std::size_t>(kind.to)]) + ":" + kind.name;
}

bool parse(const std::string& text, MessageKind& kind) {
  const std::size_t arrow = text.find('>'), colon = text.find(':');
  if (arrow == std::string::npos || colon == std::string::npos || arrow > colon) return false;
  const auto role = [](const std::string& name, Role& role) {
    const auto found = std::find(kRoleNames.begin(), kRoleNames.end(), name);
    role = static_cast<Role>(found - kRoleNames.begin());
    return found != kRoleNames.end();
  };
  kind.name = text.substr(colon + 1);
  return role(text.substr(0, arrow), kind.from) &&
         role(text.substr(arrow + 1, colon - arrow - 1), kind.to);
}

std::string name_of(Role from, std::uint32_t channel, const Frame& frame) {
  const std::uint32_t kind = channel >> cluster::kChannelKindShift;
  if (kind == cluster::kSiloChannels) return read_name<schema::EnvelopeBatch>(frame);
  if (kind != cluster::kRelayChannels) return read_name<wire::Message>(frame);
  const std::uint32_t number = channel & ((std::uint32_t{1} << cluster::kChannelKindShift) - 1);
  if (number == cluster::kRelayWords) {
    return from == Role::kClient ? "relay.clientWords" : "relay.delegateWords";
  }
  return "relay." + read_name<wire::Message>(frame);
}

Frame damaged(Role from, std::uint32_t channel, const Frame& frame, const Frame& other,
              RandomStream& random) {
  if (random.chance(65)) {
    Frame made = with_other_numbers(from, channel, frame, random);
    const auto words = frame.words();
    if (!std::equal(words.begin(), words.end(), made.words().begin(), made.words().end())) {
      return made;
    }
  }
  const std::vector<std::uint64_t> whole(frame.words().begin(), frame.words().end());
  std::vector<std::uint64_t> words = whole;
  for (int tries = 0; tries < 8 && words == whole && !words.empty(); ++tries) {
    for (std::uint64_t left = random.between(1, 3); left > 0; --left) change(words, other, random);
  }
  return Frame::make(words.size(), [&words](std::span<std::uint64_t> out) {
    std::copy(words.begin(), words.end(), out.begin());
  });
}

}  // namespace seaway::hostile
