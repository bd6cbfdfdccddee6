// Processes as /proc shows them, and how they are started and ended.

#include "benchmarks/support/up_cluster.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "base/clock.hpp"
#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "cluster/process.hpp"

extern char** environ;

namespace seaway::benchmarks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAskNs = 2'000'000'000;

/// The words of a command line; none when the process is gone.
std::vector<std::string> words_of(const fs::path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

Result<std::unique_ptr<UpCluster>> UpCluster::start(std::uint32_t islands, std::uint32_t devices,
                                                    const std::vector<std::string>& more,
                                                    Silence silence) {
  std::string place = (fs::temp_directory_path() / "seaway-bench-XXXXXX").string();
  if (!mkdtemp(place.data())) return resource_exhausted("no directory could be made at " + place);
  std::unique_ptr<UpCluster> cluster(new UpCluster(islands));
  cluster->directory_ = place;
  std::array<int, 2> said;
  if (pipe2(said.data(), O_CLOEXEC) != 0) return resource_exhausted("no pipe could be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, said[1], STDOUT_FILENO);
  // Who was killed and started again is the benchmark's own doing.
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words = {"seaway",      "up",
                                    "--islands",   std::to_string(islands),
                                    "--devices",   std::to_string(devices),
                                    "--directory", place};
  if (silence == Silence::kPatient) {
    words.insert(words.end(), kPatience.begin(), kPatience.end());
  }
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error =
      posix_spawn(&cluster->up_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(said[1]);
  char byte = 0;
  const bool is_ready = error == 0 && read(said[0], &byte, 1) == 1;
  close(said[0]);
  if (error != 0) cluster->up_ = 0;
  if (!is_ready) return invalid_argument("`seaway up` did not become ready in " + place);
  return cluster;
}

UpCluster::~UpCluster() {
  if (up_ > 0) {
    kill(up_, SIGTERM);
    waitpid(up_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::map<std::string, pid_t> UpCluster::processes() const {
  std::map<std::string, pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::vector<std::string> words = words_of(entry.path());
    if (words.size() < 2 || std::ranges::find(words, directory_) == words.end()) continue;
    std::string name = words[1];
    const auto island = std::ranges::find(words, "--island");
    if (island != words.end() && island + 1 != words.end()) name += " " + *(island + 1);
    const auto host = std::ranges::find(words, "--host");
    const bool is_annex = host != words.end() && host + 1 != words.end() && *(host + 1) != "0";
    if (is_annex) name += "." + *(host + 1);
    found[name] = static_cast<pid_t>(std::stol(number));
  }
  return found;
}

pid_t UpCluster::process_of(const std::string& name) const {
  const auto all = processes();
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

std::map<std::string, std::uint32_t> UpCluster::lives() const {
  const RealClock clock;
  const auto text = cluster::ask_status(address(), clock, kAskNs);
  std::map<std::string, std::uint32_t> lives;
  if (!text.ok()) return lives;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded()) return lives;
  lives["controller"] = json.value("life", 0u);
  for (const auto& process : json["processes"]) {
    if (!process.value("there", false) || process.value("role", "") == "client") continue;
    lives[process.value("role", "") + " " + std::to_string(process.value("index", 0u))] =
        process.value("life", 0u);
  }
  return lives;
}

Result<Worker> Worker::make(const std::string& address, std::int32_t island, std::int64_t size,
                            int times) {
  auto client = connect(address);
  if (!client.ok()) return client.status();
  auto slice = client->acquire_slice({.devices = 1, .mesh = {{"x", 1}}, .island = island});
  if (!slice.ok()) return slice.status();
  const NamedSharding whole(slice->mesh(), P());
  const auto body = [times](Tensor x) {
    for (int i = 0; i < times; ++i) x = matmul(x, x);
    return x;
  };
  auto square = client->function("square", body, {f32({size, size})});
  if (!square.ok()) return square.status();
  auto program = client->program("square", [&square](Traced x) { return (*square)(x); },
                                 {ArraySpec{f32({size, size}), whole}});
  if (!program.ok()) return program.status();
  return Worker{*client, *slice, *square, *program, whole, size};
}

Run Worker::run() const {
  const std::vector<float> zeros(static_cast<std::size_t>(size * size));
  return program.execute({client.put(zeros, {size, size}, sharding)});
}

Status Worker::call() const { return run().output(0).to_host<float>().get().status(); }

std::uint64_t proportional_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Pss:")) continue;
    return std::stoull(line.substr(4)) * 1024;
  }
  return 0;
}

std::uint64_t processor_ns(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::size_t end = all.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream rest(all.substr(end + 1));
  std::string word;
  for (int i = 0; i < 11 && rest >> word; ++i) continue;  // State up to cmajflt.
  std::uint64_t user = 0, system = 0;
  if (!(rest >> user >> system)) return 0;
  return (user + system) * (1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
}

}  // namespace seaway::benchmarks
