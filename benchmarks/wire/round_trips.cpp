// One message there and back, between this process and a child.

#include "benchmarks/wire/round_trips.hpp"

#include <array>
#include <atomic>

#include "benchmarks/support/measure.hpp"
#include "benchmarks/wire/ends.hpp"

namespace seaway::benchmarks {

std::vector<double> raw_round_trips_us(bool is_unix, int rounds) {
  const Pair pair = make_pair(is_unix);
  std::array<std::byte, kWireBytes> bytes = {};
  std::vector<double> samples;
  {
    const Child echo([&pair] {
      std::array<std::byte, kWireBytes> heard = {};
      while (pass(pair[1], heard, false) && pass(pair[1], heard, true)) continue;
    });
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t begin_ns = now_ns();
      if (!pass(pair[0], bytes, true) || !pass(pair[0], bytes, false)) break;
      samples.push_back(static_cast<double>(now_ns() - begin_ns) / 1e3);
    }
  }
  for (const int end : pair) ::close(end);
  return samples;
}

std::vector<double> actor_round_trips_us(const std::string& socket, const std::string& directory,
                                         const RoundTrips& trips) {
  const auto tls = socket == "tls" ? make_tls() : nullptr;
  Note note;
  const Child echo([&] {
    if (trips.echo_core >= 0) stay_on(::getpid(), trips.echo_core);
    const std::string listen =
        socket == "unix" ? "unix:" + directory + "/wire" : socket + ":127.0.0.1:0";
    WireProcess process(0, tls, listen, "",
                        [](WireProcess& own, const Frame& frame) { own.say(frame); });
    note.write(process.address());
    process.wait([] { return false; });
  });
  const Frame frame = Frame::make(kWireFrameWords, [](auto words) {
    for (auto& word : words) word = 1;
  });
  std::vector<double> samples;
  std::uint64_t begin_ns = 0;
  std::atomic<bool> is_over = false;
  WireProcess process(1, tls, "", note.read(), [&](WireProcess& own, const Frame& heard) {
    const std::uint64_t end_ns = now_ns();
    samples.push_back(static_cast<double>(end_ns - begin_ns) / 1e3);
    if (samples.size() < static_cast<std::size_t>(trips.rounds)) {
      if (trips.before) trips.before();
      begin_ns = trips.before ? now_ns() : end_ns;
      return own.say(heard);
    }
    is_over = true;
    own.notify();
  });
  if (!process.wait_for_peer()) return {};
  process.post([&] {
    if (trips.before) trips.before();
    begin_ns = now_ns();
    process.say(frame);
  });
  const bool is_whole = process.wait([&is_over] { return is_over.load(); });
  return is_whole ? samples : std::vector<double>();
}

}  // namespace seaway::benchmarks
