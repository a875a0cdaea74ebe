# The steps of a script, timed: one heading as each begins, and a table of all at the end.
#
# To be sourced. `step NAME` begins one, which lasts until the next; `beside NAME COMMAND… &` runs
# a command beside the steps and remembers its seconds; `steps_table` prints what all took, by the
# clock and of the processors. What ran beside them is also in the processor time of the step that
# waited for it.

steps_began=$SECONDS
step_names=()
step_starts=()
step_cpu=()
beside_seconds="$(mktemp)"
steps_times="$(mktemp)"

step() {
    step_names+=("$*")
    step_starts+=("$SECONDS")
    used_cpu step_cpu
    printf '\n=== %s (%d s)\n' "$*" "$((SECONDS - steps_began))"
}

# Append the processor time of this shell's ended children, in seconds, to the named array. Not by
# a command substitution: that would be a shell without children.
used_cpu() {
    local -n into=$1
    times > "$steps_times"
    into+=("$(awk 'NR == 2 { gsub("[ms]", " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' \
        "$steps_times")")
}

# To be started with `&`: the EXIT trap is that of the background subshell.
beside() {
    beside_name="$1" beside_began=$SECONDS
    steps_times="$(mktemp)"
    shift
    trap 'end_beside' EXIT
    "$@"
}

end_beside() {
    local cpu=()
    used_cpu cpu
    printf '%s\t%d\t%d\n' "$beside_name" "$((SECONDS - beside_began))" "${cpu[0]}" \
        >> "$beside_seconds"
    rm -f "$steps_times"
}

steps_table() {
    local total=$((SECONDS - steps_began)) number seconds name cpu
    printf '\n%-64s %8s %6s %10s\n' step seconds share "of CPUs"
    step_starts+=("$SECONDS")
    used_cpu step_cpu
    for number in "${!step_names[@]}"; do
        seconds=$((step_starts[number + 1] - step_starts[number]))
        printf '%-64s %8d %5d%% %10d\n' "${step_names[number]}" "$seconds" \
            "$((total > 0 ? 100 * seconds / total : 0))" \
            "$((step_cpu[number + 1] - step_cpu[number]))"
    done
    printf '%-64s %8d %5d%%\n' total "$total" 100
    while IFS=$'\t' read -r name seconds cpu; do
        printf '%-64s %8d %6s %10d\n' "  beside these: $name" "$seconds" "" "$cpu"
    done < "$beside_seconds"
    rm -f "$beside_seconds" "$steps_times"
}
