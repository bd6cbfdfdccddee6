// Who sits beside the philosophers and looks on, wherever they sit.

#pragma once

#include <optional>
#include <string>

#include "demos/philosophers.capnp.h"
#include "demos/support/table.hpp"
#include "demos/support/terminal.hpp"
#include "seaway/app.hpp"

namespace seaway::demos::philosophers {

constexpr std::uint32_t kSeats = 5;
/// Who dies, and over which meal.
constexpr std::uint32_t kVictim = 2, kLastMeal = 3;

class Philosopher;

/// An actor: philosophers in other processes tell it what they do, and wait until it knows.
class Witness {
 public:
  static void describe(ActorType<Witness>& type) {
    type.on(&Witness::hold).on(&Witness::eat).on(&Witness::judge);
    type.on(&Witness::look, Interleave::kYes).on_death(&Witness::on_death);
  }
  Witness(Self self, const ActorMesh<Philosopher>& guests);

  void hold(Request<Hold> hand);
  void eat(Request<Eat> meal) { table_.eats(meal->getSeat()); }
  /// How the table looks a moment later.
  Task<Reply<Picture>> look(Request<Look> look);
  /// What was wrong when each was to have so many meals, as Table::check(); else the last picture.
  Result<Reply<Picture>> judge(Request<Judge> judge);
  void on_death(const Death& death) { table_.dies({death.member.index, death.incarnation}); }

 private:
  Reply<Picture> picture() const;

  Self self_;
  Table table_{kSeats};
};

/// In a handler: the fork is in this philosopher's hand, or not any more. Done when the witness
/// knows.
Task<Status> tell(ActorRef<Witness> witness, Self self, std::uint32_t fork, bool is_taken);
Task<Status> tell_meal(ActorRef<Witness> witness, Self self);

/// Draws the table over its last picture, where there is a terminal, until all have eaten.
void draw(const MeshCall<void>& dinner, const ActorRef<Witness>& witness,
          const std::optional<Screen>& screen);
/// Prints a line, if there is a screen.
void say(const std::string& line, const std::optional<Screen>& screen);
/// What Table::check() says; prints the last picture if all was well.
Status judge(const ActorRef<Witness>& witness, std::uint32_t meals,
             const std::optional<Screen>& screen);

}  // namespace seaway::demos::philosophers
