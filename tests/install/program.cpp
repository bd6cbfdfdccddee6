// A program outside the tree: it sees nothing but what is installed.

// [program]
#include <cstdio>
#include <seaway/seaway.hpp>
#include <tuple>

using namespace seaway;

int main() {
  Client client = connect("embedded:islands=2,devices=4").value();
  Slice slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  NamedSharding row(slice.mesh(), P("data"));

  // What one device does with its shard: the array of two numbers lies on two devices.
  Function a = client.function("a", [](Tensor x) { return x * 2; }, {f32({1})}).value();
  Function b = client.function("b", [](Tensor x) { return x + 1; }, {f32({1})}).value();
  Function c = client.function("c", [](Tensor x) { return x / 2; }, {f32({1})}).value();
  auto body = [&](Traced v) {
    Traced x = a(v);
    return std::tuple{b(x), a(c(x))};
  };
  Program f = client.program("f", body, {ArraySpec{f32({2}), row}}).value();

  Run run = f.execute({client.put<float>({1, 2}, row)});  // Returns at once.
  auto y = run.output(0).to_host<float>().get().value();
  auto z = run.output(1).to_host<float>().get().value();
  std::printf("(%g %g, %g %g)\n", y[0], y[1], z[0], z[1]);
  return y[0] == 3 && z[1] == 4 ? 0 : 1;
}
// [/program]
