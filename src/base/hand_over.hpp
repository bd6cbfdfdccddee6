// What a library that is not instrumented orders between two threads, said to ThreadSanitizer,
// which does not see it. Nothing in other builds.

#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace seaway::base {

#if defined(__SANITIZE_THREAD__)
/// What this thread has done so far is seen by whoever takes `what` over from now on.
inline void hand_over(void* what) { __tsan_release(what); }
inline void take_over(void* what) { __tsan_acquire(what); }
#else
inline void hand_over(void*) {}
inline void take_over(void*) {}
#endif

}  // namespace seaway::base
