// To and from Cap'n Proto.

#include "client/frames.hpp"

#include <algorithm>
#include <cstring>

#include "program/codec.hpp"
#include "seaway.capnp.h"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::client::frames {
namespace {

/// A Message that `fill(wire::Message::Builder)` writes.
template <class Fill>
Frame make(ClientId client, Fill&& fill) {
  wire::FrameBuilder builder;
  auto message = builder.init_root<wire::Message>();
  message.setClient(client);
  fill(message);
  return builder.finish();
}

template <class Fill>
Frame make_request(ClientId client, std::uint64_t number, Fill&& fill) {
  return make(client, [number, &fill](wire::Message::Builder message) {
    auto request = message.initRequest();
    request.setRequest(number);
    fill(request);
  });
}

kj::ArrayPtr<const kj::byte> to_data(const Frame& frame) {
  return {reinterpret_cast<const kj::byte*>(frame.words().data()), frame.size_bytes()};
}

wire::ClientRecord::Kind to_wire(Said::Kind kind) {
  switch (kind) {
    case Said::Kind::kRun:
      return wire::ClientRecord::Kind::RUN;
    case Said::Kind::kPut:
      return wire::ClientRecord::Kind::PUT;
    case Said::Kind::kRelease:
      return wire::ClientRecord::Kind::RELEASE;
    case Said::Kind::kFetch:
      return wire::ClientRecord::Kind::FETCH;
    case Said::Kind::kGot:
      return wire::ClientRecord::Kind::GOT;
    case Said::Kind::kForget:
      return wire::ClientRecord::Kind::FORGET;
    case Said::Kind::kCancel:
    case Said::Kind::kFrame:
    case Said::Kind::kDrop:
      break;
  }
  return wire::ClientRecord::Kind::CANCEL;
}

}  // namespace

Status controller_lost(ClientId client, const std::string& reason) {
  return {StatusCode::kControllerRestarted,
          "client " + std::to_string(client) + " has lost its controller: " + reason +
              "; what was in flight may have run or not: connect anew"};
}

Frame poke() {
  return make(0, [](wire::Message::Builder message) { message.setPoke(); });
}

Frame hello(ClientId client, std::uint64_t request, const ClientOptions& options) {
  return make(client, [request, &options](wire::Message::Builder message) {
    auto hello = message.initHello();
    hello.setTenant(options.tenant);
    hello.setWeight(options.weight);
    hello.setRequest(request);
    hello.setWaitsWhenFull(options.when_full == WhenFull::kWait);
  });
}

Frame goodbye(ClientId client) {
  return make(client, [](wire::Message::Builder message) { message.setGoodbye(); });
}

Frame define_function(ClientId client, const FunctionDefinition& function) {
  return make(client, [&function](wire::Message::Builder message) {
    auto definition = message.initDefineFunction();
    definition.setId(function.info.id);
    definition.setName(function.info.name);
    definition.setInfo(to_data(program::encode_frame(function.info)));
    auto axes = definition.initAxes(static_cast<unsigned>(function.info.axes.size()));
    for (unsigned i = 0; i < function.info.axes.size(); ++i) {
      axes[i].setName(function.info.axes[i].first);
      axes[i].setSize(function.info.axes[i].second);
    }
    if (function.native) {
      definition.setNative(function.info.name);
    } else {
      const Frame graph = program::encode_frame(function.graph);
      definition.setGraph(to_data(graph));
    }
  });
}

Frame define_foreign(ClientId client, std::uint64_t request, const program::FunctionInfo& info,
                     const function::ForeignProgram& program) {
  return make_request(client, request, [&](wire::Request::Builder builder) {
    auto definition = builder.initDefineForeign();
    definition.setId(info.id);
    definition.setName(info.name);
    definition.setInfo(to_data(program::encode_frame(info)));
    definition.setForeign(to_data(program::encode_frame(program)));
  });
}

Result<program::ForeignCompiled> read_foreign(const std::string& answer) {
  return program::decode_foreign_compiled(
      wire::data_frame({reinterpret_cast<const kj::byte*>(answer.data()), answer.size()}));
}

Frame define_program(ClientId client, const program::ProgramGraph& graph) {
  constexpr std::size_t kChunkBytes = 1 << 20;
  const Frame encoded = program::encode_frame(graph);
  const auto data = to_data(encoded);
  return make(client, [&graph, data](wire::Message::Builder message) {
    auto definition = message.initDefineProgram();
    definition.setId(graph.id);
    const std::size_t count = (data.size() + kChunkBytes - 1) / kChunkBytes;
    auto chunks = definition.initGraph(static_cast<unsigned>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = i * kChunkBytes;
      chunks.set(static_cast<unsigned>(i),
                 data.slice(begin, std::min(begin + kChunkBytes, data.size())));
    }
  });
}

Frame define_spec(ClientId client, std::uint64_t request, const SpecRecord& spec) {
  const Frame encoded = program::encode_frame(spec.spec());
  return make_request(client, request, [&](wire::Request::Builder builder) {
    auto definition = builder.initDefineSpec();
    definition.setId(spec.id);
    definition.setSpec(to_data(encoded));
  });
}

Frame acquire_slice(ClientId client, std::uint64_t request, SliceId slice,
                    const SliceRequest& wanted) {
  return make_request(client, request, [&](wire::Request::Builder builder) {
    auto acquire = builder.initAcquireSlice();
    acquire.setId(slice);
    acquire.setDevices(wanted.devices);
    auto axes = acquire.initAxes(static_cast<unsigned>(wanted.mesh.size()));
    for (unsigned i = 0; i < axes.size(); ++i) {
      axes[i].setName(wanted.mesh[i].first);
      axes[i].setSize(wanted.mesh[i].second);
    }
    acquire.setKind(wanted.kind);
    acquire.setIsland(wanted.island);
    acquire.setContiguous(wanted.contiguous);
    acquire.setSpread(wanted.spread);
  });
}

Frame release_slice(ClientId client, std::uint64_t request, SliceId slice) {
  return make_request(client, request,
                      [slice](wire::Request::Builder builder) { builder.setReleaseSlice(slice); });
}

Frame rebind_slice(ClientId client, std::uint64_t request, SliceId slice) {
  return make_request(client, request,
                      [slice](wire::Request::Builder builder) { builder.setRebindSlice(slice); });
}

Frame why(ClientId client, std::uint64_t request, std::uint64_t id) {
  return make_request(client, request,
                      [id](wire::Request::Builder builder) { builder.setWhy(id); });
}

Frame stats(ClientId client, std::uint64_t request) {
  return make_request(client, request, [](wire::Request::Builder builder) { builder.setStats(); });
}

Frame drain(ClientId client, std::uint64_t request) {
  return make_request(client, request, [](wire::Request::Builder builder) { builder.setDrain(); });
}

Frame upload(ClientId client, ArrayId array, const transport::Payload& payload) {
  return make(client, [array, &payload](wire::Message::Builder message) {
    auto bulk = message.initBulk();
    bulk.setKind(wire::Bulk::Kind::UPLOAD);
    bulk.setId(array);
    // One shard that was not copied lies on its own.
    bulk.setStride(payload.stride > 0 ? payload.stride : payload.shard_bytes);
    auto data = bulk.initData(static_cast<unsigned>(transport::extent_of(payload)));
    transport::copy_shards(payload, std::as_writable_bytes(std::span(data.begin(), data.size())));
  });
}

Frame upload_offer(ClientId client, ArrayId array, std::uint64_t bytes) {
  return make(client, [array, bytes](wire::Message::Builder message) {
    auto bulk = message.initBulk();
    bulk.setKind(wire::Bulk::Kind::UPLOAD);
    bulk.setId(array);
    bulk.setStreams(bytes);
  });
}

Frame taken(ClientId client, std::uint64_t request, std::uint32_t offer) {
  return make(client, [request, offer](wire::Message::Builder message) {
    auto taken = message.initTaken(1);
    taken[0].setRequest(request);
    taken[0].setOffer(offer);
  });
}

Frame complaint(ClientId client, HostId host, std::uint32_t epoch) {
  return make(client, [client, host, epoch](wire::Message::Builder message) {
    auto complaint = message.initComplaint();
    complaint.setRole(static_cast<std::uint8_t>(actor::Role::kHost));
    complaint.setIndex(host);
    complaint.setEpoch(epoch);
    complaint.setByRole(static_cast<std::uint8_t>(actor::Role::kClient));
    complaint.setByIndex(client);
  });
}

Frame runs(ClientId client, std::span<const Said> said, std::span<const ArrayId> arguments) {
  return make(client, [said, arguments](wire::Message::Builder message) {
    auto batch = message.initRuns();
    auto records = batch.initRecords(static_cast<unsigned>(said.size()));
    std::uint32_t argument = 0;
    for (unsigned i = 0; i < said.size(); ++i) {
      auto record = records[i];
      record.setKind(to_wire(said[i].kind));
      record.setId(said[i].id);
      record.setObject(said[i].object);
      record.setFirst(said[i].first);
      record.setArgBegin(argument);
      record.setArgCount(said[i].argument_count);
      argument += said[i].argument_count;
    }
    auto ids = batch.initIds(static_cast<unsigned>(arguments.size()));
    for (unsigned i = 0; i < arguments.size(); ++i) ids.set(i, arguments[i]);
  });
}

namespace {

/// Without its controller a client has nothing; without a host it does not have what it asked of
/// it.
void on_peer(wire::Peer::Reader peer, Session& session) {
  const auto role = static_cast<actor::Role>(peer.getRole());
  if (!peer.getLost()) return;
  if (role == actor::Role::kController) {
    session.lose(controller_lost(session.id(), peer.getMessage().cStr()));
  } else if (role == actor::Role::kHost) {
    session.wiring().router->send(actor::Role::kController, 0,
                                  complaint(session.id(), peer.getIndex(), peer.getEpoch()));
  }
}

}  // namespace

Status dispatch(const Frame& frame, Session& session) {
  return wire::read_frame<wire::Message>(
      frame, [&session](wire::Message::Reader message) -> Status {
        std::vector<Session::Outcome> outcomes;
        switch (message.which()) {
          case wire::Message::RESOLVED: {
            const auto all = message.getResolved();
            outcomes.reserve(all.size());
            for (const auto resolved : all) {
              outcomes.push_back(
                  {resolved.getId(), wire::read_status(resolved.getCode(), resolved.getMessage())});
            }
            session.on_resolved(outcomes);
            return {};
          }
          case wire::Message::FETCHED: {
            const auto all = message.getFetched();
            outcomes.reserve(all.size());
            for (const auto fetched : all) {
              outcomes.push_back({fetched.getRequest(),
                                  wire::read_status(fetched.getCode(), fetched.getMessage())});
            }
            session.on_fetched(outcomes);
            return {};
          }
          case wire::Message::PULL:
            session.on_pull(message.getPull().getArray(), message.getPull().getHost(),
                            message.getPull().getFetches());
            return {};
          case wire::Message::CALL_FOR_DATA:
            session.on_call(message.getCallForData());
            return {};
          case wire::Message::BULK: {
            const auto bulk = message.getBulk();
            if (bulk.getStreams() > 0) {
              session.on_offered({bulk.getHost(), bulk.getId(), bulk.getEdge(), bulk.getStreams()});
              return {};
            }
            const auto data = message.getBulk().getData();
            session.on_value(message.getBulk().getId(),
                             std::as_bytes(std::span(data.begin(), data.size())));
            return {};
          }
          case wire::Message::PEER:
            on_peer(message.getPeer(), session);
            return {};
          case wire::Message::REPLY: {
            const auto reply = message.getReply();
            Status status = wire::read_status(reply.getCode(), reply.getMessage());
            if (const auto data = reply.getData(); status.ok() && data.size() > 0) {
              session.on_reply(
                  reply.getRequest(),
                  std::string(reinterpret_cast<const char*>(data.begin()), data.size()));
            } else if (status.ok()) {
              session.on_reply(reply.getRequest(), std::string(reply.getMessage().cStr()));
            } else {
              session.on_reply(reply.getRequest(), std::move(status));
            }
            return {};
          }
          default:
            return protocol_error("a client received a message of kind " +
                                  std::to_string(static_cast<unsigned>(message.which())));
        }
      });
}

}  // namespace seaway::client::frames
