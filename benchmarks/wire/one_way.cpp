// A reader who counts, and a sender who never waits for one message alone.

#include "benchmarks/wire/one_way.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <vector>

#include "benchmarks/support/measure.hpp"
#include "benchmarks/wire/ends.hpp"

namespace seaway::benchmarks {
namespace {

constexpr int kTries = 5;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
/// So many batches are said before the first is known to have come; the reader says so for some at
/// a time.
constexpr int kWindow = 64;
constexpr int kToldTogether = 16;

double per_message(std::uint64_t begin_ns, int batches) {
  return static_cast<double>(now_ns() - begin_ns) / (double{kBatch} * batches);
}

double writev_once(bool is_unix, int batches) {
  const Pair pair = make_pair(is_unix);
  const std::size_t total = kWireBytes * kBatch * static_cast<std::size_t>(batches);
  double best = std::numeric_limits<double>::quiet_NaN();
  {
    const Child reader([&pair, total] {
      std::vector<std::byte> room(kReadBytes);
      for (std::size_t seen = 0; seen < total;) {
        const ssize_t count = ::read(pair[1], room.data(), room.size());
        if (count <= 0) return;
        seen += static_cast<std::size_t>(count);
      }
      pass(pair[1], std::span(room).first(1), true);
      pass(pair[1], std::span(room).first(1), false);  // Until it is killed.
    });
    std::array<std::array<std::byte, kWireBytes>, kBatch> messages = {};
    std::array<iovec, kBatch> pieces;
    const std::uint64_t begin_ns = now_ns();
    bool is_whole = true;
    for (int i = 0; i < batches && is_whole; ++i) {
      for (int k = 0; k < kBatch; ++k) pieces[k] = {messages[k].data(), kWireBytes};
      // A blocking socket takes all of it.
      is_whole =
          ::writev(pair[0], pieces.data(), kBatch) == static_cast<ssize_t>(kWireBytes) * kBatch;
    }
    std::array<std::byte, 1> told = {};
    if (is_whole && pass(pair[0], told, false)) best = per_message(begin_ns, batches);
  }
  for (const int end : pair) ::close(end);
  return best;
}

}  // namespace

double writev_message_ns(bool is_unix, int batches) {
  std::vector<double> tries;
  for (int i = 0; i < kTries; ++i) tries.push_back(writev_once(is_unix, batches));
  return *std::min_element(tries.begin(), tries.end());
}

double actor_message_ns(const std::string& socket, const std::string& directory, Batching batching,
                        int batches) {
  const int frames = batching == Batching::kTurn ? kBatch : 1;  // A batch.
  const auto tls = socket == "tls" ? make_tls() : nullptr;
  Note note;
  const Child reader([&] {
    const std::string listen =
        socket == "unix" ? "unix:" + directory + "/one_way" : socket + ":127.0.0.1:0";
    std::uint64_t heard = 0, sum = 0;
    const std::uint64_t told_together = static_cast<std::uint64_t>(frames) * kToldTogether;
    WireProcess process(0, tls, listen, "", [&](WireProcess& own, const Frame& frame) {
      for (std::size_t i = 0; i < frame.words().size(); i += kWireBytes / 8) {
        sum += frame.words()[i];
      }
      if (++heard % told_together == 0 && sum >= heard) own.say(frame);
    });
    note.write(process.address());
    process.wait([] { return false; });
  });
  const std::size_t words_of_frame =
      batching == Batching::kTurn ? kWireFrameWords : kBatch * kWireBytes / 8;
  const Frame frame = Frame::make(words_of_frame, [](auto words) {
    for (auto& word : words) word = 1;
  });
  const int wanted = std::max(1, batches / kToldTogether) * kToldTogether;
  int said = 0, known = 0;  // Of one try; on the control thread.
  std::atomic<bool> is_over = false;
  // A batch a turn.
  std::function<void(WireProcess&)> say_more = [&](WireProcess& own) {
    if (said == wanted || said - known >= kWindow) return;
    ++said;
    for (int i = 0; i < frames; ++i) own.say(frame);
    own.post([&own, &say_more] { say_more(own); });
  };
  WireProcess process(1, tls, "", note.read(), [&](WireProcess& own, const Frame&) {
    known += kToldTogether;
    if (known == wanted) {
      is_over = true;
      return own.notify();
    }
    say_more(own);
  });
  if (!process.wait_for_peer()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> tries;
  for (int i = 0; i < kTries; ++i) {
    is_over = false;
    const std::uint64_t begin_ns = now_ns();
    process.post([&] {
      said = known = 0;
      say_more(process);
    });
    if (!process.wait([&is_over] { return is_over.load(); })) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    tries.push_back(per_message(begin_ns, wanted));
  }
  return *std::min_element(tries.begin(), tries.end());
}

}  // namespace seaway::benchmarks
