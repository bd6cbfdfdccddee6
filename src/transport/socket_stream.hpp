// A socket as a stream of KJ's, whose peer wakes nobody by reading.

#pragma once

#include <kj/async-io.h>
#include <kj/io.h>

#include <memory>

#include "transport/io_loop.hpp"
#include "transport/memory_file.hpp"
#include "transport/read_scheduler.hpp"

namespace seaway::transport {

/// Takes over a connected socket that does not block. KJ's own stream hears each time that there is
/// room to write, which of a Unix socket is each time that the other end has read something: one
/// wake-up more a message. This one asks only when it has to wait for room. It knows from a short
/// read that there is nothing more, too. Each read waits until `reader` has a turn; null: the peer
/// is authenticated. The loop outlives it.
kj::Own<kj::AsyncIoStream> wrap_socket(IoLoop& loop, kj::AutoCloseFd&& descriptor,
                                       std::shared_ptr<ReadScheduler::Reader> reader = nullptr);

/// `handed` goes with the next bytes that are written to `stream` (SCM_RIGHTS). False, and nothing
/// happens, where that is no Unix socket of wrap_socket().
bool hand_over(kj::AsyncIoStream& stream, std::shared_ptr<const Descriptor> handed);
/// From now on one descriptor is taken with what is read; the system drops all others, as it does
/// those that nobody expects.
void expect_descriptor(kj::AsyncIoStream& stream);
/// The one that has come, and no more are taken. Without a value: none has.
Descriptor take_descriptor(kj::AsyncIoStream& stream);
/// The same; null: none has come.
std::shared_ptr<const Descriptor> take_shared_descriptor(kj::AsyncIoStream& stream);

}  // namespace seaway::transport
