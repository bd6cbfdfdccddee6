// libFuzzer's way into one target: SEAWAY_FUZZ_TARGET.

#include "target.hpp"

// KJ asks where each exception was thrown, which costs more than all the rest of an input.
extern "C" int backtrace(void**, int) { return 0; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  seaway::fuzz::SEAWAY_FUZZ_TARGET({data, size});
  return 0;
}
