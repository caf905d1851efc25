# shellcheck shell=bash
# Sourced by chaos: what can happen to a cluster, and when.

committed() {
    local count
    count=$(grep -c '"loss_tokens"' "$run/metrics.jsonl" 2>/dev/null) || true
    echo "${count:-0}"
}

# LEAST MOST: waits for so many steps more, drawn from the seed, and then for a moment within a step.
at_step() {
    local goal
    goal=$(($(committed) + $1 + RANDOM % ($2 - $1 + 1)))
    until (($(committed) >= goal)); do
        kill -s 0 "${pids[coordinator]}" 2>/dev/null || die "$title: it ended before step $goal" "read $run.*.log"
        sleep 0.05
    done
    sleep "0.$((RANDOM % 90 + 10))"
}

kill_worker() {
    end KILL "$1" || true
}

kill_coordinator() {
    end KILL coordinator || true
}

# NAME SECONDS: longer than a silence that counts as a loss.
stop_worker() {
    kill -s STOP "${pids[$1]}"
    sleep "$2"
    kill -s CONT "${pids[$1]}"
    grep -q "$1.*silent" "$log" || die "$title: nobody noticed the silence of $1" "read $log"
}
