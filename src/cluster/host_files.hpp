// Files that clients hand over to hosts of their machine.

#pragma once

#include <functional>
#include <string>

#include "base/ids.hpp"
#include "cluster/enrolment_messages.hpp"
#include "cluster/sessions.hpp"
#include "cluster/shape.hpp"
#include "transport/bulk.hpp"
#include "transport/caller.hpp"
#include "transport/io_loop.hpp"

namespace seaway::cluster {

/// What is to be called with the address of a host, or why there is none: it hands the file that
/// `payload` lies in over to there. `done` is called once, from the loop, unless that ends first:
/// an error when it was not taken, or nobody of this machine listens there. `asked` says who gives
/// what.
std::function<void(Result<std::string> address)> giver_of_file(
    transport::IoLoop& loop, std::uint64_t cluster, FileQuestion asked,
    const transport::Payload& payload, const std::function<void(Status)>& done);

/// What came with `question`, as an upload. Errors: kPermissionDenied, kUnauthenticated for who may
/// not; kProtocolError for what is no such file; kResourceExhausted with too many.
Result<transport::Payload> take_file(const Sessions& sessions, const Shape& shape,
                                     const transport::Caller& caller, const FileQuestion& question);

}  // namespace seaway::cluster
