// Names of apps, and templates that become files.

#include "new_app.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "templates.hpp"

namespace seaway::tools {
namespace {

namespace fs = std::filesystem;

/// What the templates are called, and the id of their schema: both are replaced everywhere.
constexpr std::string_view kTemplateName = "app_name";
constexpr std::string_view kTemplateId = "f1a5c0de5eaa11fe";

/// Taken by the build systems, by the app's own targets, or by Seaway.
constexpr std::array<std::string_view, 18> kTaken = {
    "all",      "benchmark",  "clean",          "counter_test",  "depend",
    "dist",     "edit_cache", "help",           "install",       "main",
    "messages", "package",    "package_source", "rebuild_cache", "reconfigure",
    "seaway",   "test",       "uninstall"};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(what, begin), text.size());
    result += text.substr(begin, end - begin);
    if (end < text.size()) result += by;
    begin = end + (end < text.size() ? what.size() : 0);
  }
  return result;
}

}  // namespace

Status check_app_name(std::string_view name) {
  const std::string quoted = "'" + std::string(name.substr(0, 2 * kAppNameMax)) + "'";
  const auto refuse = [&quoted](const std::string& why) {
    return invalid_argument("an app cannot be called " + quoted + ": " + why);
  };
  if (name.empty() || name.size() > kAppNameMax) {
    return refuse("a name has 1 to " + std::to_string(kAppNameMax) + " letters, not " +
                  std::to_string(name.size()));
  }
  const bool is_made_of_letters =
      std::ranges::all_of(name, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
  // Two underscores in a row are the compiler's own.
  if (!is_made_of_letters || !is_lower(name.front()) || name.find("__") != name.npos) {
    return refuse(
        "a name is of a..z, 0..9 and single _, and begins with a letter, as in word_count");
  }
  if (std::ranges::find(kTaken, name) != kTaken.end()) {
    return refuse("the name is taken, by a build system or by Seaway; try my_" + std::string(name));
  }
  return {};
}

std::vector<AppFile> app_files(std::string_view name, std::uint64_t schema_id) {
  std::array<char, 17> id{};
  std::snprintf(id.data(), id.size(), "%016llx",
                static_cast<unsigned long long>(schema_id | std::uint64_t{1} << 63));
  std::vector<AppFile> files;
  for (const Template& file : app_templates()) {
    // Among the templates it would hide files of this tree from git.
    const std::string_view path = file.name == "gitignore" ? ".gitignore" : file.name;
    files.push_back({replaced(path, kTemplateName, name),
                     replaced(replaced(file.text, kTemplateName, name), kTemplateId, id.data())});
  }
  return files;
}

Status write_app(const fs::path& directory, std::span<const AppFile> files) {
  std::error_code error;
  // It fails for one that exists, also when somebody else makes it at this moment.
  const bool is_new = fs::create_directory(directory, error);
  if (!is_new && !error) {
    return invalid_argument("there is a directory " + directory.string() +
                            " already; name another with --directory");
  }
  if (error) {
    return invalid_argument("cannot make the directory " + directory.string() + ": " +
                            error.message() + "; name another with --directory");
  }
  for (const AppFile& file : files) {
    std::ofstream out(directory / file.path, std::ios::binary);
    out << file.text;
    out.close();
    if (out) continue;
    fs::remove_all(directory, error);
    return resource_exhausted("cannot write " + (directory / file.path).string() +
                              ": is the disk full? Nothing was left in its place");
  }
  return {};
}

}  // namespace seaway::tools
