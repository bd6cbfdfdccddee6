// Function: a compiled function as a client sees it, and how its calls are written in a program.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "seaway/array.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"
#include "seaway/tensor.hpp"
#include "seaway/types.hpp"

namespace seaway {

class Run;
class Slice;
struct ExecuteOptions;

namespace client {
class Capture;
struct FunctionRecord;
}  // namespace client

/// A value of the program that is being captured: a parameter, or what a call returned. A handle
/// for use inside the callable given to Client::program, on that thread.
///
/// What a call returns stands for all its results: used as an operand it must have exactly one,
/// otherwise `results[i]` picks one and `unpack<N>()` gives all. A mistake is recorded with its
/// line and returned by Client::program; capture goes on with a placeholder.
class Traced {
 public:
  Traced() = default;

  /// Global type and sharding; of result 0 when it stands for several.
  const ArraySpec& spec() const;
  const TensorType& type() const { return spec().type; }
  const NamedSharding& sharding() const { return spec().sharding; }

  /// Number of results that it stands for.
  std::size_t size() const;
  Traced operator[](std::size_t index) const;
  /// `auto [loss, gradient] = step(x).unpack<2>();`
  template <std::size_t N>
  std::array<Traced, N> unpack(Site site = Site::current()) const {
    check_size(N, site);
    std::array<Traced, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = (*this)[i];
    return all;
  }

  /// The same value under another sharding, on this or another slice.
  Traced reshard(const NamedSharding& target, Site site = Site::current()) const;

  /// `n2.0 f32[2] as P("data") over mesh(data=2)`, `p0 ...` for a parameter, `n2 with 3 results`.
  std::string to_string() const;

 private:
  friend class client::Capture;
  static constexpr std::uint32_t kAllResults = 0xffffffff;
  Traced(std::uint64_t capture, std::uint32_t node, std::uint32_t output)
      : capture_(capture), node_(node), output_(output) {}
  void check_size(std::size_t wanted, Site site) const;

  std::uint64_t capture_ = 0;  // Which capture; 0: none.
  std::uint32_t node_ = 0;
  std::uint32_t output_ = 0;
};

/// How a function's operands and results are split over the mesh it runs on, one spec each. Empty:
/// an operand keeps the spec it has; a result takes the spec of the first operand of its rank, and
/// is replicated when there is none.
struct CallSpecs {
  std::vector<PartitionSpec> in = {};
  std::vector<PartitionSpec> out = {};

  /// `call specs (P("data"), P()) -> (as the operands)`; `(as they are)` for operands.
  std::string to_string() const;
};

/// Choices for Client::function.
struct FunctionOptions {
  /// The mesh whose axes the collectives in the body name; calls run on meshes with these axes.
  std::optional<Mesh> mesh = std::nullopt;
  /// Used by calls that do not say otherwise.
  std::vector<PartitionSpec> in = {};
  std::vector<PartitionSpec> out = {};

  /// `function options: mesh(data=2), call specs (P("data")) -> (as the operands)`, or `no mesh`.
  std::string to_string() const;
};

/// A function in the user's own C++, called once per shard on the shard's host. All shapes are
/// those of one shard.
struct NativeFunction {
  std::vector<TensorType> parameters = {};
  std::vector<TensorType> outputs = {};
  /// Work space of one shard; handed to `body` 64-byte aligned.
  std::size_t scratch_bytes = 0;
  /// Rough time of one shard, for the scheduler.
  std::uint64_t cost_ns = 1000;
  /// Running it twice does no harm: when a device or host is lost meanwhile, it is run again.
  bool idempotent = true;
  /// How long it takes, or what follows, depends on data: successors are launched when it is done.
  bool irregular = false;
  /// Operands and outputs of one shard, dense and row-major, valid during the call. Shards may run
  /// at the same time on several threads. An error, or an exception, fails the run and nothing
  /// else.
  std::function<Status(std::span<const std::byte* const> operands,
                       std::span<std::byte* const> outputs, std::byte* scratch)>
      body = {};
  std::vector<PartitionSpec> in = {};
  std::vector<PartitionSpec> out = {};

  /// `native function (f32[2]) -> (f32[]), 64 bytes of scratch, about 1000 ns, idempotent, call
  /// specs (as they are) -> (as the operands)`.
  std::string to_string() const;
};

/// A program in the words of a device's compiler: what another framework has traced, say.
struct ForeignFunction {
  /// StableHLO, as text or as bytecode, if `format` is "mlir".
  std::string code = {};
  std::string format = "mlir";
  /// The compiler's, XLA's CompileOptionsProto in bytes; where it runs is Seaway's to say, and what
  /// they say of that is left out. Empty: one replica and one partition.
  std::string options = {};
  /// Devices of one execution: replicas times partitions.
  std::uint32_t shards = 1;
  /// How long compiling may take.
  std::chrono::nanoseconds timeout = std::chrono::hours(1);

  /// `foreign function in mlir, 3021 bytes, 2 shards`.
  std::string to_string() const;
};

/// A function that the cluster knows, with types of one shard. A shared handle; thread-safe.
///
/// Called inside a program it adds one node, whatever the number of shards: `y = f(x)`. It runs on
/// the mesh given by on(), else on the mesh of its options, else on that of its first operand;
/// operands that lie elsewhere or otherwise are resharded on the way.
class Function {
 public:
  Function() = default;

  const std::string& name() const;
  std::uint64_t id() const;
  const std::vector<TensorType>& parameter_types() const;
  const std::vector<TensorType>& output_types() const;

  /// The same function, for calls on `slice`'s mesh, or on `mesh`.
  Function on(const Slice& slice) const;
  Function on(const Mesh& mesh) const;
  /// The same function, for calls with these specs.
  Function with(CallSpecs specs) const;

  /// Adds a call to the program that is being captured.
  Traced operator()(std::span<const Traced> operands, Site site = Site::current()) const;
  Traced operator()(Site site = Site::current()) const { return call({}, site); }
  Traced operator()(const Traced& a, Site site = Site::current()) const { return call({a}, site); }
  Traced operator()(const Traced& a, const Traced& b, Site site = Site::current()) const {
    return call({a, b}, site);
  }
  Traced operator()(const Traced& a, const Traced& b, const Traced& c,
                    Site site = Site::current()) const {
    return call({a, b, c}, site);
  }
  Traced operator()(const Traced& a, const Traced& b, const Traced& c, const Traced& d,
                    Site site = Site::current()) const {
    return call({a, b, c, d}, site);
  }
  Traced operator()(const Traced& a, const Traced& b, const Traced& c, const Traced& d,
                    const Traced& e, Site site = Site::current()) const {
    return call({a, b, c, d, e}, site);
  }
  Traced operator()(const Traced& a, const Traced& b, const Traced& c, const Traced& d,
                    const Traced& e, const Traced& f, Site site = Site::current()) const {
    return call({a, b, c, d, e, f}, site);
  }
  Traced operator()(const Traced& a, const Traced& b, const Traced& c, const Traced& d,
                    const Traced& e, const Traced& f, const Traced& g,
                    Site site = Site::current()) const {
    return call({a, b, c, d, e, f, g}, site);
  }
  Traced operator()(const Traced& a, const Traced& b, const Traced& c, const Traced& d,
                    const Traced& e, const Traced& f, const Traced& g, const Traced& h,
                    Site site = Site::current()) const {
    return call({a, b, c, d, e, f, g, h}, site);
  }

  /// Runs it alone: a program of one node, captured once for each set of argument specs.
  /// The first call costs a capture and a lookup, later ones a lookup more than Program::execute.
  Run execute(std::initializer_list<Array> arguments, Site site = Site::current()) const;
  Run execute(std::span<const Array> arguments, Site site = Site::current()) const;

  /// The body as StableHLO text; empty for a native and for a foreign function.
  std::string to_stablehlo() const;
  /// "function a(f32[1]) -> (f32[1])".
  std::string to_string() const;
  explicit operator bool() const { return record_ != nullptr; }

  /// For the library.
  explicit Function(std::shared_ptr<client::FunctionRecord> record) : record_(std::move(record)) {}
  const std::shared_ptr<client::FunctionRecord>& record() const { return record_; }
  const std::optional<Mesh>& bound_mesh() const { return mesh_; }
  const CallSpecs& bound_specs() const { return specs_; }

 private:
  Traced call(std::initializer_list<Traced> operands, Site site) const;

  std::shared_ptr<client::FunctionRecord> record_;
  std::optional<Mesh> mesh_;
  CallSpecs specs_;
};

namespace internal {

// What a captured callable may return: one value, a vector, a tuple, pair or array of values.
template <class V>
void flatten(std::vector<V>& all, const V& one) {
  all.push_back(one);
}
template <class V>
void flatten(std::vector<V>& all, const std::vector<V>& many) {
  all.insert(all.end(), many.begin(), many.end());
}
template <class V, class Tuple>
requires requires { std::tuple_size<Tuple>::value; }
void flatten(std::vector<V>& all, const Tuple& tuple) {
  std::apply([&all](const auto&... parts) { (flatten<V>(all, parts), ...); }, tuple);
}

template <class V, std::size_t>
using Repeated = const V&;
template <class V, class F, class Indices>
struct TakesEach;
template <class V, class F, std::size_t... I>
struct TakesEach<V, F, std::index_sequence<I...>>
    : std::bool_constant<std::is_invocable_v<F&, Repeated<V, I>...>> {};

/// Most values that a callable may take one by one; beyond that it takes a span.
constexpr std::size_t kArityMax = 16;

/// Calls `f` with the values one by one, or as a span, whichever it takes. False when it takes
/// neither that many values nor a span.
template <class V, class F, std::size_t N = 0>
bool call_with(F& f, std::span<const V> values, std::vector<V>& all) {
  if constexpr (std::is_invocable_v<F&, std::span<const V>>) {
    flatten<V>(all, f(values));
    return true;
  } else if constexpr (N > kArityMax) {
    return false;
  } else {
    if (values.size() == N) {
      if constexpr (TakesEach<V, F, std::make_index_sequence<N>>::value) {
        [&]<std::size_t... I>(std::index_sequence<I...>) { flatten<V>(all, f(values[I]...)); }
        (std::make_index_sequence<N>());
        return true;
      } else {
        return false;
      }
    }
    return call_with<V, F, N + 1>(f, values, all);
  }
}

}  // namespace internal
}  // namespace seaway
