// What philosophers say they do, on a table.

#include "demos/support/witness.hpp"

#include <cstdio>
#include <utility>

namespace seaway::demos::philosophers {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);  // Between two looks.

}  // namespace

Witness::Witness(Self self, const ActorMesh<Philosopher>& guests) : self_(std::move(self)) {
  self_.monitor(guests);
}

void Witness::hold(Request<Hold> hand) {
  const Table::Guest guest{hand->getSeat(), hand->getIncarnation()};
  hand->getIsTaken() ? table_.take(hand->getFork(), guest)
                     : table_.lay_down(hand->getFork(), guest);
}

Reply<Picture> Witness::picture() const {
  return make<Picture>([this](Picture::Builder m) { m.setText(table_.picture()); });
}

Task<Reply<Picture>> Witness::look(Request<Look>) {
  static_cast<void>(co_await self_.sleep(kPause));
  co_return picture();
}

Result<Reply<Picture>> Witness::judge(Request<Judge> judge) {
  Status status = table_.check(judge->getMeals(), {.seat = kVictim, .meals = kLastMeal});
  if (!status.ok()) return status;
  return picture();
}

Task<Status> tell(ActorRef<Witness> witness, Self self, std::uint32_t fork, bool is_taken) {
  const auto told = co_await witness.call(&Witness::hold, [&](Hold::Builder m) {
    m.setFork(fork);
    m.setSeat(self.index());
    m.setIncarnation(self.incarnation());
    m.setIsTaken(is_taken);
  });
  co_return told.status();
}

Task<Status> tell_meal(ActorRef<Witness> witness, Self self) {
  const auto told =
      co_await witness.call(&Witness::eat, [&](Eat::Builder m) { m.setSeat(self.index()); });
  co_return told.status();
}

void draw(const MeshCall<void>& dinner, const ActorRef<Witness>& witness,
          const std::optional<Screen>& screen) {
  if (!screen || !screen->is_terminal) return;
  for (const auto all = dinner.all(); !all.ready();) {
    const auto picture = witness.call(&Witness::look).get();
    if (!picture.ok()) return;
    std::printf("\r%s\x1b[K", picture.value()->getText().cStr());
    std::fflush(stdout);
  }
}

void say(const std::string& line, const std::optional<Screen>& screen) {
  if (screen) std::printf("%s%s\n", screen->is_terminal ? "\r\x1b[K" : "", line.c_str());
}

Status judge(const ActorRef<Witness>& witness, std::uint32_t meals,
             const std::optional<Screen>& screen) {
  const auto judged =
      witness.call(&Witness::judge, [=](Judge::Builder m) { m.setMeals(meals); }).get();
  if (!judged.ok()) return judged.status();
  say("all have eaten: " + std::string(judged.value()->getText().cStr()), screen);
  return {};
}

}  // namespace seaway::demos::philosophers
