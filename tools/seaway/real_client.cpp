// Programs of two functions, one on each island, whose values the reference interpreter knows.

#include "real_client.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "campaign/real_history.hpp"
#include "function/capture.hpp"
#include "function/interpreter.hpp"
#include "seaway/seaway.hpp"
#include "verbs.hpp"

namespace seaway::tools {
namespace {

using campaign::RealLine;
using Words = std::vector<std::int32_t>;

constexpr std::size_t kWindow = 6;
/// Of one row or column each: short ones go with messages, the others are lent or fetched.
constexpr std::int64_t kSizes[] = {8, 64, 512};
/// Before it connects again: whoever is busy with connections has no time for values.
constexpr auto kPause = std::chrono::milliseconds(200);

std::atomic<bool> is_over = false;

constexpr const char* kFailing = "campaign.fails";
/// So many requests at once, and one in so many is one.
constexpr int kBurst = 300, kBurstIn = 400, kFailIn = 16;

NativeFunction failing() {
  return {.parameters = {i32({8})},
          .outputs = {i32({8})},
          .cost_ns = 1000,
          .body = [](auto, auto, std::byte*) {
            return Status(StatusCode::kUserFunctionError, "it fails whenever it runs");
          }};
}

Tensor mixed(const Tensor& x) { return x + all_reduce(x, "x"); }
Tensor scaled(const Tensor& x) { return x * 3 + 1; }

/// What a program gives, by the reference interpreter, without any of Seaway's processes.
class Oracle {
 public:
  Oracle() {
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      const std::int64_t size = kSizes[i];
      mixed_[i] = graph(i32({size / 2, size}), mixed);
      scaled_[i] = graph(i32({size, size / 2}), scaled);
    }
  }

  /// Of the program for kSizes[which]; `input` has that many rows and columns.
  Words value(std::size_t which, const Words& input) const {
    const auto size = static_cast<std::size_t>(kSizes[which]);
    const std::size_t half = input.size() / 2, middle = size / 2;
    function::ShardLiterals rows,
        columns(2, function::Literal(i32({kSizes[which], kSizes[which] / 2})));
    for (const std::size_t begin : {std::size_t{0}, half}) {
      rows.push_back(function::Literal(i32({kSizes[which] / 2, kSizes[which]})));
      std::copy_n(input.data() + begin, half, rows.back().as<std::int32_t>().data());
    }
    const auto summed = run(mixed_[which], std::move(rows));
    for (std::size_t i = 0; i < input.size(); ++i) {
      const std::size_t row = i / size, column = i % size;
      columns[column / middle].as<std::int32_t>()[row * middle + column % middle] =
          summed[i / half].as<std::int32_t>()[i % half];
    }
    const auto given = run(scaled_[which], std::move(columns));
    Words value(input.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::size_t row = i / size, column = i % size;
      value[i] = given[column / middle].as<std::int32_t>()[row * middle + column % middle];
    }
    return value;
  }

 private:
  static function::Graph graph(const TensorType& type, Tensor (*body)(const Tensor& x)) {
    auto captured = function::capture(
        "campaign", kAxes, {&type, 1},
        [body](std::span<const Tensor> x) { return std::vector<Tensor>{body(x[0])}; });
    SEAWAY_CHECK(captured.ok(), captured.status().message());
    return *std::move(captured);
  }
  static function::ShardLiterals run(const function::Graph& graph, function::ShardLiterals input) {
    auto given = function::interpret(graph, kAxes, 2, {std::move(input)});
    SEAWAY_CHECK(given.ok(), given.status().message());
    return std::move(given->front());
  }

  static inline const function::AxisSizes kAxes = {{"x", 2}};
  function::Graph mixed_[std::size(kSizes)], scaled_[std::size(kSizes)];
};

/// Lines that outlive whoever has written them.
class Diary {
 public:
  explicit Diary(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ~Diary() {
    if (file_ >= 0) ::close(file_);
  }
  Diary(const Diary&) = delete;
  Diary& operator=(const Diary&) = delete;

  bool is_open() const { return file_ >= 0; }
  void write(const RealLine& line) {
    const std::string text = campaign::to_text(line);
    static_cast<void>(!::write(file_, text.data(), text.size()));
  }

 private:
  const int file_;
};

/// What is connected, and lives until something of it is lost.
struct Session {
  Client client;
  Slice rows, columns;
  Function sum[3], more[3];
  Program programs[3], fails;

  static Result<Session> make(const std::string& address);
};

Result<Session> Session::make(const std::string& address) {
  auto client = connect(address);
  if (!client.ok()) return client.status();
  auto rows = client->acquire_slice({.devices = 2, .mesh = {{"x", 2}}, .island = 0});
  if (!rows.ok()) return rows.status();
  auto columns = client->acquire_slice({.devices = 2, .mesh = {{"x", 2}}, .island = 1});
  if (!columns.ok()) return columns.status();
  Session session{*client, *rows, *columns, {}, {}, {}, {}};
  const auto fails = client->native(kFailing, failing());
  if (!fails.ok()) return fails.status();
  auto failing_program =
      client->program("failing", [&](Traced x) { return fails->on(*rows)(x); },
                      {ArraySpec{i32({16}), NamedSharding(rows->mesh(), P("x"))}});
  if (!failing_program.ok()) return failing_program.status();
  session.fails = *failing_program;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t size = kSizes[i];
    auto sum = client->function("mixed", mixed, {i32({size / 2, size})},
                                {.mesh = rows->mesh(), .in = {P("x")}});
    if (!sum.ok()) return sum.status();
    auto more = client->function("scaled", scaled, {i32({size, size / 2})}, {.in = {P("", "x")}});
    if (!more.ok()) return more.status();
    auto program =
        client->program("campaign", [&](Traced x) { return more->on(*columns)(sum->on(*rows)(x)); },
                        {ArraySpec{i32({size, size}), NamedSharding(rows->mesh(), P("x"))}});
    if (!program.ok()) return program.status();
    session.sum[i] = *sum;
    session.more[i] = *more;
    session.programs[i] = *program;
  }
  return session;
}

class Asker {
 public:
  Asker(const RealClientOptions& options, Diary& diary)
      : options_(options),
        diary_(diary),
        draws_(options.seed, static_cast<std::uint64_t>(::getpid())) {}

  void work() {
    while (!is_over) {
      auto session = Session::make(options_.address);
      if (!session.ok()) {
        std::this_thread::sleep_for(kPause);
        continue;
      }
      is_lost_ = false;
      while (!is_over && !is_lost_) {
        if (waiting_.size() < kWindow) {
          ask(*session);
        } else if (!hear()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        hear();
      }
      // All that was asked for ends by itself, or this client never does.
      while (!waiting_.empty()) {
        if (!hear()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    diary_.write({RealLine::Kind::kEnd, last_, clock_.now_ns(), StatusCode::kOk, false});
  }

 private:
  struct Waiting {
    std::uint64_t id = 0;
    Future<Words> value;
    Words expected;  // Empty: an error of the user's function.
  };

  void ask(const Session& session) {
    const bool is_burst = draws_.below(kBurstIn) == 0;
    for (int i = 0; i < (is_burst ? kBurst : 1); ++i) {
      draws_.below(kFailIn) == 0 ? ask_for_error(session) : ask(session, is_burst);
    }
  }
  void ask_for_error(const Session& session) {
    ++last_;
    diary_.write({RealLine::Kind::kSubmit, last_, clock_.now_ns(), StatusCode::kOk, false});
    const NamedSharding rows(session.rows.mesh(), P("x"));
    auto value = session.fails.execute({session.client.put(Words(16, 1), {16}, rows)})
                     .output(0)
                     .to_host<std::int32_t>();
    waiting_.push_back({last_, std::move(value), {}});
  }
  void ask(const Session& session, bool is_small) {
    const std::size_t which = is_small ? 0 : draws_.below(3);
    const std::int64_t size = kSizes[which];
    const auto seed = static_cast<std::int32_t>(draws_.below(1 << 20));
    Words input(static_cast<std::size_t>(size * size));
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = seed + static_cast<std::int32_t>(i * 3);
    }
    Words expected = oracle_.value(which, input);
    ++last_;
    diary_.write({RealLine::Kind::kSubmit, last_, clock_.now_ns(), StatusCode::kOk, false});
    const NamedSharding rows(session.rows.mesh(), P("x"));
    auto value = session.programs[which]
                     .execute({session.client.put(input, {size, size}, rows)})
                     .output(0)
                     .to_host<std::int32_t>();
    waiting_.push_back({last_, std::move(value), std::move(expected)});
  }

  /// Writes down what has an outcome by now. False: nothing has.
  bool hear() {
    bool has_heard = false;
    for (auto one = waiting_.begin(); one != waiting_.end();) {
      if (!one->value.ready()) {
        ++one;
        continue;
      }
      const Result<Words> got = one->value.get();
      // What a run without an input has lost is told as such: the function's own error is its
      // cause.
      const bool is_meant = one->expected.empty() &&
                            got.status().message().find("it fails whenever") != std::string::npos;
      const StatusCode code = is_meant ? StatusCode::kUserFunctionError : got.status().code();
      diary_.write({RealLine::Kind::kOutcome, one->id, clock_.now_ns(), code,
                    is_meant || (got.ok() && *got == one->expected)});
      is_lost_ = is_lost_ || (!got.ok() && !is_meant);
      has_heard = true;
      one = waiting_.erase(one);
    }
    return has_heard;
  }

  const RealClientOptions& options_;
  Diary& diary_;
  RandomStream draws_;
  const Oracle oracle_;
  const RealClock clock_;
  std::deque<Waiting> waiting_;
  std::uint64_t last_ = 0;
  bool is_lost_ = false;  // Something of the session; it begins anew.
};

}  // namespace

void register_campaign(Registry& registry) { registry.native(kFailing, failing()); }

int run_real_client(const RealClientOptions& options) {
  if (options.parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != options.parent) return kCheckFailed;  // It has died already.
  }
  Diary diary(options.history + "-" + std::to_string(::getpid()));
  if (!diary.is_open()) return kBadUsage;
  // As users say it.
  if (!options.token_file.empty()) ::setenv("SEAWAY_TOKEN_FILE", options.token_file.c_str(), 1);
  if (!options.ca_file.empty()) ::setenv("SEAWAY_CA_FILE", options.ca_file.c_str(), 1);
  ::signal(SIGTERM, [](int) { is_over = true; });
  Asker(options, diary).work();
  return kDone;
}

}  // namespace seaway::tools
