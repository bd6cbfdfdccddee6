// Reading "embedded:islands=2,devices=4".

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "actor/router.hpp"
#include "base/limits.hpp"
#include "base/parse.hpp"
#include "cluster/embedded.hpp"

namespace seaway::cluster {
namespace {

constexpr std::string_view kKnown =
    "islands, devices, hosts, workers, device_memory, host_memory, send_memory, spill_memory, "
    "spill_directory, threads, policy, link_latency, link_bandwidth, events, frame_bytes, "
    "runs_in_flight, runs_shared_in_flight, definitions, restarts, shard_checksums, "
    "replay_per_mille, all_reduce, overlap, backend, executable_cache";

Status wrong(std::string_view word, std::string_view value, std::string_view wanted) {
  return invalid_argument("cluster option " + std::string(word) + "=" + std::string(value) +
                          " is not " + std::string(wanted));
}

Status read_count(std::string_view word, std::string_view value, std::uint64_t max,
                  std::uint32_t& target) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 1 || number > max) {
    return wrong(word, value, "a number from 1 to " + std::to_string(max));
  }
  target = number;
  return {};
}

Status read_bytes(std::string_view value, std::uint64_t& target) {
  auto bytes = parse_bytes(value);
  if (!bytes.ok()) return bytes.status();
  target = *bytes;
  return {};
}

Status read_frame_bytes(std::string_view word, std::string_view value, std::uint64_t& target) {
  constexpr std::uint64_t kBytesMin = 4096;
  Status status = read_bytes(value, target);
  const bool fits = target >= kBytesMin && target <= transport::kUserFrameBytesMax;
  if (!status.ok() || fits) return status;
  return wrong(word, value,
               "a size from " + std::to_string(kBytesMin) + " to " +
                   std::to_string(transport::kUserFrameBytesMax) + " bytes");
}

Status read_spill_memory(std::string_view word, std::string_view value, std::uint64_t& target) {
  Status status = read_bytes(value, target);
  if (status.ok() && target == 0)
    return wrong(word, value, "a size above 0; without it all is memory");
  return status;
}

Status read_directory(std::string_view word, std::string_view value, std::string& target) {
  constexpr std::size_t kPathMax = 4096;
  if (value.empty() || value.front() != '/' || value.size() > kPathMax) {
    return wrong(word, value, "the whole path of a directory, from / on, of at most 4096 bytes");
  }
  target = value;
  return {};
}

Status read_backend(std::string_view word, std::string_view value, std::string& plugin) {
  constexpr std::string_view kPlugin = "pjrt:";
  constexpr std::size_t kPathMax = 4096;
  plugin.clear();
  if (value == "cpu") return {};
  const std::string_view path = value.substr(std::min(value.size(), kPlugin.size()));
  if (!value.starts_with(kPlugin) || !path.starts_with('/') || path.size() > kPathMax) {
    return wrong(word, value, "cpu, or pjrt: and the whole path of a plugin, from / on");
  }
  plugin = path;
  return {};
}

Status read_algorithm(std::string_view word, std::string_view value,
                      std::optional<collective::Algorithm>& target) {
  target.reset();
  if (value == "auto") return {};
  std::string known = "auto";
  for (int i = 0; i <= static_cast<int>(collective::kLastAlgorithm); ++i) {
    const auto algorithm = static_cast<collective::Algorithm>(i);
    if (value == to_string(algorithm)) target = algorithm;
    known += ", " + std::string(to_string(algorithm));
  }
  return target ? Status() : wrong(word, value, "one of " + known);
}

Status apply(std::string_view word, std::string_view value, EmbeddedOptions& options) {
  if (word == "islands") return read_count(word, value, limits::kIslands.max, options.islands);
  if (word == "devices")
    return read_count(word, value, limits::kIslandDevices.max, options.devices);
  if (word == "hosts") return read_count(word, value, limits::kClusterHosts.max, options.hosts);
  if (word == "workers") return read_count(word, value, 256, options.workers);
  if (word == "threads") return read_count(word, value, 1024, options.threads);
  if (word == "events") return read_count(word, value, 1 << 24, options.events);
  if (word == "runs_in_flight") return read_count(word, value, 100'000, options.runs_in_flight);
  if (word == "runs_shared_in_flight") {
    return read_count(word, value, 100'000, options.runs_shared_in_flight);
  }
  if (word == "definitions") return read_count(word, value, 100'000'000, options.definitions);
  if (word == "restarts") return read_count(word, value, 1'000'000, options.restarts);
  if (word == "device_memory") return read_bytes(value, options.device_memory);
  if (word == "host_memory") return read_bytes(value, options.host_memory);
  if (word == "frame_bytes") return read_frame_bytes(word, value, options.frame_bytes);
  if (word == "send_memory") return read_bytes(value, options.send_memory);
  if (word == "spill_memory") return read_spill_memory(word, value, options.spill_memory);
  if (word == "spill_directory") return read_directory(word, value, options.spill_directory);
  if (word == "link_latency" || word == "link_bandwidth") {
    return transport::set_link_option(options.links, word, value);
  }
  if (word == "shard_checksums") {
    if (value != "on" && value != "off") return wrong(word, value, "on or off");
    options.integrity.shard_checksums = value == "on";
    return {};
  }
  if (word == "replay_per_mille") {
    return read_count(word, value, 1000, options.integrity.replay_per_mille);
  }
  if (word == "backend") return read_backend(word, value, options.plugin);
  if (word == "executable_cache") return read_directory(word, value, options.executable_cache);
  if (word == "all_reduce") return read_algorithm(word, value, options.exchange.algorithm);
  if (word == "overlap") {
    if (value != "on" && value != "off") return wrong(word, value, "on or off");
    options.exchange.overlaps = value == "on";
    return {};
  }
  if (word == "policy") {
    if (value != "fifo" && value != "shares") return wrong(word, value, "fifo or shares");
    options.policy = value == "fifo" ? island::Policy::kFifo : island::Policy::kShares;
    return {};
  }
  return invalid_argument("cluster option " + std::string(word) + " is unknown; known are " +
                          std::string(kKnown));
}

/// All islands together have no more devices and hosts than a cluster may have, before anything is
/// made for each of them.
Status check_size(const EmbeddedOptions& options) {
  const std::uint64_t islands = options.islands;
  const auto times = [islands](const char* word, std::uint32_t of_each) {
    return "islands=" + std::to_string(islands) + " times " + word + "=" + std::to_string(of_each);
  };
  Status status = limits::check(limits::kClusterDevices, islands * options.devices,
                                times("devices", options.devices));
  if (!status.ok()) return status;
  return limits::check(limits::kClusterHosts, islands * options.hosts,
                       times("hosts", options.hosts));
}

}  // namespace

Result<EmbeddedOptions> parse_embedded(std::string_view spec) {
  constexpr std::string_view kScheme = "embedded";
  if (spec.substr(0, kScheme.size()) != kScheme) {
    return invalid_argument("cluster \"" + std::string(spec) +
                            "\" is not known; this build knows \"embedded:islands=2,devices=4\"");
  }
  spec.remove_prefix(kScheme.size());
  if (!spec.empty() && spec.front() == ':') spec.remove_prefix(1);
  EmbeddedOptions options;
  while (!spec.empty()) {
    const std::string_view word = spec.substr(0, spec.find(','));
    spec.remove_prefix(std::min(spec.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return invalid_argument("cluster option \"" + std::string(word) +
                              "\" has no value; write name=value");
    }
    if (Status status = apply(word.substr(0, equals), word.substr(equals + 1), options);
        !status.ok()) {
      return status;
    }
  }
  if (Status status = check_size(options); !status.ok()) return status;
  if (!options.spill_directory.empty() && options.spill_memory == 0) {
    return invalid_argument("cluster option spill_directory=" + options.spill_directory +
                            " names a place for what has no room in memory, but memory has no "
                            "limit; add spill_memory=256MiB");
  }
  if (!options.executable_cache.empty() && options.plugin.empty()) {
    return invalid_argument("cluster option executable_cache=" + options.executable_cache +
                            " is for what a plugin compiles; add backend=pjrt:/path/plugin.so");
  }
  return options;
}

Status check_for_processes(const EmbeddedOptions& options) {
  const std::string hosts = "cluster option hosts=" + std::to_string(options.hosts);
  if (options.hosts < 1 || options.hosts > actor::kHostsMax) {
    return invalid_argument(hosts + ": an island of a cluster of processes has 1 to " +
                            std::to_string(actor::kHostsMax) +
                            " hosts; take more islands, or fewer hosts");
  }
  if (options.hosts == 1) return {};
  if (options.devices % options.hosts != 0) {
    return invalid_argument(hosts + " does not divide devices=" + std::to_string(options.devices) +
                            ": the devices of an island are dealt to its hosts equally; choose a "
                            "multiple of " +
                            std::to_string(options.hosts) + " devices");
  }
  if (!options.plugin.empty()) {
    return invalid_argument(hosts + " does not go with backend=pjrt:" + options.plugin +
                            ": the devices of a plugin are those of one process; take more islands "
                            "instead");
  }
  if (!options.integrity.shard_checksums && options.integrity.replay_per_mille == 0) return {};
  return invalid_argument(
      hosts + " does not go with " +
      (options.integrity.shard_checksums
           ? std::string("shard_checksums=on")
           : "replay_per_mille=" + std::to_string(options.integrity.replay_per_mille)) +
      ": values are checked where an island has one host; leave one of the two "
      "out");
}

}  // namespace seaway::cluster
