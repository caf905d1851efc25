# shellcheck shell=bash
# Sourced by chaos: one case after another, each a cluster in a directory of its own.

cases=0

prepare_chaos() {
    prepare
    out=$(mktemp -d "${TMPDIR:-/tmp}/skein-chaos.XXXXXX")
    head -n 64 "$pairs" >"$out/rows.jsonl"
}

training() {
    printf '%s\n' --model "$model" --data "$out/rows.jsonl" --validation-split 0 --iterations 8 --batch-size 8 \
        --micro-batch-tokens 64 --max-length 64 --learning-rate 1e-3 --checkpoint-every 2 --gradient-codec "$codec" \
        --compute "$compute"
}

# CASE OPTIONS...: the run in one process.
alone() {
    title=$1 run=$out/run-$((++cases)) case_began=$SECONDS
    mapfile -t words < <(training)
    "$skein" train "${words[@]}" --output "$run" "${@:2}" >"$run.log" 2>&1 || die "train failed" "read $run.log"
    report
}

# CASE COUNT OPTIONS...: a coordinator and so many workers.
begin() {
    title=$1 count=$2 run=$out/run-$((++cases)) case_began=$SECONDS address=127.0.0.1:0 starts=0 reached=0
    serve "${@:3}"
    for ((number = 1; number <= count; number++)); do work "w$number"; done
}

# OPTIONS...: starts the coordinator, a second time on the port that it had.
serve() {
    log=$run.coordinator-$((++starts)).log
    mapfile -t words < <(training)
    start coordinator "$log" "$skein" coordinator --listen "$address" --output "$run" "${words[@]}" "$@"
    await coordinator "$log" '^listening on '
    address=$(sed -n 's/^listening on //p' "$log")
}

work() {
    start "$1" "$run.$1-$((++starts)).log" \
        "$skein" worker --coordinator "$address" --model "$model" --name "$1" --threads 1
}

# Waits for the good end of everybody.
finish() {
    await coordinator "$log" '^sha256: '
    local name
    for name in coordinator "${!pids[@]}"; do
        end TERM "$name" || die "$title: $name has ended with $?" "read $run.*.log"
    done
    report
}

# Prints a line of the table; fails on a hash or a ledger that is not as it must be.
report() {
    local hash
    hash=$(adapter_hash "$run")
    expected=${expected:-$hash}
    [[ $hash == "$expected" ]] || die "$title: the adapter is $hash, not $expected" "report it, with $out"
    "$skein" inspect "$run" --verify-ledger >"$run.inspect.log" 2>&1 ||
        die "$title: the ledger does not verify" "read $run.inspect.log"
    printf '%-34s %-64s %-6s %s\n' "$title" "$hash" ok "$((SECONDS - case_began)) s"
}
