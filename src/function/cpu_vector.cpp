// Which level of vector instructions this machine has.

#include "function/cpu_vector.hpp"

namespace seaway::function::cpu {

namespace level_generic {
extern const VectorKernels kKernels;
}
#ifdef SEAWAY_X86_LEVELS
namespace level_avx2 {
extern const VectorKernels kKernels;
}
namespace level_avx512 {
extern const VectorKernels kKernels;
}
#endif

const VectorKernels& vector_kernels() {
#ifdef SEAWAY_X86_LEVELS
  static const VectorKernels& best = __builtin_cpu_supports("avx512f") ? level_avx512::kKernels
                                     : __builtin_cpu_supports("avx2")  ? level_avx2::kKernels
                                                                       : level_generic::kKernels;
  return best;
#else
  return level_generic::kKernels;
#endif
}

}  // namespace seaway::function::cpu
