# shellcheck shell=bash
# Sourced by Scripts/check-package, after Scripts/lib/prepare.bash: it ends programs and compares what they made.

# LOG PATTERN COMMAND...: runs it until its log has the pattern, and kills it. Sets train to its id meanwhile, for the
# script's own end; kind is for errors.
killed() {
    local log=$1 pattern=$2 status=0
    shift 2
    stdbuf -oL "$@" >"$log" 2>&1 &
    train=$!
    until grep -sq "$pattern" "$log" || ! kill -s 0 "$train" 2>/dev/null; do sleep 0.05; done
    { kill -s KILL "$train" || true; wait "$train" || status=$?; } 2>/dev/null
    train=''
    ((status != 0)) || die "$kind: ${1##*/} ended before it was killed" "use more rows or steps"
    ((status == 137)) || die "$kind: ${1##*/} ended with $status: $(tail -n 4 "$log")" "fix it first"
}

# WHAT EXPECTED FOUND
same() {
    [[ $2 == "$3" ]] || die "$1: the adapter is ${3:-missing}, not $2" "report it, with the commit"
    printf '%-40s %s ok\n' "$1" "$3"
}
