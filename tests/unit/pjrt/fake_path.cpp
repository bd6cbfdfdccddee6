// Where the build has put the fake plugin.

#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {

const char* fake_plugin_path() { return SEAWAY_FAKE_PLUGIN; }

}  // namespace seaway::pjrt
