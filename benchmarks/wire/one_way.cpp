// A reader who counts, and a sender who never waits for one message alone.

#include "benchmarks/wire/one_way.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <vector>

#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
/// So many batches are said before the first is known to have come; the reader says so for some at
/// a time.
constexpr int kWindow = 64;
constexpr int kToldTogether = 16;

double per_message(std::uint64_t begin_ns, int batches) {
  return static_cast<double>(now_ns() - begin_ns) / (double{kBatch} * batches);
}

/// Whole ones are told of.
int whole(int batches) { return std::max(1, batches / kToldTogether) * kToldTogether; }

}  // namespace

RawMessages::RawMessages(bool is_unix, int batches)
    : batches_(batches), pair_(make_pair(is_unix)), reader_([this] {
        const std::size_t total = kWireBytes * kBatch * static_cast<std::size_t>(batches_);
        std::vector<std::byte> room(kReadBytes);
        for (std::size_t seen = 0;;) {
          const ssize_t count = ::read(pair_[1], room.data(), std::min(room.size(), total - seen));
          if (count <= 0) return;
          seen += static_cast<std::size_t>(count);
          if (seen < total) continue;
          seen = 0;
          if (!pass(pair_[1], std::span(room).first(1), true)) return;
        }
      }) {}

RawMessages::~RawMessages() {
  for (const int end : pair_) ::close(end);
}

double RawMessages::measure_ns() {
  std::array<std::array<std::byte, kWireBytes>, kBatch> messages = {};
  std::array<iovec, kBatch> pieces;
  const std::uint64_t begin_ns = now_ns();
  for (int i = 0; i < batches_; ++i) {
    for (int k = 0; k < kBatch; ++k) pieces[k] = {messages[k].data(), kWireBytes};
    // A blocking socket takes all of it.
    const ssize_t written = ::writev(pair_[0], pieces.data(), kBatch);
    if (written != static_cast<ssize_t>(kWireBytes) * kBatch) return kNan;
  }
  std::array<std::byte, 1> told = {};
  return pass(pair_[0], told, false) ? per_message(begin_ns, batches_) : kNan;
}

struct ActorMessages::State {
  State(const std::string& socket, const std::string& directory, Batching batching, int batches)
      : frames(batching == Batching::kTurn ? kBatch : 1),
        wanted(whole(batches)),
        tls(socket == "tls" ? make_tls() : nullptr),
        frame(Frame::make(batching == Batching::kTurn ? kWireFrameWords : kBatch * kWireBytes / 8,
                          [](auto words) {
                            for (auto& word : words) word = 1;
                          })),
        reader([&] {
          const std::string listen =
              socket == "unix" ? "unix:" + directory + "/one_way" : socket + ":127.0.0.1:0";
          std::uint64_t heard = 0, sum = 0;
          const std::uint64_t told_together = static_cast<std::uint64_t>(frames) * kToldTogether;
          WireProcess other(0, tls, listen, "", [&](WireProcess& own, const Frame& one) {
            for (std::size_t i = 0; i < one.words().size(); i += kWireBytes / 8) {
              sum += one.words()[i];
            }
            if (++heard % told_together == 0 && sum >= heard) own.say(one);
          });
          note.write(other.address());
          other.wait([] { return false; });
        }),
        process(1, tls, "", note.read(), [this](WireProcess& own, const Frame&) {
          known += kToldTogether;
          if (known < wanted) return say_more();
          is_over = true;
          own.notify();
        }) {}

  /// A batch a turn.
  void say_more() {
    if (said == wanted || said - known >= kWindow) return;
    ++said;
    for (int i = 0; i < frames; ++i) process.say(frame);
    process.post([this] { say_more(); });
  }

  const int frames;  // A batch.
  const int wanted;  // Batches of a measurement.
  const std::shared_ptr<transport::Tls> tls;
  const Frame frame;
  Note note;
  const Child reader;
  int said = 0, known = 0;  // Batches; on the control thread.
  std::atomic<bool> is_over = false;
  WireProcess process;
};

ActorMessages::ActorMessages(const std::string& socket, const std::string& directory,
                             Batching batching, int batches)
    : state_(std::make_unique<State>(socket, directory, batching, batches)) {}

ActorMessages::~ActorMessages() = default;

double ActorMessages::measure_ns() {
  State& state = *state_;
  if (!state.process.wait_for_peer()) return kNan;
  state.is_over = false;
  const std::uint64_t begin_ns = now_ns();
  state.process.post([&state] {
    state.said = state.known = 0;
    state.say_more();
  });
  const bool is_whole = state.process.wait([&state] { return state.is_over.load(); });
  return is_whole ? per_message(begin_ns, state.wanted) : kNan;
}

}  // namespace seaway::benchmarks
