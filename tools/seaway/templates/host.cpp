// app_name_host: a host of a cluster of processes that knows this app's actors. Code never travels:
// what is spawned there, this program is linked with.
//
//   seaway up --islands 2 --host-program ./app_name_host

#include <seaway/host_main.hpp>

#include "counter.hpp"

int main(int argument_count, char** arguments) {
  using namespace app_name_app;
  seaway::Registry registry;
  registry.actor<Counter, std::int64_t>();  // Counter(Self, std::int64_t start)
  registry.reduction<Total>(kPlus);
  return seaway::host_main(argument_count, arguments, registry);
}
