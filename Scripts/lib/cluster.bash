# shellcheck shell=bash
# Sourced by demo, check-package and bench-peers: processes that end with their script.
# shellcheck source=Scripts/lib/prepare.bash
source "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"
declare -A pids=()
trap 'end_all' EXIT
trap 'exit 130' INT TERM

die() {
    printf 'error: %s\n  fix: %s\n' "$1" "$2" >&2
    exit 1
}

# NAME LOG WORDS...: a process in the background; nobody but `end` and `end_all` signals it. Its log is there and
# empty at once, for whoever reads it: the child may start later than that.
start() {
    : >"$2"
    "${@:3}" </dev/null >>"$2" 2>&1 &
    pids[$1]=$!
}

# SIGNAL NAME: signals a process and waits until it is gone; its status is what it ended with.
end() {
    local pid=${pids[$2]-} status=0
    [[ -n $pid ]] || return 0
    { kill -s "$1" "$pid" || true; } 2>/dev/null
    { wait "$pid" || status=$?; } 2>/dev/null
    unset "pids[$2]"
    return "$status"
}

end_all() {
    local name
    for name in "${!pids[@]}"; do end KILL "$name" || true; done
}

# NAME LOG PATTERN: waits until a process has written a line like that.
await() {
    until grep -sqE -e "$3" "$2"; do
        kill -s 0 "${pids[$1]}" 2>/dev/null || grep -sqE -e "$3" "$2" ||
            die "$1 has ended before '$3'; its last lines: $(tail -n 4 "$2")" "read $2"
        sleep 0.05
    done
}

# DIRECTORY: the hash that a run ends with.
adapter_hash() {
    sha256sum "$1/adapter/adapter_model.safetensors" | cut -d ' ' -f 1
}
