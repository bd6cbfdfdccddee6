// The same all-reduce with others that a machine may have: gloo, by way of PyTorch, and an MPI.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// A program in this directory, as it is in the command itself.
struct CollectivePeer {
  std::string_view name;
  std::string_view text;
};
std::span<const CollectivePeer> collective_peers();

/// What is reduced, and how often. `is_pinned`: each process stays on a core of its own, as far as
/// there are that many.
struct AllReduceGame {
  int processes = 2;
  int elements = 1;  // Of f32, each process.
  int rounds = 1;
  bool is_pinned = false;
};

/// Microseconds of each call at the first process. Runs the Python that SEAWAY_PEERS_PYTHON names,
/// or python3. Errors: kNotFound when PyTorch is not there; what it said when it fails.
Result<std::vector<double>> gloo_us(const AllReduceGame& game, const std::string& directory);

/// The same with mpicc and mpirun.
Result<std::vector<double>> mpi_us(const AllReduceGame& game, const std::string& directory);

}  // namespace seaway::benchmarks
