// Copying frames with another sender, and damaging words.

#include "sim/hostile_frames.hpp"

#include <app.capnp.h>
#include <capnp/message.h>
#include <seaway.capnp.h>

#include <array>
#include <vector>

#include "app/envelope.hpp"
#include "cluster/peers.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::sim {
namespace {

/// Each of them as it is, where it cannot be read.
template <class Root, class Change>
Frame copy_with(const Frame& frame, Change&& change) {
  Frame copy = frame;
  static_cast<void>(wire::read_frame<Root>(frame, [&](typename Root::Reader reader) {
    capnp::MallocMessageBuilder builder;
    builder.setRoot(reader);
    change(builder.getRoot<Root>());
    copy = wire::freeze(builder);
  }));
  return copy;
}

Frame with_sender(const TappedFrame& tapped, ClientId self, std::uint32_t hosts) {
  const std::uint32_t kind = tapped.channel >> cluster::kChannelKindShift;
  if (kind == cluster::kSiloChannels) {
    return copy_with<schema::EnvelopeBatch>(tapped.frame,
                                            [&](schema::EnvelopeBatch::Builder batch) {
                                              batch.setFrom(app::silo_of_client(self, hosts));
                                            });
  }
  if (kind == cluster::kRelayChannels) return tapped.frame;
  return copy_with<wire::Message>(tapped.frame,
                                  [&](wire::Message::Builder message) { message.setClient(self); });
}

/// Words that are ids of the victim's begin with its number, or with that of its silo.
void mix(std::span<std::uint64_t> words, const TappedFrame& tapped, ClientId self,
         std::uint32_t hosts, RandomStream& random) {
  for (std::uint64_t& word : words) {
    const auto begin = static_cast<std::uint32_t>(word >> kSequenceBits);
    const std::uint64_t rest = word & ((std::uint64_t{1} << kSequenceBits) - 1);
    const bool is_id = begin == tapped.from;
    const bool is_of_silo = begin == app::silo_of_client(tapped.from, hosts);
    if (!(is_id || is_of_silo) || random.chance(50)) continue;
    const std::uint64_t own = is_id ? self : app::silo_of_client(self, hosts);
    word = own << kSequenceBits | rest;
  }
}

}  // namespace

std::string_view to_string(HostileChange change) {
  constexpr std::array<std::string_view, kHostileChanges> kNames = {"foreign", "mixed", "flipped",
                                                                    "replaced", "cut"};
  return kNames[static_cast<std::size_t>(change)];
}

Frame make_hostile(const TappedFrame& tapped, ClientId self, std::uint32_t hosts,
                   HostileChange change, RandomStream& random) {
  const Frame own = with_sender(tapped, self, hosts);
  std::vector<std::uint64_t> words(own.words().begin(), own.words().end());
  const auto any = [&]() -> std::uint64_t& { return words[random.below(words.size())]; };
  if (words.empty()) return own;
  switch (change) {
    case HostileChange::kForeign:
      return own;
    case HostileChange::kMixed:
      mix(words, tapped, self, hosts, random);
      break;
    case HostileChange::kFlipped:
      for (std::uint64_t left = random.between(1, 4); left > 0; --left) {
        any() ^= std::uint64_t{1} << random.below(64);
      }
      break;
    case HostileChange::kReplaced: {
      constexpr std::array<std::uint64_t, 6> kExtremes = {
          0, 1, UINT32_MAX, UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{1} << 40};
      for (std::uint64_t left = random.between(1, 3); left > 0; --left) {
        any() = random.chance(50) ? any() : kExtremes[random.below(kExtremes.size())];
      }
      break;
    }
    case HostileChange::kCut:
      words.resize(random.below(words.size()));
      break;
  }
  return Frame::make(words.size(), [&words](std::span<std::uint64_t> out) {
    std::copy(words.begin(), words.end(), out.begin());
  });
}

}  // namespace seaway::sim
