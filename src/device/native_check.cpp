// Types of a native function, as its client and this program say them.

#include "device/native_check.hpp"

#include <vector>

namespace seaway::device {

namespace {

std::string list_of(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return "(" + text + ")";
}

}  // namespace

Status check_native(const std::string& name, const function::Executable& own,
                    const Result<program::FunctionInfo>& wanted) {
  if (!wanted.ok()) return wanted.status();
  if (wanted->parameters == own.parameter_types() && wanted->outputs == own.output_types() &&
      (wanted->scratch_bytes + 63) / 64 * 64 == own.scratch_bytes()) {
    return {};
  }
  const auto say = [](const auto& parameters, const auto& outputs, std::size_t scratch_bytes) {
    return list_of(parameters) + " -> " + list_of(outputs) + " with " +
           std::to_string(scratch_bytes) + " bytes of scratch";
  };
  return invalid_argument("native function " + name + " takes " +
                          say(own.parameter_types(), own.output_types(), own.scratch_bytes()) +
                          " in this host's program, and its client says " +
                          say(wanted->parameters, wanted->outputs, wanted->scratch_bytes) +
                          "; build both from one source, and start the host again");
}

}  // namespace seaway::device
