#!/usr/bin/env bash
# Installs into a directory of its own, then builds and runs a program against it, both ways.
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
test -f "$prefix/share/seaway/digits.csv.gz"
