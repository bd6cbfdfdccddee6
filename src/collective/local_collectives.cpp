// Reductions and exchanges between shards of one address space.

#include "collective/local_collectives.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "collective/tree_reduction.hpp"

namespace seaway::collective {

using function::CollectiveGroups;
using function::Reduce;
using function::ShardedBuffer;
using function::WorkShare;

namespace {

struct Range {
  std::size_t begin, end;
};
/// The part of `count` things that a share covers, in whole `grain`s.
Range part_of(std::size_t count, WorkShare share, std::size_t grain = 1) {
  const std::size_t grains = (count + grain - 1) / grain;
  return {std::min(count, grains * share.begin / share.count * grain),
          std::min(count, grains * share.end / share.count * grain)};
}

template <class F, class T>
void all_reduce_values(const CollectiveGroups& groups, std::size_t elements, ShardedBuffer in,
                       ShardedBuffer out, WorkShare share) {
  if (elements <= 4) {
    const Range part = part_of(groups.groups, share);
    for (std::size_t g = part.begin; g < part.end; ++g) {
      const std::size_t first = groups.shard(g, 0);
      for (std::size_t e = 0; e < elements; ++e) {
        const T total = fold_values<F, T>(in.shard(first) + e * sizeof(T), in.stride * groups.inner,
                                          groups.size);
        std::byte* target = out.shard(first) + e * sizeof(T);
        const std::size_t step = out.stride * groups.inner;
        for (std::size_t c = 0; c < groups.size; ++c) {
          *reinterpret_cast<T*>(target + c * step) = total;
        }
      }
    }
    return;
  }
  // A tile is read from all members before it is written to any: so it works in place.
  TileFold<F, T> folder;
  constexpr std::size_t kTile = TileFold<F, T>::kTile;
  const Range part = part_of(elements, share, kTile);
  for (std::size_t g = 0; g < groups.groups; ++g) {
    const std::size_t first = groups.shard(g, 0);
    for (std::size_t begin = part.begin; begin < part.end; begin += kTile) {
      const std::size_t count = std::min(kTile, part.end - begin);
      const T* total = folder.fold(in.shard(first) + begin * sizeof(T), in.stride * groups.inner,
                                   groups.size, count);
      for (std::size_t c = 0; c < groups.size; ++c) {
        std::memcpy(out.shard(groups.shard(g, c)) + begin * sizeof(T), total, count * sizeof(T));
      }
    }
  }
}

template <class T>
void reduce_scatter_values(const CollectiveGroups& groups, std::size_t rows,
                           std::size_t run_elements, ShardedBuffer in, ShardedBuffer out,
                           WorkShare share) {
  TileFold<Sum, T> folder;
  constexpr std::size_t kTile = TileFold<Sum, T>::kTile;
  const Range part = part_of(groups.groups * groups.size, share);
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::size_t g = i / groups.size, c = i % groups.size;
    const std::byte* first = in.shard(groups.shard(g, 0));
    std::byte* target = out.shard(groups.shard(g, c));
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t begin = 0; begin < run_elements; begin += kTile) {
        const std::size_t count = std::min(kTile, run_elements - begin);
        const std::size_t from = (row * groups.size + c) * run_elements + begin;
        const T* total =
            folder.fold(first + from * sizeof(T), in.stride * groups.inner, groups.size, count);
        std::memcpy(target + (row * run_elements + begin) * sizeof(T), total, count * sizeof(T));
      }
    }
  }
}

}  // namespace

void LocalCollectives::all_reduce(const CollectiveGroups& groups, Reduce reduce, DType dtype,
                                  std::size_t elements, ShardedBuffer in, ShardedBuffer out,
                                  WorkShare share) const {
  const bool is_sum = reduce == Reduce::kSum;
  if (dtype == DType::kF32) {
    (is_sum ? all_reduce_values<Sum, float> : all_reduce_values<Max, float>)(groups, elements, in,
                                                                             out, share);
  } else if (dtype == DType::kI32) {
    (is_sum ? all_reduce_values<Sum, std::int32_t>
            : all_reduce_values<Max, std::int32_t>)(groups, elements, in, out, share);
  } else {
    all_reduce_values<Max, std::uint8_t>(groups, elements, in, out, share);
  }
}

void LocalCollectives::all_gather(const CollectiveGroups& groups, std::size_t rows,
                                  std::size_t run_bytes, ShardedBuffer in, ShardedBuffer out,
                                  WorkShare share) const {
  if (rows * run_bytes == 0) return;
  const Range part = part_of(groups.groups * groups.size, share);
  const std::byte* assembled = nullptr;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::size_t g = i / groups.size;
    std::byte* target = out.shard(groups.shard(g, i % groups.size));
    const std::size_t whole = rows * groups.size * run_bytes;
    const bool is_new_group = i == part.begin || i % groups.size == 0;
    if (!is_new_group) {
      std::memcpy(target, assembled, whole);
      continue;
    }
    for (std::size_t c = 0; c < groups.size; ++c) {
      const std::byte* source = in.shard(groups.shard(g, c));
      for (std::size_t row = 0; row < rows; ++row) {
        std::memcpy(target + (row * groups.size + c) * run_bytes, source + row * run_bytes,
                    run_bytes);
      }
    }
    assembled = target;
  }
}

void LocalCollectives::reduce_scatter(const CollectiveGroups& groups, DType dtype, std::size_t rows,
                                      std::size_t run_elements, ShardedBuffer in, ShardedBuffer out,
                                      WorkShare share) const {
  if (dtype == DType::kF32) {
    reduce_scatter_values<float>(groups, rows, run_elements, in, out, share);
  } else {
    reduce_scatter_values<std::int32_t>(groups, rows, run_elements, in, out, share);
  }
}

void LocalCollectives::permute(const CollectiveGroups& groups,
                               std::span<const std::int64_t> sources, std::size_t bytes,
                               ShardedBuffer in, ShardedBuffer out, WorkShare share) const {
  SEAWAY_CHECK(sources.size() == groups.size, sources.size(), groups.size);
  if (bytes == 0) return;
  const Range part = part_of(groups.groups * groups.size, share);
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::size_t g = i / groups.size, c = i % groups.size;
    std::byte* target = out.shard(groups.shard(g, c));
    if (sources[c] < 0) {
      std::memset(target, 0, bytes);
    } else {
      std::memcpy(target, in.shard(groups.shard(g, static_cast<std::size_t>(sources[c]))), bytes);
    }
  }
}

}  // namespace seaway::collective
