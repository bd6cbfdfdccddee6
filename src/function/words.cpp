// Words for tensors and for the choices of seaway/tensor.hpp, as messages and logs print them.

#include <cstdio>
#include <string>

#include "function/capture.hpp"
#include "seaway/tensor.hpp"

namespace seaway {

std::string Tensor::to_string() const {
  if (!builder_) return "tensor (empty)";
  return "tensor " + function::to_string(builder_->instruction(id_), id_);
}

std::string Operand::to_string() const {
  if (!is_number_) return tensor_.to_string();
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number_);
  return "number " + std::string(text);
}

std::string DotDimensions::to_string() const {
  return "dot dimensions: batch " + seaway::to_string(left_batch) + " with " +
         seaway::to_string(right_batch) + ", contract " + seaway::to_string(left_contract) +
         " with " + seaway::to_string(right_contract);
}

std::string_view to_string(KeepDims keep) {
  return keep == KeepDims::kYes ? "keep dimensions" : "drop dimensions";
}

std::string_view to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return "sum";
    case Reduction::kMax:
      return "max";
  }
  return "unknown";
}

}  // namespace seaway
