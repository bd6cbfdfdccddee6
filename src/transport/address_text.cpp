// Words of addresses, without a look at what they stand for.

#include "transport/address_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace seaway::transport {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";
constexpr std::string_view kTls = "tls:";
static_assert(kTcp.size() == kTls.size());

}  // namespace

std::string plain_address(const std::string& text) {
  for (const std::string_view scheme : {kTcp, kTls}) {
    const std::string slashed = std::string(scheme) + "//";
    if (text.starts_with(slashed)) return std::string(scheme) + text.substr(slashed.size());
  }
  return text;
}

bool is_of_network(const std::string& address) {
  return address.starts_with(kTcp) || address.starts_with(kTls);
}

bool split_host(const std::string& address, std::string& host, std::string& port) {
  if (!is_of_network(address)) return false;
  const std::size_t colon = address.rfind(':');
  if (colon < kTcp.size()) return false;
  host = address.substr(kTcp.size(), colon - kTcp.size());
  port = address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return false;
  }
  std::uint16_t number = 0;
  const char* const end = port.data() + port.size();
  const auto [last, error] = std::from_chars(port.data(), end, number);
  return !host.empty() && error == std::errc() && last == end;
}

std::vector<std::string> split_addresses(const std::string& list) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = list.size();
    for (const std::string_view scheme : {kUnix, kTcp, kTls}) {
      end = std::min(end, list.find("," + std::string(scheme), begin));
    }
    all.push_back(list.substr(begin, end - begin));
    begin = end == list.size() ? end : end + 1;
  }
  return all;
}

std::string host_of(const std::string& address) {
  std::string host;
  std::string port;
  return split_host(address, host, port) ? host : std::string();
}

std::string with_host(const std::string& address, const std::string& host) {
  const std::size_t colon = address.rfind(':');
  const bool is_long = host.find(':') != host.npos && !host.starts_with('[');
  return address.substr(0, kTcp.size()) + (is_long ? "[" + host + "]" : host) +
         address.substr(colon);
}

std::string join_addresses(const std::vector<std::string>& addresses) {
  std::string all;
  for (const std::string& address : addresses) all += (all.empty() ? "" : ",") + address;
  return all;
}

}  // namespace seaway::transport
