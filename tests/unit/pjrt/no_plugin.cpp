// A library that is no PJRT plugin.

extern "C" __attribute__((visibility("default"))) int seaway_no_plugin() { return 0; }
