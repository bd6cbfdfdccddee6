// What executables of all kinds share.

#include "function/executable.hpp"

#include "base/limits.hpp"

namespace seaway::function {

OutputOperandPairs pairs_of_one_size(std::span<const TensorType> parameters,
                                     std::span<const TensorType> outputs) {
  OutputOperandPairs pairs;
  for (std::uint32_t output = 0; output < outputs.size(); ++output) {
    const std::size_t bytes = outputs[output].bytes();
    for (std::uint32_t operand = 0; operand < parameters.size(); ++operand) {
      if (bytes == 0 || bytes != parameters[operand].bytes()) continue;
      if (pairs.size() == limits::kInPlacePairs.max) return pairs;
      pairs.emplace_back(output, operand);
    }
  }
  return pairs;
}

}  // namespace seaway::function
