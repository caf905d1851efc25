# shellcheck shell=bash
# Sourced by Scripts/check-package, which sets work, built, scripts, skein and model; served is for its trap.

# KIND: builds docs/examples/router as it is in the last commit, runs its tests, and asks it with a real skein serve
# that answers and then is gone.
router() {
    local kind=$1 package=$work/router log=$work/router.log program url tests rounds=6000
    cp -r "$work/skein/docs/examples/router" "$package"
    swift build -c "$kind" --package-path "$package" --scratch-path "$built" --build-tests >&2
    swift test -c "$kind" --package-path "$package" --scratch-path "$built" --skip-build >"$log" 2>&1 ||
        die "$kind: the router's tests fail: $(grep -m 3 'recorded an issue' "$log")" "run them by hand"
    tests=$(sed -n 's/.*Test run with \([0-9]*\) tests.*/\1/p' "$log" | tail -n 1)
    ((tests > 40)) || die "$kind: the router has $tests tests" "see what swift test found"
    program=$(swift build -c "$kind" --package-path "$package" --scratch-path "$built" --show-bin-path)/Router

    "$skein" serve --model "$model" --name house --listen 127.0.0.1:0 >"$work/serve.log" 2>&1 &
    served=$!
    until url=$(grep -o -m 1 'http://127[0-9.:]*' "$work/serve.log"); do
        { kill -s 0 "$served" 2>/dev/null && ((--rounds)); } ||
            die "skein serve has not begun: $(tail -n 2 "$work/serve.log")" "fix it first"
        sleep 0.05
    done
    ask 'What is an eel?' '/use local' 'Where does it live?' '/routes'
    routed 'house answered, asked because it is preferred'
    routed 'local answered, asked because you chose it'
    ask '/private' 'Is it a fish?' '/routes'
    routed 'house answered, asked because it is preferred'
    kill -s KILL "$served"
    { wait "$served" || true; } 2>/dev/null
    served=''
    ask 'And what does it eat?' '/routes'
    routed '^\[house has not answered: '
    routed 'local answered, asked because it is number 2 in preference'
    (($(grep -c '"question"' "$work/talk.json") == 4)) && grep -q '"isPrivate" : true' "$work/talk.json" ||
        die "Router: the conversation is not in its file" "read ConversationFile"
    printf '%-40s %s ok\n' "$kind: router" "$tests tests, a server that is killed"
    rm -rf "$package"
}

# LINE...: says them to the router, whose conversation goes on where it was. A proxy gets nothing that is for this
# machine.
ask() {
    printf '%s\n' "$@" '' | http_proxy=http://127.0.0.1:9 all_proxy=http://127.0.0.1:9 "$program" \
        --server "house=$url/v1" --server-model house --model "$model" --answer-tokens 16 \
        --conversation "$work/talk.json" >"$log" 2>&1 ||
        die "Router: $(tail -n 4 "$log")" "run it by hand"
}

# PATTERN
routed() {
    grep -q "$1" "$log" || die "Router: no '$1' in: $(tail -n 6 "$log")" "run it by hand"
}
