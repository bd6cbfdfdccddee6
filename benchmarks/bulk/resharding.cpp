// Each of the makers writes into its rows, for each of the readers, when it was done.

#include "benchmarks/bulk/resharding.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "benchmarks/support/measure.hpp"
#include "seaway/seaway.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::int64_t kDevices = 4, kRows = 8192, kColumns = 16384;
constexpr std::int64_t kRowsEach = kRows / kDevices, kColumnsEach = kColumns / kDevices;
constexpr std::int64_t kWords = 4;

std::int32_t word_of(std::int32_t seed, std::int64_t row) {
  return seed * 31 + static_cast<std::int32_t>(row);
}

NativeFunction maker() {
  return {.parameters = {i32({kWords})},
          .outputs = {i32({kRowsEach, kColumns})},
          .cost_ns = 100'000'000,
          .body =
              [](auto in, auto out, std::byte*) {
                const std::int32_t seed = *reinterpret_cast<const std::int32_t*>(in[0]);
                auto* const words = reinterpret_cast<std::int32_t*>(out[0]);
                for (std::int64_t row = 0; row < kRowsEach; ++row) {
                  std::fill_n(words + row * kColumns, kColumns, word_of(seed, row));
                }
                const std::uint64_t made_ns = now_ns();
                for (std::int64_t device = 0; device < kDevices; ++device) {
                  std::memcpy(words + device * kColumnsEach, &made_ns, sizeof(made_ns));
                }
                return Status();
              },
          .in = {P("x")},
          .out = {P("x")}};
}

/// Nanoseconds since the last shard was made, and whether all rows are what they were.
NativeFunction reader() {
  return {
      .parameters = {i32({kRows, kColumnsEach})},
      .outputs = {i32({kWords})},
      .cost_ns = 100'000'000,
      .body =
          [](auto in, auto out, std::byte*) {
            const std::uint64_t read_ns = now_ns();
            const auto* const words = reinterpret_cast<const std::int32_t*>(in[0]);
            std::uint64_t made_ns = 0;
            bool is_whole = true;
            std::int32_t seed = words[kColumnsEach - 1];  // Of row 0.
            for (std::int64_t row = 0; row < kRows; ++row) {
              const std::int32_t* const begin = words + row * kColumnsEach;
              if (row % kRowsEach == 0) {
                std::uint64_t one_ns = 0;
                std::memcpy(&one_ns, begin, sizeof(one_ns));
                made_ns = std::max(made_ns, one_ns);
              }
              const std::int32_t expected = seed + static_cast<std::int32_t>(row % kRowsEach);
              is_whole = is_whole && begin[2] == expected && begin[kColumnsEach - 1] == expected;
            }
            const std::int32_t found[kWords] = {
                static_cast<std::int32_t>(std::min<std::uint64_t>(read_ns - made_ns, INT32_MAX)),
                is_whole ? seed : -1, 0, 0};
            std::memcpy(out[0], found, sizeof(found));
            return Status();
          },
      .in = {P("", "x")},
      .out = {P("x")}};
}

constexpr const char* kMake = "bench.reshard.make";
constexpr const char* kRead = "bench.reshard.read";

}  // namespace

void register_resharding(Registry& registry) {
  registry.native(kMake, maker());
  registry.native(kRead, reader());
}

Result<std::vector<double>> resharding_us(const std::string& address, int runs) {
  const auto client = connect(address);
  if (!client.ok()) return client.status();
  const auto slice_of = [&client](std::int32_t island) {
    return client->acquire_slice(
        {.devices = kDevices, .mesh = {{"x", kDevices}}, .island = island});
  };
  const auto here = slice_of(0);
  if (!here.ok()) return here.status();
  const auto there = slice_of(1);
  if (!there.ok()) return there.status();
  const auto make = client->native(kMake, maker());
  if (!make.ok()) return make.status();
  const auto read = client->native(kRead, reader());
  if (!read.ok()) return read.status();
  const NamedSharding each(here->mesh(), P("x"));
  const auto program =
      client->program("reshard", [&](Traced x) { return read->on(*there)(make->on(*here)(x)); },
                      {ArraySpec{i32({kWords * kDevices}), each}});
  if (!program.ok()) return program.status();
  std::vector<double> samples;
  for (int run = 0; run < runs; ++run) {
    const std::vector<std::int32_t> seed(kWords * kDevices, run);
    const auto value = program->execute({client->put(seed, {kWords * kDevices}, each)})
                           .output(0)
                           .to_host<std::int32_t>()
                           .get();
    if (!value.ok()) return value.status();
    for (std::int64_t device = 0; device < kDevices; ++device) {
      if ((*value)[static_cast<std::size_t>(device * kWords + 1)] == word_of(run, 0)) continue;
      return Status(StatusCode::kDataCorruption, "an array was not whole when it was read");
    }
    double last = 0;
    for (std::int64_t device = 0; device < kDevices; ++device) {
      // The first one to begin has waited least for its own turn.
      const double us = (*value)[static_cast<std::size_t>(device * kWords)] / 1e3;
      last = device == 0 ? us : std::min(last, us);
    }
    samples.push_back(last);
  }
  return samples;
}

}  // namespace seaway::benchmarks
