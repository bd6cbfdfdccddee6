// Names that people type: which known ones are meant by an unknown one.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace seaway::tools {

/// Those of `known` that `typed` was probably meant to be, closest first: at most two letters
/// wrong, missing, extra or swapped, or one is the beginning of the other.
std::vector<std::string_view> close_names(std::string_view typed,
                                          std::span<const std::string_view> known);

/// "no demo 'digts'; did you mean digits? There are: fig2, digits. Type `seaway demo list`."
std::string unknown_name(std::string_view kind, std::string_view typed,
                         std::span<const std::string_view> known);

}  // namespace seaway::tools
