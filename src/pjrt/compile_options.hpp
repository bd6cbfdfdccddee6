// Options of a compilation, in the bytes that plugins want them in.

#pragma once

#include <span>
#include <string>

namespace seaway::pjrt {

/// A program without collectives: for one device, and to be run on whichever is named then.
std::string portable_options();

/// A program of a gang: shard s is replica s, on the device of the plugin's id `devices[s]`.
std::string gang_options(std::span<const int> devices);

}  // namespace seaway::pjrt
