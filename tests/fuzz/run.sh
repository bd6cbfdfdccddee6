#!/usr/bin/env bash
# Feeds random bytes to what reads files of people, under AddressSanitizer and UBSan: run.sh SECONDS
# [TARGET...] builds each target with clang and the few sources that it needs, and runs it for so long,
# or for RUNS inputs, if that is set in the environment. It needs Debian's clang-14 and libclang-rt-14-dev.
# What was found, and what was learnt, is kept in FUZZ_DIRECTORY, or else thrown away.
set -euo pipefail

root=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- config token_store
compiler=$(command -v clang++ || command -v clang++-14) ||
  { echo 'run.sh: clang++ is missing (Debian 12: clang-14, libclang-rt-14-dev)' >&2; exit 1; }
place=${FUZZ_DIRECTORY:-$(mktemp -d)}
[ -n "${FUZZ_DIRECTORY:-}" ] || trap 'rm -rf -- "$place"' EXIT

base=(src/base/check.cpp src/base/parse.cpp src/base/status.cpp)
config=(tools/seaway/config.cpp tools/seaway/names.cpp)
token_store=(src/transport/token.cpp)

cd "$root"
for target in "$@"; do
  declare -n sources=$target
  libraries=()
  [ "$target" = token_store ] && libraries=(-lcrypto)
  mkdir -p "$place/$target"
  "$compiler" -std=c++20 -O1 -g -D_GLIBCXX_ASSERTIONS -I. -Isrc -Iinclude \
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    "tests/fuzz/${target}_fuzz.cpp" "${sources[@]}" "${base[@]}" "${libraries[@]}" \
    -o "$place/${target}_fuzz"
  echo "run.sh: $target"
  "$place/${target}_fuzz" -max_total_time="$seconds" -runs="${RUNS:--1}" -max_len=2048 \
    -dict="tests/fuzz/$target.dict" -print_final_stats=1 -artifact_prefix="$place/$target-" \
    "$place/$target"
done
