#!/usr/bin/env bash
# One rank of a launcher's job: the scheduler and the host of island RANK, and on rank 0 the controller. With
# `--hosts H` among the words, or SEAWAY_HOSTS, H ranks play one island: its scheduler and its host the first of
# them, one of its further hosts each of the others.
#
#   srun -N4 -n4 rank.sh DIRECTORY --devices 4
#   mpirun -np 4 rank.sh DIRECTORY --devices 4
#   srun -N4 -n4 rank.sh DIRECTORY --devices 4 --hosts 2
#
# DIRECTORY is this job's own. What follows goes to the controller, which tells the others. Ranks that share a
# machine, or a DIRECTORY, talk over Unix sockets in it; between machines set SEAWAY_JOIN, SEAWAY_LISTEN,
# SEAWAY_CA_FILE, SEAWAY_CERT_FILE and SEAWAY_KEY_FILE (docs/security.md). SEAWAY_COMMAND is `seaway` by default.
#
# A role that ends badly is started again; all end with this script, however it ends.
set -uo pipefail

if [ $# -lt 1 ]; then
  echo 'usage: rank.sh DIRECTORY [words of `seaway controller`...]' >&2
  exit 1
fi
directory=$1
shift
rank=${SLURM_PROCID:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}}
ranks=${SLURM_NTASKS:-${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-}}}
if [ -z "$rank" ] || [ -z "$ranks" ]; then
  echo 'rank.sh: no launcher has said which rank this is (SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK)' >&2
  exit 1
fi
hosts=${SEAWAY_HOSTS:-1}
for ((i = 1; i <= $#; ++i)); do
  case ${!i} in
    --hosts) next=$((i + 1)) && hosts=${!next:-} ;;
    --hosts=*) hosts=${!i#--hosts=} ;;
  esac
done
if ! [[ $hosts =~ ^[1-9][0-9]*$ ]] || [ $((ranks % hosts)) -ne 0 ]; then
  echo "rank.sh: $ranks ranks are no islands of ${hosts:-?} hosts each; start a multiple of --hosts" >&2
  exit 1
fi
island=$((rank / hosts)) host=$((rank % hosts))
command=${SEAWAY_COMMAND:-seaway}
mkdir -p -m 700 "$directory"

# A role until it ends well, or ten seconds after its fifth bad end at the latest.
keep() {
  local tries=0 since=$SECONDS self=$BASHPID child=
  trap 'kill "$child" 2>/dev/null; wait "$child"; exit 0' TERM
  while :; do
    "$command" "$@" --directory "$directory" --die-with-parent "$self" &
    child=$!
    wait "$child" && return 0
    [ $((SECONDS - since)) -gt 10 ] && tries=0 since=$SECONDS
    tries=$((tries + 1))
    [ "$tries" -lt 5 ] || { echo "rank.sh: rank $rank: \`$command $1\` ends again and again" >&2; return 1; }
  done
}

parts=()
end_all() {
  trap - EXIT TERM INT
  [ ${#parts[@]} -eq 0 ] || kill "${parts[@]}" 2>/dev/null
  wait
}
trap end_all EXIT
trap 'exit 0' TERM INT

if [ "$rank" -eq 0 ]; then
  (keep controller --islands "$((ranks / hosts))" "$@") &
  parts+=($!)
fi
if [ "$host" -eq 0 ]; then
  (keep scheduler --island "$island" --join-timeout 60) &
  parts+=($!)
fi
(keep host --island "$island" --host "$host" --join-timeout 60) &
parts+=($!)
# With `seaway down` the controller ends, and with it this job: rank 0 first, the launcher does the rest.
wait -n
