// A socket as a stream of KJ's, whose peer wakes nobody by reading.

#pragma once

#include <kj/async-io.h>
#include <kj/io.h>

#include "transport/io_loop.hpp"

namespace seaway::transport {

/// Takes over a connected socket that does not block. KJ's own stream hears each time that there is
/// room to write, which of a Unix socket is each time that the other end has read something: one
/// wake-up more a message. This one asks only when it has to wait for room. It knows from a short
/// read that there is nothing more, too. The loop outlives it.
kj::Own<kj::AsyncIoStream> wrap_socket(IoLoop& loop, kj::AutoCloseFd&& descriptor);

}  // namespace seaway::transport
