// fig2: the program of the PATHWAYS paper (its Figure 2): three functions on three pairs of
// virtual devices, called from ordinary C++, dispatched as one graph.

#include <cstdio>
#include <tuple>
#include <vector>

#include "demos/list.hpp"
#include "demos/support/report.hpp"
#include "seaway/seaway.hpp"

namespace seaway::demos {
namespace {

std::string list(const std::vector<float>& values) {
  std::string text = "[";
  for (const float value : values) {
    char number[32];
    std::snprintf(number, sizeof(number), "%s%g", text.size() > 1 ? ", " : "",
                  static_cast<double>(value));
    text += number;
  }
  return text + "]";
}

Status fig2(const DemoOptions& options) {
  const auto connected =
      connect(options.cluster.empty() ? "embedded:islands=2,devices=4" : options.cluster);
  if (!connected.ok()) return connected.status();
  const Client& client = *connected;
  const SliceRequest pair = {.devices = 2, .mesh = {{"data", 2}}};
  const Slice slice_a = client.acquire_slice(pair).value();
  const Slice slice_b = client.acquire_slice(pair).value();
  const Slice slice_c = client.acquire_slice(pair).value();

  // What one device does with its shard, one number.
  const auto a =
      client.function("a", [](Tensor x) { return x * 2.0; }, {f32({1})}).value().on(slice_a);
  const auto b =
      client.function("b", [](Tensor x) { return x + 1.0; }, {f32({1})}).value().on(slice_b);
  const auto c =
      client.function("c", [](Tensor x) { return x / 2.0; }, {f32({1})}).value().on(slice_c);

  const NamedSharding row(slice_a.mesh(), P("data"));
  const auto f = client.program("f",
                                [&](const Traced& v) {
                                  const Traced x = a(v);
                                  const Traced y = b(x);
                                  const Traced z = a(c(x));
                                  return std::tuple{y, z};
                                },
                                {ArraySpec{f32({2}), row}});
  if (!f.ok()) return f.status();
  std::printf("%s\n", f->to_string().c_str());

  const Run run = f->execute({client.put<float>({1, 2}, row)});
  const auto y = run.output(0).to_host<float>().get();
  const auto z = run.output(1).to_host<float>().get();
  if (!y.ok()) return y.status();
  if (!z.ok()) return z.status();

  std::printf("f([1, 2]) = (%s, %s)\n", list(*y).c_str(), list(*z).c_str());
  if (*y == std::vector<float>{3, 5} && *z == std::vector<float>{2, 4}) return {};
  return Status(StatusCode::kDataCorruption, "the paper says ([3, 5], [2, 4])");
}

}  // namespace

int run_fig2(const DemoOptions& options) { return finish("fig2", fig2(options)); }

}  // namespace seaway::demos
