// Capture: from a body of C++ tensor expressions to a typed graph.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "function/graph.hpp"
#include "seaway/status.hpp"
#include "seaway/tensor.hpp"
#include "seaway/types.hpp"

namespace seaway::function {

/// Calls `body` once, with one Tensor for each of `parameters`, and returns what it recorded,
/// without what no output needs; all parameters stay. `axes` are those of the mesh that the
/// function is for. Deterministic; captures may nest, but do not see each other's tensors.
/// Errors: kInvalidArgument with the first mistake of the body and its source line;
/// kUserFunctionError when the body throws.
Result<Graph> capture(std::string name, AxisSizes axes, std::span<const TensorType> parameters,
                      const TensorBody& body);

/// The function under capture. Tensors share it; the free functions of tensor.hpp record into the
/// one that is current on their thread. A thread-local current capture is the price of
/// expressions such as zeros(type) that name no function.
class GraphBuilder : public std::enable_shared_from_this<GraphBuilder> {
 public:
  GraphBuilder(std::string name, AxisSizes axes);

  /// The capture that runs on this thread, or null.
  static GraphBuilder* current();

  /// Records one operation into the current capture and returns its result. Its type is inferred;
  /// after a mistake the result is a placeholder of the first operand's type. Without a capture:
  /// an empty Tensor.
  static Tensor record(Instruction instruction, const std::vector<Tensor>& operands,
                       const Site& site);
  /// Keeps the mistake if it is the capture's first.
  static void fail(const std::string& message, const Site& site);

  Tensor add_parameter(const TensorType& type);
  Tensor tensor(ValueId id) { return {shared_from_this(), id}; }
  /// The id of `tensor` here; none if it is empty or of another capture.
  std::optional<ValueId> id_of(const Tensor& tensor) const;
  const Instruction& instruction(ValueId id) const { return instructions_[id]; }
  const AxisSizes& axes() const { return axes_; }
  /// From now on `id` passes no derivative to its operands.
  void stop_gradient_at(ValueId id);
  bool stops_gradient(ValueId id) const { return id < stops_.size() && stops_[id]; }

  /// While it lives, everything recorded counts as written at `site`.
  class PinnedSite {
   public:
    PinnedSite(GraphBuilder& builder, const Site& site);
    ~PinnedSite() { builder_.pinned_ = previous_; }
    PinnedSite(const PinnedSite&) = delete;
    PinnedSite& operator=(const PinnedSite&) = delete;

   private:
    GraphBuilder& builder_;
    std::optional<Site> previous_;
  };
  /// While it lives, `builder` is the current capture of this thread.
  class Scope {
   public:
    explicit Scope(GraphBuilder& builder);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    GraphBuilder* previous_;
  };

  Result<Graph> finish(std::span<const Tensor> outputs);

 private:
  using SourceKey =
      std::tuple<Op, DType, Shape, std::uint64_t, std::vector<std::int64_t>, std::string>;

  Tensor append(Instruction instruction);
  /// An existing value that equals what `instruction` would compute, exactly.
  std::optional<ValueId> simpler(Instruction& instruction) const;
  void keep_first_mistake(const std::string& message, const Site& site);

  Graph graph_;                           // Its instructions are filled in at the end.
  std::deque<Instruction> instructions_;  // Never moved: users hold references to shapes.
  AxisSizes axes_;
  Status mistake_;
  std::optional<Site> pinned_;
  std::map<SourceKey, ValueId> sources_;  // Constants, iotas and axis indices made so far.
  std::vector<bool> stops_;
};

/// "train.cpp:12".
std::string to_string(const Site& site);

}  // namespace seaway::function
