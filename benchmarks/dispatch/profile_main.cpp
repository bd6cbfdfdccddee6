// Runs one kind of chain for some seconds, so that a profiler sees nothing else (docs/profile.md).

#include <cstdio>
#include <cstdlib>
#include <string>

#include "benchmarks/dispatch/chains.hpp"
#include "benchmarks/support/measure.hpp"

int main(int argument_count, char** arguments) {
  using namespace seaway::benchmarks;
  if (argument_count != 4) {
    std::fprintf(stderr, "usage: dispatch_profile DEVICES parallel|sequential|op_by_op SECONDS\n");
    return 1;
  }
  ChainOptions options;
  options.devices = static_cast<std::uint32_t>(std::atoi(arguments[1]));
  for (const ChainMode mode : {ChainMode::kSequential, ChainMode::kOpByOp}) {
    if (arguments[2] == to_string(mode)) options.mode = mode;
  }
  auto chain = Chain::make(options);
  const std::uint64_t end_ns = now_ns() + std::uint64_t(std::atof(arguments[3]) * 1e9);
  double fastest_ns = 1e18;
  while (chain.ok() && now_ns() < end_ns) {
    const auto elapsed_ns = chain->run_ns(128);
    if (!elapsed_ns.ok()) {
      std::fprintf(stderr, "%s\n", elapsed_ns.status().to_string().c_str());
      return 2;
    }
    fastest_ns = std::min(fastest_ns, *elapsed_ns / 128 / options.nodes);
  }
  std::printf("%.1f ns per node, fastest of rounds of 128 chains\n", fastest_ns);
  return chain.ok() ? 0 : 2;
}
