// The file around one run of chaos.

#include "campaign/clean_range.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "campaign/build_identity.hpp"
#include "sim/seed_range.hpp"

namespace seaway::campaign {
namespace {

constexpr std::uint64_t kWriteEveryNs = 1'000'000'000;

/// Nothing there is an empty file.
Result<std::string> read_range(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    return invalid_argument("cannot read it; choose another file with --range");
  }
  return text;
}

/// Returns whether `path` has all of `text` now; otherwise it is as it was.
bool replace_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (file.fail()) return false;
  }
  return std::rename(beside.c_str(), path.c_str()) == 0;
}

/// Words of a line have no spaces.
std::string one_word(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7f && letter != '%' && letter != '=') {
      word += letter;
    } else {
      word += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return word;
}

int refuse(const std::string& path, const std::string& why, int exit_code) {
  std::fprintf(stderr, "seaway: %s: %s\n", path.c_str(), why.c_str());
  return exit_code;
}

}  // namespace

int run_range(const std::string& path, const std::string& kind, sim::ChaosOptions options,
              const Clock& clock, const std::function<int(const sim::ChaosOptions&)>& run) {
  const std::string build = build_id();
  if (build.empty()) {
    return refuse(path, "this program has no build id to count seeds for; link with --build-id",
                  sim::kChaosUsage);
  }
  const auto text = read_range(path);
  auto ranges = text.ok() ? sim::SeedRanges::parse(*text) : text.status();
  if (!ranges.ok()) return refuse(path, ranges.status().message(), sim::kChaosUsage);
  const auto found = ranges->resume({one_word(kind), build}, build_commit(), options.first_seed);
  if (!found.ok()) return refuse(path, found.status().message(), sim::kChaosUsage);
  sim::CleanSeeds& count = **found;

  bool is_written = true;
  std::uint64_t written_ns = clock.now_ns();
  const auto write = [&] {
    is_written = replace_file(path, ranges->to_string());
    written_ns = clock.now_ns();
  };
  int exit_code = sim::kChaosClean;
  if (count.next() <= options.last_seed) {
    write();  // A file that cannot be written is known before the seeds have run.
    if (is_written) {
      options.first_seed = count.next();
      bool is_over = false;
      options.on_seed = [&](int seed_exit, std::uint64_t steps) {
        if (is_over) return;
        count.add(seed_exit, steps);
        is_over = seed_exit != sim::kChaosClean;
        if (clock.now_ns() - written_ns >= kWriteEveryNs) write();
      };
      exit_code = run(options);
      write();
    }
  }
  std::fprintf(options.json ? stderr : stdout, "%s\n", count.to_string().c_str());
  if (is_written) return exit_code;
  refuse(path, "cannot write it; choose another file with --range", kRangeUnwritten);
  return exit_code == sim::kChaosClean ? kRangeUnwritten : exit_code;
}

}  // namespace seaway::campaign
