// Any frames to a client: it takes what it has asked for, and ignores the rest.

#include "actor/control_engine.hpp"
#include "actor/router.hpp"
#include "base/check.hpp"
#include "base/clock.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"
#include "target.hpp"
#include "transport/bulk.hpp"

namespace seaway::fuzz {

void session(std::span<const std::uint8_t> input) {
  actor::Router router;
  transport::LocalBulk bulk;
  client::Wiring wiring;
  wiring.router = &router;
  wiring.bulk = &bulk;
  wiring.client = 1;
  // Its actor is not there: nothing leaves it, and what comes is read all the same.
  static const RealClock clock;
  static const std::unique_ptr<actor::Engine> engine = actor::make_control_engine(clock);
  wiring.engine = engine.get();
  client::Session session(wiring, {});
  std::byte target[64] = {};
  for (std::uint64_t request = 1; request < 8; ++request) {
    bulk.offer_target(1, request, std::span(target).first(8 * request));
  }
  bulk.offer_upload(make_id(1, 9),
                    transport::copy_payload(std::as_bytes(std::span("12345678")), 0));
  Said said;
  for (Sayings sayings(input); sayings.next(said);) {
    const Status status = client::frames::dispatch(said.frame, session);
    SEAWAY_CHECK(status.ok() || status.code() == StatusCode::kProtocolError, status.to_string());
  }
}

}  // namespace seaway::fuzz
