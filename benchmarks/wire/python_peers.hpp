// The same ping-pong with systems of Python's that a machine may have: charm4py and Monarch.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// A program for Python in this directory, as it is in the command itself.
struct PeerScript {
  std::string_view name;
  std::string_view text;
};
std::span<const PeerScript> peer_scripts();

struct PythonPeer {
  const char* name;                  // Of the figure.
  const char* script;                // In peer_scripts().
  const char* module;                // It is installed where Python finds this one.
  const char* package;               // How pip calls it.
  std::vector<const char*> starter;  // Words between Python and the script.
};
std::span<const PythonPeer> python_peers();

/// Microseconds of each round trip of 40 bytes between two actors, in two processes. Runs the
/// Python that SEAWAY_PEERS_PYTHON names, or python3, and the script in `directory`. Errors:
/// kNotFound when it is not installed there; kDeadlineExceeded, kHostLost with what it said.
Result<std::vector<double>> python_peer_us(const PythonPeer& peer, const std::string& directory,
                                           int rounds);

}  // namespace seaway::benchmarks
