// Enrolling by what is shown, passes, sessions that end, and what the log says.

#include "cluster/gatehouse.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace seaway::cluster {
namespace {

using actor::Role;
using transport::Caller;
using transport::ProcessId;

class GatehouseTest : public testing::Test {
 protected:
  GatehouseTest() {
    std::array<std::byte, transport::kTokenBytes> random{};
    random[0] = std::byte{1};
    ann_ = store_.issue({.tenant = "ann"}, random).value();
    random[0] = std::byte{2};
    worker_ =
        store_.issue({.tenant = "ops", .role = transport::TokenRole::kWorker}, random).value();
    gatehouse_.use(store_);
  }
  static Caller with(const std::string& token) {
    Caller caller;
    caller.name = "10.0.0.7:40000";
    caller.host = "10.0.0.7";
    caller.token = token;
    return caller;
  }
  Result<Frame> ask(const Caller& caller, const Question& question) {
    return gatehouse_.answer(
        caller, question, [] { return std::string("{}"); }, [this] { ++stops_; });
  }
  Result<Enrolled> enrol(const std::string& token, const RoleName& name) {
    const auto answer = ask(with(token), EnrolQuestion{name});
    if (!answer.ok()) return answer.status();
    return read_enrolled(*answer);
  }
  static Caller talker(const Enrolled& enrolled) {
    Caller caller = with("");
    caller.pass = enrolled.pass;
    caller.life = enrolled.life;
    return caller;
  }
  bool has_audit(const std::string& part) const {
    for (const std::string& line : audit_) {
      if (line.find(part) != line.npos) return true;
    }
    return false;
  }

  ManualClock clock_;
  std::uint64_t now_s_ = 1000;
  std::vector<std::string> audit_;
  int stops_ = 0;
  transport::TokenStore store_;
  std::string ann_, worker_;
  Gatehouse gatehouse_{{.shape = 2,
                        .life = 1,
                        .cluster = 7,
                        .spec = "embedded:islands=2",
                        .audit = [this](const std::string& line) { audit_.push_back(line); },
                        .utc_s = [this] { return now_s_; }},
                       std::string(transport::kPassKeyBytes, 'k'),
                       clock_};
};

TEST_F(GatehouseTest, AClientGetsAPassAndItsTenantAndNoKey) {
  const auto enrolled = enrol(ann_, {Role::kClient, 0});

  ASSERT_TRUE(enrolled.ok()) << enrolled.to_string();
  EXPECT_EQ(enrolled->tenant, "ann");
  EXPECT_EQ(enrolled->key, "");
  EXPECT_TRUE(gatehouse_.admit(enrolled->process, talker(*enrolled)).ok());
  EXPECT_EQ(transport::tenant_of_pass(enrolled->pass), transport::tenant_key("ann"));
  EXPECT_TRUE(has_audit("accepted client 1, life 1, as token " + store_.records()[0].id +
                        " of tenant ann from 10.0.0.7:40000"));
}

TEST_F(GatehouseTest, OwnerChoosesOneTenant) {
  Caller owner;
  owner.is_local = owner.is_own_user = true;
  const auto bob = ask(owner, EnrolQuestion{{Role::kClient, 0}, "bob"});
  const auto any = ask(owner, EnrolQuestion{{Role::kClient, 0}});
  const auto ann = ask(with(ann_), EnrolQuestion{{Role::kClient, 0}, "bob"});

  EXPECT_EQ(read_enrolled(*bob)->tenant, "bob");
  EXPECT_EQ(transport::tenant_of_pass(read_enrolled(*bob)->pass), transport::tenant_key("bob"));
  EXPECT_EQ(read_enrolled(*any)->tenant, "default");
  EXPECT_EQ(read_enrolled(*ann)->tenant, "ann") << "a token decides";
}

TEST_F(GatehouseTest, TenantsHaveVisibleNames) {
  Caller owner;
  owner.is_local = owner.is_own_user = true;
  for (const std::string name : {"a\nb", "\x1b[2J", "\xff", "\xe2\x80\xae", "\xc2\x9b"}) {
    const auto refused = ask(owner, EnrolQuestion{{Role::kClient, 0}, name});

    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_TRUE(ask(owner, EnrolQuestion{{Role::kClient, 0}, "Zoë"}).ok());
}

TEST_F(GatehouseTest, AWorkerGetsTheKeyToo) {
  const auto enrolled = enrol(worker_, {Role::kHost, 1});

  ASSERT_TRUE(enrolled.ok());
  EXPECT_EQ(enrolled->key.size(), transport::kPassKeyBytes);
  Sessions of_host(enrolled->key, 7);
  const auto client = enrol(ann_, {Role::kClient, 0});
  EXPECT_TRUE(of_host.check_talk(client->process, talker(*client)).ok());
  EXPECT_FALSE(of_host.check_talk(client->process + 1, talker(*client)).ok());
}

TEST_F(GatehouseTest, WithoutAPassOrWithThatOfAnEarlierLifeNobodyTalks) {
  const auto first = enrol(worker_, {Role::kHost, 1});
  const auto client = enrol(ann_, {Role::kClient, 0});
  ASSERT_TRUE(first.ok() && client.ok());
  Caller old = talker(*first);
  old.life = 2;

  EXPECT_EQ(gatehouse_.admit(first->process, with("")).code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(gatehouse_.admit(first->process, old).code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(gatehouse_.admit(first->process, talker(*client)).code(), StatusCode::kUnauthenticated);
  // Nor with a pass of a life that is over.
  ASSERT_TRUE(enrol(worker_, {Role::kHost, 1}).ok());
  EXPECT_EQ(gatehouse_.admit(first->process, talker(*first)).code(), StatusCode::kUnauthenticated);
}

TEST_F(GatehouseTest, EachQuestionIsOfWhoMayAskIt) {
  const std::vector<Question> of_workers = {AnnounceQuestion{4, 1, "unix:/a"}, VouchQuestion{{}}};
  for (const Question& question : of_workers) {
    EXPECT_EQ(ask(with(ann_), question).status().code(), StatusCode::kPermissionDenied);
  }
  EXPECT_TRUE(ask(with(ann_), StatusQuestion{}).ok());
  EXPECT_EQ(ask(with(ann_), StopQuestion{}).status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(stops_, 0);
  for (const Question& question : {Question(StatusQuestion{}), Question(FindQuestion{1}),
                                   Question(EnrolQuestion{{Role::kClient, 0}})}) {
    EXPECT_EQ(ask(with(""), question).status().code(), StatusCode::kUnauthenticated);
  }
}

TEST_F(GatehouseTest, ARevokedTokenEndsItsSessionsForGood) {
  const auto client = enrol(ann_, {Role::kClient, 0});
  gatehouse_.came(client->process);
  ASSERT_TRUE(gatehouse_.end_invalid().empty());
  const std::string id = store_.records()[0].id;

  ASSERT_TRUE(store_.revoke(id).ok());
  gatehouse_.use(store_);
  const auto ended = gatehouse_.end_invalid();

  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].first, client->process);
  EXPECT_EQ(gatehouse_.admit(client->process, talker(*client)).code(),
            StatusCode::kUnauthenticated);
  EXPECT_TRUE(gatehouse_.end_invalid().empty());
  EXPECT_TRUE(has_audit("token " + id + " of tenant ann was revoked"));
  EXPECT_TRUE(has_audit("ended the session of process 5: token " + id + " was revoked"));
  const auto unwelcome =
      read_unwelcome(*ask(with(worker_), VouchQuestion{{client->process, 1, 99}}));
  EXPECT_EQ(*unwelcome, (std::vector<ProcessId>{client->process, 1, 99}));
}

TEST_F(GatehouseTest, WhoIsLetInAndNeverComesIsForgotten) {
  const auto client = enrol(ann_, {Role::kClient, 0});
  const auto silent = enrol(ann_, {Role::kClient, 0});
  gatehouse_.came(client->process);

  now_s_ += Sessions::kSilentSeconds;
  EXPECT_TRUE(gatehouse_.end_invalid().empty());
  ++now_s_;
  const auto ended = gatehouse_.end_invalid();

  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].first, silent->process);
  EXPECT_FALSE(gatehouse_.enrolment().admit(silent->process).ok());
}

TEST_F(GatehouseTest, ATenantHasSoManyClients) {
  for (std::size_t i = 0; i < Sessions::kClientsOfTenantMax; ++i) {
    ASSERT_TRUE(enrol(ann_, {Role::kClient, 0}).ok()) << i;
  }

  const Status refused = enrol(ann_, {Role::kClient, 0}).status();

  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("256 of 256 clients"), std::string::npos) << refused.message();
  gatehouse_.went(5);
  EXPECT_TRUE(enrol(ann_, {Role::kClient, 0}).ok());
}

TEST_F(GatehouseTest, WhatARefusedCallerIsNotToldIsInTheLog) {
  const auto refused = ask(with("swt_" + std::string(43, 'A')), StatusQuestion{});

  gatehouse_.refused(with(""), refused.status());
  gatehouse_.refused(with(""), resource_exhausted("full"));

  ASSERT_EQ(audit_.size(), 1u);
  for (int i = 0; i < 20; ++i) gatehouse_.refused(with(""), refused.status());
  EXPECT_EQ(audit_.size(), 10u);
  EXPECT_TRUE(audit_[0].starts_with("refused 10.0.0.7:40000: ")) << audit_[0];
  EXPECT_EQ(audit_[0].find(refused.status().message()), std::string::npos);
}

}  // namespace
}  // namespace seaway::cluster
