#!/usr/bin/env bash
# Feeds bytes of strangers to what reads them, under AddressSanitizer and UBSan with libFuzzer:
#   run.sh TARGET RUNS     one target, so many inputs (10000000)
#   run.sh all RUNS        all of them, one after the other
# Needs Debian's clang-14 and libclang-rt-14-dev; builds into build-fuzz/. Begins with the seeds in
# corpus/; what was learnt and what was found stays in FUZZ_DIRECTORY, or else is thrown away. SECONDS_MAX:
# no target takes longer.
set -euo pipefail

root=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
all=(config token_store frames packets data handshake door envelopes relay session programs functions controller)
usage="usage: run.sh TARGET|all RUNS; targets: ${all[*]}"
[ $# -eq 2 ] || { echo "$usage" >&2; exit 2; }
targets=("$1")
[ "$1" != all ] || targets=("${all[@]}")
runs=$2
compiler=$(command -v clang++-14 || command -v clang++) ||
  { echo 'run.sh: clang++ is missing (Debian 12: clang-14, libclang-rt-14-dev)' >&2; exit 1; }
place=${FUZZ_DIRECTORY:-$(mktemp -d)}
[ -n "${FUZZ_DIRECTORY:-}" ] || trap 'rm -rf -- "$place"' EXIT

cd "$root"
build=build-fuzz
if [ ! -f "$build/build.ninja" ]; then
  mkdir -p "$build"
  # Null and vptr are left out as in the build with the sanitizers (./dev).
  CXX=$compiler meson setup "$build" . -Dwerror=false -Dwarning_level=0 -Doptimization=1 \
    -Db_lundef=false -Dcpp_link_args=-fsanitize=address,undefined \
    "-Dcpp_args=-w -include $root/tests/fuzz/clang_14.hpp -D_GLIBCXX_ASSERTIONS \
-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null,vptr -fno-sanitize-recover=all" \
    >"$build/setup.log" 2>&1 || { tail -n 20 "$build/setup.log" >&2; exit 1; }
fi
mapfile -t programs < <(printf 'tests/fuzz/%s_fuzz\n' "${targets[@]}")
ninja -C "$build" "${programs[@]}" >"$build/ninja.log" 2>&1 ||
  { tail -n 30 "$build/ninja.log" >&2; exit 1; }
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=4:malloc_context_size=4}
for target in "${targets[@]}"; do
  echo "run.sh: $target"
  mkdir -p "$place/$target"
  words=()
  [ -f "tests/fuzz/$target.dict" ] && words+=("-dict=tests/fuzz/$target.dict")
  "$build/tests/fuzz/${target}_fuzz" -runs="$runs" -max_total_time="${SECONDS_MAX:-0}" -max_len=4096 \
    -entropic=0 -rss_limit_mb=1500 -malloc_limit_mb=256 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$place/$target-" "${words[@]}" "$place/$target" "tests/fuzz/corpus/$target" \
    2>&1 | grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse)|^INFO'
done
