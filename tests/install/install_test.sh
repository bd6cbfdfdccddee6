#!/usr/bin/env bash
# Installs into a directory of its own, then builds and runs a program against it, and what the
# installed command writes as a new app: each by pkg-config and by CMake.
set -euo pipefail
build=$1 source=$(cd -- "$(dirname -- "$0")" && pwd -P)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# The prefix contains a space, and is not the one that the build was configured with.
meson install -C "$build" --no-rebuild --quiet --destdir "$scratch/in stalled"
configured=$(python3 - "$build" <<'END'
import json, sys
options = json.load(open(sys.argv[1] + "/meson-info/intro-buildoptions.json"))
print(next(option["value"] for option in options if option["name"] == "prefix"))
END
)
prefix="$scratch/in stalled$configured"
package=$(find "$prefix" -name seaway.pc)
libraries=$(dirname "$(dirname "$package")")

expect() {
  local text
  text=$(LD_LIBRARY_PATH="$libraries" "$@")
  case $text in
    '(3 5, 2 4)') echo "ok: $(basename "$(dirname "$1")"): $text" ;;
    *) echo "wrong output of $1: $text"; exit 1 ;;
  esac
}

mkdir "$scratch/pkg-config"
# pkg-config writes a space in a path as `\ `, which only eval reads back.
eval "g++ '$source/program.cpp' -o '$scratch/pkg-config/program' \
  $(PKG_CONFIG_PATH=$(dirname "$package") pkg-config --cflags --libs seaway)"
expect "$scratch/pkg-config/program"

cmake -S "$source" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/cmake.log" 2>&1 &&
  cmake --build "$scratch/cmake" >>"$scratch/cmake.log" 2>&1 || { cat "$scratch/cmake.log"; exit 1; }
expect "$scratch/cmake/program"

# The installed command finds the installed data and needs nothing from the build.
"$prefix/bin/seaway" --version
"$prefix/bin/seaway" chaos --seeds 1..3
test -f "$prefix/share/seaway/digits.csv.gz"

# An app of actors, written by the installed command far from the source tree.
step() {
  "$@" >"$scratch/app.log" 2>&1 || { echo "failed: $*"; cat "$scratch/app.log"; exit 1; }
}
cd "$scratch"
export CMAKE_BUILD_PARALLEL_LEVEL
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
# Without optimization: it is about what is found and what fits, and half the time to build.
step "$prefix/bin/seaway" new app hello
step env PKG_CONFIG_PATH="$(dirname "$package")" meson setup hello hello/build -Dbuildtype=debug \
  -Dwerror=true
step meson compile -C hello/build
step meson test -C hello/build
step env LD_LIBRARY_PATH="$libraries" "$prefix/bin/seaway" chaos --seeds 1..20 user hello/build/counter_test
echo 'ok: new app: meson'
step cmake -S hello -B hello/build-cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug
step cmake --build hello/build-cmake
step ctest --test-dir hello/build-cmake --no-tests=error
echo 'ok: new app: cmake'

# Each public header needs nothing but the prefix and what the package brings.
(cd "$prefix/include" && find seaway -name '*.hpp' | sort | sed 's/.*/#include <&>/') >headers.cpp
eval "g++ -Wall -Wextra -Werror -fsyntax-only headers.cpp \
  $(PKG_CONFIG_PATH=$(dirname "$package") pkg-config --cflags seaway)"
echo "ok: $(wc -l <headers.cpp) headers"
