// One message there and back, between this process and a child.

#include "benchmarks/wire/round_trips.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {

RawRoundTrips::RawRoundTrips(bool is_unix)
    : pair_(make_pair(is_unix)), echo_([this] {
        std::array<std::byte, kWireBytes> heard = {};
        while (pass(pair_[1], heard, false) && pass(pair_[1], heard, true)) continue;
      }) {}

RawRoundTrips::~RawRoundTrips() {
  for (const int end : pair_) ::close(end);
}

std::vector<double> RawRoundTrips::measure_us(int rounds) {
  std::array<std::byte, kWireBytes> bytes = {};
  std::vector<double> samples;
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t begin_ns = now_ns();
    if (!pass(pair_[0], bytes, true) || !pass(pair_[0], bytes, false)) break;
    samples.push_back(static_cast<double>(now_ns() - begin_ns) / 1e3);
  }
  return samples;
}

struct ActorRoundTrips::State {
  State(const std::string& socket, const std::string& directory, Options given)
      : options(std::move(given)),
        tls(socket == "tls" ? make_tls() : nullptr),
        echo([&] {
          if (options.echo_core >= 0) stay_on(::getpid(), options.echo_core);
          const std::string listen =
              socket == "unix" ? "unix:" + directory + "/wire" : socket + ":127.0.0.1:0";
          WireProcess other(0, tls, listen, "",
                            [](WireProcess& own, const Frame& heard) { own.say(heard); });
          note.write(other.address());
          other.wait([] { return false; });
        }),
        process(1, tls, "", note.read(),
                [this](WireProcess& own, const Frame& heard) { go_on(own, heard); }) {}

  void go_on(WireProcess& own, const Frame& heard) {
    const std::uint64_t end_ns = now_ns();
    samples.push_back(static_cast<double>(end_ns - begin_ns) / 1e3);
    if (samples.size() < wanted) {
      if (options.before) options.before();
      begin_ns = options.before ? now_ns() : end_ns;
      return own.say(heard);
    }
    is_over = true;
    own.notify();
  }

  const Options options;
  const std::shared_ptr<transport::Tls> tls;
  Note note;
  const Child echo;
  const Frame frame = Frame::make(kWireFrameWords, [](auto words) {
    for (auto& word : words) word = 1;
  });
  std::vector<double> samples;
  std::size_t wanted = 0;
  std::uint64_t begin_ns = 0;
  std::atomic<bool> is_over = false;
  WireProcess process;
};

ActorRoundTrips::ActorRoundTrips(const std::string& socket, const std::string& directory,
                                 Options options)
    : state_(std::make_unique<State>(socket, directory, std::move(options))) {}

ActorRoundTrips::~ActorRoundTrips() = default;

pid_t ActorRoundTrips::other() const { return state_->echo.id(); }

std::vector<double> ActorRoundTrips::measure_us(int rounds) {
  State& state = *state_;
  if (!state.process.wait_for_peer()) return {};
  state.is_over = false;
  state.process.post([&state, rounds] {
    state.samples.clear();
    state.wanted = static_cast<std::size_t>(rounds);
    if (state.options.before) state.options.before();
    state.begin_ns = now_ns();
    state.process.say(state.frame);
  });
  const bool is_whole = state.process.wait([&state] { return state.is_over.load(); });
  return is_whole ? state.samples : std::vector<double>();
}

}  // namespace seaway::benchmarks
