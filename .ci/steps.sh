# Steps of .ci/run and .ci/nightly, which source this file: each prints how long it took, and the end
# is what failed, by name, and `N passed, N failed` over all steps.

passed=0
failed=0
summary=()
failures=()
log=$(mktemp)
trap 'rm -f -- "$log"' EXIT

# step NAME COMMAND...: a command that ends with `N passed, N failed` counts its cases; any other
# counts as one.
step() {
  local name=$1 start=$SECONDS status good bad last
  shift
  printf '\n== %s\n' "$name"
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  if [ -n "$last" ]; then
    good=${last%% passed*}
    bad=${last##*, }
    bad=${bad%% failed*}
    # A command that fails without a failed case failed all the same.
    [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
  else
    good=$((status == 0))
    bad=$((status != 0))
  fi
  # Only the end of a long log may be kept: there, the names are repeated.
  if [ "$bad" -ne 0 ]; then
    mapfile -t -O "${#failures[@]}" failures < <(grep -E '^  failed: ' "$log" || echo "  failed: $name")
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  summary+=("$(printf '%-34s %5d s  %s' "$name" $((SECONDS - start)) \
    "$([ "$bad" -eq 0 ] && echo ok || echo FAILED)")")
}

# Prints what came of all steps; fails when one has.
end_steps() {
  printf '\n'
  printf '%s\n' "${summary[@]}"
  [ ${#failures[@]} -eq 0 ] || printf '%s\n' "${failures[@]}"
  printf 'total %d s\n' "$SECONDS"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}
