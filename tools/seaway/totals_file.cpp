// A lock beside the file.

#include "totals_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace seaway::tools {
namespace {

using campaign::RealTotals;

constexpr const char* kHead = "# Written by `seaway chaos real --add`: sums of several runs.\n";

Status refuse(const std::string& path) {
  return invalid_argument("cannot write " + path + ": " + std::strerror(errno) +
                          "; choose another file with --add");
}

Result<RealTotals> add(const std::string& path, const RealTotals& counts) {
  std::stringstream text;
  if (std::ifstream file(path); file) text << file.rdbuf();
  auto totals = campaign::parse_real_totals(text.str());
  if (!totals.ok()) {
    return Status(totals.status().code(), path + ": " + totals.status().message());
  }
  for (const auto& [name, count] : counts) (*totals)[name] += count;
  const std::string draft = path + ".new";
  std::ofstream out(draft, std::ios::trunc);
  out << kHead << campaign::to_text(*totals);
  out.close();
  if (out.fail() || std::rename(draft.c_str(), path.c_str()) != 0) return refuse(path);
  return totals;
}

}  // namespace

Result<RealTotals> add_to_file(const std::string& path, const RealTotals& counts) {
  const int lock = ::open((path + ".lock").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return refuse(path);
  while (::flock(lock, LOCK_EX) != 0 && errno == EINTR) continue;
  auto totals = add(path, counts);
  ::close(lock);
  return totals;
}

}  // namespace seaway::tools
