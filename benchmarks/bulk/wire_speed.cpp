// Two processes: one has bytes, the other one fetches them.

#include "benchmarks/bulk/wire_speed.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "benchmarks/support/measure.hpp"
#include "benchmarks/wire/ends.hpp"

namespace seaway::benchmarks {
namespace {

using transport::DataKey;

constexpr std::uint64_t kBetweenNs = 1'000'000;  // Messages.

std::vector<std::byte> filled(std::uint64_t bytes) {
  std::vector<std::byte> value(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) value[i] = static_cast<std::byte>(i * 7 + (i >> 12));
  return value;
}

/// Says back what it hears, and offers `bytes`.
void make(const std::string& socket, const std::shared_ptr<transport::Tls>& tls,
          std::uint64_t bytes, Note& note) {
  stay_on(::getpid(), cores().back());
  const std::vector<std::byte> value = filled(bytes);
  WireProcess process(0, tls, socket + ":127.0.0.1:0", "",
                      [](WireProcess& own, const Frame& frame) { own.say(frame); });
  process.carry_data();
  process.post([&] {
    process.data().offer(1, DataKey{1, 0},
                         {bytes,
                          [&value](std::uint64_t begin, std::uint64_t end, auto& pieces) {
                            pieces.emplace_back(value.data() + begin, end - begin);
                          },
                          nullptr, 0});
  });
  note.write(process.address());
  process.wait([] { return false; });
}

/// The same over a bare socket, for each word that is heard there.
void make_raw(int descriptor, std::uint64_t bytes) {
  stay_on(::getpid(), cores().back());
  std::vector<std::byte> value = filled(bytes);
  std::array<std::byte, kWireBytes> question;
  while (pass(descriptor, question, false) && pass(descriptor, value, true)) continue;
}

/// Fetches again and again. Control thread.
class Fetcher {
 public:
  Fetcher(WireProcess& process, std::vector<std::byte>& room) : process_(process), room_(room) {}

  void fetch(std::function<void(bool)> done) {
    process_.data().fetch(
        0, DataKey{1, 0},
        {room_.size(),
         [this](std::uint64_t begin, std::uint64_t most) {
           return std::span(room_).subspan(begin).first(std::min(most, room_.size() - begin));
         },
         [](auto, auto) {}},
        [done = std::move(done)](const Status& status) { done(status.ok()); });
  }

 private:
  WireProcess& process_;
  std::vector<std::byte>& room_;
};

}  // namespace

WireSpeed wire_speed(const std::string& socket, std::uint64_t bytes, int runs) {
  const auto tls = socket == "tls" ? make_tls() : nullptr;
  Note note;
  const Child maker([&] { make(socket, tls, bytes, note); });
  const Pair pair = make_pair(false);
  const Child raw_maker([&] { make_raw(pair[1], bytes); });
  const PinnedToOneCore pinned;
  std::vector<std::byte> room = filled(bytes);
  WireProcess process(1, tls, "", note.read(), [](WireProcess&, const Frame&) {});
  process.carry_data();
  if (!process.wait_for_peer()) return {};
  Fetcher fetcher(process, room);
  WireSpeed speed;
  for (int run = -1; run < runs; ++run) {  // The first one warms up.
    std::atomic<bool> is_over = false, is_whole = false;
    const std::uint64_t begin_ns = now_ns();
    process.post([&] {
      fetcher.fetch([&](bool ok) {
        is_whole = ok;
        is_over = true;
        process.notify();
      });
    });
    if (!process.wait([&is_over] { return is_over.load(); }) || !is_whole) return {};
    const std::uint64_t middle_ns = now_ns();
    std::array<std::byte, kWireBytes> question = {};
    if (!pass(pair[0], question, true) || !pass(pair[0], room, false)) return {};
    if (run < 0) continue;
    speed.fetch_us.push_back(static_cast<double>(middle_ns - begin_ns) / 1e3);
    speed.raw_us.push_back(static_cast<double>(now_ns() - middle_ns) / 1e3);
  }
  process.post([&] { speed.extra_bytes = process.data().counts().extra_bytes; });
  for (const int end : pair) ::close(end);
  return speed;
}

ControlDelay control_delay(const std::string& socket, std::uint64_t bytes, int messages) {
  const auto tls = socket == "tls" ? make_tls() : nullptr;
  Note note;
  const Child maker([&] { make(socket, tls, bytes, note); });
  const PinnedToOneCore pinned;
  std::vector<std::byte> room = filled(bytes);
  const Frame frame = Frame::make(kWireFrameWords, [](auto words) {
    for (auto& word : words) word = 1;
  });
  std::vector<double>* samples = nullptr;
  std::uint64_t begin_ns = 0;
  std::atomic<bool> is_over = false;
  WireProcess process(1, tls, "", note.read(), [&](WireProcess& own, const Frame&) {
    samples->push_back(static_cast<double>(now_ns() - begin_ns) / 1e3);
    if (samples->size() == static_cast<std::size_t>(messages)) {
      is_over = true;
      return own.notify();
    }
    own.after(kBetweenNs, [&] {
      begin_ns = now_ns();
      own.say(frame);
    });
  });
  process.carry_data();
  if (!process.wait_for_peer()) return {};
  Fetcher fetcher(process, room);
  ControlDelay delay;
  std::uint64_t fetched = 0;
  std::function<void()> again = [&] {
    if (is_over) return;
    fetcher.fetch([&](bool ok) {
      if (ok) fetched += bytes;
      again();
    });
  };
  std::uint64_t busy_ns = 0;
  for (auto* const to : {&delay.idle_us, &delay.busy_us}) {
    is_over = false;
    busy_ns = now_ns();
    process.post([&, to] {
      samples = to;
      if (to == &delay.busy_us) again();
      begin_ns = now_ns();
      process.say(frame);
    });
    if (!process.wait([&is_over] { return is_over.load(); })) return {};
  }
  delay.bytes_per_second =
      static_cast<double>(fetched) / (static_cast<double>(now_ns() - busy_ns) / 1e9);
  return delay;
}

}  // namespace seaway::benchmarks
