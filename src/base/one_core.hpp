// run_on_one_core(): for libraries that make as many threads as there are cores.

#pragma once

#include <functional>

namespace seaway {

/// Calls `work` in a thread that may use one core only, and returns when it has returned. Threads
/// that `work` starts may use that core while it runs, and all of the caller's cores from then on.
/// False, and `work` is not called: the caller has but one core, or the system does not say.
bool run_on_one_core(const std::function<void()>& work);

}  // namespace seaway
