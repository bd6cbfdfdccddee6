// Any bytes as a stream from a stranger: frames that are no longer than they may be, or one error.

#include <kj/async-io.h>
#include <kj/async.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "cluster/enrolment_messages.hpp"
#include "target.hpp"
#include "transport/introduction.hpp"

namespace seaway::fuzz {
namespace {

/// A stream that brings what it was given, and then ends; what is written to it goes nowhere.
class GivenStream final : public kj::AsyncIoStream {
 public:
  explicit GivenStream(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  kj::Promise<std::size_t> tryRead(void* buffer, std::size_t, std::size_t most) override {
    const std::size_t count = std::min(most, bytes_.size());
    if (count > 0) std::memcpy(buffer, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return count;
  }
  kj::Promise<void> write(const void*, std::size_t) override { return kj::READY_NOW; }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>>) override {
    return kj::READY_NOW;
  }
  kj::Promise<void> whenWriteDisconnected() override { return kj::NEVER_DONE; }
  void shutdownWrite() override {}

  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// As what it is said to be. What is written again reads as the same.
void read_as(unsigned what, const Frame& frame) {
  switch (what % 4) {
    case 0:
      if (const auto read = transport::read_introduction(frame); read.ok()) {
        const auto again = transport::read_introduction(transport::introduction_frame(*read));
        SEAWAY_CHECK(again.ok() && again->cluster == read->cluster);
        SEAWAY_CHECK(again->what.index() == read->what.index());
      }
      return;
    case 1:
      if (const auto read = transport::read_welcome(frame); read.ok()) {
        const auto again = transport::read_welcome(transport::welcome_frame(*read));
        SEAWAY_CHECK(again.ok() && again->kind == read->kind);
      }
      return;
    case 2:
      if (const auto read = cluster::read_question(frame); read.ok()) {
        const auto again = cluster::read_question(cluster::to_frame(*read));
        SEAWAY_CHECK(again.ok() && again->index() == read->index());
      }
      return;
    default:
      static_cast<void>(cluster::read_enrolled(frame).ok());
      static_cast<void>(cluster::read_address(frame).ok());
      static_cast<void>(cluster::read_status(frame).ok());
      static_cast<void>(cluster::read_done(frame).ok());
  }
}

}  // namespace

void frames(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  constexpr std::size_t kLimits[] = {8, 4096, std::size_t{1} << 20};
  const std::size_t limit = kLimits[input[0] % 4u % std::size(kLimits)];
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  GivenStream stream(input.subspan(1));
  for (;;) {
    const std::size_t before = stream.left();
    const Result<Frame> frame = transport::receive_frame(stream, limit).wait(scope);
    if (!frame.ok()) {
      const StatusCode code = frame.status().code();
      SEAWAY_CHECK(code == StatusCode::kProtocolError || code == StatusCode::kResourceExhausted ||
                   code == StatusCode::kHostLost);
      return;
    }
    SEAWAY_CHECK(frame->size_bytes() <= limit && frame->size_bytes() == before - stream.left());
    read_as(input[0] / 4u, *frame);
  }
}

}  // namespace seaway::fuzz
