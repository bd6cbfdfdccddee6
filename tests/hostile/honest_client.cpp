// A client that calls all the time, and how long its calls take: honest_client CLUSTER.
//
// It reads a line from its standard input for each window that it is to measure, with the
// milliseconds of it, and answers with a line: the number of calls, their median and their maximum
// in microseconds. What it shows comes from the environment (SEAWAY_TOKEN_FILE). A call that fails
// ends it with the reason.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <seaway/seaway.hpp>
#include <vector>

using namespace seaway;

namespace {

int fail(const char* what, const Status& status) {
  std::fprintf(stderr, "honest client: %s failed: %s\n", what, status.to_string().c_str());
  return EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words) {
  using Clock = std::chrono::steady_clock;
  if (count != 2) return fail("start", {StatusCode::kInvalidArgument, "honest_client CLUSTER"});
  auto client = connect(words[1]);
  if (!client.ok()) return fail("connect", client.status());
  auto slice = client->acquire_slice({.devices = 1, .mesh = {{"data", 1}}});
  if (!slice.ok()) return fail("slice", slice.status());
  const NamedSharding row(slice->mesh(), P("data"));
  const Function twice =
      client->function("twice", [](Tensor x) { return x * 2; }, {f32({1})}).value();
  const Program program =
      client->program("twice", [&](Traced x) { return twice(x); }, {ArraySpec{f32({1}), row}})
          .value();

  for (long window_ms = 0; std::scanf("%ld", &window_ms) == 1;) {
    std::vector<double> calls_us;
    const auto end = Clock::now() + std::chrono::milliseconds(window_ms);
    while (Clock::now() < end) {
      const auto begin = Clock::now();
      Run run = program.execute({client->put<float>({21}, row)});
      const auto result = run.output(0).to_host<float>().get();
      const auto took = Clock::now() - begin;
      if (!result.ok()) return fail("call", result.status());
      if ((*result)[0] != 42)
        return fail("call", {StatusCode::kDataCorruption, "2 * 21 is not 42"});
      calls_us.push_back(std::chrono::duration<double, std::micro>(took).count());
    }
    std::sort(calls_us.begin(), calls_us.end());
    std::printf("%zu %.1f %.1f\n", calls_us.size(), calls_us[calls_us.size() / 2], calls_us.back());
    std::fflush(stdout);
  }
  return EXIT_SUCCESS;
}
