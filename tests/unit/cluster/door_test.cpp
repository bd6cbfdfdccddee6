// What is heard of whom: kinds by role, nobody's name but one's own, lists of their types.

#include "cluster/door.hpp"

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <functional>

#include "cluster/enrolment.hpp"
#include "cluster/member_messages.hpp"
#include "wire/frame_builder.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using wire::Message;

constexpr DoorLimits kLimits{.islands = 2, .devices = 4};
const RoleName kController{Role::kController, 0};
const RoleName kHost{Role::kHost, 1};
const RoleName kScheduler{Role::kIsland, 1};
const RoleName kClient{Role::kClient, 3};
const RoleName kAnnex{Role::kAnnex, actor::annex_of(1, 2)};

Frame message(const std::function<void(Message::Builder)>& fill) {
  wire::FrameBuilder builder;
  fill(builder.init_root<Message>());
  return builder.finish();
}

Status hear(const RoleName& from, const RoleName& to,
            const std::function<void(Message::Builder)>& fill) {
  return check_at_door(from, to, message(fill), kLimits);
}

/// `frame`, whose pointer to a list of `size` elements, or of as many words of structs, says now
/// that they are bits.
Frame with_bits_for_list(const Frame& frame, std::uint64_t size) {
  std::vector<std::uint64_t> words(frame.words().begin(), frame.words().end());
  for (std::uint64_t& word : words) {
    if ((word & 3) == 1 && word >> 35 == size) {
      word = (word & ~(std::uint64_t{7} << 32)) | 1ULL << 32;
    }
  }
  return Frame::make(words.size(), [&](auto out) { std::ranges::copy(words, out.begin()); });
}

TEST(Door, AClientSpeaksInItsOwnNameAlone) {
  const auto goodbye = [](ClientId client) {
    return [client](Message::Builder m) {
      m.setClient(client);
      m.setGoodbye();
    };
  };

  EXPECT_TRUE(hear(kClient, kController, goodbye(3)).ok());
  const Status other = hear(kClient, kController, goodbye(4));
  EXPECT_EQ(other.code(), StatusCode::kProtocolError);
  EXPECT_EQ(other.message(), "client 3 has named client 4, which does not exist or is not its own");
}

TEST(Door, NobodySaysWhatAnotherRoleSays) {
  const auto arrived = [](Message::Builder m) { m.initArrived(1); };
  const auto turn = [](Message::Builder m) { m.setTurn(1); };

  EXPECT_TRUE(hear(kHost, kController, arrived).ok());
  EXPECT_FALSE(hear(kClient, kController, arrived).ok());
  EXPECT_FALSE(hear(kScheduler, kController, arrived).ok());
  EXPECT_TRUE(hear(kController, kHost, turn).ok());
  EXPECT_FALSE(hear(kScheduler, kHost, turn).ok());
  EXPECT_FALSE(hear(kController, kHost, [](Message::Builder m) { m.initPeer(); }).ok())
      << "what became of others a process tells itself";
}

TEST(Door, ClientNamesOwnIdsAlone) {
  const std::uint64_t own = make_id(3, 1), foreign = make_id(4, 1);
  using Fill = std::function<void(Message::Builder, std::uint64_t)>;
  const auto record = [](wire::ClientRecord::Kind kind, auto set) -> Fill {
    return [kind, set](Message::Builder m, std::uint64_t id) {
      auto one = m.initRuns().initRecords(1)[0];
      one.setKind(kind);
      one.setId(make_id(3, 2));
      one.setObject(make_id(3, 3));
      one.setFirst(make_id(3, 4));
      set(one, id);
    };
  };
  const auto request = [](auto set) -> Fill {
    return [set](Message::Builder m, std::uint64_t id) { set(m.initRequest(), id); };
  };
  using Kind = wire::ClientRecord::Kind;
  const auto set_id = [](auto one, std::uint64_t id) { one.setId(id); };
  const auto set_object = [](auto one, std::uint64_t id) { one.setObject(id); };
  const auto set_first = [](auto one, std::uint64_t id) { one.setFirst(id); };
  const std::vector<Fill> all = {
      [](Message::Builder m, std::uint64_t id) { m.initDefineFunction().setId(id); },
      [](Message::Builder m, std::uint64_t id) { m.initDefineProgram().setId(id); },
      record(Kind::RUN, set_id),
      record(Kind::RUN, set_object),
      record(Kind::RUN, set_first),
      record(Kind::PUT, set_id),
      record(Kind::PUT, set_object),
      record(Kind::RELEASE, set_id),
      record(Kind::FETCH, set_id),
      record(Kind::CANCEL, set_id),
      record(Kind::FORGET, set_id),
      request([](auto r, std::uint64_t id) { r.initAcquireSlice().setId(id); }),
      request([](auto r, std::uint64_t id) { r.setReleaseSlice(id); }),
      request([](auto r, std::uint64_t id) { r.setRebindSlice(id); }),
      request([](auto r, std::uint64_t id) { r.setWhy(id); }),
      request([](auto r, std::uint64_t id) { r.initDefineSpec().setId(id); }),
      request([](auto r, std::uint64_t id) { r.initDefineForeign().setId(id); })};

  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto with = [&](std::uint64_t id) {
      return hear(kClient, kController, [&](Message::Builder m) {
        m.setClient(3);
        all[i](m, id);
      });
    };
    EXPECT_TRUE(with(own).ok()) << i << ": " << with(own).to_string();
    EXPECT_EQ(with(foreign).code(), StatusCode::kProtocolError) << i;
  }
}

/// A host keeps what comes until it has heard of that turn: for ever, if there is none.
TEST(Door, SchedulersAloneNameTurns) {
  const auto with_turn = [](auto fill) {
    return [fill](Message::Builder m) {
      fill(m);
      m.setAfterTurn(7);
    };
  };
  const auto taken = with_turn([](Message::Builder m) {
    m.setClient(3);
    m.initTaken(1);
  });

  EXPECT_TRUE(hear(kScheduler, kHost, with_turn([](Message::Builder m) { m.initOrders(0); })).ok());
  EXPECT_EQ(hear(kClient, kHost, taken).message(),
            "client 3 has named turn 7, which does not exist or is not its own");
  EXPECT_FALSE(hear(kHost, kScheduler, with_turn([](Message::Builder m) { m.initDones(); })).ok());
  EXPECT_FALSE(
      hear(kAnnex, kHost, with_turn([](Message::Builder m) { m.initAnnexAnswers(0); })).ok());
}

TEST(Door, WhatAnUploadIsOfBelongsToWhoSendsIt) {
  const auto upload = [](std::uint64_t array) {
    return [array](Message::Builder m) {
      m.setClient(3);
      auto bulk = m.initBulk();
      bulk.setKind(wire::Bulk::Kind::UPLOAD);
      bulk.setId(array);
    };
  };

  EXPECT_TRUE(hear(kClient, kHost, upload(make_id(3, 1))).ok());
  EXPECT_FALSE(hear(kClient, kHost, upload(make_id(4, 1))).ok());
}

TEST(Door, IndicesNameWhatIsThere) {
  const auto complaint = [](Role about, std::uint32_t index) {
    return [about, index](Message::Builder m) {
      m.setClient(3);
      auto said = m.initComplaint();
      said.setRole(static_cast<std::uint8_t>(about));
      said.setIndex(index);
      said.setByRole(static_cast<std::uint8_t>(Role::kClient));
      said.setByIndex(3);
    };
  };
  const auto lost = [](DeviceId device) {
    return [device](Message::Builder m) {
      m.initDeviceLost().setIsland(1);
      m.getDeviceLost().setDevice(device);
    };
  };

  EXPECT_TRUE(hear(kClient, kController, complaint(Role::kHost, 1)).ok());
  EXPECT_FALSE(hear(kClient, kController, complaint(Role::kHost, 2)).ok());
  EXPECT_FALSE(hear(kClient, kController, complaint(Role::kIsland, 1)).ok());
  EXPECT_TRUE(hear(kHost, kController, lost(3)).ok());
  EXPECT_FALSE(hear(kHost, kController, lost(4)).ok());
}

TEST(Door, JoiningIsDoneByWhoeverJoins) {
  EXPECT_TRUE(check_at_door(kHost, kController, join_frame(kHost, 1), kLimits).ok());
  EXPECT_FALSE(check_at_door(kHost, kController, join_frame(kScheduler, 1), kLimits).ok());
  EXPECT_FALSE(check_at_door(kHost, kController, join_frame({Role::kHost, 0}, 1), kLimits).ok());
}

TEST(Door, AListOfAnotherTypeIsRefusedBeforeAnybodyReadsIt) {
  const Frame frame = message([](Message::Builder m) { m.initArrived(4); });
  ASSERT_TRUE(check_at_door(kHost, kController, frame, kLimits).ok());

  EXPECT_EQ(check_at_door(kHost, kController, with_bits_for_list(frame, 4), kLimits).code(),
            StatusCode::kProtocolError);
}

TEST(Door, AnAnnexTalksWithItsOwnHostAlone) {
  const auto orders = [](Message::Builder m) { m.initAnnexOrders(1)[0].setDrop(7); };
  const auto answers = [](Message::Builder m) { m.initAnnexAnswers(1)[0].setTicket(7); };
  const auto weights = [](Message::Builder m) { m.initWeights(1)[0].setWeight(2); };
  const auto compile = [](Message::Builder m) { m.initCompile().setId(7); };
  const auto compiled = [](std::uint32_t host) {
    return [host](Message::Builder m) { m.initCompiled().setHost(host); };
  };
  const RoleName other_host{Role::kHost, 0}, other_annex{Role::kAnnex, actor::annex_of(1, 1)};

  EXPECT_TRUE(hear(kHost, kAnnex, orders).ok());
  EXPECT_TRUE(hear(kHost, kAnnex, compile).ok());
  EXPECT_TRUE(hear(kHost, kAnnex, weights).ok());
  EXPECT_TRUE(hear(kAnnex, kHost, answers).ok());
  EXPECT_TRUE(hear(kAnnex, kHost, compiled(2)).ok());
  EXPECT_EQ(hear(kAnnex, kHost, compiled(1)).message(),
            "host 2 of island 1 has named host 1, which does not exist or is not its own");
  for (const RoleName& stranger : {kController, kScheduler, kClient, other_host, other_annex}) {
    EXPECT_EQ(hear(kAnnex, stranger, answers).code(), StatusCode::kProtocolError);
    EXPECT_EQ(hear(kAnnex, stranger, compiled(2)).code(), StatusCode::kProtocolError);
    EXPECT_EQ(hear(stranger, kAnnex, orders).code(), StatusCode::kProtocolError);
    EXPECT_EQ(hear(stranger, kAnnex, weights).code(), StatusCode::kProtocolError);
    EXPECT_EQ(hear(stranger, kAnnex, compile).code(), StatusCode::kProtocolError);
  }
}

TEST(Door, AnAnnexSaysNothingThatAHostSays) {
  for (const auto& fill : std::vector<std::function<void(Message::Builder)>>{
           [](Message::Builder m) { m.initArrived(1); }, [](Message::Builder m) { m.initDones(); },
           [](Message::Builder m) { m.initPeer(); }, [](Message::Builder m) { m.initBulk(); },
           [](Message::Builder m) { m.initAnnexOrders(1); }}) {
    EXPECT_FALSE(hear(kAnnex, kHost, fill).ok());
    EXPECT_FALSE(hear(kAnnex, kController, fill).ok());
  }
  EXPECT_FALSE(check_at_door(kAnnex, kController, join_frame(kAnnex, 1), kLimits).ok());
  EXPECT_FALSE(hear(kHost, kAnnex, [](Message::Builder m) { m.initAnnexAnswers(1); }).ok());
  EXPECT_FALSE(hear(kHost, kController, [](Message::Builder m) { m.initAnnexOrders(1); }).ok());
}

TEST(Door, WhatAnnexesAreOrderedIsReadToItsEnd) {
  const auto hear_spoilt = [](std::uint64_t size,
                              const std::function<void(wire::AnnexOrder::Builder)>& fill) {
    const Frame frame = message([&](Message::Builder m) { fill(m.initAnnexOrders(1)[0]); });
    EXPECT_TRUE(check_at_door(kHost, kAnnex, frame, kLimits).ok());
    return check_at_door(kHost, kAnnex, with_bits_for_list(frame, size), kLimits).code();
  };

  // A place has two words.
  EXPECT_EQ(hear_spoilt(10, [](auto order) { order.initRun().initOperands(5); }),
            StatusCode::kProtocolError);
  EXPECT_EQ(hear_spoilt(10, [](auto order) { order.initRun().initOutputs(5); }),
            StatusCode::kProtocolError);
  EXPECT_EQ(hear_spoilt(5, [](auto order) { order.initWrite().initData(5); }),
            StatusCode::kProtocolError);
}

TEST(Door, BytesThatAreNoMessageAreRefused) {
  const Frame none;
  EXPECT_EQ(check_at_door(kHost, kController, none, kLimits).code(), StatusCode::kProtocolError);
}

TEST(Enrolment, ANumberThatNobodyComesWithIsTakenBackBeforeOthersAreRefused) {
  Enrolment enrolment(1);
  const auto first = enrolment.enrol({Role::kClient, 0}).value();
  enrolment.came(first.process);
  const auto absent = enrolment.enrol({Role::kClient, 0}).value();
  for (std::size_t i = 2; i < Enrolment::kClientsAtOnce; ++i) {
    ASSERT_TRUE(enrolment.enrol({Role::kClient, 0}).ok());
  }

  EXPECT_TRUE(enrolment.enrol({Role::kClient, 0}).ok());
  EXPECT_TRUE(enrolment.admit(first.process).ok()) << "who is there stays";
  EXPECT_EQ(enrolment.admit(absent.process).status().code(), StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace seaway::cluster
