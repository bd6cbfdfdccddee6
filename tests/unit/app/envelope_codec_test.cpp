// Batches of envelopes: each kind there and back; broken bytes are refused and nothing else.

#include "app/envelope_codec.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "app.capnp.h"
#include "seaway/app.hpp"
#include "wire/frame_builder.hpp"

namespace seaway::app {
namespace {

using internal::MeshInfo;
using internal::RawMessage;

constexpr std::uint64_t kNow = 1'000;
constexpr std::uint32_t kSilos = 8;

/// A message of one segment: its length, the pointer to its root, and what that points at.
RawMessage message_of(std::uint64_t root, std::uint64_t number) {
  RawMessage message;
  message.frame = Frame::make(3, [root, number](auto words) {
    words[0] = std::uint64_t{2} << 32;
    words[1] = root;
    words[2] = number;
  });
  return message;
}

/// With a struct of one number.
RawMessage payload_of(std::uint64_t number) { return message_of(std::uint64_t{1} << 32, number); }

std::uint64_t number_of(const RawMessage& payload) {
  return payload.frame.empty() ? 0 : payload.frame.words().back();
}

std::shared_ptr<const MeshInfo> make_mesh() {
  auto type = std::make_shared<internal::ActorTypeInfo>();
  type->name = "Counter";
  auto mesh = std::make_shared<MeshInfo>();
  mesh->id = (std::uint64_t{3} << 40) | 7;
  mesh->type = std::move(type);
  mesh->axes = {{"host", 2}, {"worker", 2}};
  mesh->hosts = {0, 0, 5, 5};
  mesh->owner_silo = 3;
  mesh->owner = {(std::uint64_t{2} << 40) | 1, 4};
  mesh->client = 9;
  return mesh;
}

/// An envelope of `kind` in which everything is set that the kind may have.
Envelope make_envelope(Kind kind) {
  Envelope envelope;
  envelope.kind = kind;
  envelope.awaits_argument = envelope.is_stream = envelope.is_once = true;
  envelope.from = kind == Kind::kArgument ? 5 : 2;
  envelope.member = {11, 3};
  envelope.sender = {12, 1};
  envelope.call = (std::uint64_t{6} << 32) | 2;
  envelope.request_type = 0xabcdef0123456789;
  envelope.reply_type = 0x123456789abcdef0;
  envelope.deadline_ns = kNow + 500;
  envelope.number = kind == Kind::kStop ? kNow + 70 : 7;
  envelope.request_id = 13;
  envelope.epoch = 20;
  envelope.payload = payload_of(14);
  auto parcel = std::make_shared<Parcel>();
  parcel->mesh = make_mesh();
  parcel->factory = [](const Self&) { return internal::Object(nullptr, [](void*) {}); };
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->state = payload_of(15);
  snapshot->answered.emplace_back(16, payload_of(17));
  snapshot->answered.emplace_back(18, not_found("nobody knows"));
  parcel->starts.push_back({1, 2, std::move(snapshot), 19, {}});
  parcel->starts.push_back({2, 1, nullptr, 0, user_function_error("it threw")});
  parcel->members = {0, 2, 3};
  parcel->name = "counters";
  parcel->death = std::make_shared<const Death>(
      Death{{11, 3}, "Counter[3]", actor_lost("killed"), 4, true, false});
  parcel->combine = [](const RawMessage& left, const RawMessage&) -> Result<RawMessage> {
    return left;
  };
  parcel->children = {4, 5};
  parcel->parent = 1;
  parcel->is_root = true;
  envelope.parcel = std::move(parcel);
  return envelope;
}

void expect_equal(const MeshInfo& one, const MeshInfo& other) {
  EXPECT_EQ(one.id, other.id);
  EXPECT_EQ(one.type->name, other.type->name);
  ASSERT_EQ(one.axes.size(), other.axes.size());
  for (std::size_t i = 0; i < one.axes.size(); ++i) {
    EXPECT_EQ(one.axes[i].name, other.axes[i].name);
    EXPECT_EQ(one.axes[i].size, other.axes[i].size);
  }
  EXPECT_EQ(one.hosts, other.hosts);
  EXPECT_EQ(one.owner_silo, other.owner_silo);
  EXPECT_EQ(one.owner, other.owner);
  EXPECT_EQ(one.client, other.client);
}

void expect_equal(const Parcel& one, const Parcel& other) {
  expect_equal(*one.mesh, *other.mesh);
  EXPECT_EQ(bool(one.factory), bool(other.factory));
  ASSERT_EQ(one.starts.size(), other.starts.size());
  for (std::size_t i = 0; i < one.starts.size(); ++i) {
    EXPECT_EQ(one.starts[i].index, other.starts[i].index);
    EXPECT_EQ(one.starts[i].incarnation, other.starts[i].incarnation);
    EXPECT_EQ(one.starts[i].snapshot_number, other.starts[i].snapshot_number);
    EXPECT_EQ(one.starts[i].status, other.starts[i].status);
    ASSERT_EQ(one.starts[i].snapshot != nullptr, other.starts[i].snapshot != nullptr);
    if (!one.starts[i].snapshot) continue;
    const Snapshot& left = *one.starts[i].snapshot;
    const Snapshot& right = *other.starts[i].snapshot;
    EXPECT_EQ(number_of(left.state), number_of(right.state));
    ASSERT_EQ(left.answered.size(), right.answered.size());
    for (std::size_t k = 0; k < left.answered.size(); ++k) {
      EXPECT_EQ(left.answered[k].first, right.answered[k].first);
      EXPECT_EQ(left.answered[k].second.status(), right.answered[k].second.status());
      if (!left.answered[k].second.ok()) continue;
      EXPECT_EQ(number_of(*left.answered[k].second), number_of(*right.answered[k].second));
    }
  }
  EXPECT_EQ(one.members, other.members);
  EXPECT_EQ(one.name, other.name);
  EXPECT_EQ(seaway::to_string(*one.death), seaway::to_string(*other.death));
  EXPECT_EQ(one.death->member, other.death->member);
  EXPECT_EQ(one.death->incarnation, other.death->incarnation);
  EXPECT_EQ(bool(one.combine), bool(other.combine));
  EXPECT_EQ(one.children, other.children);
  EXPECT_EQ(one.parent, other.parent);
  EXPECT_EQ(one.is_root, other.is_root);
}

void expect_equal(const Envelope& one, const Envelope& other) {
  EXPECT_EQ(one.kind, other.kind);
  EXPECT_EQ(one.awaits_argument, other.awaits_argument);
  EXPECT_EQ(one.is_stream, other.is_stream);
  EXPECT_EQ(one.is_once, other.is_once);
  EXPECT_EQ(one.from, other.from);
  EXPECT_EQ(one.member, other.member);
  EXPECT_EQ(one.sender, other.sender);
  EXPECT_EQ(one.call, other.call);
  EXPECT_EQ(one.request_type, other.request_type);
  EXPECT_EQ(one.reply_type, other.reply_type);
  EXPECT_EQ(one.request_id, other.request_id);
  EXPECT_EQ(one.epoch, other.epoch);
  EXPECT_EQ(number_of(one.payload), number_of(other.payload));
  EXPECT_EQ(one.status, other.status);
  ASSERT_EQ(one.parcel != nullptr, other.parcel != nullptr);
  if (one.parcel) expect_equal(*one.parcel, *other.parcel);
}

class EnvelopeCodec : public testing::TestWithParam<int> {};

TEST_P(EnvelopeCodec, EachKindComesBackAsItWas) {
  const auto kind = static_cast<Kind>(GetParam());
  Envelope bare;
  bare.kind = Kind::kReply;
  bare.from = 2;
  bare.status = deadline_exceeded("too late");
  const std::vector<Envelope> batch = {make_envelope(kind), bare};
  Parcels parcels;

  const Frame frame = encode_batch(2, batch, kNow, {nullptr, &parcels});
  auto back = decode_batch(frame, kNow + 10'000, kSilos, {nullptr, &parcels});

  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->from, 2u);
  ASSERT_EQ(back->envelopes.size(), 2u);
  expect_equal(batch[0], back->envelopes[0]);
  expect_equal(batch[1], back->envelopes[1]);
  EXPECT_EQ(back->envelopes[0].deadline_ns, kNow + 10'500) << "deadlines travel as remaining time";
  const std::uint64_t number = kind == Kind::kStop ? kNow + 10'070 : 7;
  EXPECT_EQ(back->envelopes[0].number, number) << "until when it may go on is a time as well";
}

INSTANTIATE_TEST_SUITE_P(Kinds, EnvelopeCodec,
                         testing::Range(0, static_cast<int>(Kind::kFound) + 1),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : to_string(static_cast<Kind>(info.param))) {
                             if (c != ' ') name += c;
                           }
                           return name;
                         });

TEST(EnvelopeBatches, ADeadlineThatHasPassedHasNextToNothingLeft) {
  Envelope late;
  late.deadline_ns = kNow - 1;
  Envelope never;
  Parcels parcels;

  const Frame frame = encode_batch(1, std::vector{late, never}, kNow, {nullptr, &parcels});
  const auto back = decode_batch(frame, 50, kSilos, {nullptr, &parcels}).value();

  EXPECT_EQ(back.envelopes[0].deadline_ns, 51u);
  EXPECT_EQ(back.envelopes[1].deadline_ns, 0u);
}

TEST(EnvelopeBatches, NeighboursThatShareAPayloadStoreItOnce) {
  Envelope envelope;
  envelope.payload.frame = Frame::make(1'000, [](auto words) {
    words[0] = std::uint64_t{999} << 32;
    words[1] = std::uint64_t{998} << 32;  // A struct of so many numbers.
    for (auto& word : words.subspan(2)) word = 5;
  });
  Parcels parcels;

  const Frame frame =
      encode_batch(1, std::vector<Envelope>(10, envelope), kNow, {nullptr, &parcels});
  const auto back = decode_batch(frame, kNow, kSilos, {nullptr, &parcels}).value();

  EXPECT_LT(frame.words().size(), 1'500u);
  ASSERT_EQ(back.envelopes.size(), 10u);
  EXPECT_EQ(back.envelopes[0].payload.frame.words().data(),
            back.envelopes[9].payload.frame.words().data());
  EXPECT_EQ(back.envelopes[9].payload.frame.words().size(), 1'000u);
}

/// A member is made from a text and from others of its class.
class Shop {
 public:
  static void describe(ActorType<Shop>&) {}
  Shop(const Self&, const std::string&, const ActorMesh<Shop>&) {}
};

/// As make_envelope(kStart), from arguments that have bytes.
Envelope start_of(const std::shared_ptr<const MeshInfo>& others) {
  auto mesh = std::make_shared<MeshInfo>(*make_mesh());
  mesh->type = internal::actor_type<Shop>();
  internal::Members members{others, 1, 2, nullptr, nullptr};
  Envelope envelope;
  envelope.kind = Kind::kStart;
  envelope.parcel = std::make_shared<Parcel>();
  envelope.parcel->mesh = std::move(mesh);
  envelope.parcel->factory = internal::factory_of<Shop>(
      std::string("corner"), ActorMesh<Shop>(nullptr, members, {{"place", 2}}));
  envelope.parcel->starts.push_back({1, 1, nullptr, 0, {}});
  return envelope;
}

TEST(EnvelopeBatches, BetweenProcessesEverythingHasBytes) {
  Envelope asked;
  asked.payload = payload_of(1);
  const internal::Members some{
      make_mesh(), 0, 2,
      std::make_shared<const std::vector<std::uint32_t>>(std::vector<std::uint32_t>{3, 0}),
      nullptr};
  asked.payload.attachments = std::make_shared<const Attachments>(
      Attachments{Bytes(std::vector<std::byte>(5, std::byte{1})),
                  internal::Reference{some, {{"place", 2}}, nullptr}, internal::Reference{}});
  internal::TypeTable types;
  internal::add_actor_to<Shop, std::string, ActorMesh<Shop>>(types);
  const std::vector<Envelope> batch = {asked, start_of(make_mesh())};
  for (const Envelope& envelope : batch) ASSERT_EQ(check_travels(envelope), Status());

  const Frame frame = encode_batch(1, batch, kNow, {});
  const auto back = decode_batch(frame, kNow, kSilos, {&types, nullptr});

  ASSERT_TRUE(back.ok()) << back.status().to_string();
  const Attachments& beside = *back->envelopes[0].payload.attachments;
  ASSERT_EQ(beside.size(), 3u);
  EXPECT_EQ(std::get<Bytes>(beside[0]).size(), 5u);
  const auto& read = std::get<internal::Reference>(beside[1]);
  expect_equal(*some.mesh, *read.members.mesh);
  EXPECT_EQ(*read.members.list, *some.list);
  EXPECT_EQ(read.axes.front().name, "place");
  EXPECT_EQ(std::get<internal::Reference>(beside[2]).members.mesh, nullptr);
  const Parcel& start = *back->envelopes[1].parcel;
  EXPECT_EQ(start.refusal, Status());
  EXPECT_TRUE(bool(start.factory));
  EXPECT_EQ(start.mesh->type, internal::actor_type<Shop>());
}

TEST(EnvelopeBatches, WhatIsNotKnownIsRefusedAloneAndItsActorsCanStillBeNamed) {
  internal::TypeTable none;
  Envelope reply;
  reply.kind = Kind::kReply;
  const std::vector<Envelope> batch = {start_of(make_mesh()), reply};

  const Frame frame = encode_batch(1, batch, kNow, {});
  const auto back = decode_batch(frame, kNow, kSilos, {&none, nullptr});

  ASSERT_TRUE(back.ok()) << back.status().to_string();
  ASSERT_EQ(back->envelopes.size(), 2u);
  const Parcel& start = *back->envelopes[0].parcel;
  EXPECT_EQ(start.refusal.code(), StatusCode::kNotFound) << start.refusal.to_string();
  EXPECT_FALSE(bool(start.factory));
  const internal::ActorTypeInfo& shop = *internal::actor_type<Shop>();
  EXPECT_EQ(start.mesh->type->id, shop.id);
  EXPECT_EQ(start.mesh->type->name, "Shop");
  EXPECT_EQ(start.mesh->type->mailbox_max, shop.mailbox_max);
}

TEST(EnvelopeBatches, WhatHasNoBytesDoesNotTravel) {
  Envelope start = start_of(make_mesh());
  start.parcel->factory = [](const Self&) { return internal::Object(nullptr, [](void*) {}); };
  Envelope combine = make_envelope(Kind::kCombine);
  combine.parcel->factory = {};

  EXPECT_EQ(check_travels(start).code(), StatusCode::kInvalidArgument);
  EXPECT_NE(check_travels(combine).message().find("Combining"), std::string::npos);
}

TEST(EnvelopeBatches, WithinAProcessWhatHasNoNameGoesBesideTheFrame) {
  internal::TypeTable types;
  internal::add_actor_to<Shop, std::string, ActorMesh<Shop>>(types);
  const std::vector<Envelope> named = {start_of(nullptr)}, unnamed = {make_envelope(Kind::kStart)};
  Parcels parcels;

  encode_batch(1, named, kNow, {&types, &parcels});
  EXPECT_EQ(parcels.size(), 0u);
  const Frame frame = encode_batch(1, unnamed, kNow, {&types, &parcels});
  EXPECT_EQ(parcels.size(), 3u) << "a class, a factory and a combining function";
  const auto back = decode_batch(frame, kNow, kSilos, {&types, &parcels});
  const auto again = decode_batch(frame, kNow, kSilos, {&types, &parcels});
  const auto other = decode_batch(frame, kNow, kSilos, {&types, nullptr});

  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(again.status().code(), StatusCode::kProtocolError) << "each is taken once";
  EXPECT_EQ(other.status().code(), StatusCode::kProtocolError) << "nothing is beside it there";
}

/// What was done to the one envelope of a batch must be refused, with these words.
void expect_refused(const std::function<void(schema::EnvelopeBatch::Builder)>& fill,
                    const std::string& words) {
  wire::FrameBuilder builder;
  fill(builder.init_root<schema::EnvelopeBatch>());
  Parcels parcels;

  const auto batch = decode_batch(builder.finish(), kNow, kSilos, {nullptr, &parcels});

  EXPECT_EQ(batch.status().code(), StatusCode::kProtocolError);
  EXPECT_NE(batch.status().message().find(words), std::string::npos)
      << batch.status().to_string() << "\nlacks: " << words;
}

TEST(EnvelopeBatches, WhatDoesNotExistIsRefused) {
  using Builder = schema::EnvelopeBatch::Builder;
  expect_refused([](Builder m) { m.setFrom(kSilos); }, "sender is silo 8 of 8");
  expect_refused([](Builder m) { m.initEnvelopes(1)[0].setKind(99); }, "no kind 99");
  expect_refused([](Builder m) { m.initEnvelopes(1)[0].setCode(200); }, "status code 200");
  expect_refused([](Builder m) { m.initEnvelopes(1)[0].setPayload(1); }, "payload 1 of 0");
  expect_refused([](Builder m) { m.initEnvelopes(1)[0].initParcel().setMesh(2); }, "mesh 2 of 0");
  expect_refused([](Builder m) { m.initEnvelopes(1)[0].initParcel().initFactory().setBeside(3); },
                 "factory 3 is not among the 0");
  expect_refused([](Builder m) { m.initEnvelopes(1)[0].initParcel().initFactory(); }, "no mesh");
  expect_refused([](Builder m) { m.initMeshes(1)[0].setType(1); }, "of type 1 of 0");
  expect_refused([](Builder m) { m.initTypes(1)[0].setBeside(1); }, "type of actors 1");
  expect_refused(
      [](Builder m) { m.initPayloads(1)[0].initAttachments(1)[0].initActors().setMesh(1); },
      "mesh 1 of 0");
  expect_refused(
      [](Builder m) { m.initPayloads(1)[0].initAttachments(1)[0].initActors().setCount(1); },
      "beyond the 0");
  expect_refused([](Builder m) { m.initPayloads(1)[0].initAttachments(1)[0].setBeside(2); },
                 "attachment 2");
  expect_refused([](Builder m) { m.initPayloads(1)[0].initFrame(7); }, "7 bytes");
  expect_refused(
      [](Builder m) {
        m.initEnvelopes(1)[0].setKind(static_cast<std::uint8_t>(Kind::kArgument));
        m.getEnvelopes()[0].setOrigin(8);
      },
      "origin of a call is silo 8");
  for (const Kind kind : {Kind::kMoved, Kind::kPartial}) {
    expect_refused(
        [kind](Builder m) {
          m.initEnvelopes(1)[0].setKind(static_cast<std::uint8_t>(kind));
          m.getEnvelopes()[0].setNumber(std::uint64_t{1} << 32);
        },
        "number is silo 4294967296");
  }
}

TEST(EnvelopeBatches, AnEnvelopeWithoutWhatItIsAboutIsRefused) {
  for (const Kind kind :
       {Kind::kCombine, Kind::kStart, Kind::kStarted, Kind::kStopMesh, Kind::kNotice, Kind::kWatch,
        Kind::kSnapshot, Kind::kPublish, Kind::kUnpublish, Kind::kFind, Kind::kFound}) {
    expect_refused(
        [kind](schema::EnvelopeBatch::Builder m) {
          auto envelope = m.initEnvelopes(1)[0];
          envelope.setKind(static_cast<std::uint8_t>(kind));
          envelope.initMember().setMesh(3);
        },
        "of kind " + std::string(to_string(kind)) + " lacks");
  }
}

TEST(EnvelopeBatches, APayloadThatIsNoWholeMessageIsRefused) {
  const auto why = [](RawMessage payload) {
    Envelope call = make_envelope(Kind::kCall);
    call.payload = std::move(payload);
    Parcels parcels;
    const Frame frame = encode_batch(2, std::vector{call}, kNow, {nullptr, &parcels});
    return decode_batch(frame, kNow, kSilos, {nullptr, &parcels}).status().message();
  };
  constexpr std::uint64_t kOneNumber = std::uint64_t{1} << 32,
                          kNineNumbers = std::uint64_t{9} << 32;
  constexpr std::uint64_t kOnePointer = std::uint64_t{1} << 48, kList = 1;

  EXPECT_EQ(why(message_of(kOneNumber, 7)), "");
  EXPECT_NE(why(message_of(kNineNumbers, 7)), "");
  EXPECT_NE(why(message_of(kOnePointer, kNineNumbers)), "") << "further in";
  EXPECT_NE(why(message_of(kList, 0)).find("a payload is no message"), std::string::npos);
}

/// A batch of several kinds, in which each list has something.
std::vector<Envelope> small_batch() {
  return {make_envelope(Kind::kCall), make_envelope(Kind::kStart), make_envelope(Kind::kSnapshot),
          make_envelope(Kind::kArgument), make_envelope(Kind::kCombine)};
}

Frame frame_of(const std::vector<std::uint64_t>& words) {
  return Frame::make(words.size(),
                     [&words](auto out) { std::copy(words.begin(), words.end(), out.begin()); });
}

TEST(EnvelopeBatches, AFrameThatIsCutAnywhereIsRefusedOrRead) {
  Parcels parcels;
  const Frame whole = encode_batch(2, small_batch(), kNow, {nullptr, &parcels});
  const std::vector<std::uint64_t> words(whole.words().begin(), whole.words().end());
  std::size_t refused = 0;

  for (std::size_t size = 0; size < words.size(); ++size) {
    Parcels beside = parcels;
    const auto batch =
        decode_batch(frame_of({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size)}),
                     kNow, kSilos, {nullptr, &beside});
    if (batch.ok()) continue;
    EXPECT_EQ(batch.status().code(), StatusCode::kProtocolError) << batch.status().to_string();
    ++refused;
  }

  EXPECT_EQ(refused, words.size()) << "a table of segments says how long a frame is";
}

TEST(EnvelopeBatches, AByteThatChangedIsRefusedOrReadAndNothingElse) {
  Parcels parcels;
  const Frame whole = encode_batch(2, small_batch(), kNow, {nullptr, &parcels});
  const std::vector<std::uint64_t> words(whole.words().begin(), whole.words().end());
  std::size_t refused = 0;
  std::size_t read = 0;

  for (std::size_t at = 0; at < words.size() * 8; ++at) {
    for (const unsigned change : {0x01u, 0x80u, 0xffu}) {
      std::vector<std::uint64_t> changed = words;
      changed[at / 8] ^= std::uint64_t{change} << at % 8 * 8;
      Parcels beside = parcels;
      const auto batch = decode_batch(frame_of(changed), kNow, kSilos, {nullptr, &beside});
      if (!batch.ok()) {
        ASSERT_EQ(batch.status().code(), StatusCode::kProtocolError) << batch.status().to_string();
        ++refused;
        continue;
      }
      // What was accepted can be written again: nothing in it leads astray.
      Parcels again;
      EXPECT_FALSE(encode_batch(batch->from, batch->envelopes, kNow, {nullptr, &again}).empty());
      ++read;
    }
  }

  EXPECT_GT(refused, words.size());
  EXPECT_GT(read, words.size()) << "most numbers are nobody's business but the silo's";
}

/// Gives arrays as numbers, and remembers what it took.
class CountedArrays final : public ArrayTravel {
 public:
  Status check(const Array&) override {
    return is_refusing ? cancelled("its client has gone") : Status();
  }
  Frame give(const Array&) override {
    return Frame::make(1, [this](auto words) { words[0] = ++given; });
  }
  Result<Array> take(const Frame& frame, SiloId from) override {
    if (frame.words().size() != 1) return protocol_error("no number");
    taken.emplace_back(frame.words()[0], from);
    return Array();
  }

  bool is_refusing = false;
  std::uint64_t given = 0;
  std::vector<std::pair<std::uint64_t, SiloId>> taken;
};

TEST(EnvelopeBatches, ArraysGoToAnotherProcessAsThoseSayWhoKnowThemAndElseNowhere) {
  Envelope envelope = make_envelope(Kind::kCall);
  envelope.parcel = nullptr;
  auto beside = std::make_shared<Attachments>();
  beside->emplace_back(Array());
  beside->emplace_back(Array());
  envelope.payload.attachments = std::move(beside);
  CountedArrays arrays;

  const Status nowhere = check_travels(envelope);
  ASSERT_EQ(check_travels(envelope, &arrays), Status());
  // The two share their payload: what is beside it is given once.
  const std::vector<Envelope> batch = {envelope, envelope};
  const Frame frame = encode_batch(2, batch, kNow, {nullptr, nullptr, &arrays});
  const auto back = decode_batch(frame, kNow, kSilos, {nullptr, nullptr, &arrays});
  const auto nobody = decode_batch(frame, kNow, kSilos, {});
  arrays.is_refusing = true;
  const Status refused = check_travels(envelope, &arrays);

  EXPECT_EQ(nowhere.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(nowhere.message().find("send its values"), std::string::npos);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  ASSERT_EQ(back->envelopes.at(1).payload.attachments->size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Array>(back->envelopes[1].payload.attachments->at(1)));
  EXPECT_EQ(arrays.taken, (std::vector<std::pair<std::uint64_t, SiloId>>{{1, 2}, {2, 2}}));
  EXPECT_EQ(nobody.status().code(), StatusCode::kProtocolError);
  EXPECT_EQ(refused.code(), StatusCode::kCancelled);
}

/// A member is made from an array.
class Reader {
 public:
  static void describe(ActorType<Reader>&) {}
  Reader(const Self&, const Array&) {}
};

TEST(EnvelopeBatches, ArraysAreTakenInTheOrderOfTheirGivingWhateverTheyAreBeside) {
  Envelope start = start_of(make_mesh());
  start.parcel->factory = internal::factory_of<Reader>(Array());
  Envelope call = make_envelope(Kind::kCall);
  call.parcel = nullptr;
  call.payload.attachments = std::make_shared<const Attachments>(Attachments{Array(), Array()});
  CountedArrays arrays;

  const std::vector<Envelope> batch = {start, call, start};
  const Frame frame = encode_batch(2, batch, kNow, {nullptr, nullptr, &arrays});
  const auto back = decode_batch(frame, kNow, kSilos, {nullptr, nullptr, &arrays});

  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(arrays.taken,
            (std::vector<std::pair<std::uint64_t, SiloId>>{{1, 2}, {2, 2}, {3, 2}, {4, 2}}));
}

}  // namespace
}  // namespace seaway::app
