// Folds along a given tree, and copies.

#include "collective/exchange_work.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "collective/tree_reduction.hpp"

namespace seaway::collective {

using function::Collective;
using function::Reduce;

namespace {

/// Rows of bytes somewhere.
struct View {
  std::byte* base = nullptr;
  std::uint64_t stride = 0;
};

View view_of(const Input& input, const Round& round, const ExchangeMemory& memory,
             const std::vector<Received>& received) {
  if (input.message == Input::kOwn) return {memory.at(input.piece), input.piece.stride};
  const auto message = static_cast<std::size_t>(input.message);
  const Piece& piece = round.receives[message].pieces[input.index];
  const Received& from = received[message];
  // Nothing is written there.
  return {const_cast<std::byte*>(from.pieces[input.index]),
          from.is_packed ? piece.bytes : piece.stride};
}

void copy(const Copy& one, const Round& round, const ExchangeMemory& memory,
          const std::vector<Received>& received) {
  std::byte* to = memory.at(one.to);
  if (one.from.message == Input::kZeros) {
    for (std::uint64_t r = 0; r < one.to.rows; ++r) {
      std::memset(to + r * one.to.stride, 0, one.to.bytes);
    }
    return;
  }
  const View from = view_of(one.from, round, memory, received);
  if (from.base == to) return;  // An operand that is the output, too.
  if (one.to.is_dense() && (one.to.rows == 1 || from.stride == one.to.bytes)) {
    std::memcpy(to, from.base, one.to.size());
    return;
  }
  for (std::uint64_t r = 0; r < one.to.rows; ++r) {
    std::memcpy(to + r * one.to.stride, from.base + r * from.stride, one.to.bytes);
  }
}

template <class F, class T>
void join(T* out, const T* a, const T* b, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = F::apply(a[i], b[i]);
}

/// Tile by tile, so that what waits stays in the cache, and that the output may be an input.
template <class F, class T>
void fold_row(const Fold& fold, const std::vector<View>& inputs, std::uint64_t row, T* out) {
  constexpr std::size_t kTile = 512;
  alignas(64) T waiting[kLevelsMax + 1][kTile];
  const T* stack[kLevelsMax + 1];
  const std::size_t elements = fold.to.bytes / sizeof(T);
  for (std::size_t begin = 0; begin < elements; begin += kTile) {
    const std::size_t count = std::min(kTile, elements - begin);
    std::size_t height = 0, next = 0;
    for (std::size_t op = 0; op < fold.program.size(); ++op) {
      if (fold.program[op] == Fold::kTake) {
        const View& input = inputs[next++];
        SEAWAY_CHECK(height <= kLevelsMax, height);
        stack[height++] = reinterpret_cast<const T*>(input.base + row * input.stride) + begin;
        continue;
      }
      --height;
      const bool is_last = op + 1 == fold.program.size();
      T* const to = is_last ? out + begin : waiting[height - 1];
      join<F, T>(to, stack[height - 1], stack[height], count);
      stack[height - 1] = to;
    }
    // One input alone.
    if (stack[0] != out + begin) std::memcpy(out + begin, stack[0], count * sizeof(T));
  }
}

template <class F, class T>
void fold_all(const Fold& fold, const std::vector<View>& inputs, std::byte* out) {
  for (std::uint64_t row = 0; row < fold.to.rows; ++row) {
    fold_row<F, T>(fold, inputs, row, reinterpret_cast<T*>(out + row * fold.to.stride));
  }
}

using FoldFunction = void (*)(const Fold& fold, const std::vector<View>& inputs, std::byte* out);

FoldFunction function_for(const Collective& collective) {
  const bool is_sum = collective.reduce == Reduce::kSum;
  switch (collective.dtype) {
    case DType::kF32:
      return is_sum ? fold_all<Sum, float> : fold_all<Max, float>;
    case DType::kI32:
      return is_sum ? fold_all<Sum, std::int32_t> : fold_all<Max, std::int32_t>;
    default:
      return fold_all<Max, std::uint8_t>;
  }
}

}  // namespace

void carry_out(const Collective& collective, const Round& round, const ExchangeMemory& memory,
               const std::vector<Received>& received) {
  const FoldFunction function = function_for(collective);
  std::vector<View> inputs;
  for (const Fold& fold : round.folds) {
    inputs.clear();
    for (const Input& input : fold.inputs) {
      inputs.push_back(view_of(input, round, memory, received));
    }
    function(fold, inputs, memory.at(fold.to));
  }
  for (const Copy& one : round.copies) copy(one, round, memory, received);
}

void pack(const Message& message, const ExchangeMemory& memory, std::byte* to) {
  for (const Piece& piece : message.pieces) {
    const std::byte* from = memory.at(piece);
    for (std::uint64_t r = 0; r < piece.rows; ++r, to += piece.bytes) {
      std::memcpy(to, from + r * piece.stride, piece.bytes);
    }
  }
}

std::uint64_t work_bytes(const Round& round) {
  std::uint64_t bytes = 0;
  for (const Fold& fold : round.folds) bytes += fold.to.size() * (fold.inputs.size() + 1);
  for (const Copy& copy : round.copies) bytes += copy.to.size() * 2;
  return bytes;
}

}  // namespace seaway::collective
