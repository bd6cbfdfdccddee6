// What handlers say of their invocations, and how their coroutines wait for futures.

#include "app/delivery.hpp"

#include <atomic>
#include <utility>

#include "app/silo.hpp"
#include "base/check.hpp"
#include "seaway/app/task.hpp"

namespace seaway::app {

Delivery* current_delivery();

namespace {

/// An answer that may be given in any thread, and after everything else has ended.
class PromiseKeeper final : public internal::Keeper {
 public:
  PromiseKeeper(Delivery& delivery, std::shared_ptr<Door> door, Silo& silo, std::string what)
      : delivery_(delivery),
        ticket_(delivery.ticket),
        door_(std::move(door)),
        silo_(silo),
        what_(std::move(what)) {}
  ~PromiseKeeper() override {
    keep(user_function_error(what_ + " dropped its promise without an answer"));
  }
  void keep(Result<internal::RawMessage> reply) override {
    if (is_kept_.exchange(true)) return;
    // The silo looks at the ticket: the delivery may have become another one's.
    door_->post([&delivery = delivery_, &silo = silo_, ticket = ticket_,
                 reply = std::move(reply)]() mutable {
      silo.answer_later(delivery, ticket, std::move(reply));
    });
  }

 private:
  Delivery& delivery_;
  const std::uint64_t ticket_;
  std::shared_ptr<Door> door_;
  Silo& silo_;
  const std::string what_;
  std::atomic<bool> is_kept_ = false;
};

class StreamSinkOf final : public internal::ItemSink {
 public:
  explicit StreamSinkOf(Delivery& delivery) : delivery_(delivery), ticket_(delivery.ticket) {}
  Future<void> write(internal::RawMessage item) override {
    if (internal::current_invocation() != &delivery_ || delivery_.ticket != ticket_) {
      return Future<void>::of(invalid_argument("a stream is written to in its own handler"));
    }
    return delivery_.silo->write_item(delivery_, ticket_, std::move(item));
  }

 private:
  Delivery& delivery_;
  const std::uint64_t ticket_;
};

}  // namespace

void Delivery::finish(Result<internal::RawMessage> own) { reply.emplace(std::move(own)); }
void Delivery::crash(Status cause) { crash_cause.emplace(std::move(cause)); }

std::shared_ptr<internal::Keeper> Delivery::promise() {
  return std::make_shared<PromiseKeeper>(
      *this, silo->wiring().door, *silo,
      member->to_string() + " in its handler of " + method->name);
}
std::shared_ptr<internal::ItemSink> Delivery::sink() {
  return std::make_shared<StreamSinkOf>(*this);
}

std::shared_ptr<internal::Caller> Delivery::caller() { return member->shared_from_this(); }

void DeliveryPool::give_back(Delivery& delivery) {
  if (delivery.root) std::exchange(delivery.root, nullptr).destroy();
  delivery.request = {};
  delivery.sender = {};
  delivery.resumes = nullptr;
  delivery.awaits = nullptr;
  delivery.is_cancelled = false;
  delivery.state = Delivery::State::kFree;
  delivery.is_resuming = delivery.is_waiting = false;
  delivery.call = 0;
  delivery.reply.reset();
  delivery.crash_cause.reset();
  delivery.forwards.clear();
  delivery.node = nullptr;
  delivery.death.reset();
  delivery.owes_credit = delivery.is_stream = delivery.is_once = delivery.awaits_argument = false;
  delivery.blocked_write.reset();
  delivery.blocked_item = {};
  delivery.ticket = 0;
  free_.push_back(&delivery);
  --used_;
}

}  // namespace seaway::app

namespace seaway::internal {

void Suspension::begin(const std::shared_ptr<FutureCore>& core, std::coroutine_handle<> point) {
  auto* delivery = static_cast<app::Delivery*>(current_invocation());
  SEAWAY_CHECK(delivery != nullptr);  // co_await of a future outside of any handler.
  core_ = core;
  invocation_ = delivery;
  delivery->resumes = point;
  delivery->awaits = core.get();
  if (delivery->is_cancelled) core->cancel();
  CallBase* const call = core->as_call();
  if (call && call->call_id != 0 && !call->resumes && call->caller_member == delivery->member) {
    call->resumes = delivery;
    return;
  }
  token_ = std::make_shared<std::atomic<Invocation*>>(delivery);
  app::Silo* const silo = delivery->silo;
  core->then(inline_executor(), [token = token_, silo, door = silo->wiring().door] {
    door->post([token, silo] {
      if (Invocation* const waiting = token->load()) {
        silo->resume_later(static_cast<app::Delivery&>(*waiting));
      }
    });
  });
}

void Suspension::withdraw() {
  if (!core_) return;
  if (token_) token_->store(nullptr);
  if (CallBase* const call = core_->as_call(); call && call->resumes == invocation_) {
    call->resumes = nullptr;
  }
  auto* delivery = static_cast<app::Delivery*>(invocation_);
  if (delivery->awaits == core_.get()) delivery->awaits = nullptr;
  core_.reset();
  token_.reset();
}

}  // namespace seaway::internal
