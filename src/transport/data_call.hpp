// How a connection for data alone is made, and taken out of its loop.

#pragma once

#include <kj/async-io.h>

#include <memory>

#include "seaway/status.hpp"
#include "transport/data_socket.hpp"

namespace seaway::transport {

/// Takes a connection out of its loop, between two frames of it: `stream` is dropped, and what it
/// was goes on as the result. Errors: kProtocolError when bytes have come that nobody has read;
/// kResourceExhausted without a descriptor.
Result<std::unique_ptr<DataSocket>> take_socket(kj::Own<kj::AsyncIoStream> stream);

/// Welcomes whoever is at the other end, and takes the connection out of its loop. Fails when he
/// has gone.
kj::Promise<Result<std::unique_ptr<DataSocket>>> welcome_data(kj::Own<kj::AsyncIoStream> stream);

}  // namespace seaway::transport
