// Reading a status, and printing it.

#include "cluster_look.hpp"

#include <algorithm>
#include <cstdio>

#include "base/printable.hpp"
#include "cluster/process.hpp"

namespace seaway::tools {
namespace {

constexpr std::uint64_t kAskNs = 2'000'000'000;

template <class... Values>
std::string line(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

double mib(const nlohmann::json& object, const char* name) {
  return static_cast<double>(object.value(name, std::uint64_t{0})) / (1 << 20);
}

std::string islands_text(const nlohmann::json& islands) {
  std::string text = "island  host   scheduler  devices  slices  arrays kept, MiB\n";
  for (const auto& island : islands) {
    const std::uint32_t devices = island.value("devices", 0u);
    const std::uint32_t lost = island.value("lost_devices", 0u);
    std::string note;
    if (lost > 0) note = line("  %u devices are lost", lost);
    if (island.value("failed", false)) note += "  failed too often: used again later";
    text += line("%6u  %-5s  %-9s  %7u  %6u  %.1f of %.1f%s\n", island.value("island", 0u),
                 island.value("host", false) ? "there" : "lost",
                 island.value("scheduler", false) ? "there" : "lost", devices - lost,
                 island.value("slices", 0u), mib(island, "kept_bytes"),
                 mib(island, "kept_bytes_max"), note.c_str());
  }
  return text;
}

/// The first 40 bytes of a name, without the beginning of a character that does not fit.
std::string short_name(const std::string& name) {
  std::string text = printable(name);
  std::size_t end = std::min<std::size_t>(text.size(), 40);
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string tenants_text(const nlohmann::json& tenants) {
  std::string text = "tenant            weight  arrays  runs queued  in flight\n";
  for (const auto& tenant : tenants) {
    text += line("%-16s  %6u  %6llu  %11u  %9u\n", short_name(tenant.value("name", "")).c_str(),
                 tenant.value("weight", 0u),
                 static_cast<unsigned long long>(tenant.value("arrays", std::uint64_t{0})),
                 tenant.value("queued", 0u), tenant.value("in_flight", 0u));
  }
  return text;
}

/// "3"; of an island's hosts behind the first "3.1".
std::string number_text(const nlohmann::json& process) {
  if (process.value("role", "") != "annex") return std::to_string(process.value("index", 0u));
  return std::to_string(process.value("island", 0u)) + "." +
         std::to_string(process.value("host", 0u));
}

}  // namespace

bool ClusterLook::is_complete() const {
  return islands > 0 && schedulers == islands && islands_joined == islands &&
         hosts == std::size_t{islands} * hosts_each;
}

std::string ClusterLook::whos_there() const {
  return std::to_string(schedulers) + " schedulers and " + std::to_string(hosts) +
         " hosts are there, of " + std::to_string(islands) + " islands with " +
         std::to_string(hosts_each) + (hosts_each == 1 ? " host each" : " hosts each");
}

std::string ClusterLook::to_string(const std::string& address, const ClusterLook* before,
                                   double seconds) const {
  std::string text = line(
      "%s: %u islands of %u devices, controller in its life %u\n"
      "%zu schedulers, %zu hosts, %zu clients\n",
      address.c_str(), islands, devices, life, schedulers, hosts, clients);
  for (const auto& process : json.value("processes", nlohmann::json::array())) {
    // With one host for each island the two numbers are the same.
    const bool is_numbered = hosts_each > 1 && process.contains("actors_host");
    const std::string actors =
        is_numbered ? line(", host %u of actors", process.value("actors_host", 0u)) : "";
    text += line("  %-10s %4s  life %-4u %-5s %s%s\n", printable(process.value("role", "")).c_str(),
                 number_text(process).c_str(), process.value("life", 0u),
                 process.value("there", false) ? "there" : "lost",
                 printable(process.value("address", "")).c_str(), actors.c_str());
  }
  for (const auto& channel : json.value("stalled_channels", nlohmann::json::array())) {
    text += line(
        "  channel to %s is stalled: %llu frames of %llu bytes wait, none was "
        "acknowledged for %llu ms\n",
        channel.value("peer", "").c_str(),
        static_cast<unsigned long long>(channel.value("frames", std::uint64_t{0})),
        static_cast<unsigned long long>(channel.value("bytes", std::uint64_t{0})),
        static_cast<unsigned long long>(channel.value("for_ms", std::uint64_t{0})));
  }
  const auto work = json.value("work", nlohmann::json::object());
  text += "\n" + islands_text(json.value("each_island", nlohmann::json::array())) + "\n";
  text +=
      line("runs: %u without an outcome, %u in flight; %u programs, %u functions, %llu arrays\n",
           work.value("runs_unfinished", 0u), work.value("runs_in_flight", 0u),
           work.value("programs", 0u), work.value("functions", 0u),
           static_cast<unsigned long long>(work.value("arrays", std::uint64_t{0})));
  if (before && seconds > 0 && before->life == life) {
    const auto stamps = [](const nlohmann::json& all) {
      const auto figures = all.value("work", nlohmann::json::object());
      return figures.value("stamps", std::uint64_t{0});
    };
    text += line("stamps: %.1f a second\n",
                 static_cast<double>(stamps(json) - stamps(before->json)) / seconds);
  }
  return text + "\n" + tenants_text(work.value("tenants", nlohmann::json::array()));
}

Result<ClusterLook> look_at_cluster(const std::string& address, const Clock& clock,
                                    const transport::Credentials& shown) {
  const auto text = cluster::ask_status(address, clock, kAskNs, shown);
  if (!text.ok()) return text.status();
  ClusterLook look;
  look.json = nlohmann::json::parse(*text, nullptr, false);
  if (!look.json.is_object()) return protocol_error("the controller's status is no JSON object");
  look.islands = look.json.value("islands", 0u);
  look.devices = look.json.value("devices", 0u);
  look.hosts_each = look.json.value("hosts", 1u);
  look.life = look.json.value("life", 0u);
  for (const auto& process : look.json["processes"]) {
    if (!process.value("there", false)) continue;
    const std::string role = process.value("role", "");
    look.schedulers += role == "scheduler";
    look.hosts += role == "host" || role == "annex";
    look.clients += role == "client";
  }
  for (const auto& island : look.json["each_island"]) {
    look.islands_joined += island.value("host", false) ? 1 : 0;
  }
  return look;
}

}  // namespace seaway::tools
