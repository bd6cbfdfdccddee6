// Words of processes about processes, as frames.

#include "cluster/member_messages.hpp"

#include <seaway.capnp.h>

#include "wire/frame_builder.hpp"

namespace seaway::cluster {

using wire::Message;

Frame peer_frame(const PeerNews& news) {
  wire::FrameBuilder builder;
  auto peer = builder.init_root<Message>().initPeer();
  peer.setRole(static_cast<std::uint8_t>(news.name.role));
  peer.setIndex(news.name.index);
  peer.setEpoch(news.life);
  peer.setLost(news.is_lost);
  peer.setMessage(news.reason);
  return builder.finish();
}

Frame join_frame(const RoleName& name, std::uint32_t life) {
  wire::FrameBuilder builder;
  auto join = builder.init_root<Message>().initJoin();
  join.setRole(static_cast<std::uint8_t>(name.role));
  join.setIsland(name.index);
  join.setEpoch(life);
  return builder.finish();
}

}  // namespace seaway::cluster
