// Caller: who has connected to this process, as far as the system says.

#pragma once

#include <cstdint>
#include <string>

namespace seaway::transport {

struct Caller {
  std::string name;       // For messages: "user 1000, process 4711", "10.0.0.7:40112".
  bool is_local = false;  // A Unix socket: what follows is the kernel's word.
  std::uint32_t user = 0;
  std::uint32_t process = 0;
};

}  // namespace seaway::transport
