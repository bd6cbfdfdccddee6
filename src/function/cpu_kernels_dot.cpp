// Matrix products: serial OpenBLAS in fixed blocks of rows, or own loops where those are faster.

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

constexpr std::size_t kRowBlock = 128;  // Rows of one sgemm call, whatever the number of threads.

struct DotDetails final : Details {
  MatrixProduct product;
};

/// Pieces are rows of the output, counted through all batches.
void run_own_dot(const Step& step, const Tables& tables, const Work& work) {
  const MatrixProduct& p = static_cast<const DotDetails&>(*step.details).product;
  const VectorKernels& kernels = vector_kernels();
  const ShardedBuffer lhs = tables.at(step.in[0]);
  const ShardedBuffer rhs = tables.at(step.in[1]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const std::ptrdiff_t bytes = static_cast<std::ptrdiff_t>(size_of(p.dtype));
  const Slice rows = slice_of(p.batch * p.m, work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    for (std::size_t row = rows.begin; row < rows.end;) {
      const std::size_t batch = row / p.m;
      const std::size_t first = row % p.m;
      const std::size_t count = std::min(p.m - first, rows.end - row);
      const std::ptrdiff_t b = static_cast<std::ptrdiff_t>(batch);
      const std::ptrdiff_t r = static_cast<std::ptrdiff_t>(first);
      kernels.multiply_matrices(p.dtype, lhs.shard(s) + (b * p.lhs_batch + r * p.lhs.row) * bytes,
                                p.lhs, rhs.shard(s) + b * p.rhs_batch * bytes, p.rhs,
                                out.shard(s) + static_cast<std::ptrdiff_t>(row * p.n) * bytes,
                                count, p.n, p.k);
      row += count;
    }
  }
}

void multiply_block(const MatrixProduct& p, const float* lhs, const float* rhs, float* out,
                    std::size_t rows) {
  const auto lhs_order = p.lhs.column == 1 ? CblasNoTrans : CblasTrans;
  const auto rhs_order = p.rhs.column == 1 ? CblasNoTrans : CblasTrans;
  const int lhs_leading = static_cast<int>(p.lhs.column == 1 ? p.lhs.row : p.lhs.column);
  const int rhs_leading = static_cast<int>(p.rhs.column == 1 ? p.rhs.row : p.rhs.column);
  const int m = static_cast<int>(rows);
  const int n = static_cast<int>(p.n);
  const int k = static_cast<int>(p.k);
  // One product at a time: Debian's serial OpenBLAS hands two threads the same packing buffer now
  // and then, and both products are wrong (digits, two threads: one training run in five).
  static std::mutex library;
  const std::lock_guard guard(library);
  if (n == 1) {
    const bool is_plain = p.lhs.column == 1;
    cblas_sgemv(CblasRowMajor, lhs_order, is_plain ? m : k, is_plain ? k : m, 1.0f, lhs,
                lhs_leading, rhs, static_cast<int>(p.rhs.row), 0.0f, out, 1);
    return;
  }
  cblas_sgemm(CblasRowMajor, lhs_order, rhs_order, m, n, k, 1.0f, lhs, lhs_leading, rhs,
              rhs_leading, 0.0f, out, n);
}

/// Pieces are blocks of rows, counted through all batches.
void run_blas_dot(const Step& step, const Tables& tables, const Work& work) {
  const MatrixProduct& p = static_cast<const DotDetails&>(*step.details).product;
  const ShardedBuffer lhs = tables.at(step.in[0]);
  const ShardedBuffer rhs = tables.at(step.in[1]);
  const ShardedBuffer out = tables.at(step.out[0]);
  const std::size_t blocks = (p.m + kRowBlock - 1) / kRowBlock;
  const Slice slice = slice_of(p.batch * blocks, work, step.pieces, 1);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const std::ptrdiff_t batch = static_cast<std::ptrdiff_t>(i / blocks);
      const std::size_t row = i % blocks * kRowBlock;
      const std::size_t rows = std::min(kRowBlock, p.m - row);
      multiply_block(p,
                     reinterpret_cast<const float*>(lhs.shard(s)) + batch * p.lhs_batch +
                         static_cast<std::ptrdiff_t>(row) * p.lhs.row,
                     reinterpret_cast<const float*>(rhs.shard(s)) + batch * p.rhs_batch,
                     reinterpret_cast<float*>(out.shard(s)) +
                         (static_cast<std::size_t>(batch) * p.m + row) * p.n,
                     rows);
    }
  }
}

/// BLAS takes a matrix that is dense in one direction, with a leading step that spans the other.
bool suits_blas(MatrixSteps steps, std::size_t rows, std::size_t columns) {
  constexpr std::ptrdiff_t kIntMax = std::numeric_limits<int>::max();
  if (steps.row > kIntMax || steps.column > kIntMax) return false;
  const auto r = static_cast<std::ptrdiff_t>(rows), c = static_cast<std::ptrdiff_t>(columns);
  if (r > kIntMax || c > kIntMax) return false;
  return (steps.column == 1 && steps.row >= c) || (steps.row == 1 && steps.column >= r);
}

}  // namespace

Step make_dot(const MatrixProduct& given) {
  MatrixProduct product = given;
  // A dimension of size 1 has whatever step suits best.
  const auto k = static_cast<std::ptrdiff_t>(product.k);
  const auto n = static_cast<std::ptrdiff_t>(product.n);
  if (product.m == 1) product.lhs.row = product.lhs.column == 1 ? k : 1;
  if (product.n == 1) product.rhs.column = product.rhs.row == 1 ? k : 1;
  if (product.k == 1 && product.rhs.column == 1) product.rhs.row = n;
  auto details = std::make_shared<DotDetails>();
  const std::size_t flops = 2 * product.batch * product.m * product.n * product.k;
  const std::size_t bytes =
      4 * product.batch * (product.m * product.k + product.k * product.n + product.m * product.n);
  Step step;
  step.elements = product.batch * product.m * product.n;
  // Below this a call of BLAS costs more than it saves.
  constexpr std::size_t kOwnFlopsMax = 8192;
  const bool uses_blas = product.dtype == DType::kF32 && product.k > 0 && product.m > 0 &&
                         product.n > 0 && 2 * product.m * product.n * product.k > kOwnFlopsMax &&
                         suits_blas(product.lhs, product.m, product.k) &&
                         suits_blas(product.rhs, product.k, product.n);
  if (uses_blas) {
    step.kernel = &run_blas_dot;
    step.cost_ns = cost_of(bytes / 4, flops);
    step.pieces =
        pieces_for(step.cost_ns, product.batch * ((product.m + kRowBlock - 1) / kRowBlock));
  } else {
    step.kernel = &run_own_dot;
    step.cost_ns = cost_of(bytes, 8 * flops);
    step.pieces = pieces_for(step.cost_ns, product.batch * product.m);
  }
  details->product = product;
  step.details = std::move(details);
  return step;
}

}  // namespace seaway::function::cpu
