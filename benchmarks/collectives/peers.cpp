// Sources written to files, compiled where need be, and the file of JSON that they write.

#include "benchmarks/collectives/peers.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/python.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kBuildS = 120, kRunS = 240, kEndS = 10;

std::string write_source(const std::string& name, const std::string& directory) {
  const auto all = collective_peers();
  const auto source = std::ranges::find(all, name, &CollectivePeer::name);
  std::ofstream(directory + "/" + name) << source->text;
  return directory + "/" + name;
}

Result<std::vector<double>> run(const std::vector<std::string>& words, const std::string& path) {
  std::remove(path.c_str());
  auto command = Command::start_other(words);
  if (!command.ok()) return command.status();
  if (Status status = command->wait_for("reduced", kRunS); !status.ok()) return status;
  command->wait_for_end(kEndS);
  std::ifstream file(path);
  const auto samples = nlohmann::json::parse(file, nullptr, false);
  if (samples.is_array() && !samples.empty()) return samples.get<std::vector<double>>();
  return Status(StatusCode::kDataCorruption, words.front() + " wrote no samples");
}

}  // namespace

Result<std::vector<double>> gloo_us(const AllReduceGame& game, const std::string& directory) {
  if (!has_python_module("torch")) {
    return not_found(
        "PyTorch is not installed: apt-get install python3-torch, or name a Python that "
        "has it in SEAWAY_PEERS_PYTHON");
  }
  const std::string script = write_source("gloo_peer.py", directory), path = script + ".json";
  return run({python(), script, std::to_string(game.processes), std::to_string(game.elements),
              std::to_string(game.rounds), game.is_pinned ? "1" : "0", path},
             path);
}

Result<std::vector<double>> mpi_us(const AllReduceGame& game, const std::string& directory) {
  const std::string source = write_source("mpi_peer.c", directory);
  const std::string program = directory + "/mpi_peer", path = program + ".json";
  auto compiling = Command::start_other({"mpicc", "-O2", "-o", program, source});
  if (!compiling.ok() || compiling->wait_for_end(kBuildS) != 0) {
    return not_found("mpicc does not compile: apt-get install libopenmpi-dev openmpi-bin");
  }
  std::vector<std::string> words = {"mpirun", "--allow-run-as-root", "--oversubscribe"};
  // Without cores of their own, those that wait are not to keep the others from theirs.
  const std::vector<std::string> more =
      game.is_pinned
          ? std::vector<std::string>{"--bind-to", "core"}
          : std::vector<std::string>{"--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"-np", std::to_string(game.processes), program,
                             std::to_string(game.elements), std::to_string(game.rounds), path});
  return run(words, path);
}

}  // namespace seaway::benchmarks
