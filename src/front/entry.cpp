// The one function that the library gives away: frameworks look it up by its name.

#include "front/table.hpp"

extern "C" __attribute__((visibility("default"))) const seaway::pjrt::abi::Api* GetPjrtApi() {
  return seaway::front::plugin_table();
}
