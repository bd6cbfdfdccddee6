// All fuzz targets without libFuzzer: their seeds, and seeds that were damaged in made-up ways.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "target.hpp"

namespace seaway::fuzz {
namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kInputBytesMax = 4096;
constexpr int kDamagedOfEachSeed = 2000;  // Unless SEAWAY_FUZZ_DAMAGED says how many.

const std::map<std::string, void (*)(std::span<const std::uint8_t>)>& targets() {
  static const std::map<std::string, void (*)(std::span<const std::uint8_t>)> all = {
      {"config", config},
      {"controller", controller},
      {"data", data},
      {"door", door},
      {"envelopes", envelopes},
      {"frames", frames},
      {"functions", functions},
      {"handshake", handshake},
      {"packets", packets},
      {"programs", programs},
      {"relay", relay},
      {"session", session},
      {"token_store", token_store}};
  return all;
}

std::vector<Input> seeds_of(const std::string& target) {
  std::vector<Input> seeds;
  const char* const named = std::getenv("SEAWAY_FUZZ_CORPUS");
  const std::filesystem::path corpus(named ? named : "tests/fuzz/corpus");
  for (const auto& entry : std::filesystem::directory_iterator(corpus / target)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

/// One wound of the kinds that find most: a bit, a byte, a number, a piece that is gone, said twice
/// or comes from elsewhere.
void damage(Input& input, const Input& other, RandomStream& random) {
  if (input.empty()) input.push_back(0);
  const std::size_t at = random.below(input.size());
  const std::size_t count = 1 + random.below(std::min<std::size_t>(64, input.size() - at));
  const auto begin = input.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  switch (random.below(7)) {
    case 0:
      input[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
      return;
    case 1:
      input[at] = static_cast<std::uint8_t>(random.next());
      return;
    case 2: {
      // Where words are numbers: the ends of their ranges, and what is next to them.
      constexpr std::uint64_t kEdges[] = {0, 1, 0x7fffffff, 0xffffffff, ~std::uint64_t{0}};
      const std::uint64_t edge = kEdges[random.below(std::size(kEdges))] - random.below(2);
      std::memcpy(&*begin, &edge, std::min(sizeof(edge), input.size() - at));
      return;
    }
    case 3:
      input.erase(begin, end);
      return;
    case 4: {
      const Input piece(begin, end);
      input.insert(begin, piece.begin(), piece.end());
      return;
    }
    case 5:
      input.resize(at);
      return;
    default:
      for (std::size_t i = at; i < at + count && i < other.size(); ++i) input[i] = other[i];
  }
}

class FuzzTargets : public testing::TestWithParam<std::string> {};

TEST_P(FuzzTargets, TakeTheirSeedsAndWhatIsLeftOfThemWhenTheyAreDamaged) {
  const auto target = targets().at(GetParam());
  const std::vector<Input> seeds = seeds_of(GetParam());
  ASSERT_FALSE(seeds.empty());
  const char* const wanted = std::getenv("SEAWAY_FUZZ_DAMAGED");
  const int damaged = wanted ? std::atoi(wanted) : kDamagedOfEachSeed;
  RandomStream random(1, 0x66757a7a);
  target({});
  for (const Input& seed : seeds) {
    target(seed);
    for (int i = 0; i < damaged; ++i) {
      Input input = seed;
      const std::uint64_t wounds = 1 + random.below(4);
      for (std::uint64_t w = 0; w < wounds; ++w) {
        damage(input, seeds[random.below(seeds.size())], random);
      }
      if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
      target(input);
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, target] : targets()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, FuzzTargets, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace seaway::fuzz
