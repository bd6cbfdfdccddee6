// counts OPERATION: does it so many times in a simulated world of one thread, and prints what that
// has cost as a JSON object. Under callgrind, with --instr-atstart=no, the dump has the
// instructions of just that. counts --list: names of operations. See tools/counts.py.

#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/counts/heap.hpp"
#include "benchmarks/counts/operations.hpp"

namespace seaway::benchmarks {
namespace {

Status measure(const OperationKind& kind) {
  auto operation = kind.make();
  if (!operation.ok()) return operation.status();
  // Tables and pools have their size then, but for those that grow with what is kept.
  if (Status status = (*operation)->run(kind.count); !status.ok()) return status;
  const HeapCount heap = heap_count();
  const Traffic traffic = (*operation)->traffic();
  CALLGRIND_START_INSTRUMENTATION;
  const Status status = (*operation)->run(kind.count);
  CALLGRIND_DUMP_STATS;
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!status.ok()) return status;
  const HeapCount heap_after = heap_count();
  const Traffic traffic_after = (*operation)->traffic();
  const nlohmann::ordered_json counts = {
      {"operation", kind.name},
      {"times", kind.count},
      {"allocations", heap_after.allocations - heap.allocations},
      {"allocated_bytes", heap_after.bytes - heap.bytes},
      {"kept_bytes", heap_after.live_bytes - heap.live_bytes},
      {"frames", traffic_after.frames - traffic.frames},
      {"frame_bytes", traffic_after.frame_bytes - traffic.frame_bytes},
      {"steps", traffic_after.steps - traffic.steps},
  };
  std::printf("%s\n", counts.dump().c_str());
  return {};
}

int run(const std::string& wanted) {
  for (const OperationKind& kind : operation_kinds()) {
    if (wanted == "--list") std::printf("%s\n", kind.name.c_str());
    if (wanted != kind.name) continue;
    const Status status = measure(kind);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
    return status.ok() ? 0 : 1;
  }
  if (wanted == "--list") return 0;
  std::fprintf(stderr, "there is no operation \"%s\"; see counts --list\n", wanted.c_str());
  return 2;
}

}  // namespace
}  // namespace seaway::benchmarks

int main(int count, char** arguments) {
  return seaway::benchmarks::run(count == 2 ? arguments[1] : "--list");
}
