// The `seaway-chaos` command: chaos, in a program whose product code has fault points in it.

#include "command_line.hpp"
#include "verbs.hpp"

int main(int argument_count, char** arguments) {
  using namespace seaway::tools;
  return run_command_line(argument_count, arguments, {add_chaos});
}
