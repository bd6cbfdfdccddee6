// Words for `ip`.

#include "net_namespaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "benchmarks/support/command.hpp"
#include "left_behind.hpp"

namespace seaway::tools {
namespace {

namespace fs = std::filesystem;

constexpr double kIpS = 10;

constexpr int kSubnets = 250, kTries = 5;

Status ip(std::vector<std::string> words) {
  std::string line = "ip";
  for (const std::string& word : words) line += " " + word;
  words.insert(words.begin(), "ip");
  auto command = benchmarks::Command::start_other(words);
  if (!command.ok()) return command.status();
  if (command->wait_for_end(kIpS) == 0) return {};
  return {StatusCode::kPermissionDenied,
          "`" + line + "` fails; --net netns needs the rights of root, and iproute2"};
}

/// Addresses of this machine in that subnet.
std::size_t addresses_in(const std::string& subnet) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return 0;
  std::size_t count = 0;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto& address = *reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    count += std::string_view(text).starts_with(subnet) ? 1 : 0;
  }
  ::freeifaddrs(first);
  return count;
}

std::vector<std::string> names_with(const char* directory, const std::string& prefix) {
  std::vector<std::string> names;
  for (const std::string& name : names_in(directory)) {
    // "sw12" is not "sw123" of another process.
    const char next = name.starts_with(prefix) ? name.c_str()[prefix.size()] : '0';
    if (next < '0' || next > '9') names.push_back(name);
  }
  return names;
}

std::string ip_path() {
  for (const char* const path : {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return "ip";
}

}  // namespace

Result<std::unique_ptr<NetNamespaces>> NetNamespaces::make(const std::vector<std::string>& names) {
  std::unique_ptr<NetNamespaces> spaces(new NetNamespaces());
  if (Status status = spaces->begin(names); !status.ok()) return status;
  return spaces;
}

/// Two campaigns that begin at once may see each other's choice, and both choose again.
Status NetNamespaces::take_subnet() {
  for (int i = 0; i < kSubnets; ++i) {
    subnet_ = "10.213." + std::to_string((::getpid() + i) % kSubnets) + ".";
    if (addresses_in(subnet_) > 0) continue;
    const std::string address = subnet_ + "254/24";
    if (Status status = ip({"addr", "add", address, "dev", bridge_}); !status.ok()) return status;
    if (addresses_in(subnet_) == 1) return {};
    if (Status status = ip({"addr", "del", address, "dev", bridge_}); !status.ok()) return status;
  }
  return resource_exhausted("all subnets of 10.213.0.0/16 are taken");
}

Status NetNamespaces::begin(const std::vector<std::string>& names) {
  bridge_ = prefix();
  using Words = std::vector<std::string>;
  if (Status status = ip({"link", "add", bridge_, "type", "bridge"}); !status.ok()) return status;
  if (Status status = take_subnet(); !status.ok()) return status;
  if (Status status = ip({"link", "set", bridge_, "up"}); !status.ok()) return status;
  for (const std::string& name : names) {
    const std::string number = std::to_string(places_.size() + 1);
    const Place place{prefix() + "n" + number, prefix() + "p" + number, subnet_ + number};
    places_[name] = place;
    const std::string inner = "eth0";
    for (const Words& words :
         {Words{"netns", "add", place.space},
          Words{"link", "add", place.port, "type", "veth", "peer", "name", inner, "netns",
                place.space},
          Words{"link", "set", place.port, "master", bridge_, "up"},
          Words{"-n", place.space, "addr", "add", place.address + "/24", "dev", inner},
          Words{"-n", place.space, "link", "set", inner, "up"},
          Words{"-n", place.space, "link", "set", "lo", "up"}}) {
      if (Status status = ip(words); !status.ok()) return status;
    }
  }
  return {};
}

NetNamespaces::~NetNamespaces() { remove(prefix()); }

std::vector<std::string> NetNamespaces::command(const std::string& name,
                                                const std::vector<std::string>& words) const {
  std::error_code error;
  std::vector<std::string> all = {ip_path(), "netns", "exec", places_.at(name).space,
                                  fs::read_symlink("/proc/self/exe", error)};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

template <typename Key>
Status NetNamespaces::change(std::map<Key, std::size_t>& counts, const Key& key, bool is_more,
                             const std::vector<std::string>& words) {
  std::size_t& count = counts[key];
  if (is_more ? count > 0 : count > 1) {
    count += is_more ? 1 : -1;
    return {};
  }
  Status status = ip(words);
  // What does not come back would never heal.
  for (int i = 1; !is_more && !status.ok() && i < kTries; ++i) status = ip(words);
  if (status.ok()) count = is_more ? 1 : 0;
  return status;
}

Status NetNamespaces::cut(const std::string& name, bool is_cut) {
  return change(cuts_, name, is_cut,
                {"link", "set", places_.at(name).port, is_cut ? "down" : "up"});
}

Status NetNamespaces::drop(const std::string& from, const std::string& to, bool is_dropped) {
  return change(drops_, {from, to}, is_dropped,
                {"-n", places_.at(from).space, "route", is_dropped ? "add" : "del", "blackhole",
                 address_of(to) + "/32"});
}

/// Names of links have 15 letters at most.
std::string NetNamespaces::prefix() { return "sw" + std::to_string(::getpid()); }

std::vector<std::string> NetNamespaces::left() {
  std::vector<std::string> names = names_with("/run/netns", prefix());
  for (const std::string& link : names_with("/sys/class/net", prefix())) names.push_back(link);
  return names;
}

/// A namespace takes its end of a cable with it; that goes later, and its other end is deleted
/// before.
void NetNamespaces::remove(const std::string& prefix) {
  for (const std::string& link : names_with("/sys/class/net", prefix)) {
    static_cast<void>(ip({"link", "del", link}));
  }
  for (const std::string& space : names_with("/run/netns", prefix)) {
    static_cast<void>(ip({"netns", "del", space}));
  }
}

}  // namespace seaway::tools
