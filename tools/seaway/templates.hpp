// The files of templates/, as they are in the command itself: it needs no source tree.

#pragma once

#include <span>
#include <string_view>

namespace seaway::tools {

/// A file as it lies in templates/: an app that is called app_name.
struct Template {
  std::string_view name;
  std::string_view text;
};

/// All of them. Their bytes live as long as the process.
std::span<const Template> app_templates();

}  // namespace seaway::tools
