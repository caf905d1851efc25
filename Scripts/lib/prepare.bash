# shellcheck shell=bash
# Sourced by scripts that start programs on the demo's model and data.
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Installs, fetches and builds what is missing; sets model, pairs and skein (SKEIN names an existing program, MODEL
# another model).
prepare() {
    "$scripts/setup"
    model=${MODEL-}
    [[ -n $model ]] || model=$("$scripts/fetch-model" | tail -n 1)
    pairs=$("$scripts/fetch-data" | tail -n 1)
    skein=${SKEIN-}
    [[ -z $skein ]] || return 0
    # Together with skein-fetch, which --model ORG/NAME needs, in what a person tries next.
    skein=$("$scripts/build" | tail -n 1)
}

# Sets lab: the skein-lab beside skein, which measures it and kills its processes (SKEIN_LAB names another).
find_lab() {
    lab=${SKEIN_LAB:-$(dirname "$(realpath "$skein")")/skein-lab}
    [[ -x $lab ]] || die "there is no $lab" "run Scripts/build, or name a skein-lab in SKEIN_LAB"
}

die() {
    printf 'error: %s\n  fix: %s\n' "$1" "$2" >&2
    exit 1
}

# WORDS...: runs a program; a signal to the script also ends the program and what it has started.
run() {
    local status=0
    # Before the program starts, which may be signalled at once; `$!` is known as soon as there is one.
    trap 'kill ${!-} 2>/dev/null; wait ${!-} || true; exit 130' INT
    trap 'kill ${!-} 2>/dev/null; wait ${!-} || true; exit 143' TERM
    "$@" &
    wait $! || status=$?
    trap - INT TERM
    return "$status"
}

# FIRST LAST: puts these pairs into a file that is removed with the script's end; sets rows.
rows() {
    rows=$(mktemp "${TMPDIR:-/tmp}/skein-rows.XXXXXX.jsonl")
    trap 'rm -f "$rows"' EXIT
    sed -n "$1,$2p" "$pairs" >"$rows"
}
