// FakePlugin: a PJRT plugin of our own, for tests: it errs, hangs and is late on demand, and
// complains about callers who break the contract.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pjrt/abi.hpp"

namespace seaway::pjrt {

/// What a program does, on all its replicas at once: [replica][operand], [replica][output].
/// Nothing: it is not known.
using FakeCompute = std::function<bool(const std::string& program,
                                       const std::vector<std::vector<const std::byte*>>& operands,
                                       const std::vector<std::vector<std::byte*>>& outputs)>;

/// The tests' side of the library; its other side is GetPjrtApi. Thread-safe.
class FakePlugin {
 public:
  virtual ~FakePlugin() = default;

  /// As if it had just been loaded. What clients still have is forgotten.
  virtual void reset() = 0;
  /// Who computes.
  virtual void compute_by(FakeCompute compute) = 0;
  /// Whether its devices say that they are in the host's memory: at first they do.
  virtual void share_memory(bool shares) = 0;

  /// From now on the `nth` call of that function, from 1, fails; it does nothing.
  virtual void fail(abi::Call call, std::size_t nth, abi::ErrorCode code, std::string message) = 0;
  /// From now on the `nth` call of that function, from 1, does not return before release().
  virtual void hang(abi::Call call, std::size_t nth) = 0;
  /// Blocks until a call hangs.
  virtual void wait_for_hang() = 0;
  virtual void release() = 0;

  /// From now on programs that could run wait for complete().
  virtual void hold() = 0;
  /// Blocks until `count` programs wait.
  virtual void wait_for_held(std::size_t count) = 0;
  /// The program that was enqueued as number `index` of those that wait runs, or fails with `code`.
  virtual void complete(std::size_t index, abi::ErrorCode code = abi::ErrorCode::kOk) = 0;

  /// From now on compiled programs are said to have outputs of a dimension more.
  virtual void lie_about_types() = 0;
  /// From now on outputs have a byte more than they should.
  virtual void lie_about_sizes() = 0;

  /// From now on programs say that they have so many kernels and do so many operations; at first
  /// none.
  virtual void describe_as(std::size_t kernels, double operations) = 0;

  /// How often that function was called.
  virtual std::size_t calls(abi::Call call) const = 0;
  /// The most programs that were enqueued and not done at one time.
  virtual std::size_t unfinished_max() const = 0;
  /// Launch numbers of programs on several devices, in order.
  virtual std::vector<int> launches() const = 0;
  /// What callers did that they may not do: use after the end, ends of what is in use, leaks, ...
  virtual std::vector<std::string> violations() const = 0;
  /// Things that callers have not ended: clients, buffers, events, errors, ...
  virtual std::size_t alive() const = 0;
  /// Blocks until there are `count` of them.
  virtual void wait_for_alive(std::size_t count) = 0;
};

/// The name of the function by which the library gives its FakePlugin.
inline constexpr const char* kFakePluginFunction = "seaway_fake_plugin";

}  // namespace seaway::pjrt
