// Words for the choices of the public API, as messages and logs print them.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "seaway/array.hpp"
#include "seaway/client.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"

namespace seaway {
namespace {

std::string text_of(const TensorType& type) { return to_string(type); }
std::string text_of(const PartitionSpec& spec) { return spec.to_string(); }

/// "(f32[2], f32[])".
template <class T>
std::string list_of(const std::vector<T>& items) {
  std::string text = "(";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + text_of(items[i]);
  return text + ")";
}

std::string specs_text(const std::vector<PartitionSpec>& in,
                       const std::vector<PartitionSpec>& out) {
  return "call specs " + (in.empty() ? "(as they are)" : list_of(in)) + " -> " +
         (out.empty() ? "(as the operands)" : list_of(out));
}

/// "30 s", "1500 us": in the largest unit that loses nothing.
std::string duration_text(std::chrono::nanoseconds duration) {
  std::int64_t count = duration.count();
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (count == 0 || count % 1000 != 0) break;
    count /= 1000;
    unit = larger;
  }
  return std::to_string(count) + " " + unit;
}

template <class Parameters>
std::string donation_text(const Parameters& parameters) {
  if (parameters.size() == 0) return "donates nothing";
  std::string text = "donates parameters";
  for (const std::uint32_t parameter : parameters) text += " " + std::to_string(parameter);
  return text;
}

}  // namespace

std::string_view to_string(HostBufferSemantics semantics) {
  switch (semantics) {
    case HostBufferSemantics::kImmutableOnlyDuringCall:
      return "immutable only during call";
    case HostBufferSemantics::kImmutableUntilTransferCompletes:
      return "immutable until transfer completes";
    case HostBufferSemantics::kZeroCopy:
      return "zero copy";
  }
  return "unknown";
}

std::string_view to_string(ArrayCopySemantics semantics) {
  switch (semantics) {
    case ArrayCopySemantics::kAlwaysCopy:
      return "always copy";
    case ArrayCopySemantics::kReuseInput:
      return "reuse input";
    case ArrayCopySemantics::kDonateInput:
      return "donate input";
  }
  return "unknown";
}

std::string_view to_string(DispatchMode mode) {
  switch (mode) {
    case DispatchMode::kParallel:
      return "parallel";
    case DispatchMode::kSequential:
      return "sequential";
  }
  return "unknown";
}

std::string_view to_string(WhenFull when_full) {
  switch (when_full) {
    case WhenFull::kRefuse:
      return "refuse";
    case WhenFull::kWait:
      return "wait";
  }
  return "unknown";
}

std::string ClientOptions::to_string() const {
  return "client options: tenant \"" + tenant + "\", weight " +
         (weight == 0 ? "unchanged" : std::to_string(weight)) + ", at most " +
         std::to_string(runs_in_flight_max) + " runs and " + std::to_string(upload_bytes_max) +
         " bytes of uploads in flight, when full " + std::string(seaway::to_string(when_full)) +
         ", requests within " + duration_text(request_timeout);
}

std::string SliceRequest::to_string() const {
  std::string text =
      "slice request: " + std::to_string(devices) + (devices == 1 ? " device" : " devices");
  if (!kind.empty()) text += " of kind \"" + kind + "\"";
  if (!mesh.empty()) text += " as " + Mesh(0, mesh).to_string();
  text += island < 0 ? ", any island" : ", island " + std::to_string(island);
  if (contiguous) text += ", contiguous";
  if (spread) text += ", spread";
  return text;
}

std::string CallSpecs::to_string() const { return specs_text(in, out); }

std::string FunctionOptions::to_string() const {
  return "function options: " + (mesh ? mesh->to_string() : "no mesh") + ", " + specs_text(in, out);
}

std::string ForeignFunction::to_string() const {
  return "foreign function in " + format + ", " + std::to_string(code.size()) + " bytes, " +
         std::to_string(shards) + (shards == 1 ? " shard" : " shards");
}

std::string NativeFunction::to_string() const {
  return "native function " + list_of(parameters) + " -> " + list_of(outputs) + ", " +
         std::to_string(scratch_bytes) + " bytes of scratch, about " + std::to_string(cost_ns) +
         " ns, " + (idempotent ? "idempotent" : "not idempotent") +
         (irregular ? ", irregular" : "") + (body ? "" : ", without a body") + ", " +
         specs_text(in, out);
}

std::string ProgramOptions::to_string() const {
  return "program options: " + std::string(seaway::to_string(dispatch)) + ", " +
         donation_text(donated);
}

std::string ExecuteOptions::to_string() const {
  return "execute options: " + (deadline ? "deadline " + duration_text(*deadline) : "no deadline") +
         ", " + donation_text(donate);
}

}  // namespace seaway
