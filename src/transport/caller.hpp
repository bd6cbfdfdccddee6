// Caller: who has connected to this process, as far as the system and TLS say, and what he shows;
// and what this process shows when it calls.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace seaway::transport {

class Descriptor;
class Tls;

/// What a process shows to whom it calls. It leaves the machine inside of TLS alone.
struct Credentials {
  std::shared_ptr<Tls> tls;  // Of "tls:" addresses, at both ends; none: there are no such.
  std::string token;         // As text; empty: none.
};

struct Caller {
  std::string name;       // For messages: "user 1000, process 4711", "10.0.0.7:40112".
  bool is_local = false;  // A Unix socket: what follows is the kernel's word.
  std::uint32_t user = 0;
  std::uint32_t process = 0;
  bool is_own_user = false;  // The one that this process is of.

  std::string host;           // Of a network: the address without its port.
  bool is_encrypted = false;  // TLS.
  /// What his certificate says he is, as its authority has signed it: "host/1". Empty: none shown.
  std::string certificate;
  std::uint64_t certificate_end_s = 0;  // Seconds of UTC; from then on it is none.

  // What he shows himself, as it came: not looked at yet.
  std::string token;
  std::string pass;        // Of who talks; see pass.hpp.
  std::uint32_t life = 0;  // The same.

  /// What came with his question, of this machine. Null: nothing.
  std::shared_ptr<const Descriptor> handed;
};

}  // namespace seaway::transport
