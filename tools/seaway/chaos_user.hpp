// `seaway chaos user PROGRAM`: seeds, replays and shrinking over the worlds of a user's own
// program.

#pragma once

#include <string>
#include <vector>

#include "campaign/user_words.hpp"

namespace seaway::tools {

/// Runs `program` with `arguments`, and has its exploration do what `words` say. Its output is the
/// output; returns its exit code, or kBadUsage when it cannot be run, or explores nothing.
int run_user_program(const std::string& program, const std::vector<std::string>& arguments,
                     const campaign::UserWords& words);

/// Runs the seeds of `words` twice, in two processes of the program, and compares the lines of
/// JSON: kChaosNondeterminism when two differ.
int run_user_program_twice(const std::string& program, const std::vector<std::string>& arguments,
                           campaign::UserWords words);

}  // namespace seaway::tools
