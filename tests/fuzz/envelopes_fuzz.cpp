// Any bytes as a batch of envelopes: an error, or what reads back as the same once it is written.

#include "app/envelope_codec.hpp"
#include "base/check.hpp"
#include "target.hpp"

namespace seaway::fuzz {

void envelopes(std::span<const std::uint8_t> input) {
  constexpr std::uint64_t kNow = 1'000'000;
  constexpr std::uint32_t kSilos = 4;
  // As of another process: nothing is beside the frame, and nothing is known by its name.
  const internal::TypeTable types;
  const app::CodecOptions options{&types, nullptr};
  const auto batch = app::decode_batch(frame_of(input), kNow, kSilos, options);
  if (!batch.ok()) {
    SEAWAY_CHECK(batch.status().code() == StatusCode::kProtocolError, batch.status().to_string());
    return;
  }
  SEAWAY_CHECK(batch->from < kSilos);
  for (const app::Envelope& envelope : batch->envelopes) {
    // What it was to be made from is gone: nobody hands that on.
    if (envelope.parcel && !envelope.parcel->refusal.ok()) return;
    SEAWAY_CHECK(app::check_travels(envelope).ok());
  }
  const Frame frame = app::encode_batch(batch->from, batch->envelopes, kNow, options);
  const auto again = app::decode_batch(frame, kNow, kSilos, options);
  SEAWAY_CHECK(again.ok(), again.status().to_string());
  SEAWAY_CHECK(again->envelopes.size() == batch->envelopes.size());
  for (std::size_t i = 0; i < batch->envelopes.size(); ++i) {
    const app::Envelope& before = batch->envelopes[i];
    const app::Envelope& after = again->envelopes[i];
    SEAWAY_CHECK(before.kind == after.kind && before.call == after.call, i);
    SEAWAY_CHECK(before.number == after.number && before.member == after.member, i);
    SEAWAY_CHECK(before.payload.frame.size_bytes() == after.payload.frame.size_bytes(), i);
  }
}

}  // namespace seaway::fuzz
