// Kernels that move elements: strided copies, fills, counting, and rows picked by index.

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

struct CopyDetails final : Details {
  StridedCopy copy;
};

/// Drops dimensions of size 1 and joins neighbours that one step describes.
StridedCopy collapse(const StridedCopy& copy) {
  StridedCopy result;
  result.in_offset = copy.in_offset;
  result.out_offset = copy.out_offset;
  result.element_bytes = copy.element_bytes;
  for (std::size_t d = 0; d < copy.sizes.size(); ++d) {
    if (copy.sizes[d] == 1) continue;
    const bool joins = !result.sizes.empty() &&
                       result.in_steps.back() == copy.in_steps[d] * copy.sizes[d] &&
                       result.out_steps.back() == copy.out_steps[d] * copy.sizes[d];
    if (joins) {
      result.sizes.back() *= copy.sizes[d];
      result.in_steps.back() = copy.in_steps[d];
      result.out_steps.back() = copy.out_steps[d];
    } else {
      result.sizes.push_back(copy.sizes[d]);
      result.in_steps.push_back(copy.in_steps[d]);
      result.out_steps.push_back(copy.out_steps[d]);
    }
  }
  if (result.sizes.empty()) {
    result.sizes = {1};
    result.in_steps = result.out_steps = {1};
  }
  return result;
}

template <class T>
void copy_line(const T* in, T* out, std::int64_t count, std::int64_t in_step,
               std::int64_t out_step) {
  if (in_step == 1 && out_step == 1) {
    // A value that is passed through in place is copied onto itself.
    if (in != out) std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(T));
  } else if (in_step == 0 && out_step == 1) {
    std::fill_n(out, count, *in);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i * out_step] = in[i * in_step];
  }
}

/// Two dimensions in blocks, so that a transposition touches each cache line few times.
template <class T>
void copy_plane(const T* in, T* out, std::int64_t rows, std::int64_t columns, std::int64_t in_row,
                std::int64_t in_column, std::int64_t out_row, std::int64_t out_column) {
  constexpr std::int64_t kBlock = 16;
  if (in_column == 1 || in_column == 0 || in_row != 1) {
    for (std::int64_t r = 0; r < rows; ++r) {
      copy_line(in + r * in_row, out + r * out_row, columns, in_column, out_column);
    }
    return;
  }
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const std::int64_t r1 = std::min(rows, r0 + kBlock);
    for (std::int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      const std::int64_t c1 = std::min(columns, c0 + kBlock);
      for (std::int64_t r = r0; r < r1; ++r) {
        for (std::int64_t c = c0; c < c1; ++c) {
          out[r * out_row + c * out_column] = in[r * in_row + c * in_column];
        }
      }
    }
  }
}

template <class T>
void copy_dims(const StridedCopy& copy, std::size_t dim, const T* in, T* out) {
  const std::size_t left = copy.sizes.size() - dim;
  if (left == 1) {
    copy_line(in, out, copy.sizes[dim], copy.in_steps[dim], copy.out_steps[dim]);
  } else if (left == 2) {
    copy_plane(in, out, copy.sizes[dim], copy.sizes[dim + 1], copy.in_steps[dim],
               copy.in_steps[dim + 1], copy.out_steps[dim], copy.out_steps[dim + 1]);
  } else {
    for (std::int64_t i = 0; i < copy.sizes[dim]; ++i) {
      copy_dims(copy, dim + 1, in + i * copy.in_steps[dim], out + i * copy.out_steps[dim]);
    }
  }
}

template <class T>
void run_copy(const Step& step, const Tables& tables, const Work& work) {
  const StridedCopy& copy = static_cast<const CopyDetails&>(*step.details).copy;
  const ShardedBuffer in = tables.at(step.in[0]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const Slice slice = slice_of(static_cast<std::size_t>(copy.sizes[0]), work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    const T* x = reinterpret_cast<const T*>(in.shard(s)) + copy.in_offset;
    T* r = reinterpret_cast<T*>(out.shard(s)) + copy.out_offset;
    const std::int64_t begin = static_cast<std::int64_t>(slice.begin);
    const std::int64_t end = static_cast<std::int64_t>(slice.end);
    if (copy.sizes.size() == 1) {
      copy_line(x + begin * copy.in_steps[0], r + begin * copy.out_steps[0], end - begin,
                copy.in_steps[0], copy.out_steps[0]);
    } else if (copy.sizes.size() == 2) {
      copy_plane(x + begin * copy.in_steps[0], r + begin * copy.out_steps[0], end - begin,
                 copy.sizes[1], copy.in_steps[0], copy.in_steps[1], copy.out_steps[0],
                 copy.out_steps[1]);
    } else {
      for (std::int64_t i = begin; i < end; ++i) {
        copy_dims(copy, 1, x + i * copy.in_steps[0], r + i * copy.out_steps[0]);
      }
    }
  }
}

struct FillDetails final : Details {
  std::uint32_t bits = 0;
};

void run_fill(const Step& step, const Tables& tables, const Work& work) {
  const std::uint32_t bits = static_cast<const FillDetails&>(*step.details).bits;
  const ShardedBuffer out = tables.at(step.out[0]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    if (step.element_bytes == 1) {
      std::memset(out.shard(s), static_cast<int>(bits & 0xff), step.elements);
    } else {
      std::fill_n(reinterpret_cast<std::uint32_t*>(out.shard(s)), step.elements, bits);
    }
  }
}

struct IotaDetails final : Details {
  std::size_t outer = 1, count = 1, inner = 1;
};

template <class T>
void run_iota(const Step& step, const Tables& tables, const Work& work) {
  const auto& sizes = static_cast<const IotaDetails&>(*step.details);
  const ShardedBuffer out = tables.at(step.out[0]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    T* r = reinterpret_cast<T*>(out.shard(s));
    for (std::size_t o = 0; o < sizes.outer; ++o) {
      for (std::size_t i = 0; i < sizes.count; ++i, r += sizes.inner) {
        std::fill_n(r, sizes.inner, static_cast<T>(i));
      }
    }
  }
}

struct RowDetails final : Details {
  std::size_t rows = 0, row_elements = 0, indices = 0;
};

std::size_t clamp_row(std::int32_t index, std::size_t rows) {
  if (index < 0) return 0;
  return std::min(static_cast<std::size_t>(index), rows - 1);
}

void run_gather(const Step& step, const Tables& tables, const Work& work) {
  const auto& sizes = static_cast<const RowDetails&>(*step.details);
  const ShardedBuffer table = tables.at(step.in[0]);
  const ShardedBuffer indices = tables.at(step.in[1]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const std::size_t row_bytes = sizes.row_elements;
  const Slice slice = slice_of(sizes.indices, work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    const auto* index = reinterpret_cast<const std::int32_t*>(indices.shard(s));
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      std::memcpy(out.shard(s) + i * row_bytes,
                  table.shard(s) + clamp_row(index[i], sizes.rows) * row_bytes, row_bytes);
    }
  }
}

template <class T>
T add_wrapping(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
}

template <class T>
void run_scatter_add(const Step& step, const Tables& tables, const Work& work) {
  const auto& sizes = static_cast<const RowDetails&>(*step.details);
  const ShardedBuffer base = tables.at(step.in[0]);
  const ShardedBuffer indices = tables.at(step.in[1]);
  const ShardedBuffer updates = tables.at(step.in[2]);
  const ShardedBuffer out = tables.at(step.out[0]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    T* r = reinterpret_cast<T*>(out.shard(s));
    const T* update = reinterpret_cast<const T*>(updates.shard(s));
    const auto* index = reinterpret_cast<const std::int32_t*>(indices.shard(s));
    const std::size_t bytes = sizes.rows * sizes.row_elements * sizeof(T);
    if (bytes > 0 && base.shard(s) != out.shard(s)) std::memcpy(r, base.shard(s), bytes);
    if (sizes.rows == 0) continue;
    for (std::size_t i = 0; i < sizes.indices; ++i, update += sizes.row_elements) {
      T* row = r + clamp_row(index[i], sizes.rows) * sizes.row_elements;
      for (std::size_t e = 0; e < sizes.row_elements; ++e) row[e] = add_wrapping(row[e], update[e]);
    }
  }
}

}  // namespace

std::vector<std::int64_t> dense_steps(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> steps(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) steps[d - 1] = steps[d] * sizes[d];
  return steps;
}

Step make_copy(StridedCopy copy) {
  auto details = std::make_shared<CopyDetails>();
  details->copy = collapse(copy);
  Step step;
  step.kernel = copy.element_bytes == 4 ? &run_copy<std::uint32_t> : &run_copy<std::uint8_t>;
  step.elements = static_cast<std::size_t>(element_count(copy.sizes));
  step.element_bytes = copy.element_bytes;
  step.cost_ns = cost_of(2 * step.elements * copy.element_bytes);
  step.pieces = pieces_for(step.cost_ns, static_cast<std::size_t>(details->copy.sizes[0]));
  const StridedCopy& c = details->copy;
  if (c.sizes.size() == 1 && c.in_steps == c.out_steps && c.in_offset == c.out_offset) {
    step.in_place.emplace_back(0, 0);
  }
  step.details = std::move(details);
  return step;
}

Step make_fill(std::size_t elements, std::size_t element_bytes, std::uint32_t bits) {
  auto details = std::make_shared<FillDetails>();
  details->bits = bits;
  Step step;
  step.kernel = &run_fill;
  step.elements = elements;
  step.element_bytes = element_bytes;
  step.cost_ns = cost_of(elements * element_bytes);
  step.details = std::move(details);
  return step;
}

Step make_iota(DType dtype, std::size_t outer, std::size_t count, std::size_t inner) {
  auto details = std::make_shared<IotaDetails>();
  details->outer = outer;
  details->count = count;
  details->inner = inner;
  Step step;
  step.kernel = dtype == DType::kF32 ? &run_iota<float> : &run_iota<std::int32_t>;
  step.elements = outer * count * inner;
  step.element_bytes = size_of(dtype);
  step.cost_ns = cost_of(4 * step.elements);
  step.details = std::move(details);
  return step;
}

Step make_gather_rows(std::size_t rows, std::size_t row_bytes, std::size_t indices) {
  auto details = std::make_shared<RowDetails>();
  details->rows = rows;
  details->row_elements = row_bytes;
  details->indices = indices;
  Step step;
  step.kernel = &run_gather;
  step.elements = indices;
  step.cost_ns = cost_of(indices * (2 * row_bytes + 8));
  step.pieces = pieces_for(step.cost_ns, indices);
  step.details = std::move(details);
  return step;
}

Step make_scatter_add_rows(DType dtype, std::size_t rows, std::size_t row_elements,
                           std::size_t indices) {
  auto details = std::make_shared<RowDetails>();
  details->rows = rows;
  details->row_elements = row_elements;
  details->indices = indices;
  Step step;
  step.kernel = dtype == DType::kF32 ? &run_scatter_add<float> : &run_scatter_add<std::int32_t>;
  step.elements = rows * row_elements;
  step.cost_ns = cost_of(8 * step.elements + indices * (12 * row_elements + 8));
  step.in_place.emplace_back(0, 0);
  step.details = std::move(details);
  return step;
}

}  // namespace seaway::function::cpu
