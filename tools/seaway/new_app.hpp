// A new app: which files it has, and how they come to disk.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::tools {

/// Longest name of an app, in letters.
constexpr std::size_t kAppNameMax = 64;

/// Whether an app can be called `name`: it becomes the name of a program, of targets of two build
/// systems, and a part of a namespace. Errors: kInvalidArgument, with what a name is made of.
Status check_app_name(std::string_view name);

/// One file of an app.
struct AppFile {
  std::string path;  // Within the app's directory.
  std::string text;
};

/// All files of the app `name`, which has passed check_app_name(). `schema_id` is the id of its
/// schema: any 64 bits that no other schema has; the highest is set here, as Cap'n Proto wants.
std::vector<AppFile> app_files(std::string_view name, std::uint64_t schema_id);

/// Writes `files` into `directory`, which is made: all of them, or none.
/// Errors: kInvalidArgument when it exists, or what it is to lie in does not; kResourceExhausted
/// when it cannot be written. After an error nothing of it is left.
Status write_app(const std::filesystem::path& directory, std::span<const AppFile> files);

}  // namespace seaway::tools
