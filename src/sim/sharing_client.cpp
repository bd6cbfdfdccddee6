// What a client does with its actors and arrays, step by step.

#include "sim/sharing_client.hpp"

#include <algorithm>
#include <utility>

namespace seaway::sim {
namespace {

constexpr std::uint64_t kStream = 0x736861726573000a;
constexpr std::size_t kHeldMax = 12, kAskedMax = 6, kActorsMax = 6;
constexpr int kAskAgain = 30;
/// They do less with each action than other clients do.
constexpr std::uint32_t kActionsFactor = 3;
constexpr std::uint64_t kHostWaitMinNs = 1 << 10, kHostWaitMaxNs = 1 << 28;

/// The codes of what goes with hosts, clients and controllers.
bool is_loss(StatusCode code) {
  switch (code) {
    case StatusCode::kHostLost:
    case StatusCode::kActorLost:
    case StatusCode::kIslandUnavailable:
    case StatusCode::kControllerRestarted:
    case StatusCode::kMaybeExecuted:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kInputLost:
    case StatusCode::kCancelled:
      return true;
    default:
      return false;
  }
}

}  // namespace

SharingClient::SharingClient(const World& world, std::uint32_t index, Surroundings around,
                             Verdict& verdict)
    : world_(world),
      index_(index),
      around_(std::move(around)),
      verdict_(verdict),
      random_(world.seed, kStream + index) {}

std::optional<std::uint64_t> SharingClient::waits_since_ns() const {
  if (waiting_ns_ == 0) return std::nullopt;
  return waiting_ns_;
}

template <class Wait>
auto SharingClient::wait(const Wait& wait) {
  waiting_ns_ = around_.now_ns();
  auto outcome = wait();
  waiting_ns_ = 0;
  return outcome;
}

void SharingClient::live(Client client) {
  client_ = std::move(client);
  if (prepare()) {
    for (std::uint32_t i = 0;
         i < kActionsFactor * world_.actions && verdict_.ok() && !has_lost_controller_; ++i) {
      random_ = RandomStream(world_.seed, mix64(kStream + index_) + 1 + i);
      if (!world_.edits.skips(index_, i)) act();
    }
  }
  part();
  actors_.clear();
  twice_.clear();
  slices_.clear();
  client_ = {};
}

/// Nobody holds anything any more.
void SharingClient::part() {
  settle(0);
  held_.clear();
  for (const ActorMesh<Sharer>& actor : actors_) stop(actor);
  std::uint64_t wait_ns = kHostWaitMinNs;
  for (int i = 0; !around_.is_troubled() && verdict_.ok(); ++i) {
    const std::string shared = around_.shared();
    if (shared.empty()) break;
    if (i == kAskAgain) {
      verdict_.report(
          Breach::kCorrectness, "I9",
          "client " + std::to_string(index_) + " has dropped all arrays, and there are " + shared);
    }
    around_.pause(wait_ns);
    wait_ns = std::min(2 * wait_ns, kHostWaitMaxNs);
  }
}

/// Until then it is known what it was made of, for it may be made again.
void SharingClient::stop(const ActorMesh<Sharer>& actor) {
  const auto done = wait([&] { return actor.stop().get(); });
  is_fine("a stop", done.status());
}

bool SharingClient::is_fine(const std::string& what, const Status& status) {
  if (status.ok()) return true;
  has_lost_controller_ |= status.code() == StatusCode::kControllerRestarted;
  // A word that comes before the one that it waits for looks as if that one were lost.
  const bool is_of_actors = status.message().find("session of the actors") != std::string::npos;
  const bool is_excused = is_of_actors ? around_.has_lost_actors() : around_.is_troubled();
  if (is_loss(status.code()) && is_excused) {
    ++verdict_.counts.failed;
    return false;
  }
  verdict_.report(
      Breach::kCorrectness, "I3",
      "client " + std::to_string(index_) + ": " + what + " failed: " + status.to_string());
  return false;
}

void SharingClient::compare(const std::string& what, std::int64_t value, std::int64_t seen) {
  ++verdict_.counts.values_checked;
  if (value == seen) return;
  verdict_.report(Breach::kCorrectness, "I1",
                  "client " + std::to_string(index_) + ": " + what + " is " + std::to_string(seen) +
                      " and not " + std::to_string(value));
}

Result<Slice> SharingClient::acquire(const SliceRequest& request) {
  std::uint64_t wait_ns = kHostWaitMinNs;
  for (int i = 0;; ++i) {
    auto slice = wait([&] { return client_.acquire_slice(request); });
    if (slice.status().code() != StatusCode::kIslandUnavailable || i == kAskAgain) return slice;
    around_.pause(wait_ns);
    wait_ns = std::min(2 * wait_ns, kHostWaitMaxNs);
  }
}

bool SharingClient::prepare() {
  for (std::uint32_t island = 0; island < world_.cluster.islands; ++island) {
    SliceRequest request;
    request.island = static_cast<std::int32_t>(island);
    request.devices = 1;
    while (request.devices < kSharedElements && request.devices * 2 <= world_.cluster.devices &&
           random_.chance(50)) {
      request.devices *= 2;
    }
    request.mesh = {{"x", request.devices}};
    const auto slice = acquire(request);
    if (!is_fine("a slice", slice.status())) return false;
    slices_.push_back(*slice);
    const auto twice = wait([&] { return make_twice(client_, *slice); });
    if (!is_fine("a function", twice.status())) return false;
    twice_.push_back(*twice);
  }
  for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) spawn();
  return true;
}

void SharingClient::spawn() {
  const auto hosts = client_.hosts();
  const std::uint32_t host = static_cast<std::uint32_t>(random_.below(hosts.size()));
  std::vector<Array> given;
  std::vector<std::int64_t> values;
  for (std::size_t i = random_.below(3); i > 0 && !held_.empty(); --i) {
    const SharedArray& one = any_array();
    given.push_back(one.array);
    values.push_back(one.value);
  }
  const auto spawned = wait([&] {
    return client_.spawn<Sharer>(hosts.at({host}), slices_[random_.below(slices_.size())], given,
                                 values);
  });
  if (!is_fine("a spawn", spawned.status())) return;
  if (actors_.size() == kActorsMax) {
    settle(0);  // What it may be given still.
    stop(actors_.front());
    actors_.erase(actors_.begin());
  }
  actors_.push_back(*spawned);
}

void SharingClient::act() {
  if (random_.chance(30)) around_.pause(0);
  if (asked_.size() > kAskedMax || random_.chance(30)) settle(random_.below(kAskedMax));
  if (actors_.empty() || random_.chance(8)) return spawn();
  if (held_.empty() || random_.chance(10)) return random_.chance(50) ? make_own() : ask_for_one();
  const std::uint64_t choice = random_.below(100);
  if (choice < 10) {
    use_own();
  } else if (choice < 20) {
    read_own();
  } else if (choice < 35) {
    ask_for_one();
  } else if (choice < 60) {
    give();
  } else if (choice < 78) {
    pass();
  } else if (choice < 88) {
    look();
  } else if (choice < 93) {
    const auto done =
        wait([&] { return any_actor().call(&Sharer::forget, [](Forget::Builder) {}).get(); });
    is_fine("forget", done.status());
  } else {
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(random_.below(held_.size())));
  }
  if (held_.size() > kHeldMax) held_.erase(held_.begin());
}

void SharingClient::make_own() {
  const auto value = static_cast<std::int64_t>(1 + random_.below(1000));
  held_.push_back({put_shared(client_, slices_[random_.below(slices_.size())], value), value});
}

void SharingClient::use_own() {
  const SharedArray one = any_array();
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    if (!is_usable(one, slices_[i])) continue;
    held_.push_back({twice_[i].execute({one.array}).output(0), 2 * one.value});
    return;
  }
}

void SharingClient::read_own() {
  const SharedArray one = any_array();
  const auto values = wait([&] { return one.array.to_host<float>().get(); });
  if (is_fine("a read", values.status())) compare("an array", one.value, seen_in(*values));
}

void SharingClient::ask_for_one() {
  const auto value = static_cast<std::int64_t>(1 + random_.below(1000));
  keep("make_one",
       any_actor().call(&Sharer::make_one, [value](MakeOne::Builder m) { m.setValue(value); }));
}

void SharingClient::give() {
  const SharedArray one = any_array();
  const bool is_used = random_.chance(50);
  keep("take", any_actor().call(&Sharer::take, [&](Share::Builder m, Attached& beside) {
    beside.add(one.array);
    m.setValue(one.value);
    m.setIsUsed(is_used);
  }));
}

void SharingClient::pass() {
  const ActorRef<Sharer> to = any_actor();
  const bool is_used = random_.chance(50);
  keep("pass", any_actor().call(&Sharer::pass, [&](Pass::Builder m, Attached& beside) {
    beside.add(to);
    m.setIsUsed(is_used);
  }));
}

void SharingClient::look() {
  const auto answer =
      wait([&] { return any_actor().call(&Sharer::look, [](Look::Builder) {}).get(); });
  if (!is_fine("look", answer.status())) return;
  compare("what an actor keeps", (*answer)->getValue(), (*answer)->getSeen());
}

void SharingClient::keep(std::string what, Answer answer) {
  asked_.push_back({std::move(what), std::move(answer)});
  if (random_.chance(40)) settle(0);
}

/// Waits for the oldest until so many are left.
void SharingClient::settle(std::size_t left) {
  while (asked_.size() > left) {
    const Asked one = std::move(asked_.front());
    asked_.erase(asked_.begin());
    note(one.what, wait([&] { return one.answer.get(); }));
  }
}

void SharingClient::note(const std::string& what, const Result<Message<Shared>>& answer) {
  if (!is_fine(what, answer.status())) return;
  ++verdict_.counts.ok;
  if ((*answer)->getValue() == 0) return;  // It kept none.
  const auto array = answer->array(0);
  if (!is_fine("an array beside " + what, array.status())) return;
  held_.push_back({*array, (*answer)->getValue()});
  if (!random_.chance(50)) return;
  // What becomes of it can be asked at once.
  const auto made = wait([&] { return array->ready().get(); });
  is_fine("what is beside " + what, made.status());
}

}  // namespace seaway::sim
