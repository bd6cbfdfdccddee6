// The same script on several platforms of JAX, each in a process of its own, in turns.

#include "benchmarks/jax/jax.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/support/command.hpp"
#include "benchmarks/support/measure.hpp"
#include "benchmarks/support/up_cluster.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kSpeedS = 300, kReadyS = 120, kEndS = 30;

using Words = std::vector<std::string>;

/// Where `./dev jax` has put it.
struct Setting {
  std::string directory;
  std::string python() const { return directory + "/venv/bin/python"; }
  std::string plugin() const { return directory + "/plugin.so"; }

  Words environment(const std::string& platform, const Words& more) const {
    Words words = {"env", "JAX_PLATFORMS=" + platform, "SEAWAY_CLUSTER=", "SEAWAY_JAX_BACKEND="};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words own() const { return environment("cpu", {}); }
  /// With one device, as Seaway has it: such plugins share the cores among their devices, and split
  /// sums by that. Writes how to `config`, for JAX.
  Words plugin_alone(const std::string& config) const {
    const nlohmann::json how = {{"library_path", plugin()},
                                {"create_options", {{"cpu_device_count", 1}}}};
    std::ofstream(config) << how.dump();
    return environment("xcpu", {"PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:" + config});
  }
  Words embedded() const { return environment("seaway", {"SEAWAY_JAX_BACKEND=" + plugin()}); }
  Words on_cluster(const std::string& address, const Words& more = {}) const {
    Words words = environment("seaway", {"SEAWAY_CLUSTER=" + address});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

Result<Setting> find_setting() {
  const char* const named = std::getenv("SEAWAY_JAX_DIRECTORY");
  // Other processes are told of it, wherever they work.
  Setting setting{std::filesystem::absolute(named && *named ? named : "build/jax").string()};
  if (access(setting.python().c_str(), X_OK) == 0 && access(setting.plugin().c_str(), R_OK) == 0) {
    return setting;
  }
  return not_found("there is no JAX in " + setting.directory +
                   ": run `./dev jax` first, or name its directory in SEAWAY_JAX_DIRECTORY");
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Result<nlohmann::json> read_found(const std::string& path) {
  std::ifstream file(path);
  auto found = nlohmann::json::parse(file, nullptr, false);
  if (found.is_object()) return found;
  return Status(StatusCode::kDataCorruption, "JAX's script wrote nothing to " + path);
}

/// What one process has measured.
struct Speed {
  std::map<std::string, double> us;
  std::vector<std::string> losses;
};

Result<Speed> measure(const Setting& setting, const Words& environment, const std::string& script,
                      bool is_quick) {
  const std::string path = script + ".json";
  auto command = Command::start_other(
      with(environment, {setting.python(), script, "speed", path, is_quick ? "quick" : "full"}));
  if (!command.ok()) return command.status();
  if (Status status = command->wait_for("measured", kSpeedS); !status.ok()) return status;
  command->wait_for_end(kEndS);
  auto found = read_found(path);
  if (!found.ok()) return found.status();
  return Speed{(*found)["us"].get<std::map<std::string, double>>(),
               (*found)["losses"].get<std::vector<std::string>>()};
}

/// A client and what it measured in each turn.
struct Client {
  std::string name;
  Words environment;
  std::map<std::string, std::vector<double>> us;
  std::vector<std::string> losses;
};

/// A figure of Seaway's beside the same of another client, and what it is held to.
struct Ratio {
  const char* metric;
  const char* client;
  const char* figure;
  const char* other;
  const char* other_figure;
  double bound;      // 0: it is only told.
  bool is_at_least;  // Of a speed.
};
constexpr Ratio kRatios[] = {
    {"jax.enqueue_over_own", "seaway", "enqueue", "own", "enqueue", 2.2, false},
    {"jax.blocked_over_own", "seaway", "blocked", "own", "blocked", 4, false},
    {"jax.blocked_over_plugin", "seaway", "blocked", "plugin", "blocked", 0, false},
    {"jax.chain_over_own", "seaway", "chain", "own", "chain", 2, false},
    {"jax.chain_over_plugin", "seaway", "chain", "plugin", "chain", 0, false},
    {"jax.program_over_own_chain", "seaway", "program", "own", "chain", 0.5, false},
    {"jax.perceptron_over_own", "seaway", "perceptron", "own", "perceptron", 0.95, true},
    {"jax.perceptron_over_plugin", "seaway", "perceptron", "plugin", "perceptron", 0, true},
    {"jax.transformer_over_own", "seaway", "transformer", "own", "transformer", 0.95, true},
    {"jax.transformer_over_plugin", "seaway", "transformer", "plugin", "transformer", 0, true},
    {"jax.host_enqueue_over_embedded", "seaway_host", "enqueue", "seaway", "enqueue", 1.25, false},
};

std::string bound_text(double bound, bool is_at_least) {
  std::string number = std::to_string(bound);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return (is_at_least ? ">= " : "<= ") + number;
}

/// Bounds that were missed, in words.
class Verdict {
 public:
  explicit Verdict(BenchReport& report) : report_(report) {}

  void hold(const std::string& metric, double value, const std::string& unit, double bound,
            bool is_at_least) {
    const std::string text = bound_text(bound, is_at_least);
    report_.add(metric, value, unit, with_bound({}, text));
    const bool is_met = is_at_least ? value >= bound : value <= bound;
    if (!is_met) missed_ += (missed_.empty() ? "" : ", ") + metric + " is not " + text;
  }
  Status status() const {
    return missed_.empty() ? Status() : Status(StatusCode::kResourceExhausted, missed_);
  }

 private:
  BenchReport& report_;
  std::string missed_;
};

/// One run of a small function by a client in C++, from the call to its outcome: what JAX adds is
/// not in it.
Result<double> control_round_trip_us(const std::string& address) {
  auto worker = Worker::make(address, 0, 2, 1);
  if (!worker.ok()) return worker.status();
  std::vector<double> samples;
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t begin_ns = now_ns();
    if (Status status = worker->call(); !status.ok()) return status;
    samples.push_back(static_cast<double>(now_ns() - begin_ns) / 1000);
  }
  return median(std::move(samples));
}

/// Two tenants with weights 1 and 3 keep one device busy: how far the larger one's part of all
/// steps is from three quarters, in percent.
Result<double> shares_error(const Setting& setting, const std::string& address,
                            const std::string& script, bool is_quick) {
  std::vector<Command> tenants;
  std::vector<std::string> paths;
  for (const char* const weight : {"1", "3"}) {
    paths.push_back(script + ".share" + weight);
    auto command = Command::start_other(
        with(setting.on_cluster(address, {std::string("SEAWAY_TENANT=weight") + weight,
                                          std::string("SEAWAY_WEIGHT=") + weight}),
             {setting.python(), script, "share", paths.back(), is_quick ? "1" : "12"}));
    if (!command.ok()) return command.status();
    tenants.push_back(std::move(*command));
  }
  for (Command& tenant : tenants) {
    if (Status status = tenant.wait_for("ready", kReadyS); !status.ok()) return status;
  }
  for (const std::string& path : paths) std::ofstream(path + ".go") << "go";
  std::vector<double> steps;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    if (Status status = tenants[i].wait_for("measured", kReadyS); !status.ok()) return status;
    auto found = read_found(paths[i]);
    if (!found.ok()) return found.status();
    steps.push_back((*found)["steps"].get<double>());
  }
  return std::abs(steps[1] / (steps[0] + steps[1]) - 0.75) / 0.75 * 100;
}

void add_figures(BenchReport& report, const std::vector<Client>& clients) {
  for (const Client& client : clients) {
    for (const auto& [figure, samples] : client.us) {
      report.add("jax." + figure + "_us", median(samples), "us", {{"client", client.name}});
    }
  }
}

}  // namespace

Status run_jax(const BenchOptions& options, BenchReport& report) {
  const auto setting = find_setting();
  if (!setting.ok()) return setting.status();
  const ScratchDirectory scratch;
  const std::string script = scratch.path() + "/jax_speed.py";
  std::ofstream(script) << jax_scripts().front().text;
  const auto cluster = UpCluster::start(
      1, 1, {"--backend", "pjrt:" + setting->plugin(), "--options", "policy=shares"});
  if (!cluster.ok()) return cluster.status();
  const std::string address = (*cluster)->address();
  std::vector<Client> clients = {{"own", setting->own(), {}, {}},
                                 {"plugin", setting->plugin_alone(script + ".plugin.json"), {}, {}},
                                 {"seaway", setting->embedded(), {}, {}},
                                 {"seaway_host", setting->on_cluster(address), {}, {}}};
  for (int turn = 0; turn < (options.quick ? 1 : 3); ++turn) {
    for (Client& client : clients) {
      auto speed = measure(*setting, client.environment, script, options.quick);
      if (!speed.ok()) {
        return Status(speed.status().code(), client.name + ": " + speed.status().message());
      }
      for (const auto& [figure, us] : speed->us) client.us[figure].push_back(us);
      client.losses = std::move(speed->losses);
    }
  }
  add_figures(report, clients);
  const auto client_of = [&clients](std::string_view name) -> Client& {
    return *std::ranges::find(clients, name, &Client::name);
  };
  Verdict verdict(report);
  for (const Ratio& ratio : kRatios) {
    const double ours = median(client_of(ratio.client).us[ratio.figure]);
    const double theirs = median(client_of(ratio.other).us[ratio.other_figure]);
    const double value = ratio.is_at_least ? theirs / ours : ours / theirs;
    if (ratio.bound > 0) {
      verdict.hold(ratio.metric, value, "x", ratio.bound, ratio.is_at_least);
    } else {
      report.add(ratio.metric, value, "x");
    }
  }
  const auto trip_us = control_round_trip_us(address);
  if (!trip_us.ok()) return trip_us.status();
  report.add("jax.control_round_trip_us", *trip_us, "us");
  const double more_us =
      median(client_of("seaway_host").us["blocked"]) - median(client_of("seaway").us["blocked"]);
  verdict.hold("jax.host_blocked_more_in_round_trips", more_us / *trip_us, "round trips", 1, false);
  const bool is_equal = client_of("plugin").losses == client_of("seaway").losses &&
                        client_of("plugin").losses == client_of("seaway_host").losses;
  verdict.hold("jax.losses_equal_to_plugin", is_equal ? 1 : 0, "", 1, true);
  const auto error = shares_error(*setting, address, script, options.quick);
  if (!error.ok()) return error.status();
  verdict.hold("jax.shares_error_percent", *error, "%", 2, false);
  return options.quick ? Status() : verdict.status();
}

}  // namespace seaway::benchmarks
