// `seaway new`: writes an app that is ready to be built, tested and changed.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <random>

#include "base/printable.hpp"
#include "new_app.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

struct Arguments {
  std::string name;
  std::string directory;  // Empty: as the name.
};

int fail(const Status& status, int exit_code) {
  std::fprintf(stderr, "seaway: %s\n", printable(status.to_string()).c_str());
  return exit_code;
}

int run(const Arguments& arguments) {
  if (Status status = check_app_name(arguments.name); !status.ok()) return fail(status, kBadUsage);
  std::random_device random;
  const std::uint64_t schema_id = std::uint64_t{random()} << 32 | random();
  const std::string& directory = arguments.directory.empty() ? arguments.name : arguments.directory;
  const auto files = app_files(arguments.name, schema_id);
  if (Status status = write_app(directory, files); !status.ok()) {
    return fail(status, status.code() == StatusCode::kInvalidArgument ? kBadUsage : kCheckFailed);
  }
  std::printf(
      "%zu files in %s. Next:\n  cd %s\n  meson setup build && meson test -C build\n"
      "  ./build/%s\nor with CMake; README.md says how.\n",
      files.size(), directory.c_str(), directory.c_str(), arguments.name.c_str());
  return kDone;
}

}  // namespace

void add_new(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("new", "Write the beginning of something new");
  verb->require_subcommand(1);
  verb->footer("example: seaway new app word_count");
  CLI::App* const what = verb->add_subcommand(
      "app", "An app of actors: schema, actor, main program, test, Meson and CMake files");
  const auto arguments = std::make_shared<Arguments>();
  what->add_option("name", arguments->name, "a..z, 0..9 and _, as in word_count")->required();
  what->add_option("--directory", arguments->directory,
                   "what to write it to, and must not exist yet; otherwise ./NAME");
  what->footer(R"(example: seaway new app word_count --directory apps/word_count

exit codes:
  0  it is written
  1  the name or the directory will not do; nothing was written
  2  it could not be written, and nothing is left of it)");
  what->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace seaway::tools
