// `seaway bench jax`: JAX on Seaway beside JAX's own client, and beside the same plugin without us.

#pragma once

#include <span>
#include <string_view>

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// A script of this directory, as it is in the command itself.
struct JaxScript {
  std::string_view name;
  std::string_view text;
};
std::span<const JaxScript> jax_scripts();

/// Needs what `./dev jax` makes: build/jax below this directory, or the one that
/// SEAWAY_JAX_DIRECTORY names. Errors: kNotFound without it; kResourceExhausted when a figure
/// misses its bound.
Status run_jax(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
