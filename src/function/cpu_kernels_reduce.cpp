// Reductions within one shard: rows, columns, any set of dimensions, and the index of the maximum.

#include <algorithm>
#include <limits>

#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

/// The operand as [outer, length, inner], reduced over `length`.
struct PlaneDetails final : Details {
  Reduce reduce = Reduce::kSum;
  DType dtype = DType::kF32;
  std::size_t outer = 1, length = 1, inner = 1;
};

void run_rows(const Step& step, const Tables& tables, const Work& work) {
  const auto& plane = static_cast<const PlaneDetails&>(*step.details);
  const VectorKernels& kernels = vector_kernels();
  const ShardedBuffer in = tables.at(step.in[0]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const std::size_t bytes = size_of(plane.dtype);
  const Slice slice = slice_of(plane.outer, work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    kernels.reduce_rows(plane.reduce, plane.dtype, in.shard(s) + slice.begin * plane.length * bytes,
                        out.shard(s) + slice.begin * bytes, slice.end - slice.begin, plane.length);
  }
}

/// Pieces are whole outer planes where there are several, else ranges of columns.
void run_columns(const Step& step, const Tables& tables, const Work& work) {
  const auto& plane = static_cast<const PlaneDetails&>(*step.details);
  const VectorKernels& kernels = vector_kernels();
  const ShardedBuffer in = tables.at(step.in[0]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const std::size_t bytes = size_of(plane.dtype);
  Slice planes{0, plane.outer}, columns{0, plane.inner};
  (plane.outer > 1 ? planes : columns) =
      slice_of(plane.outer > 1 ? plane.outer : plane.inner, work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    for (std::size_t o = planes.begin; o < planes.end; ++o) {
      kernels.reduce_columns(plane.reduce, plane.dtype,
                             in.shard(s) + (o * plane.length * plane.inner + columns.begin) * bytes,
                             out.shard(s) + (o * plane.inner + columns.begin) * bytes, plane.length,
                             columns.end - columns.begin, plane.inner);
    }
  }
}

/// NaN counts as the largest value; the lowest index wins among equals.
template <class T>
bool is_larger(T a, T b) {
  if constexpr (std::is_same_v<T, float>) return a > b || (a != a && b == b);
  return a > b;
}

template <class T>
void run_argmax(const Step& step, const Tables& tables, const Work& work) {
  const auto& plane = static_cast<const PlaneDetails&>(*step.details);
  const ShardedBuffer in = tables.at(step.in[0]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const Slice slice = slice_of(plane.outer, work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    auto* r = reinterpret_cast<std::int32_t*>(out.shard(s)) + slice.begin * plane.inner;
    const T* base = reinterpret_cast<const T*>(in.shard(s));
    for (std::size_t o = slice.begin; o < slice.end; ++o) {
      for (std::size_t i = 0; i < plane.inner; ++i) {
        const T* x = base + o * plane.length * plane.inner + i;
        std::size_t best = 0;
        for (std::size_t l = 1; l < plane.length; ++l) {
          if (is_larger(x[l * plane.inner], x[best * plane.inner])) best = l;
        }
        *r++ = static_cast<std::int32_t>(best);
      }
    }
  }
}

/// Any dimensions: for each output element the reduced ones in row-major order.
struct GeneralDetails final : Details {
  Reduce reduce = Reduce::kSum;
  std::vector<std::size_t> kept_sizes, kept_steps, reduced_sizes, reduced_steps;
};

/// Calls `visit(offset)` for all indices in row-major order.
template <class Visit>
void for_each_offset(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& steps,
                     std::size_t dim, std::size_t offset, Visit&& visit) {
  if (dim == sizes.size()) {
    visit(offset);
    return;
  }
  for (std::size_t i = 0; i < sizes[dim]; ++i) {
    for_each_offset(sizes, steps, dim + 1, offset + i * steps[dim], visit);
  }
}

template <class T>
T combine(Reduce reduce, T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    if (reduce == Reduce::kSum) return a + b;
    return (a > b || a != a) ? a : b;
  } else {
    if (reduce == Reduce::kSum) {
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
    return std::max(a, b);
  }
}

template <class T>
T neutral(Reduce reduce) {
  if (reduce == Reduce::kSum) return T(0);
  if constexpr (std::is_same_v<T, float>) return -std::numeric_limits<float>::infinity();
  return std::numeric_limits<T>::min();
}

template <class T>
void run_general(const Step& step, const Tables& tables, const Work& work) {
  const auto& details = static_cast<const GeneralDetails&>(*step.details);
  const ShardedBuffer in = tables.at(step.in[0]);
  const ShardedBuffer out = tables.at(step.out[0]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    const T* x = reinterpret_cast<const T*>(in.shard(s));
    T* r = reinterpret_cast<T*>(out.shard(s));
    for_each_offset(details.kept_sizes, details.kept_steps, 0, 0, [&](std::size_t kept) {
      bool is_first = true;
      T total = neutral<T>(details.reduce);
      for_each_offset(details.reduced_sizes, details.reduced_steps, 0, kept, [&](std::size_t at) {
        total = is_first ? x[at] : combine(details.reduce, total, x[at]);
        is_first = false;
      });
      *r++ = total;
    });
  }
}

/// Neighbouring dimensions that are treated alike, joined.
struct Run {
  bool is_reduced;
  std::size_t size, step;
};
std::vector<Run> runs_of(const TensorType& operand, const std::vector<std::int64_t>& dims) {
  std::vector<Run> runs;
  const std::vector<std::int64_t> steps = dense_steps(operand.shape);
  for (std::size_t d = 0; d < operand.shape.size(); ++d) {
    const bool is_reduced =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    const std::size_t size = static_cast<std::size_t>(operand.shape[d]);
    const std::size_t step = static_cast<std::size_t>(steps[d]);
    if (!runs.empty() && runs.back().is_reduced == is_reduced) {
      runs.back().size *= size;
      runs.back().step = step;
    } else {
      runs.push_back({is_reduced, size, step});
    }
  }
  return runs;
}

std::shared_ptr<GeneralDetails> general_details(const std::vector<Run>& runs, Reduce reduce) {
  auto details = std::make_shared<GeneralDetails>();
  details->reduce = reduce;
  for (const Run& run : runs) {
    (run.is_reduced ? details->reduced_sizes : details->kept_sizes).push_back(run.size);
    (run.is_reduced ? details->reduced_steps : details->kept_steps).push_back(run.step);
  }
  return details;
}

}  // namespace

Step make_reduce(const TensorType& operand, const std::vector<std::int64_t>& dims, Reduce reduce) {
  Step step;
  step.elements = static_cast<std::size_t>(operand.elements());
  step.cost_ns = cost_of(operand.bytes() * (reduce == Reduce::kArgmax ? 4 : 1));
  const std::vector<Run> runs = runs_of(operand, dims);
  const auto reduced = std::count_if(runs.begin(), runs.end(), [](Run r) { return r.is_reduced; });
  if (reduced > 1) {
    step.details = general_details(runs, reduce);
    step.cost_ns = cost_of(4 * operand.bytes());
    step.kernel = operand.dtype == DType::kF32 ? &run_general<float> : &run_general<std::int32_t>;
    return step;
  }
  auto plane = std::make_shared<PlaneDetails>();
  plane->reduce = reduce;
  plane->dtype = operand.dtype;
  bool is_behind = false;
  for (const Run& run : runs) {
    (run.is_reduced ? plane->length : is_behind ? plane->inner : plane->outer) = run.size;
    is_behind |= run.is_reduced;
  }
  if (reduced == 0) std::swap(plane->outer, plane->inner);
  if (reduce == Reduce::kArgmax) {
    step.kernel = operand.dtype == DType::kF32 ? &run_argmax<float> : &run_argmax<std::int32_t>;
    step.pieces = pieces_for(step.cost_ns, plane->outer);
  } else if (plane->inner == 1) {
    step.kernel = &run_rows;
    step.pieces = pieces_for(step.cost_ns, plane->outer);
  } else {
    step.kernel = &run_columns;
    step.pieces = pieces_for(step.cost_ns, plane->outer > 1 ? plane->outer : plane->inner / 16);
  }
  step.details = std::move(plane);
  return step;
}

}  // namespace seaway::function::cpu
