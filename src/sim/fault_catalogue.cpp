// The list itself, and the table that is printed of it.

#include "sim/fault_catalogue.hpp"

#include <algorithm>

namespace seaway::sim {
namespace {

FaultProof covered(Feature feature) { return {WorldKind::kPrograms, feature, {}}; }
FaultProof of_processes(Feature feature) { return {WorldKind::kProcesses, feature, {}}; }
FaultProof counted(std::string_view counter) { return {WorldKind::kApps, std::nullopt, counter}; }

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

/// "programs, apps"; "-" when it is not simulated.
std::string worlds_of(const Fault& fault) {
  std::string text;
  for (const WorldKind kind : {WorldKind::kPrograms, WorldKind::kApps, WorldKind::kProcesses}) {
    const bool is_in = std::any_of(fault.proofs.begin(), fault.proofs.end(),
                                   [kind](const FaultProof& proof) { return proof.world == kind; });
    if (is_in) text += (text.empty() ? "" : ", ") + std::string(to_string(kind));
  }
  return text.empty() ? "-" : text;
}

}  // namespace

std::span<const Fault> fault_catalogue() {
  using enum Feature;
  static const std::vector<Fault> kFaults = {
      {1, "a device is lost for good", {covered(kDeviceLoss)}, ""},
      {2, "a device fails to launch a few times", {covered(kRelaunch)}, ""},
      {3, "a device hangs", {covered(kHungGang)}, ""},
      {4, "a device is slow", {covered(kSlowDevice)}, ""},
      {5, "a host is killed", {counted("host killed"), of_processes(kHostLostWithRuns)}, ""},
      {6,
       "a host stands still and comes back",
       {counted("host paused"), of_processes(kZombieHost)},
       ""},
      {7, "a machine is lost with all its processes", {of_processes(kKillMachine)}, ""},
      {8, "an island's scheduler is killed", {of_processes(kSchedulerRestored)}, ""},
      {9,
       "the controller is killed",
       {of_processes(kControllerLostWithRuns)},
       "the journal, for what was acknowledged to survive"},
      {10, "a client is killed", {of_processes(kClientLostWithRuns)}, ""},
      {11,
       "a process dies again and again",
       {of_processes(kCrashLoop), of_processes(kIslandFailed)},
       ""},
      {12,
       "partitions: whole, one-way, of one, of a pair",
       {of_processes(kIsolate), of_processes(kDeafen), of_processes(kMute), of_processes(kCutPair)},
       ""},
      {13, "links are held, and let go in another order", {}, "links that can be held"},
      {14, "messages are late, and overtake on other links", {counted("packets delayed")}, ""},
      {15,
       "a connection is cut, also half or within a frame",
       {counted("connection cut"), counted("connection half open"), of_processes(kWireCut),
        of_processes(kWireHalfOpen)},
       ""},
      {16, "one request or one answer is lost", {}, "links that lose single messages"},
      {17, "old frames are repeated", {counted("packets repeated"), of_processes(kWireRepeat)}, ""},
      {18, "bits of a frame are flipped", {counted("bits flipped"), of_processes(kWireFlip)}, ""},
      {19, "malformed messages", {}, "listeners of real sockets"},
      {20, "floods of connections, peers that dawdle", {}, "listeners of real sockets"},
      {21,
       "a disk is full, fails, is slow or lies",
       {covered(kFileFull), covered(kFileLoss)},
       "the journal and checkpoints"},
      {22, "a checkpoint is torn, changed or incomplete", {}, "checkpoints"},
      {23, "device memory is short", {covered(kTightMemory), covered(kSpill)}, ""},
      {24,
       "memory is short at a launch, or in a host",
       {covered(kShortage), of_processes(kOutOfMemory)},
       ""},
      {25, "no more files, threads or shared memory", {}, "limits of real processes"},
      {26,
       "clocks jump, drift or stand still",
       {counted("clock set"), of_processes(kClockJump), of_processes(kClockRate)},
       ""},
      {27, "a device computes a wrong value", {covered(kFlipFound)}, ""},
      {28, "a value changes in a store or on its way", {covered(kRotFound)}, ""},
      {29,
       "a user's function fails",
       {covered(kFailingFunction), covered(kUncompilableFunction), counted("USER_FUNCTION_ERROR")},
       ""},
      {30,
       "more is asked for than there is room for",
       {covered(kFloodedWorld), covered(kRunRefused), covered(kPutRefused), covered(kRunOverQuota),
        counted("RESOURCE_EXHAUSTED")},
       ""},
      {31, "processes of several versions", {}, "versions in the handshake"},
      {32,
       "a consumer is slow, or does not read",
       {covered(kFloodedWorld), of_processes(kSlowReader)},
       ""},
      {33, "a fault while another one is recovered from", {of_processes(kFaultInRecovery)}, ""},
  };
  return kFaults;
}

std::string fault_table() {
  constexpr std::size_t kNumber = 6, kName = 52, kWorlds = 18;
  std::string text = padded("fault", kNumber) + padded("what happens", kName) +
                     padded("simulated in", kWorlds) + "waits for\n";
  std::size_t simulated = 0;
  for (const Fault& fault : fault_catalogue()) {
    simulated += fault.is_simulated();
    std::string line = padded("F" + std::to_string(fault.number), kNumber) +
                       padded(std::string(fault.name), kName) + padded(worlds_of(fault), kWorlds) +
                       std::string(fault.waits_for);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + std::to_string(simulated) + " of " + std::to_string(fault_catalogue().size()) +
         " faults are simulated\n";
}

}  // namespace seaway::sim
