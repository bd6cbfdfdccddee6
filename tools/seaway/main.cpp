// The `seaway` command.

#include "command_line.hpp"
#include "verbs.hpp"

int main(int argument_count, char** arguments) {
  using namespace seaway::tools;
  return run_command_line(argument_count, arguments,
                          {add_demo, add_bench, add_chaos_elsewhere, add_up, add_status, add_drain,
                           add_roles, add_config, add_token, add_cert, add_new, add_first_result});
}
