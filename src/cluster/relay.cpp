// Words of delegates: each in its order, and behind what they name.

#include "cluster/relay.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/mutant.hpp"
#include "cluster/door.hpp"
#include "cluster/relay_frames.hpp"

namespace seaway::cluster {

using actor::Role;
using app::SiloId;
using client::Said;

Relay::Relay(actor::Engine& engine, Peers& peers, Actors& actors, actor::Router& router,
             RelayOptions options)
    : engine_(engine),
      peers_(peers),
      actors_(actors),
      router_(router),
      options_(std::move(options)),
      self_{actors.self(), options_.life} {}

Relay::~Relay() { *is_here_ = false; }

std::string to_string(const SharedStock& stock) {
  std::string text;
  const auto add = [&text](std::size_t count, const char* what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(stock.arrays, "shared arrays");
  add(stock.own, "shared arrays of the client's own");
  add(stock.runs, "runs and uploads of actors without an outcome");
  add(stock.outcomes, "runs of actors with arrays");
  add(stock.words, "words that wait");
  return text;
}

Relay::Stock Relay::stock() const {
  Stock stock{shared_.size(), own_.size(), runs_.size() + puts_.size(), outcomes_.size(), 0};
  for (const auto& [holder, speaker] : speakers_) stock.words += speaker.waiting.size();
  return stock;
}

void Relay::send(const Holder& to, const ClientWords& words) {
  peers_.send_relayed(actors_.process_of_silo(to.silo), kRelayWords, to_frame(words),
                      transport::Lane::kControl);
}

Status Relay::on_words(SiloId from, const Frame& frame) {
  auto words = read_delegate_words(frame);
  if (!words.ok()) return words.status();
  const Holder by{from, actors_.epoch(from)};
  // Of a conversation that is over.
  if (by.life == 0 || by.life == app::Network::kUnheard || !session_) return {};
  for (const Holder& gone : words->gone) without_[by].push_back(gone);
  auto found = speakers_.find(by);
  if (words->number == 0) {
    if (found == speakers_.end()) {
      for (const Holder& gone : words->gone) shared_.settled(gone, by.silo);
      release();
      pump();
      return {};
    }
    const std::vector<Holder> gone = std::move(words->gone);
    words = DelegateWords();
    words->gone = gone;
  } else if (found == speakers_.end()) {
    found = speakers_.emplace(by, Speaker()).first;
  }
  Speaker& speaker = found->second;
  if (speaker.is_refused) return {};
  if (words->number != 0 && words->number != ++speaker.heard) {
    return protocol_error("silo " + std::to_string(from) + " has said its words " +
                          std::to_string(words->number) + " after " +
                          std::to_string(speaker.heard - 1));
  }
  if (Status status = check_words(by, *words); !status.ok()) return status;
  speaker.bytes += frame.size_bytes();
  if (speaker.waiting.empty()) speaker.since_ns = engine_.clock().now_ns();
  speaker.waiting.push_back({std::move(words).value(), frame.size_bytes()});
  pump();
  found = speakers_.find(by);
  if (found != speakers_.end() && (found->second.waiting.size() > options_.words_max ||
                                   found->second.bytes > options_.bytes_max)) {
    refuse(by, found->second,
           resource_exhausted("what an actor on host " + std::to_string(app::host_of_silo(from)) +
                              " has said waits for another host, and is more than " +
                              std::to_string(options_.words_max) + " words or " +
                              std::to_string(options_.bytes_max) + " bytes"));
  }
  return {};
}

/// Its session ends, and what it has not said yet is never said.
void Relay::refuse(Holder by, Speaker& speaker, Status why) {
  ClientWords words;
  words.end = std::move(why);
  send(by, words);
  speaker.is_refused = speaker.is_gone = true;
  speaker.waiting.clear();
  speaker.bytes = 0;
  give_up_unbegun(by);
  forget_definitions(by);
  pump();
}

Status Relay::on_payload(SiloId from, std::uint32_t island, Frame frame) {
  const RoleName self{Role::kClient, options_.client};
  if (island >= options_.shape.islands) {
    return protocol_error("there is no host of island " + std::to_string(island));
  }
  const DoorLimits limits{options_.shape.islands, options_.devices};
  Status status = check_at_door(self, {Role::kHost, island}, frame, limits);
  if (!status.ok()) return status;
  const Holder by{from, actors_.epoch(from)};
  const auto array = read_upload(frame);
  if (!array.ok()) return array.status();
  if (!is_its(by, *array)) return protocol_error("an upload of an array that is not its own");
  router_.send(Role::kHost, island, std::move(frame), transport::Lane::kBulk);
  return {};
}

bool Relay::is_met(Holder by, const client::ArrayMaker& maker) const {
  if (maker.said == 0 || maker.holder == by) return true;
  const auto speaker = speakers_.find(maker.holder);
  if (speaker != speakers_.end()) {
    if (speaker->second.said >= maker.said) return true;
    return speaker->second.is_gone && speaker->second.waiting.empty();
  }
  if (is_gone(maker.holder)) return true;
  const auto without = without_.find(by);
  return without != without_.end() && std::find(without->second.begin(), without->second.end(),
                                                maker.holder) != without->second.end();
}

/// More words of its may come.
bool Relay::may_speak(Holder by) const {
  const auto speaker = speakers_.find(by);
  if (speaker != speakers_.end()) return !speaker->second.is_gone;
  return !is_gone(by);
}

/// It was lost, in this life or a later one.
bool Relay::is_gone(Holder holder) const {
  const auto gone = gone_.find(holder.silo);
  return gone != gone_.end() && gone->second >= holder.life;
}

bool Relay::is_ready(Holder by, const DelegateWords& words) const {
  if (SEAWAY_MUTANT("words of actors do not wait for those that they name")) return true;
  return std::all_of(words.imports.begin(), words.imports.end(),
                     [&](const ArrayImport& one) { return is_met(by, one.maker); });
}

/// Says all that waits for nothing any more.
void Relay::pump() {
  if (std::exchange(is_pumping_, true)) return;
  for (bool is_over = false; !is_over;) {
    is_over = true;
    std::vector<Holder> ended;
    for (auto& [by, speaker] : speakers_) {
      while (!speaker.waiting.empty() && is_ready(by, speaker.waiting.front().words)) {
        Waiting next = std::move(speaker.waiting.front());
        speaker.waiting.pop_front();
        speaker.bytes -= next.bytes;
        speaker.since_ns = engine_.clock().now_ns();
        if (next.words.number != 0) speaker.said = next.words.number;
        handle(by, next.words);
        is_over = false;
      }
      const bool is_done = speaker.is_gone && speaker.is_handled && speaker.waiting.empty();
      if (is_done) ended.push_back(by);
    }
    for (const Holder& by : ended) {
      speakers_.erase(by);
      give_up_unbegun(by);
      cancel_puts(by);
      forget_definitions(by);
      bury(by);
    }
  }
  is_pumping_ = false;
  watch_waits();
  if (early_.empty()) return;
  std::erase_if(early_, [this](const auto& maker) { return is_met(self_, maker); });
  if (early_.empty()) actors_.go_on();
}

void Relay::watch_waits() {
  if (is_watching_) return;
  std::uint64_t since_ns = early_.empty() ? UINT64_MAX : early_since_ns_;
  for (const auto& [by, speaker] : speakers_) {
    if (!speaker.waiting.empty()) since_ns = std::min(since_ns, speaker.since_ns);
  }
  if (since_ns == UINT64_MAX) return;
  is_watching_ = true;
  engine_.schedule(since_ns + options_.wait_max_ns, [this, here = is_here_] {
    if (!*here) return;
    is_watching_ = false;
    end_long_waits();
    watch_waits();
  });
}

void Relay::end_long_waits() {
  const std::uint64_t now_ns = engine_.clock().now_ns();
  const auto is_long = [this, now_ns](std::uint64_t since_ns) {
    return now_ns - since_ns >= options_.wait_max_ns;
  };
  const std::string limit = std::to_string(options_.wait_max_ns / 1'000'000'000) + " s";
  std::vector<Holder> late;
  for (const auto& [by, speaker] : speakers_) {
    if (!speaker.waiting.empty() && is_long(speaker.since_ns)) late.push_back(by);
  }
  for (const Holder& by : late) {
    const auto found = speakers_.find(by);
    if (found == speakers_.end() || found->second.waiting.empty()) continue;
    refuse(by, found->second,
           deadline_exceeded("an actor on host " + std::to_string(app::host_of_silo(by.silo)) +
                             " uses an array that its maker has not announced within " + limit +
                             "; start the actor again"));
  }
  if (early_.empty() || !is_long(early_since_ns_)) return;
  give_up_early(deadline_exceeded(
      "another actor uses an array whose maker, an actor here, has not announced it within " +
      limit + "; start the actor again"));
  actors_.go_on();
}

void Relay::handle(Holder by, DelegateWords& words) {
  for (const client::Made& made : words.made) {
    shared_.made(by, made.first, made.count);
    outcomes_[made.run].arrays += made.count;
    if (made.run == made.first) puts_.insert(made.run);
    for (std::uint32_t i = 0; i < made.count; ++i) makers_[made.first + i] = made.run;
  }
  if (!words.frame.empty()) say(by, words.frame);
  for (const ArrayImport& one : words.imports) {
    shared_.import(by, one.from, one.number, one.array);
  }
  for (const ArrayGrant& one : words.grants) {
    shared_.grant(by, one.to, one.number, one.array);
  }
  for (const ArrayId array : words.drops) shared_.drop(by, array);
  for (const client::Asked& one : words.asks) ask({by, one.request}, one);
  if (words.wants_ids) lease(by);
  for (const Holder& gone : words.gone) shared_.settled(gone, by.silo);
  release();
}

void Relay::say(Holder by, const Frame& frame) {
  auto records = read_records(frame);
  if (!records) {
    if (const auto id = read_definition(frame)) definitions_[by].insert(*id);
    session_->say_for_delegate(frame);
    return;
  }
  std::vector<RunId> runs;  // As the delegate calls them.
  for (Said& one : records->said) {
    if (one.kind == Said::Kind::kRun) runs.push_back(one.id);
    if (one.kind == Said::Kind::kForget) definitions_[by].erase(one.id);
    if (one.kind != Said::Kind::kCancel) continue;
    // Of an upload otherwise, or of a run that is over.
    if (const auto run = run_ids_.find(one.id); run != run_ids_.end()) one.id = run->second;
  }
  if (!session_->say_for_delegate(records->said, records->arguments)) return;
  const auto begin = [this](RunId id) {
    if (const auto found = outcomes_.find(id); found != outcomes_.end()) {
      found->second.is_begun = true;
    }
  };
  std::size_t at = 0;
  for (const Said& one : records->said) {
    if (one.kind == Said::Kind::kPut) begin(one.id);
    if (one.kind != Said::Kind::kRun) continue;
    begin(runs[at]);
    runs_[one.id] = {by, runs[at]};
    run_ids_[runs[at++]] = one.id;
  }
}

void Relay::lease(Holder by) {
  if (leases_.size() == client::kLeasesMax) return;  // It refuses by itself when it has none.
  ClientWords words;
  words.lease = client::leased_sequence(leases_.size());
  leases_.push_back(by);
  send(by, words);
}

// Losses.

void Relay::on_gone(SiloId silo, std::uint32_t life) {
  std::uint32_t& gone = gone_[silo];
  gone = std::max(gone, life);
  for (auto& [by, speaker] : speakers_) {
    if (by.silo == silo && by.life <= life) speaker.is_gone = true;
  }
  std::erase_if(without_, [silo, life](const auto& entry) {
    return entry.first.silo == silo && entry.first.life <= life;
  });
  pump();
}

void Relay::on_silo_lost(SiloId silo, std::uint32_t life) {
  if (actors_.is_client(silo) || silo == app::kHub) return;
  on_gone(silo, life);
  const Holder lost{silo, life};
  if (const auto speaker = speakers_.find(lost); speaker != speakers_.end()) {
    speaker->second.is_handled = true;
    return pump();
  }
  bury(lost);
}

/// What no host has pulled went with it: nobody waits for that.
void Relay::cancel_puts(Holder by) {
  std::vector<Said> cancels;
  for (const ArrayId array : puts_) {
    if (is_its(by, array)) cancels.push_back({.kind = Said::Kind::kCancel, .id = array});
  }
  if (!cancels.empty()) session_->say_for_delegate(cancels, {});
}

/// The controller keeps what unfinished runs and arrays that others hold need.
void Relay::forget_definitions(Holder by) {
  const auto node = definitions_.extract(by);
  if (node.empty()) return;
  std::vector<Said> forgets;
  for (const std::uint64_t id : node.mapped()) {
    forgets.push_back({.kind = Said::Kind::kForget, .id = id});
  }
  if (!forgets.empty()) session_->say_for_delegate(forgets, {});
}

/// What it has sent to others they may still have, or get: each of them is asked.
void Relay::bury(Holder holder) {
  std::set<std::uint32_t> heirs;
  if (shared_.size() > 0) {
    actors_.for_each_up([&](SiloId silo) {
      if (silo != app::kHub && !actors_.is_client(silo) && silo != holder.silo) heirs.insert(silo);
    });
  }
  shared_.lose(holder, heirs);
  ClientWords words;
  words.are_gone.push_back(holder);
  for (const std::uint32_t heir : heirs) send({heir, 0}, words);
  release();
}

}  // namespace seaway::cluster
