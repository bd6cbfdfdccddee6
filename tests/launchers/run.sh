#!/usr/bin/env bash
# Clusters started by Slurm and by mpirun, and what verifies units and manifests: installs those tools on
# Debian 12 unless they are there, and runs launchers_test.py, which may be the first word, with the words
# behind it. SEAWAY_BUILD: the build, or else build/.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
build=${SEAWAY_BUILD:-$root/build}
test=$root/tests/launchers/launchers_test.py
case ${1:-} in *.py) test=$1 && shift ;; esac
packages=(slurm-wlm munge openmpi-bin systemd python3-venv)
validate=$build/kubernetes-validate

say() { printf 'launchers: %s\n' "$*" >&2; }

if ! dpkg-query -W -f '${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | awk '$1 != "installed" { bad = 1 } END { exit bad || NR < 5 }'; then
  [ "$(id -u)" = 0 ] || { say "missing packages: install ${packages[*]}"; exit 1; }
  say "installing ${packages[*]}"
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi
if [ ! -x "$validate/bin/kubernetes-validate" ]; then
  say 'installing kubernetes-validate 1.35'
  python3 -m venv "$validate"
  # Without it the manifests are not verified, which the test says.
  "$validate/bin/pip" install --quiet --disable-pip-version-check 'kubernetes-validate==1.35.*' ||
    say 'there is no kubernetes-validate to be had'
fi
SEAWAY_COMMAND=$build/tools/seaway/seaway SEAWAY_DEPLOY=$root/tools/deploy \
  KUBERNETES_VALIDATE=$validate/bin/kubernetes-validate \
  python3 "$test" "$@"
