# The steps of a script, timed: one heading as each begins, and a table of all at the end.
#
# To be sourced. `step NAME` begins one, which lasts until the next; `beside NAME COMMAND… &` runs
# a command beside the steps and remembers its seconds; `steps_table` prints what all took.

steps_began=$SECONDS
step_names=()
step_starts=()
beside_seconds="$(mktemp)"

step() {
    step_names+=("$*")
    step_starts+=("$SECONDS")
    printf '\n=== %s (%d s)\n' "$*" "$((SECONDS - steps_began))"
}

# To be started with `&`: the EXIT trap is that of the background subshell.
beside() {
    beside_name="$1" beside_began=$SECONDS
    shift
    trap 'printf "%s\t%d\n" "$beside_name" "$((SECONDS - beside_began))" >> "$beside_seconds"' EXIT
    "$@"
}

steps_table() {
    local total=$((SECONDS - steps_began)) number seconds name
    printf '\n%-64s %8s %6s\n' step seconds share
    step_starts+=("$SECONDS")
    for number in "${!step_names[@]}"; do
        seconds=$((step_starts[number + 1] - step_starts[number]))
        printf '%-64s %8d %5d%%\n' "${step_names[number]}" "$seconds" \
            "$((total > 0 ? 100 * seconds / total : 0))"
    done
    printf '%-64s %8d %5d%%\n' total "$total" 100
    while IFS=$'\t' read -r name seconds; do
        printf '%-64s %8d\n' "  beside these: $name" "$seconds"
    done < "$beside_seconds"
    rm -f "$beside_seconds"
}
