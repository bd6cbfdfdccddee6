// The version of the headers that a program was compiled with.

#pragma once

/// "major.minor.patch"; the same as in meson.build, which checks it. Before 1.0 a minor version may
/// change what programs see.
#define SEAWAY_VERSION "0.1.0"
