# shellcheck shell=bash
# Sourced by Scripts/check-package, after Scripts/lib/prepare.bash: it ends programs and compares what they made. kind
# is for errors; train is the id of what runs in the background, for the script's own end.

# LOG PATTERN COMMAND...: runs it until its log has the pattern, for a quarter of an hour at most, and kills it.
killed() {
    local log=$1 pattern=$2 status=0 rounds=18000
    shift 2
    stdbuf -oL "$@" >"$log" 2>&1 &
    train=$!
    until grep -sq "$pattern" "$log" || ! kill -s 0 "$train" 2>/dev/null || ((--rounds == 0)); do sleep 0.05; done
    { kill -s KILL "$train" || true; wait "$train" || status=$?; } 2>/dev/null
    train=''
    ((rounds)) || die "$kind: ${1##*/} has not come to '$pattern' in 15 minutes: $(tail -n 4 "$log")" "run it by hand"
    was_killed "$status" "$log" "$1"
}

# LOG COMMAND...: runs a program that kills itself, for a quarter of an hour at most (SIGTERM, so the status is 124).
kills_itself() {
    local log=$1 status=0
    shift
    timeout -k 10 900 stdbuf -oL "$@" >"$log" 2>&1 &
    train=$!
    { wait "$train" || status=$?; } 2>/dev/null
    train=''
    was_killed "$status" "$log" "$1"
}

# STATUS LOG PROGRAM
was_killed() {
    (($1 != 0)) || die "$kind: ${3##*/} ended before it was killed" "use more rows or steps"
    (($1 != 124)) || die "$kind: ${3##*/} was not done in 15 minutes: $(tail -n 4 "$2")" "run it by hand"
    (($1 == 137)) || die "$kind: ${3##*/} ended with $1: $(tail -n 4 "$2")" "fix it first"
}

# MODEL SEED: the hash that skein train ends with, on $rows. docs/examples/library has the options of named.json, too.
reference() {
    "$skein" train --config "$scripts/lib/named.json" --model "$1" --data "$rows" --iterations 8 --max-length 64 --seed "$2" \
        --output "$work/reference-$2" >"$work/reference.log" 2>&1 ||
        die "skein train failed: $(tail -n 3 "$work/reference.log")" "fix it first"
    sha256sum "$work/reference-$2/adapter/adapter_model.safetensors" | cut -d ' ' -f 1
    rm -rf "$work/reference-$2"
}

# WHAT EXPECTED FOUND
same() {
    [[ $2 == "$3" ]] || die "$1: ${3:-nothing} instead of $2" "report it, with the commit"
    printf '%-40s %s ok\n' "$1" "$3"
}
