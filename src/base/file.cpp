// Paths on a disk.

#include "base/file.hpp"

namespace seaway {

Result<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> parts;
  for (std::string_view rest = path;;) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    const bool has_zero = part.find('\0') != std::string_view::npos;
    if (part.empty() || part == "." || part == ".." || has_zero) {
      return invalid_argument("'" + std::string(path) +
                              "' is no path on a disk: its parts, with '/' between them, are "
                              "neither empty nor '.' nor '..'");
    }
    parts.emplace_back(part);
    if (part.size() == rest.size()) return parts;
    rest.remove_prefix(part.size() + 1);
  }
}

}  // namespace seaway
