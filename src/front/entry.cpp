// The functions that the library gives away: frameworks look up the first by its name, and
// seaway_jax.program the others.

#include "front/recording.hpp"
#include "front/table.hpp"

extern "C" __attribute__((visibility("default"))) const seaway::pjrt::abi::Api* GetPjrtApi() {
  return seaway::front::plugin_table();
}

/// From here to the end, what this thread executes and copies is one program.
extern "C" __attribute__((visibility("default"))) void seaway_program_begin() {
  seaway::front::Recording::begin();
}

extern "C" __attribute__((visibility("default"))) void seaway_program_end() {
  seaway::front::Recording::end();
}
