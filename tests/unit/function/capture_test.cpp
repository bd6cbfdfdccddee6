// What a capture records, and the message of each mistake.

#include "function/capture.hpp"

#include <stdexcept>

#include "unit/function/evaluate.hpp"

namespace seaway::function {
namespace {

using In = std::span<const Tensor>;

/// The part of a mistake's message that follows the source line.
std::string said(const std::vector<TensorType>& parameters, const std::function<Tensor(In)>& body,
                 const AxisSizes& axes = {}) {
  const std::string message = mistake(parameters, body, axes);
  const std::size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

Graph captured(const std::vector<TensorType>& parameters, const TensorBody& body) {
  return capture("f", {}, parameters, body).value();
}

TEST(Capture, RecordsOneOperationALine) {
  const Graph graph = captured({f32({2, 3}), f32({3})}, [](In x) {
    return std::vector<Tensor>{reduce_max(x[0] + broadcast_to(x[1], {2, 3}), {1})};
  });

  EXPECT_EQ(to_string(graph),
            "function f {\n"
            "  %0 = parameter 0 : f32[2,3]\n"
            "  %1 = parameter 1 : f32[3]\n"
            "  %2 = broadcast_in_dim dims=[1] %1 : f32[2,3]\n"
            "  %3 = add %0, %2 : f32[2,3]\n"
            "  %4 = reduce max dims=[1] %3 : f32[2]\n"
            "  return %4\n"
            "}\n");
}

TEST(Capture, LeavesOutWhatNoOutputNeedsButKeepsParameters) {
  const Graph graph = captured({f32({}), f32({})}, [](In x) {
    exp(x[0]);
    return std::vector<Tensor>{x[1] + stop_gradient(x[1])};
  });

  EXPECT_EQ(to_string(graph),
            "function f {\n"
            "  %0 = parameter 0 : f32[]\n"
            "  %1 = parameter 1 : f32[]\n"
            "  %2 = add %1, %1 : f32[]\n"
            "  return %2\n"
            "}\n");
}

TEST(Capture, SharesConstantsAndSkipsWhatChangesNothing) {
  const Graph graph = captured({f32({2})}, [](In x) {
    const Tensor same = convert(transpose(x[0] * 1, {0}), DType::kF32);
    return std::vector<Tensor>{same + 3, broadcast_to(constant(3.0f), {2}) * x[0]};
  });

  EXPECT_EQ(to_string(graph),
            "function f {\n"
            "  %0 = parameter 0 : f32[2]\n"
            "  %1 = constant 3 : f32[2]\n"
            "  %2 = add %0, %1 : f32[2]\n"
            "  %3 = multiply %1, %0 : f32[2]\n"
            "  return %2, %3\n"
            "}\n");
}

TEST(Capture, FingerprintSeesEveryDifferenceButTheName) {
  const auto body = [](In x) { return std::vector<Tensor>{x[0] + 3}; };
  Graph graph = captured({f32({2})}, body);
  const std::uint64_t first = fingerprint(graph);

  // The number itself is part of the contract: it is the same on every machine.
  EXPECT_EQ(first, 11241695490017224524u);
  EXPECT_NE(first, fingerprint(captured({f32({3})}, body)));
  EXPECT_NE(first,
            fingerprint(captured({f32({2})}, [](In x) { return std::vector<Tensor>{x[0] + 4}; })));
  graph.name = "other";
  EXPECT_EQ(first, fingerprint(graph));
}

TEST(Capture, KeepsTheFirstMistakeWithItsSourceLine) {
  const unsigned line = __LINE__ + 2;
  const std::string message = mistake({f32({2, 3}), f32({3, 2})}, [](In x) {
    const Tensor sum = x[0] + x[1];
    return matmul(sum, exp(argmax(sum, 7)));
  });

  EXPECT_EQ(message, "function 'f', capture_test.cpp:" + std::to_string(line) +
                         ": add(f32[2,3], f32[3,2]): both need the same shape; broadcast one");
}

TEST(Capture, AMistakeInsideAComposedFunctionNamesTheCall) {
  const unsigned line = __LINE__ + 1;
  const std::string message = mistake({i32({2})}, [](In x) { return softmax(x[0]); });

  EXPECT_EQ(message, "function 'f', capture_test.cpp:" + std::to_string(line) +
                         ": exponential(i32[2]): needs f32; convert it first");
}

TEST(Capture, SaysWhatIsWrongWithTypes) {
  const std::vector<TensorType> two = {f32({2}), i32({2}), boolean({2})};

  EXPECT_EQ(said(two, [](In x) { return x[0] * x[1]; }),
            "multiply(f32[2], i32[2]): both need the same element type; convert one");
  EXPECT_EQ(said(two, [](In x) { return x[2] + x[2]; }),
            "add(i1[2], i1[2]): needs f32 or i32; use logical_and or logical_or");
  EXPECT_EQ(said(two, [](In x) { return logical_and(x[0], x[0]); }),
            "and(f32[2], f32[2]): needs i1 or i32");
  EXPECT_EQ(said(two, [](In x) { return logical_not(x[0]); }), "not(f32[2]): needs i1 or i32");
  EXPECT_EQ(said(two, [](In x) { return -x[2]; }), "negate(i1[2]): needs f32 or i32");
  EXPECT_EQ(said(two, [](In x) { return pow(x[1], 2); }),
            "power(i32[2], i32[2]): needs f32; convert it first");
  EXPECT_EQ(said(two, [](In x) { return x[1] * 0.5; }), "constant(): number 0.500000 is no i32");
  EXPECT_EQ(said(two, [](In x) { return select(x[0], x[0], x[0]); }),
            "select(f32[2], f32[2], f32[2]): the predicate needs type i1[2]");
  EXPECT_EQ(said(two, [](In x) { return select(x[2], x[0], x[1]); }),
            "select(i1[2], f32[2], i32[2]): both branches need the same type");
  EXPECT_EQ(said(two, [](In x) { return mean(x[1]); }),
            "mean(i32[2]): needs f32; convert it first");
  EXPECT_EQ(said(two, [](In x) { return reduce_sum(x[2]); }),
            "reduce(i1[2]): needs f32 or i32; convert it first");
  EXPECT_EQ(said(two, [](In) { return iota(boolean({2}), 0); }),
            "iota(): counts in f32 or i32, not in i1");
  EXPECT_EQ(said(two, [](In) { return maximum(1, 2); }),
            "one of two operands needs to be a Tensor, both are numbers");
}

TEST(Capture, SaysWhatIsWrongWithShapes) {
  const std::vector<TensorType> in = {f32({2, 3}), f32({4})};

  EXPECT_EQ(said(in, [](In x) { return reshape(x[0], {4}); }),
            "reshape(f32[2,3]): holds 6 elements and cannot become f32[4] with 4");
  EXPECT_EQ(said(in,
                 [](In x) {
                   return broadcast_to(x[1], {4, 3});
                 }),
            "broadcast_in_dim(f32[4]): cannot become f32[4,3] with dimensions [1]: dimension 0 has "
            "size 4, not 1 or 3");
  EXPECT_EQ(said(in, [](In x) { return broadcast_to(x[0], {3}); }),
            "broadcast_in_dim(f32[2,3]): cannot become f32[3] with dimensions [-1,0]: each "
            "dimension needs one of its own in the result");
  EXPECT_EQ(said(in,
                 [](In x) {
                   return transpose(x[0], {0, 0});
                 }),
            "transpose(f32[2,3]): order [0,0] is no permutation of its dimensions");
  EXPECT_EQ(said(in, [](In x) { return transpose(x[1]); }),
            "transpose(f32[4]): needs two dimensions to swap");
  EXPECT_EQ(said(in, [](In x) { return slice(x[1], {1}, {5}); }),
            "slice(f32[4]): starts [1], limits [5], strides [1] leave dimension 0: 0 <= start <= "
            "limit <= size and stride >= 1 must hold");
  EXPECT_EQ(said(in, [](In x) { return slice(x[0], {1}, {2}); }),
            "slice(f32[2,3]): starts [1], limits [2], strides [1,1] need one entry for each "
            "dimension");
  EXPECT_EQ(said(in,
                 [](In x) {
                   return concatenate({x[0], x[1]}, 0);
                 }),
            "concatenate(f32[2,3], f32[4]): operands need equal ranks");
  EXPECT_EQ(said(in,
                 [](In x) {
                   return concatenate({x[0], transpose(x[0])}, 0);
                 }),
            "concatenate(f32[2,3], f32[3,2]): operands may differ in dimension 0 only");
  EXPECT_EQ(said(in, [](In) { return concatenate({}, 0); }),
            "concatenate(): needs at least one operand");
  EXPECT_EQ(said(in, [](In x) { return matmul(x[0], x[0]); }),
            "dot_general(f32[2,3], f32[2,3]): batch [] with [], contracting [1] with [0]: sizes 3 "
            "and 2 differ");
  EXPECT_EQ(said(in, [](In x) { return matmul(x[0], x[1]); }),
            "matmul(f32[2,3], f32[4]): needs [..., m, k] x [..., k, n] or [..., k] x [k, n]");
  EXPECT_EQ(said(in, [](In x) { return reduce_sum(x[0], {2}); }),
            "reduce(f32[2,3]): dimensions [2] are not distinct, rising and its own");
  EXPECT_EQ(said(in, [](In x) { return gather_rows(x[0], x[1]); }),
            "gather(f32[2,3], f32[4]): indices need element type i32");
  EXPECT_EQ(said(in, [](In x) { return splat(f32({x[0].dim(5)}), 0); }),
            "there is no dimension 5 in f32[2,3]");
  EXPECT_EQ(said(in,
                 [](In) {
                   return zeros(f32({1 << 30, 1 << 30}));
                 }),
            "constant(): type f32[1073741824,1073741824] is larger than the limit of "
            "1099511627776 bytes; shard it, or use a smaller one");
}

/// Nothing broadcasts by itself, in no operation of two operands.
TEST(Capture, PrintsBothShapesOfEveryOperationThatNeedsThemEqual) {
  const std::vector<TensorType> in = {f32({2}), f32({3}), boolean({2}), boolean({3})};
  using Binary = Tensor (*)(const Operand&, const Operand&);
  const std::vector<Binary> on_floats = {operator+,  operator-, operator*,    operator/, maximum,
                                         minimum,    pow,       equal,        not_equal, less,
                                         less_equal, greater,   greater_equal};

  for (const Binary operation : on_floats) {
    const std::string message = said(in, [operation](In x) { return operation(x[0], x[1]); });
    EXPECT_NE(message.find("(f32[2], f32[3]): "), std::string::npos) << message;
  }
  for (const Binary operation : {logical_and, logical_or}) {
    const std::string message = said(in, [operation](In x) { return operation(x[2], x[3]); });
    EXPECT_NE(message.find("(i1[2], i1[3]): "), std::string::npos) << message;
  }
  EXPECT_NE(said(in, [](In x) { return select(x[3], x[0], x[0]); })
                .find("select(i1[3], f32[2], f32[2]): "),
            std::string::npos);
  EXPECT_NE(said(in, [](In x) { return select(x[2], x[0], x[1]); })
                .find("select(i1[2], f32[2], f32[3]): "),
            std::string::npos);
  EXPECT_NE(said({f32({4, 3}), i32({2}), f32({2, 5})},
                 [](In x) { return scatter_add_rows(x[0], x[1], x[2]); })
                .find("(f32[4,3], i32[2], f32[2,5]): "),
            std::string::npos);
}

TEST(Capture, SaysWhatIsWrongWithCollectives) {
  const std::vector<TensorType> in = {f32({3})};
  const AxisSizes axes = {{"data", 2}, {"model", 4}};

  EXPECT_EQ(said(
                in, [](In x) { return all_reduce(x[0], "rows"); }, axes),
            "all_reduce(f32[3]): no mesh axis 'rows'; there are: data, model");
  EXPECT_EQ(said(in, [](In x) { return all_reduce(x[0], "rows"); }),
            "all_reduce(f32[3]): no mesh axis 'rows'; there are: none");
  EXPECT_EQ(said(
                in, [](In x) { return reduce_scatter(x[0], "data", 0); }, axes),
            "reduce_scatter(f32[3]): axis 'data' of size 2 does not divide dimension 0");
  EXPECT_EQ(said(
                in, [](In x) { return all_gather(x[0], "data", 1); }, axes),
            "all_gather(f32[3]): dimension [1] is not one of its own");
  EXPECT_EQ(said(
                in,
                [](In x) {
                  return permute(x[0], "data", {{0, 2}});
                },
                axes),
            "collective_permute(f32[3]): pair 0->2 leaves axis 'data' of size 2");
  EXPECT_EQ(said(
                in,
                [](In x) {
                  return permute(x[0], "data", {{0, 1}, {1, 1}});
                },
                axes),
            "collective_permute(f32[3]): pair 1->1 sends or receives a second time");
  EXPECT_EQ(said(
                in, [](In) { return splat(f32({axis_size("rows")}), 0); }, axes),
            "axis_size: no mesh axis 'rows'");
}

TEST(Capture, ForeignAndEmptyTensorsAreMistakes) {
  Tensor escaped;
  captured({f32({2})}, [&](In x) {
    escaped = x[0];
    return std::vector<Tensor>{x[0]};
  });

  EXPECT_EQ(said({f32({2})}, [&](In x) { return x[0] + escaped; }),
            "add: operand 1 belongs to another function");
  EXPECT_EQ(said({f32({2})}, [](In x) { return x[0] + Tensor(); }),
            "add: operand 1 is an empty Tensor");
  EXPECT_EQ(said({}, [](In) { return Tensor(); }), "output 0 is an empty Tensor");
  EXPECT_EQ(said({}, [&](In) { return escaped; }), "output 0 belongs to another function");
  EXPECT_TRUE((escaped + 1).empty());
}

TEST(Capture, ABodyThatThrowsFailsAlone) {
  const Result<Graph> thrown = capture(
      "f", {}, {}, [](In) -> std::vector<Tensor> { throw std::runtime_error("no such file"); });
  const Result<Graph> next =
      capture("g", {}, {}, [](In) { return std::vector<Tensor>{constant(1)}; });

  EXPECT_EQ(thrown.status().code(), StatusCode::kUserFunctionError);
  EXPECT_EQ(thrown.status().message(), "the body of function 'f' threw: no such file");
  EXPECT_TRUE(next.ok());
}

TEST(Capture, RefusesWrongAxesAndParameters) {
  const TensorBody body = [](In x) { return std::vector<Tensor>(x.begin(), x.end()); };
  const std::vector<TensorType> negative = {f32({-1})};

  EXPECT_EQ(capture("f", {{"x", 0}}, {}, body).status().message(),
            "function 'f': mesh axis 'x' has size 0; sizes are at least 1, and their product at "
            "most 1048576");
  EXPECT_EQ(capture("f", {{"x", 2}, {"x", 2}}, {}, body).status().message(),
            "function 'f': mesh axis 'x' is empty or named twice");
  EXPECT_EQ(capture("f", {}, negative, body).status().message(),
            "function 'f', parameter 0: parameter(): type f32[-1] has a negative dimension");
  EXPECT_EQ(capture("f", {}, {}, {}).status().message(), "function 'f' has no body");
}

TEST(Capture, AShapeStaysWhileMoreIsRecorded) {
  captured({f32({2, 3})}, [](In x) {
    const Shape& shape = x[0].shape();
    Tensor sum = x[0];
    for (int i = 0; i < 1000; ++i) sum = sum + exp(sum);

    EXPECT_EQ(shape, (Shape{2, 3}));
    return std::vector<Tensor>{sum};
  });
}

TEST(Capture, MayNestWithoutMixing) {
  const Graph outer = captured({f32({})}, [](In x) {
    captured({i32({})}, [](In y) { return std::vector<Tensor>{y[0] + 1}; });
    return std::vector<Tensor>{x[0] * 2};
  });

  EXPECT_EQ(outer.instructions.size(), 3u);
}

}  // namespace
}  // namespace seaway::function
