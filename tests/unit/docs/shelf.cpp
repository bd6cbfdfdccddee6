// What shelves and clerks do with their messages.

#include "shelf.hpp"

#include <string>

namespace shelves {

// [put]
constexpr std::uint32_t kRoom = 100;

seaway::Result<seaway::Reply<Level>> Shelf::put(seaway::Request<Put> request) {
  const std::uint32_t more = request->getAmount();
  if (amount_ + more > kRoom) {
    return seaway::invalid_argument(self_.name() + " has room for 100, not for " +
                                    std::to_string(amount_ + more));
  }
  amount_ += more;
  serve();
  return level();
}

seaway::Reply<Level> Shelf::level() const {
  return seaway::make<Level>([this](Level::Builder m) {
    m.setAmount(amount_);
    m.setShelf(self_.name());
  });
}
// [/put]

// [match]
seaway::Reply<Level> Shelf::match(seaway::Request<Level> other) {
  amount_ = other->getAmount();
  return level();
}
// [/match]

// [take]
void Shelf::take(seaway::Request<Take> request, seaway::Promise<Level> promise) {
  customers_.push_back({request->getAmount(), std::move(promise)});
  serve();
}

void Shelf::serve() {
  while (!customers_.empty() && customers_.front().amount <= amount_) {
    amount_ -= customers_.front().amount;
    customers_.front().promise.keep(level());
    customers_.erase(customers_.begin());
  }
}
// [/take]

// [sell_off]
seaway::Task<> Shelf::sell_off(seaway::Request<SellOff>, seaway::Writer<Level> writer) {
  while (amount_ > 0) {
    --amount_;
    // Goes on at once while there is credit; fails when the reader has gone.
    const auto written = co_await writer.write(level());
    if (!written.ok()) co_return;
  }
}
// [/sell_off]

// [sell]
seaway::Task<seaway::Reply<Receipt>> Clerk::sell(seaway::Request<Sell> request) {
  const std::uint32_t amount = request->getAmount();
  auto left = co_await shelf_.call(&Shelf::take, [=](Take::Builder m) { m.setAmount(amount); });
  if (!left.ok()) co_return left.status();
  co_return seaway::make<Receipt>([&](Receipt::Builder m) {
    m.setText(std::to_string(amount) + " from " + (*left)->getShelf().cStr() + ", " +
              std::to_string((*left)->getAmount()) + " left");
  });
}
// [/sell]

// [restock]
seaway::Task<seaway::Reply<Level>> Clerk::restock(seaway::Request<Restock> request) {
  auto from = request.actor<Shelf>(request->getFrom());
  if (!from.ok()) co_return from.status();
  const std::uint32_t amount = request->getAmount();
  auto taken = co_await from->call(&Shelf::take, [=](Take::Builder m) { m.setAmount(amount); });
  if (!taken.ok()) co_return taken.status();
  co_return co_await shelf_.call(&Shelf::put, [=](Put::Builder m) { m.setAmount(amount); });
}

seaway::Task<seaway::Reply<Level>> Clerk::count(seaway::Request<Everywhere> request) {
  auto everywhere = request.mesh<Shelf>(request->getShelves());
  if (!everywhere.ok()) co_return everywhere.status();
  co_return co_await everywhere->reduce(&Shelf::look, plus);
}
// [/restock]

}  // namespace shelves
