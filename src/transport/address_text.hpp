// Addresses as text: "unix:PATH", "tls:HOST:PORT", "tcp:HOST:PORT", and lists of them.

#pragma once

#include <string>
#include <vector>

namespace seaway::transport {

/// "tls://host:7" and "tcp://host:7" without the slashes; all others as they are.
std::string plain_address(const std::string& text);
/// The addresses of a list: "unix:/run/ctl.sock,tls:0.0.0.0:7000". A comma within a path stays
/// there, unless an address follows it.
std::vector<std::string> split_addresses(const std::string& list);
std::string join_addresses(const std::vector<std::string>& addresses);

/// "tls:" or "tcp:".
bool is_of_network(const std::string& address);
/// The host, without the brackets of an IPv6 address, and the port. False: it is no such address.
bool split_host(const std::string& address, std::string& host, std::string& port);
/// Only the host; empty: it is no address of a network.
std::string host_of(const std::string& address);
/// The same address of a network with another host.
std::string with_host(const std::string& address, const std::string& host);

}  // namespace seaway::transport
