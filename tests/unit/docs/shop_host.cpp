// The host of the shop of docs/build-an-app.md, as a program.

#include "seaway/host_main.hpp"
#include "shelf.hpp"

using namespace shelves;

// [host]
int main(int argc, char** argv) {
  seaway::Registry registry;
  registry.actor<Shelf, std::uint32_t>();            // Shelf(Self, std::uint32_t amount)
  registry.actor<Clerk, seaway::ActorRef<Shelf>>();  // Clerk(Self, ActorRef<Shelf> shelf)
  registry.reduction<Level>(total);                  // Combines two Levels.
  return seaway::host_main(argc, argv, registry);    // Until somebody ends it.
}
// [/host]
