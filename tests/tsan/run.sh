#!/usr/bin/env bash
# Runs the tests of waits that end with their client under ThreadSanitizer, in build-tsan/:
#
#     tests/tsan/run.sh [ROUNDS] [PATTERN]     (1000 rounds of each kind; `Ends.OfACall`)
#
# CAF, KJ and TBB come from packages and are not instrumented: suppressions.txt says what that hides.
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd -P)
build=$root/build-tsan
rounds=${1:-1000} pattern=${2:-*}
if [ ! -f "$build/build.ninja" ]; then
  meson setup -Db_sanitize=thread -Db_lundef=false -Doptimization=1 -Dwerror=false "$build" "$root" >"$build.log" 2>&1 ||
    { tail -n 30 "$build.log" >&2; exit 2; }
fi
ninja -C "$build" tests/unit/actor/actor_test tests/unit/cluster/ends_test
export TSAN_OPTIONS="suppressions=$root/tests/tsan/suppressions.txt:halt_on_error=1:second_deadlock_stack=1"
"$build/tests/unit/actor/actor_test" --gtest_filter="EngineWaiterTest.*" --gtest_brief=1
SEAWAY_ROUNDS=$rounds "$build/tests/unit/cluster/ends_test" --gtest_filter="$pattern" --gtest_brief=1
