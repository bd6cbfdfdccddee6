// Peers that were built from two versions of one schema: each understands what it knows.

#include "cast.hpp"
#include "order_after.capnp.h"
#include "order_before.capnp.h"

namespace seaway::app_test {
namespace {

/// How a peer of the older build sees a shop; and such a shop.
class OldShop {
 public:
  static void describe(ActorType<OldShop>& type) { type.on(&OldShop::sell); }
  explicit OldShop(const Self&) {}

  Reply<before::Invoice> sell(Request<before::Order> order) {
    return make<before::Invoice>(
        [&](before::Invoice::Builder m) { m.setPrice(100 * order->getCount()); });
  }
};

class NewShop {
 public:
  static void describe(ActorType<NewShop>& type) {
    type.on(&NewShop::sell).on(&NewShop::refund).on(&NewShop::log);
  }
  explicit NewShop(const Self&) {}

  Reply<after::Invoice> sell(Request<after::Order> order) {
    log_ = std::string(order->getItem().cStr()) + ", " + order->getNote().cStr() + ", " +
           std::to_string(order->getSizes().size()) + " sizes";
    return make<after::Invoice>([&](after::Invoice::Builder m) {
      m.setPrice(order->getCount() * (100 - order->getDiscount()));
      m.setCurrency("CHF");
    });
  }
  Status refund(Request<after::Refund>) { return {}; }
  Reply<Answer> log(Request<Log>) {
    return make<Answer>([this](Answer::Builder m) { m.setText(log_); });
  }

 private:
  std::string log_;
};

/// Of the older build: hands on what it is asked, without knowing all of it.
class OldAgent {
 public:
  static void describe(ActorType<OldAgent>& type) { type.on(&OldAgent::sell); }
  OldAgent(const Self&, ActorRef<OldShop> shop) : shop_(std::move(shop)) {}

  Task<Reply<before::Invoice>> sell(Request<before::Order> order) {
    co_return co_await shop_.call(&OldShop::sell, order);
  }

 private:
  ActorRef<OldShop> shop_;
};

class SchemaEvolution : public OnACluster {
 protected:
  /// The same members, as another build knows them.
  template <class To, class From>
  static ActorRef<To> as(const ActorRef<From>& actor) {
    return ActorRef<To>(ActorMesh<To>(actor.mesh().caller(), actor.members(), {}));
  }
  static void fill_old(before::Order::Builder m) {
    m.setItem("shirt");
    m.setCount(2);
  }
  static void fill_new(after::Order::Builder m) {
    m.setItem("shirt");
    m.setCount(2);
    m.setDiscount(50);
    m.setNote("a present");
    m.initSizes(3);
  }
  template <class A, class... Arguments>
  ActorRef<A> spawn(const Arguments&... arguments) {
    return client.spawn<A>(client.hosts(), arguments...).value().at(1);
  }
};

TEST_F(SchemaEvolution, AnOlderCallersMissingFieldsHaveTheirDefaults) {
  const auto shop = spawn<NewShop>();

  const auto invoice = as<OldShop>(shop).call(&OldShop::sell, fill_old).get();

  ASSERT_TRUE(invoice.ok()) << invoice.status().to_string();
  EXPECT_EQ(invoice.value()->getPrice(), 2u * 90u);
  EXPECT_EQ(said(shop, &NewShop::log), "shirt, no note, 0 sizes");
}

TEST_F(SchemaEvolution, ANewerCallersFieldsAreNotSeenByAnOlderHandler) {
  const auto shop = spawn<OldShop>();

  const auto invoice = as<NewShop>(shop).call(&NewShop::sell, fill_new).get();

  ASSERT_TRUE(invoice.ok()) << invoice.status().to_string();
  EXPECT_EQ(invoice.value()->getPrice(), 200u);
  EXPECT_STREQ(invoice.value()->getCurrency().cStr(), "EUR");
}

TEST_F(SchemaEvolution, WhatAnOlderPeerHandsOnKeepsTheFieldsThatItDoesNotKnow) {
  const auto shop = spawn<NewShop>();
  const auto agent = spawn<OldAgent>(as<OldShop>(shop));

  const auto invoice = as<NewShop>(agent).call(&NewShop::sell, fill_new).get();

  ASSERT_TRUE(invoice.ok()) << invoice.status().to_string();
  EXPECT_EQ(said(shop, &NewShop::log), "shirt, a present, 3 sizes");
  EXPECT_EQ(invoice.value()->getPrice(), 2u * 50u);
  EXPECT_STREQ(invoice.value()->getCurrency().cStr(), "CHF");
}

TEST_F(SchemaEvolution, AMessageThatAnOlderPeerDoesNotKnowIsUnimplemented) {
  const auto shop = spawn<OldShop>();

  const Status status = as<NewShop>(shop).call(&NewShop::refund).get().status();

  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "OldShop[1] knows no message of type " +
                                  std::to_string(capnp::typeId<after::Refund>()) +
                                  "; it handles: Order");
  EXPECT_TRUE(as<NewShop>(shop).call(&NewShop::sell).get().ok());
}

}  // namespace
}  // namespace seaway::app_test
