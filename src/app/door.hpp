// Door: the way into a silo from other threads, which it may outlive.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "actor/actor.hpp"
#include "actor/engine_gate.hpp"
#include "app/envelope.hpp"

namespace seaway::app {

class ClientCaller;

/// What client threads and other silos have for a silo, in order. Thread-safe.
class Door {
 public:
  struct Posted {
    std::shared_ptr<ClientCaller> caller;
    internal::CallOrder order;   // Of `caller`; or
    std::function<void()> work;  // anything else.
  };
  struct Content {
    std::vector<Envelope> envelopes;
    std::vector<Posted> posted;
  };

  /// `poke` is any frame; the silo's actor looks here whenever it is sent one.
  /// `gate`: of the actor's engine, where it has threads.
  void open(actor::Address actor, Frame poke, std::shared_ptr<actor::EngineGate> gate = nullptr) {
    std::lock_guard guard(mutex_);
    actor_ = std::move(actor);
    poke_ = std::move(poke);
    gate_ = std::move(gate);
  }
  /// False once the silo has ended; `posted` is then what it was.
  bool post(Posted& posted) {
    return put([&posted](Content& content) { content.posted.push_back(std::move(posted)); });
  }
  bool post(std::function<void()> work) {
    Posted posted{nullptr, {}, std::move(work)};
    return post(posted);
  }
  bool deliver(std::vector<Envelope>& batch) {
    return put([&batch](Content& content) {
      if (content.envelopes.empty()) {
        content.envelopes.swap(batch);
      } else {
        for (Envelope& envelope : batch) content.envelopes.push_back(std::move(envelope));
      }
    });
  }
  void poke() const { actor_.send(poke_); }

  /// Swaps what lies here for `content`, which is empty.
  void take(Content& content) {
    std::lock_guard guard(mutex_);
    std::swap(content, content_);
  }
  /// Nothing is taken any more; returns what still lay here.
  Content close() {
    Content left;
    std::lock_guard guard(mutex_);
    is_closed_ = true;
    std::swap(left, content_);
    return left;
  }

 private:
  template <class Put>
  bool put(Put&& into) {
    actor::EngineStay stay;
    {
      std::lock_guard guard(mutex_);
      if (is_closed_) return false;
      const bool was_empty = content_.envelopes.empty() && content_.posted.empty();
      into(content_);
      // The silo may end once this is unlocked, and its engine with it; then it looks here itself.
      if (was_empty) stay = actor::EngineStay(gate_.get());
    }
    if (stay) poke();
    return true;
  }

  std::mutex mutex_;
  Content content_;
  bool is_closed_ = false;
  actor::Address actor_;
  Frame poke_;
  std::shared_ptr<actor::EngineGate> gate_;
};

}  // namespace seaway::app
