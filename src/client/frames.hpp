// The client's frames: what it says to the controller, and what it hears.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "client/outbox.hpp"
#include "client/session.hpp"
#include "seaway/client.hpp"

namespace seaway::client::frames {

// Built in the thread that asks.
Frame poke();
Frame hello(ClientId client, std::uint64_t request, const ClientOptions& options);
Frame goodbye(ClientId client);
Frame define_function(ClientId client, const FunctionDefinition& function);
Frame define_foreign(ClientId client, std::uint64_t request, const program::FunctionInfo& info,
                     const function::ForeignProgram& program);
/// What the answer to that says, in bytes.
Result<program::ForeignCompiled> read_foreign(const std::string& answer);
Frame define_program(ClientId client, const program::ProgramGraph& graph);
Frame define_spec(ClientId client, std::uint64_t request, const SpecRecord& spec);
Frame acquire_slice(ClientId client, std::uint64_t request, SliceId slice,
                    const SliceRequest& wanted);
Frame release_slice(ClientId client, std::uint64_t request, SliceId slice);
Frame rebind_slice(ClientId client, std::uint64_t request, SliceId slice);
Frame why(ClientId client, std::uint64_t request, std::uint64_t id);
Frame stats(ClientId client, std::uint64_t request);
Frame drain(ClientId client, std::uint64_t request);
Frame upload(ClientId client, ArrayId array, const transport::Payload& payload);
/// `array` is offered, as so many bytes.
Frame upload_offer(ClientId client, ArrayId array, std::uint64_t bytes);
Frame taken(ClientId client, std::uint64_t request, std::uint32_t offer);
/// That `host`, in its life `epoch`, cannot be reached.
Frame complaint(ClientId client, HostId host, std::uint32_t epoch);

/// Why a session ends: its controller is gone, or refuses this client.
Status controller_lost(ClientId client, const std::string& reason);

/// One `runs` frame of records without frames among them. `arguments` are those of all its runs.
Frame runs(ClientId client, std::span<const Said> said, std::span<const ArrayId> arguments);

/// Hands what `frame` says to `session`. kProtocolError for what a client is not told.
Status dispatch(const Frame& frame, Session& session);

}  // namespace seaway::client::frames
