// Seaway: everything a user needs, and where to start.
//
//   #include <seaway/seaway.hpp>
//   using namespace seaway;
//
//   auto client = connect("embedded:islands=1,devices=2").value();
//   auto slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
//   auto row = NamedSharding(slice.mesh(), P("data"));
//   auto twice = client.function("twice", [](Tensor x) { return 2.0f * x; }, {f32({1})}).value();
//   auto f = client.program("f", [&](Traced v) { return twice(v); },
//                           {ArraySpec{f32({2}), row}}).value();
//   Run run = f.execute({client.put<float>({1, 2}, row)});  // Returns at once.
//   run.output(0).to_host<float>().get().value();           // {2, 4}
//
// Read next: client.hpp (sessions, slices, put), tensor.hpp (what functions compute), function.hpp
// (how programs call them), program.hpp (runs), array.hpp and future.hpp (values to come),
// sharding.hpp and types.hpp (how they lie on devices), status.hpp (how things fail).

#pragma once

#include "seaway/array.hpp"
#include "seaway/client.hpp"
#include "seaway/function.hpp"
#include "seaway/future.hpp"
#include "seaway/program.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"
#include "seaway/tensor.hpp"
#include "seaway/types.hpp"
