// /proc, line by line.

#include "left_behind.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace seaway::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMemory = "/memfd:seaway";

std::string proc(pid_t process, const char* file) {
  return "/proc/" + std::to_string(process) + "/" + file;
}

/// Which process a name in /proc is; 0: none.
pid_t number_of(const std::string& name) {
  pid_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  return error == std::errc() && stop == end ? number : 0;
}

/// What one process has of such memory, by its number.
struct Memory {
  std::set<std::uint64_t> written, read;
};

Memory memory_of(pid_t process) {
  Memory memory;
  std::ifstream maps(proc(process, "maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(kMemory) == std::string::npos) continue;
    std::istringstream words(line);
    std::string range, rights, offset, device;
    std::uint64_t number = 0;
    words >> range >> rights >> offset >> device >> number;
    (rights.find('w') != std::string::npos ? memory.written : memory.read).insert(number);
  }
  for (const std::string& name : names_in(proc(process, "fd"))) {
    const std::string path = proc(process, "fd/") + name;
    std::error_code error;
    struct stat about = {};
    if (!fs::read_symlink(path, error).string().starts_with(kMemory)) continue;
    if (::stat(path.c_str(), &about) == 0) memory.read.insert(about.st_ino);
  }
  return memory;
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& name, const std::string& value) {
  std::vector<pid_t> found;
  const std::string wanted = name + "=" + value;
  for (const std::string& entry : names_in("/proc")) {
    const pid_t process = number_of(entry);
    if (process == 0 || process == ::getpid()) continue;
    std::ifstream environment(proc(process, "environ"), std::ios::binary);
    for (std::string word; std::getline(environment, word, '\0');) {
      if (word != wanted) continue;
      found.push_back(process);
      break;
    }
  }
  return found;
}

std::vector<std::string> memory_of_the_dead(const std::map<std::string, pid_t>& processes) {
  std::set<std::uint64_t> of_the_living;
  std::map<std::uint64_t, std::string> readers;
  for (const auto& [name, process] : processes) {
    const Memory memory = memory_of(process);
    of_the_living.insert(memory.written.begin(), memory.written.end());
    for (const std::uint64_t number : memory.read) {
      std::string& who = readers[number];
      who += (who.empty() ? "" : ", ") + name;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [number, who] : readers) {
    if (of_the_living.contains(number)) continue;
    lines.push_back("shared memory " + std::to_string(number) + ", whose maker is gone, with " +
                    who);
  }
  return lines;
}

std::size_t descriptors_of(pid_t process) { return names_in(proc(process, "fd")).size(); }

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> mounts_below(const std::string& path) {
  std::vector<std::string> found;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string what, where;
    words >> what >> where;
    if (where.starts_with(path)) found.push_back(where);
  }
  return found;
}

}  // namespace seaway::tools
