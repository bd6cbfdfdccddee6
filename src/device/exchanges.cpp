// Blocks go on side by side, each round by round.

#include <algorithm>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "device/exchanges_state.hpp"

namespace seaway::device {

using collective::ExchangeMemory;
using collective::HostShards;
using collective::Message;
using collective::Received;

namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }

std::uint64_t bytes_of(const ExchangeWord& word) {
  const auto* const packed = std::get_if<PackedMessage>(&word.what);
  return packed ? packed->data.size() : 0;
}

}  // namespace

bool Exchanges::Active::has_sent(const Running& block) const {
  const auto first = sent.lower_bound({block.block.number, 0, 0});
  return first != sent.end() && first->first.block == block.block.number;
}

Exchanges::Exchanges(std::uint32_t self, Wiring wiring)
    : self_(self),
      wiring_(std::move(wiring)),
      last_gang_(first_gang_of(wiring_.life)),
      life_(wiring_.life) {}

Exchanges::~Exchanges() {
  // Its slabs go back while their cache is there.
  for (auto& [key, active] : active_) ended_.push_back(active);
  for (const std::weak_ptr<Active>& one : ended_) {
    const std::shared_ptr<Active> active = one.lock();
    if (!active) continue;
    active->done = nullptr;
    active->ending = Status();
    active->running.clear();
  }
  for (const std::weak_ptr<Running>& one : offered_) {
    if (const std::shared_ptr<Running> block = one.lock()) {
      block->work = {};
      block->arrivals.clear();  // Frees the slabs of unfinished fetches.
    }
  }
}

void Exchanges::enter(std::uint64_t gang) {
  SEAWAY_CHECK(is_next(gang), gang, last_gang_);
  last_gang_ = gang;
  open_.insert(gang);
}

/// Some of the others may not know yet that it has failed: what they say of it will be dropped.
void Exchanges::leave(std::uint64_t gang) {
  open_.erase(gang);
  failed_.erase(gang);
  forget_early(gang);
}

void Exchanges::begin(Wanted wanted, Done done) {
  has_begun_ = true;
  const Key key = key_of(wanted.id);
  SEAWAY_CHECK(open_.contains(key.first), key.first, last_gang_);
  if (const auto failed = failed_.find(key.first); failed != failed_.end()) {
    return done(failed->second);
  }
  const auto active =
      std::make_shared<Active>(std::move(wanted), std::move(done), self_, wiring_.options);
  active_[key] = active;
  auto early = early_.extract(key);
  if (!early.empty()) {
    SEAWAY_PROBE("a word of an exchange comes before the exchange");
    for (auto& [host, word] : early.mapped()) {
      --early_words_;
      early_bytes_ -= bytes_of(word);
      active->waiting.emplace(Slot{word.block, word.round, host}, std::move(word));
    }
  }
  advance(active);
}

void Exchanges::advance(const std::shared_ptr<Active>& active) {
  if (active->ending || std::exchange(active->is_advancing, true)) return;
  const std::vector<std::uint32_t>& blocks = active->plan.blocks();
  for (bool goes_on = true; std::exchange(goes_on, false) && !active->ending;) {
    while (active->running.size() < kBlocksAtOnce && active->next_block < blocks.size()) {
      auto block = std::make_shared<Running>();
      const std::uint32_t number = blocks[active->next_block++];
      block->block = active->plan.block(number);
      auto work = wiring_.slabs.make(1, block->block.work_bytes);
      if (!work.ok()) return give_up(active, work.status());
      block->work = std::move(work).value();
      active->running[number] = std::move(block);
    }
    for (auto one = active->running.begin(); one != active->running.end() && !active->ending;) {
      Running& block = *one->second;
      if (!block.is_over() && !block.has_begun) begin_round(active, block);
      if (active->ending) break;
      const bool is_over = block.is_over() && !active->has_sent(block);
      const bool is_on = is_over || (!block.is_over() && compute(active, block));
      goes_on = goes_on || is_on;
      one = is_over ? active->running.erase(one) : std::next(one);
    }
  }
  active->is_advancing = false;
  const bool is_done =
      active->running.empty() && active->sent.empty() && active->next_block == blocks.size();
  if (is_done && !active->ending) end(active, {});
}

/// Says what others wait for, and takes what has come too early.
void Exchanges::begin_round(const std::shared_ptr<Active>& active, Running& block) {
  block.has_begun = true;
  const collective::Round& round = block.now();
  const auto number = static_cast<std::uint32_t>(block.round);
  block.arrivals.clear();
  block.arrivals.resize(round.receives.size());
  for (const Message& message : round.sends) {
    const Slot slot{block.block.number, number, message.host};
    const ExchangeMemory memory = active->memory(block);
    if (message.size() > wiring_.options.packed_bytes_max && lend(*active, slot, message, memory))
      continue;
    hand_over(*active, slot, message, memory);
  }
  for (std::size_t i = 0; i < round.receives.size(); ++i) {
    auto early = active->waiting.extract({block.block.number, number, round.receives[i].host});
    if (early.empty()) continue;
    const Status status = accept(active, block, i, std::move(early.mapped()));
    if (!status.ok()) return give_up(active, status);
    if (active->ending) return;
  }
}

void Exchanges::say(Active& active, const Slot& slot, ExchangeWord::What what) {
  outbox_[slot.host].push_back({active.wanted.id, slot.block, slot.round, std::move(what)});
}

Status Exchanges::receive(std::uint32_t host, ExchangeWord word) {
  const Key key = key_of(word.id);
  if (key.first < first_gang_of(life_)) return {};  // Of a life that is over.
  // A word that comes behind the end of its gang.
  if (!is_next(key.first) && !open_.contains(key.first)) return {};
  has_begun_ = true;
  if (const auto* const failure = std::get_if<FailedGang>(&word.what)) {
    if (failed_.size() >= kFailedMax && !failed_.contains(key.first)) {
      return resource_exhausted("host " + text(host) + " is more than " + text(kFailedMax) +
                                " failed gangs ahead of this one");
    }
    end_all(key.first, failure->status);
    return {};
  }
  const auto found = active_.find(key);
  if (found != active_.end()) {
    const std::shared_ptr<Active> active = found->second;
    Status status = take(active, host, std::move(word));
    if (status.ok()) advance(active);
    return status;
  }
  const bool is_answer = std::holds_alternative<TakenMessage>(word.what) ||
                         std::holds_alternative<UnreadMessage>(word.what);
  if (is_answer || failed_.contains(key.first)) return {};
  if (SEAWAY_MUTANT("what comes before its exchange is dropped")) return {};
  early_bytes_ += bytes_of(word);
  if (++early_words_ > kEarlyWordsMax || early_bytes_ > kEarlyBytesMax) {
    return resource_exhausted("host " + text(host) + " is more than " + text(kEarlyWordsMax) +
                              " words or " + text(kEarlyBytesMax) + " bytes ahead of this one");
  }
  early_[key].emplace_back(host, std::move(word));
  return {};
}

Status Exchanges::take(const std::shared_ptr<Active>& active, std::uint32_t host,
                       ExchangeWord word) {
  const bool is_answer = std::holds_alternative<TakenMessage>(word.what) ||
                         std::holds_alternative<UnreadMessage>(word.what);
  if (is_answer) {
    taken(*active, host, word);
    return {};
  }
  const auto found = active->running.find(word.block);
  const bool is_now = found != active->running.end() && found->second->has_begun &&
                      found->second->round == word.round;
  if (!is_now) {
    if (active->waiting.size() >= kEarlyWordsMax) {
      return resource_exhausted("host " + text(host) + " is too far ahead of this one");
    }
    active->waiting.emplace(Slot{word.block, word.round, host}, std::move(word));
    return {};
  }
  Running& block = *found->second;
  const std::vector<Message>& wanted = block.now().receives;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].host != host || block.arrivals[i].is_known) continue;
    return accept(active, block, i, std::move(word));
  }
  return protocol_error("host " + text(host) + " says something in round " + text(word.round) +
                        " of block " + text(word.block) + " of gang " + text(word.id.gang) +
                        ", where nothing of it is waited for");
}

Status Exchanges::accept(const std::shared_ptr<Active>& active, Running& block, std::size_t message,
                         ExchangeWord word) {
  Running::Arrival& arrival = block.arrivals[message];
  const Message& wanted = block.now().receives[message];
  if (auto* const packed = std::get_if<PackedMessage>(&word.what)) {
    if (packed->data.size() != wanted.size()) {
      return protocol_error("a message of " + text(packed->data.size()) + " bytes from host " +
                            text(wanted.host) + ", where " + text(wanted.size()) +
                            " were waited for");
    }
    ++counts_.packed;
    arrival.data = std::move(packed->data);
    arrival.read_from(arrival.data.data(), wanted);
    arrival.is_known = arrival.is_here = true;
    return {};
  }
  if (const auto* const lent = std::get_if<LentMessage>(&word.what)) {
    return accept_lent(*active, block, message, *lent);
  }
  if (!wiring_.data) return protocol_error("nothing can be fetched by this host");
  arrival.is_known = arrival.is_owed = true;
  fetch(active, block, message, std::get<OfferedMessage>(word.what).id);
  return {};
}

/// True: the round was done in line.
bool Exchanges::compute(const std::shared_ptr<Active>& active, Running& block) {
  const bool is_ready =
      !block.is_computing && std::all_of(block.arrivals.begin(), block.arrivals.end(),
                                         [](const auto& arrival) { return arrival.is_here; });
  if (!is_ready) return false;
  block.is_computing = true;
  std::vector<Received> received;
  for (const Running::Arrival& arrival : block.arrivals) received.push_back(arrival.received);
  ++active->work;
  wiring_.backend.copy(
      work_bytes(block.now()),
      [active, &block, received = std::move(received)] {
        carry_out(active->plan.collective(), block.now(), active->memory(block), received);
      },
      [this, active, &block] {
        if (active->ending) return end_work(active);
        --active->work;
        end_round(active, block);
        advance(active);
      });
  return !block.is_computing;
}

void Exchanges::end_round(const std::shared_ptr<Active>& active, Running& block) {
  const collective::Round& round = block.now();
  for (std::size_t i = 0; i < block.arrivals.size(); ++i) {
    const Running::Arrival& arrival = block.arrivals[i];
    const std::uint32_t host = round.receives[i].host;
    if (arrival.loan && !arrival.loan->holds()) {
      return give_up(
          active, {StatusCode::kInputLost, "host " + text(host) + " took back what it had lent"});
    }
    if (!arrival.is_owed) continue;
    say(*active, {block.block.number, static_cast<std::uint32_t>(block.round), host},
        TakenMessage());
  }
  block.arrivals.clear();
  block.is_computing = block.has_begun = false;
  ++block.round;
}

/// For all hosts of the gang.
void Exchanges::give_up(const std::shared_ptr<Active>& active, const Status& status) {
  fail(active->wanted.id.gang, active->wanted.hosts, status);
}

/// Here: what of it is under way, what has come for it, and what it may want to begin.
void Exchanges::end_all(std::uint64_t gang, const Status& status) {
  failed_.emplace(gang, status);
  forget_early(gang);
  // Whoever hears of one end may do as he likes.
  for (auto one = active_.lower_bound({gang, 0}); one != active_.end() && one->first.first == gang;
       one = active_.lower_bound({gang, 0})) {
    end(std::shared_ptr<Active>(one->second), status);
  }
}

void Exchanges::end(const std::shared_ptr<Active>& active, const Status& status) {
  if (active->ending) return;
  active->ending = status;
  active_.erase(key_of(active->wanted.id));
  ++active->work;  // This.
  stop(active);
  end_work(active);
}

/// What it has lent and offered is its own again, and nothing more is fetched.
void Exchanges::stop(const std::shared_ptr<Active>& stopped) {
  Active& active = *stopped;
  if (active.work > 1) {
    std::erase_if(ended_, [](const auto& one) { return one.expired(); });
    ended_.push_back(stopped);
  }
  for (auto& [slot, sent] : active.sent) {
    if (sent.loan) wiring_.near->take_back(*sent.loan);
    if (sent.offer) wiring_.data->withdraw(wiring_.peer(slot.host), offer_key(active, sent.offer));
  }
  active.sent.clear();
  for (auto& [number, block] : active.running) {
    for (std::size_t i = 0; i < block->arrivals.size(); ++i) {
      const std::uint64_t offer = block->arrivals[i].offer;
      if (offer == 0) continue;
      wiring_.data->cancel(wiring_.peer(block->now().receives[i].host), offer_key(active, offer));
    }
  }
}

/// Its memory is nobody's any more with the last of them.
void Exchanges::end_work(const std::shared_ptr<Active>& active) {
  if (--active->work > 0 || !active->done) return;
  const Done done = std::exchange(active->done, nullptr);
  done(*active->ending);
}

void Exchanges::fail(std::uint64_t gang, const std::vector<HostShards>& hosts,
                     const Status& status) {
  if (failed_.contains(gang)) return;
  for (const HostShards& host : hosts) {
    if (host.host == self_) continue;
    outbox_[host.host].push_back({{gang, 0}, 0, 0, FailedGang{status}});
  }
  end_all(gang, status);
}

void Exchanges::forget_early(std::uint64_t gang) {
  auto one = early_.lower_bound({gang, 0});
  while (one != early_.end() && one->first.first == gang) {
    for (const auto& [host, word] : one->second) {
      --early_words_;
      early_bytes_ -= bytes_of(word);
    }
    one = early_.erase(one);
  }
}

void Exchanges::begin_anew(std::uint32_t life) {
  life_ = std::max(life_, life);
  drop_all();
  open_.clear();
  last_gang_ = std::max(last_gang_, first_gang_of(life_));
  outbox_.clear();
  blind_.clear();
  has_begun_ = false;
  while (!early_.empty() && early_.begin()->first.first < first_gang_of(life_)) {
    forget_early(early_.begin()->first.first);
  }
  failed_.erase(failed_.begin(), failed_.lower_bound(first_gang_of(life_)));
}

/// What works on their memory ends unheard.
void Exchanges::drop_all() {
  for (auto& [key, active] : std::exchange(active_, {})) {
    active->done = nullptr;
    active->ending = Status();
    ++active->work;  // This.
    stop(active);
  }
}

}  // namespace seaway::device
