// The message that both contenders build and read, so that they do the same work.

#pragma once

#include <cstdint>

#include "benchmarks/messages.capnp.h"

namespace seaway::benchmarks {

/// About 130 bytes: five scalars, three inputs and two outputs.
inline void fill_command(Command::Builder command, std::uint64_t number) {
  command.setNumber(number);
  command.setNode(7);
  command.setShards(64);
  command.setBytes(4096);
  command.setStamp(number * 3);
  auto inputs = command.initInputs(3);
  for (unsigned i = 0; i < 3; ++i) inputs.set(i, number + i);
  auto outputs = command.initOutputs(2);
  for (unsigned i = 0; i < 2; ++i) outputs.set(i, number - i);
}

/// Looks at all of it.
inline std::uint64_t sum_of(Command::Reader command) {
  std::uint64_t sum = command.getNumber() + command.getNode() + command.getShards() +
                      command.getBytes() + command.getStamp();
  for (const std::uint64_t input : command.getInputs()) sum += input;
  for (const std::uint64_t output : command.getOutputs()) sum += output;
  return sum;
}

}  // namespace seaway::benchmarks
