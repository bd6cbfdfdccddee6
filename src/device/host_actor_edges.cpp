// What a host says to others about values for them, and the short ones themselves.

#include <seaway.capnp.h>

#include <algorithm>

#include "base/check.hpp"
#include "device/host_actor.hpp"
#include "wire/frame_builder.hpp"

namespace seaway::device {

using actor::Role;
using transport::Lane;
using wire::Message;

void HostActor::flush_edges() {
  auto& edges = core_.outbox().edges;
  if (edges.empty()) return;
  for (HostOutbox::Edge& edge : edges) {
    if (edge.kind != HostOutbox::Edge::Kind::kDelivered || !edge.status.ok()) continue;
    if (edge.place || edge.streams > 0) continue;
    if (wiring_.router.is_here(Role::kHost, edge.peer)) continue;
    edge.status = transport::check_payload(edge.bytes, "what goes to another island");
    if (!edge.status.ok()) wiring_.bulk.take_edge(edge.stamp, edge.edge);
  }
  // What has no payload does not wait behind what has.
  const auto lane_of = [this](const HostOutbox::Edge& edge) {
    const bool has_payload = edge.kind == HostOutbox::Edge::Kind::kDelivered && edge.status.ok() &&
                             !edge.place && edge.streams == 0 &&
                             !wiring_.router.is_here(Role::kHost, edge.peer);
    return has_payload ? Lane::kBulk : Lane::kControl;
  };
  std::stable_sort(edges.begin(), edges.end(), [&lane_of](const auto& a, const auto& b) {
    return std::pair(a.peer, lane_of(a)) < std::pair(b.peer, lane_of(b));
  });
  const std::uint64_t now_ns = wiring_.engine.clock().now_ns();
  for (std::size_t begin = 0; begin < edges.size();) {
    const HostId peer = edges[begin].peer;
    const Lane lane = lane_of(edges[begin]);
    const auto is_other = [&](const auto& edge) {
      return edge.peer != peer || lane_of(edge) != lane;
    };
    const auto behind =
        std::find_if(edges.begin() + static_cast<std::ptrdiff_t>(begin), edges.end(), is_other);
    const auto end = static_cast<std::size_t>(behind - edges.begin());
    std::uint64_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) bytes += edges[i].bytes;
    const bool is_elsewhere = !wiring_.router.is_here(Role::kHost, peer);
    for (std::size_t i = begin; i < end && lane == Lane::kBulk; ++i) {
      if (edges[i].status.ok()) send_bulk(edges[i]);
    }
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initEdges(static_cast<unsigned>(end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      auto edge = list[static_cast<unsigned>(i - begin)];
      if (is_elsewhere) said_[peer] = std::max(said_[peer], edges[i].stamp);
      edge.setKind(static_cast<wire::Edge::Kind>(edges[i].kind));
      edge.setStamp(edges[i].stamp);
      edge.setEdge(edges[i].edge);
      edge.setHost(core_.options().host);
      edge.setCode(static_cast<std::uint8_t>(edges[i].status.code()));
      if (!edges[i].status.ok()) edge.setMessage(edges[i].status.message());
      if (edges[i].kind == HostOutbox::Edge::Kind::kArmed) {
        edge.setReadsYou(wiring_.near && wiring_.near->reads(peer));
      }
      edge.setKeeps(edges[i].keeps);
      edge.setStreams(edges[i].streams);
      if (const auto& place = edges[i].place) {
        auto loan = edge.getLoan();
        loan.setOffset(place->offset);
        loan.setBytes(place->bytes);
        loan.setStride(edges[i].stride);
        loan.setSlot(place->slot);
        loan.setTurn(place->turn);
      }
    }
    const std::uint64_t at_ns = wiring_.arrival ? wiring_.arrival(peer, now_ns, bytes) : now_ns;
    if (at_ns <= now_ns) {
      wiring_.router.send(Role::kHost, peer, builder.finish(), lane);
    } else {
      wiring_.engine.schedule(at_ns, [this, peer, frame = builder.finish()] {
        wiring_.router.send(Role::kHost, peer, frame);
      });
    }
    begin = end;
  }
  edges.clear();
}

/// Payload that was offered to a host of another process.
void HostActor::send_bulk(const HostOutbox::Edge& edge) {
  auto payload = wiring_.bulk.take_edge(edge.stamp, edge.edge);
  SEAWAY_CHECK(payload.has_value(), edge.stamp, edge.edge);
  wire::FrameBuilder builder;
  auto bulk = builder.init_root<Message>().initBulk();
  bulk.setKind(wire::Bulk::Kind::EDGE);
  bulk.setId(edge.stamp);
  bulk.setEdge(edge.edge);
  bulk.setStride(payload->stride);
  payload->shards = edge.shards;
  payload->shard_bytes = edge.shard_bytes;
  auto data = bulk.initData(static_cast<unsigned>(transport::extent_of(*payload)));
  transport::copy_shards(*payload, std::as_writable_bytes(std::span(data.begin(), data.size())));
  wiring_.router.send(Role::kHost, edge.peer, builder.finish(), Lane::kBulk);
}

}  // namespace seaway::device
