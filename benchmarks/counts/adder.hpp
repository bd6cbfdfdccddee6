// The program whose runs are counted.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "seaway/seaway.hpp"

namespace seaway::benchmarks {

/// Adds 1 to each of `devices` shards of one i32.
class Adder {
 public:
  Status begin(const Client& client, const Slice& slice, std::uint32_t devices) {
    const NamedSharding sharded(slice.mesh(), P("data"));
    const auto size = static_cast<std::int64_t>(devices);
    auto next = client.function("next", [](Tensor x) { return x + 1; }, {i32({1})});
    if (!next.ok()) return next.status();
    auto program = client.program("next", [&next](Traced x) { return (*next)(x); },
                                  {ArraySpec{i32({size}), sharded}});
    if (!program.ok()) return program.status();
    program_ = *std::move(program);
    input_ = client.put<std::int32_t>(std::vector<std::int32_t>(devices, 41), {size}, sharded);
    return {};
  }
  Run run() const { return program_.execute({input_}); }
  Run run(const Array& input) const { return program_.execute({input}); }
  const Array& input() const { return input_; }

  static Status check(const Array& output, std::int32_t expected) {
    const auto value = output.to_host<std::int32_t>().get();
    if (!value.ok()) return value.status();
    if (value->at(0) == expected) return {};
    return invalid_argument("the value is " + std::to_string(value->at(0)) + ", not " +
                            std::to_string(expected));
  }

 private:
  Program program_;
  Array input_;
};

}  // namespace seaway::benchmarks
