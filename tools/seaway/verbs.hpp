// The verbs of the `seaway` command. Each file adds one verb to the command line.

#pragma once

#include <string>

namespace CLI {
class App;
}

namespace seaway::tools {

/// What the command returns to the shell.
constexpr int kDone = 0;         // All went well.
constexpr int kBadUsage = 1;     // The command line was not understood; nothing was run.
constexpr int kCheckFailed = 2;  // It ran, and a result or a check was wrong.

constexpr const char* kChaosSummary = "Test random programs under a random order";

/// Each adds its verb to `app`; when the verb is chosen, parsing runs it and sets `exit_code`.
void add_demo(CLI::App& app, int& exit_code);
void add_config(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_first_result(CLI::App& app, int& exit_code);
void add_chaos(CLI::App& app, int& exit_code);            // In `seaway-chaos`,
void add_chaos_elsewhere(CLI::App& app, int& exit_code);  // which this hands over to.
void add_chaos_real(CLI::App& chaos, int& exit_code);     // Of it, with real processes: not there.
void add_token(CLI::App& app, int& exit_code);
void add_cert(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
void add_roles(CLI::App& app, int& exit_code);   // Controller, scheduler, host.
void add_up(CLI::App& app, int& exit_code);      // And down.
void add_status(CLI::App& app, int& exit_code);  // And why.
void add_drain(CLI::App& app, int& exit_code);

}  // namespace seaway::tools
