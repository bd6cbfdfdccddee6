// host_main: a program of a user's own as a host of a cluster of processes. Code never travels:
// what a host is to run, it is linked with, and says so in main().
//
//   int main(int argc, char** argv) {
//     seaway::Registry registry;
//     registry.actor<Counter, std::int64_t>();           // Counter(Self, std::int64_t start)
//     registry.reduction<Total>(kAddTotals);             // A Combining of Counter's answers.
//     registry.native("scale", scale);                   // What clients name with
//     Client::native(). return seaway::host_main(argc, argv, registry);    // `program --island 1`,
//     as `seaway host`.
//   }
//
// The client may be another program, and needs no registry: it names what it spawns by its class,
// and what it says is compared. docs/build-an-app.md shows it, "On real processes".

#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "seaway/app.hpp"
#include "seaway/app/type_table.hpp"
#include "seaway/function.hpp"

namespace seaway {

/// What a host can be asked to run, by name: classes of actors, combining functions and native
/// functions. Filled in by main(); a copy shares nothing with its original later on.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry& other);
  Registry& operator=(const Registry& other);

  /// `A` can be spawned here with `A(Self, Arguments...)`. Once for each constructor. What travels
  /// are integers, bool, float, double, std::string, Message<T>, ActorMesh and ActorRef, and
  /// vectors of these; another argument does not compile. Two classes of one full name (as in two
  /// unnamed namespaces): host_main() refuses to begin.
  template <class A, class... Arguments>
  Registry& actor() {
    static_assert((internal::Decodable<Arguments> && ...),
                  "each argument of the constructor has to travel: integers, bool, float, double, "
                  "std::string, Message, ActorMesh, ActorRef, and vectors of these");
    static_assert(std::is_constructible_v<A, Self, const Arguments&...>,
                  "an actor's constructor takes Self, and then these arguments");
    internal::add_actor_to<A, Arguments...>(types());
    return *this;
  }

  /// `combine`, known by its name, makes one message of type `R` from two. See ActorMesh::reduce().
  template <class R, class F>
  Registry& reduction(const Combining<F>& combine) {
    types().add_combine(internal::combine_of<R>(combine));
    return *this;
  }

  /// What Client::native(name, ..) of any client means here. Its types, scratch_bytes and flags are
  /// to be the same there; `in` and `out` are the client's alone, whose body is not called.
  Registry& native(std::string name, NativeFunction function);

  /// For the library.
  struct State;
  const State& state() const { return *state_; }

 private:
  internal::TypeTable& types();

  std::unique_ptr<State> state_;
};

/// Plays a host, as `seaway host` does with the same flags (--help shows them), until it is ended
/// by SIGTERM or SIGINT, or by its cluster. Call it before any thread begins. Returns the exit
/// code: 0 when it was ended, 1 for flags that are not understood, 2 when it could not begin, which
/// it has said on stderr.
int host_main(int argc, char** argv, const Registry& registry);

}  // namespace seaway
