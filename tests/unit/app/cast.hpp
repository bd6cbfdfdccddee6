// The actors that several tests of the app room spawn, and the cluster that they live on.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"
#include "messages.capnp.h"
#include "seaway/app.hpp"

namespace seaway::app_test {

/// Counts, and does what it is told to do with itself.
class Counter {
 public:
  static void describe(ActorType<Counter>& type) {
    type.on(&Counter::add).on(&Counter::ask).on(&Counter::total).on(&Counter::nothing);
  }
  explicit Counter(Self self, std::int64_t start = 0) : self_(std::move(self)), total_(start) {
    if (start < 0) throw std::invalid_argument("it counts from 0");
  }

  Reply<Total> add(Request<Add> request) {
    total_ += request->getAmount();
    return reply();
  }
  /// "throw", "fail", "stop" or anything else, which is repeated.
  Task<Reply<Answer>> ask(Request<Ask> request) {
    const std::string text = request->getText().cStr();
    if (text == "throw") throw std::runtime_error("asked to");
    if (text == "fail") self_.fail(user_function_error("asked to fail"));
    if (text == "stop") self_.stop();
    co_return make<Answer>([&](Answer::Builder m) {
      m.setText("you said " + text);
      m.setNumber(self_.index());
    });
  }
  Result<Reply<Total>> total(Request<Total> request) {
    if (request->getTotal() < 0) return invalid_argument("less than nothing");
    total_ += request->getTotal();
    return reply();
  }
  Status nothing(Request<Nothing>) { return {}; }

 private:
  Reply<Total> reply() const {
    return make<Total>([this](Total::Builder m) {
      m.setTotal(total_);
      m.setName(self_.name());
    });
  }
  Self self_;
  std::int64_t total_;
};

/// Answers nobody until it is opened.
class Gate {
 public:
  static void describe(ActorType<Gate>& type) {
    type.on(&Gate::hold).on(&Gate::open).on(&Gate::held);
  }
  explicit Gate(Self self) : self_(std::move(self)) {}

  void hold(Request<Hold> request, Promise<Answer> promise) {
    texts_.push_back(request->getText().cStr());
    promises_.push_back(std::move(promise));
  }
  Reply<Answer> open(Request<Open>) {
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      promises_[i].keep([&](Answer::Builder m) {
        m.setText(texts_[i]);
        m.setNumber(static_cast<std::uint32_t>(i));
      });
    }
    promises_.clear();
    texts_.clear();
    return held({});
  }
  Reply<Answer> held(Request<Held>) {
    return make<Answer>([this](Answer::Builder m) {
      std::string all;
      for (const std::string& text : texts_) all += (all.empty() ? "" : ", ") + text;
      m.setText(all);
      m.setNumber(static_cast<std::uint32_t>(promises_.size()));
    });
  }

 private:
  Self self_;
  std::vector<std::string> texts_;
  std::vector<Promise<Answer>> promises_;
};

/// Waits at a gate, and writes down what it was told and what came of it.
class Pupil {
 public:
  static void describe(ActorType<Pupil>& type) {
    type.on(&Pupil::wait)
        .on(&Pupil::add)
        .on(&Pupil::ask, Interleave::kYes)
        .on(&Pupil::log, Interleave::kYes);
  }
  Pupil(Self self, ActorRef<Gate> gate) : self_(std::move(self)), gate_(std::move(gate)) {}

  Task<Reply<Answer>> wait(Request<Hold> request) {
    const std::string text = request->getText().cStr();
    log_ += "<" + text;
    auto answer = co_await gate_.call(&Gate::hold, [&](Hold::Builder m) { m.setText(text); });
    log_ += (self_.is_cancelled() ? "!" : "") + text + ">";
    co_return answer;
  }
  Reply<Total> add(Request<Add> request) {
    log_ += "+" + std::to_string(request->getAmount());
    return make<Total>([&](Total::Builder m) { m.setTotal(request->getAmount()); });
  }
  /// Begins also while wait() waits.
  Reply<Answer> ask(Request<Ask> request) {
    log_ += "?" + std::string(request->getText().cStr());
    return make<Answer>([&](Answer::Builder m) { m.setText(log_); });
  }
  Reply<Answer> log(Request<Log>) {
    return make<Answer>([&](Answer::Builder m) { m.setText(log_); });
  }

 private:
  Self self_;
  ActorRef<Gate> gate_;
  std::string log_;
};

inline auto amount(std::int64_t amount) {
  return [amount](Add::Builder m) { m.setAmount(amount); };
}
inline auto text(std::string text) {
  return [text = std::move(text)](Ask::Builder m) { m.setText(text); };
}
inline auto hold(std::string text) {
  return [text = std::move(text)](Hold::Builder m) { m.setText(text); };
}
/// What an actor that answers with text says.
template <class A, class M>
std::string said(const ActorRef<A>& actor, M method) {
  const auto answer = actor.call(method).get();
  return answer.ok() ? std::string(answer.value()->getText().cStr()) : answer.status().to_string();
}

/// An embedded cluster of four hosts with one client.
class OnACluster : public testing::Test {
 protected:
  /// What all silos have, in the order of their numbers, once nothing is on its way any more.
  std::vector<app::Silo::Stock> stocks() {
    app::Apps& apps = cluster.state()->embedded->apps();
    std::vector<app::Silo::Stock> stocks(apps.hosts() + 1);
    // What a silo says lies at the other's door before it answers here, so that each round
    // outlasts one hop; no chain of words is as long as this.
    for (int round = 0; round < 12; ++round) {
      for (app::SiloId id = 0; id < stocks.size(); ++id) {
        std::promise<app::Silo::Stock> taken;
        app::Silo& silo = *apps.silo(id);
        silo.wiring().door->post([&] { taken.set_value(silo.stock()); });
        stocks[id] = taken.get_future().get();
      }
    }
    return stocks;
  }
  /// Returns once nothing is on its way between silos any more.
  void settle() { static_cast<void>(stocks()); }
  /// Nothing of actors is left anywhere.
  bool is_clean() { return stocks() == std::vector<app::Silo::Stock>(5); }

  Cluster cluster = Cluster::start("embedded:islands=4,devices=1").value();
  Client client = cluster.connect().value();
};

}  // namespace seaway::app_test
