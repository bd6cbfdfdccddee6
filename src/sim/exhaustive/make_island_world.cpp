// Small worlds from a seed, and worlds and moves in words.

#include <algorithm>

#include "base/random.hpp"
#include "sim/exhaustive/island_world.hpp"
#include "sim/exhaustive/plan_maker.hpp"

namespace seaway::exhaustive {
namespace {

struct Draft {
  std::vector<std::uint32_t> positions;
  std::vector<DeviceId> devices;
};

void add_arrays(IslandSpec& spec, RandomStream& random, std::uint32_t run, std::uint32_t island,
                const Draft& draft, PlanMaker& maker) {
  IslandSpec::PartSpec& part = spec.parts[run][island];
  const auto gangs = static_cast<std::uint32_t>(draft.positions.size());
  std::vector<IslandSpec::Array> taken_over;
  for (IslandSpec::Array& array : spec.arrays) {
    if (array.island != island || array.devices != draft.devices || array.donated) continue;
    if (!random.chance(60)) continue;
    const auto gang = static_cast<std::uint32_t>(random.below(gangs));
    maker.arg(gang, array.bytes);
    part.args.push_back(array.id);
    if (!random.chance(25)) continue;
    // No later run names it, and its client has no handle that it could drop.
    array.donated = true;
    array.dropped = false;
    const auto arg = static_cast<std::uint32_t>(part.args.size() - 1);
    if (random.chance(30)) {
      maker.donate(arg);
      continue;
    }
    const std::uint64_t bytes = array.bytes;
    maker.output(gang, bytes).donate(arg, static_cast<std::uint32_t>(part.outputs.size()));
    part.outputs.push_back(100 + spec.arrays.size() + taken_over.size());
    taken_over.push_back(
        {part.outputs.back(), island, run, gang, bytes, draft.devices, random.chance(50), false});
  }
  spec.arrays.insert(spec.arrays.end(), taken_over.begin(), taken_over.end());
  if (random.chance(15)) {
    const ArrayId id = 100 + spec.arrays.size();
    spec.arrays.push_back({id, island, kRuns, 0, 1, draft.devices, random.chance(50), false});
    maker.arg(static_cast<std::uint32_t>(random.below(gangs)), 1);
    part.args.push_back(id);
  }
  for (std::uint32_t gang = 0; gang < gangs; ++gang) {
    if (!random.chance(30)) continue;
    const ArrayId id = 100 + spec.arrays.size();
    const std::uint64_t bytes = 1 + random.below(2);
    spec.arrays.push_back({id, island, run, gang, bytes, draft.devices, random.chance(50), false});
    maker.output(gang, bytes);
    part.outputs.push_back(id);
  }
}

std::uint64_t peak_of(const program::PartPlan& plan) {
  std::uint64_t peak = plan.blocks[0].steps.front().bytes;
  for (const program::Arg& arg : plan.args) peak += plan.values[arg.value].shard_bytes;
  for (const program::Output& output : plan.outputs) peak += plan.values[output.value].shard_bytes;
  return peak;
}

}  // namespace

IslandSpec make_island_world(std::uint64_t seed, Weakening weakening,
                             HostWeakening host_weakening) {
  RandomStream random(seed, 1);
  IslandSpec spec;
  spec.weakening = host_weakening;
  std::array<std::uint64_t, kIslands> memory{1, 1};
  const bool two_devices = random.chance(60);
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    std::array<Draft, kIslands> draft;
    const std::uint64_t touched = 1 + random.below(3);
    const auto positions = static_cast<std::uint32_t>(1 + random.below(2) + (touched == 3));
    for (std::uint32_t position = 0; position < positions; ++position)
      draft[touched == 3 ? random.below(2) : touched - 1].positions.push_back(position);
    for (Draft& one : draft) {
      const std::uint64_t which = two_devices ? random.below(3) : 0;
      if (which != 1) one.devices.push_back(0);
      if (which != 0) one.devices.push_back(1);
    }
    std::array<PlanMaker, kIslands> makers{PlanMaker(draft[0].devices, random.below(3)),
                                           PlanMaker(draft[1].devices, random.below(3))};
    for (std::uint32_t island = 0; island < kIslands; ++island)
      makers[island].gangs(static_cast<std::uint32_t>(draft[island].positions.size()));
    std::uint32_t number = 0;
    for (std::uint32_t to = 0; to < kIslands; ++to)
      for (std::uint32_t gang = 0; gang < draft[to].positions.size(); ++gang) {
        const auto& from = draft[1 - to].positions;
        const auto source = static_cast<std::uint32_t>(
            std::lower_bound(from.begin(), from.end(), draft[to].positions[gang]) - from.begin());
        if (source == 0 || !random.chance(75)) continue;
        const std::uint64_t bytes = 1 + random.below(2);
        spec.edges.push_back({run, ++number, 1 - to, source - 1, bytes});
        makers[1 - to].send(source - 1, number, to, bytes);
        makers[to].receive(gang, number, 1 - to,
                           host_weakening == HostWeakening::kRoomWithoutOwner ? 0 : bytes);
      }
    for (std::uint32_t island = 0; island < kIslands; ++island) {
      if (draft[island].positions.empty()) continue;
      add_arrays(spec, random, run, island, draft[island], makers[island]);
      program::PartPlan plan = makers[island].plan();
      for (std::size_t gang = 0; gang < plan.gangs.size(); ++gang)
        plan.gangs[gang].position = draft[island].positions[gang];
      std::sort(plan.sends.begin(), plan.sends.end(),
                [](const program::Send& a, const program::Send& b) { return a.gang < b.gang; });
      std::uint64_t peak = peak_of(plan);
      if (host_weakening == HostWeakening::kRoomWithoutOwner)
        for (const IslandSpec::Edge& edge : spec.edges)
          if (edge.run == run && edge.source_island != island) peak += edge.bytes;
      memory[island] = std::max(memory[island], peak);
      spec.parts[run][island].plan = std::make_shared<program::PartPlan>(std::move(plan));
    }
  }
  const std::uint64_t send_room = random.below(4);  // 0: host room is always full.
  const std::uint64_t more = random.below(3);
  for (std::uint32_t island = 0; island < kIslands; ++island) {
    CoreOptions& options = spec.options[island];
    options.devices = kDevices;
    options.memory_bytes = memory[island] + more;
    options.spill_bytes = 1000;
    options.send_room_bytes = send_room;
    options.manual = true;
    options.weakening = weakening;
    options.overtakes_max = 1;
  }
  using Kind = IslandMove::Kind;
  for (const Kind kind : {Kind::kLaunch, Kind::kRun, Kind::kExists, Kind::kTransfer, Kind::kSpilled,
                          Kind::kMoved, Kind::kFree, Kind::kCancel})
    if (random.chance(88)) spec.prompt |= 1u << static_cast<unsigned>(kind);
  if (random.chance(30)) spec.cancels = static_cast<std::uint32_t>(random.below(kRuns));
  if (host_weakening == HostWeakening::kStampedBeforeUpload)
    spec.late_upload = static_cast<std::uint32_t>(random.below(kRuns - 1));
  return spec;
}

std::string IslandSpec::to_string() const {
  std::string out;
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  for (std::uint32_t island = 0; island < kIslands; ++island) {
    out += "island " + text(island) + ": " + text(options[island].memory_bytes) +
           " bytes a device, send room " + text(options[island].send_room_bytes) + "\n";
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      const PartSpec& part = parts[run][island];
      if (!part.plan) continue;
      out += "  part " + text(run + 1) + " on devices";
      for (DeviceId device : part.plan->groups[0].devices) out += " " + text(device);
      out += ", block " + text(part.plan->blocks[0].steps.front().bytes) + ", positions";
      for (const program::Gang& gang : part.plan->gangs) out += " " + text(gang.position);
      for (const program::Receive& receive : part.plan->receives)
        out += ", gang " + text(receive.first_gang) + " receives edge " + text(receive.edge);
      for (const program::Send& send : part.plan->sends)
        out += ", gang " + text(send.gang) + " sends edge " + text(send.edge);
      for (ArrayId id : part.args) out += ", reads " + text(id);
      for (ArrayId id : part.outputs) out += ", makes " + text(id);
      out += "\n";
    }
  }
  for (const Array& array : arrays)
    out += "  array " + text(array.id) + ": " + text(array.bytes) + " bytes a device" +
           (array.run == kRuns ? ", uploaded" : "") + (array.donated ? ", donated" : "") +
           (array.dropped ? ", dropped" : "") + "\n";
  if (cancels < kRuns) out += "  run " + text(cancels + 1) + " may be cancelled\n";
  if (late_upload < kRuns)
    out += "  run " + text(late_upload + 1) + " was stamped before its upload came\n";
  return out;
}

std::string IslandMove::to_string() const {
  const char* const kinds[] = {
      "launch", "decide", "run",          "exists edge", "transfer edge",  "spilled",
      "moved",  "free",   "start cancel", "cancel",      "lose scheduler", "lose device"};
  const char* const names[] = {"admit", "overtake", "place", "place early", "spill", "move sends"};
  std::string out = "island " + std::to_string(island) + ": " + kinds[static_cast<int>(kind)] + " ";
  if (kind == Kind::kLoseScheduler)
    return "island " + std::to_string(island) + ": its scheduler is lost, another one begins";
  if (kind != Kind::kChoice) return out + std::to_string(index);
  return out + names[static_cast<int>(choice.kind)] + " part " + std::to_string(choice.stamp) +
         (choice.array ? " array " + std::to_string(choice.array) : "");
}

}  // namespace seaway::exhaustive
