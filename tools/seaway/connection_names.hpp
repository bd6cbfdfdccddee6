// ConnectionNames: which process of a campaign it is that has connected to the proxy.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace seaway::tools {

/// Thread-safe: set by whoever starts processes, asked by the proxy.
class ConnectionNames {
 public:
  void set(std::map<std::string, pid_t> processes);
  /// Whose connection goes from `port` to the proxy's `to_port`. Empty: nobody's that is known;
  /// nothing: it was closed.
  std::optional<std::string> find(std::uint16_t port, std::uint16_t to_port) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, pid_t> processes_;
};

}  // namespace seaway::tools
