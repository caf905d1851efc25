# shellcheck shell=bash
# Sourced by Scripts/check-package, which sets work, scripts and model.

# KIND: builds Tests/Samples as it is in the last commit, from nothing, and runs its tests and programs; in debug those
# that need no model, since computing is slow there. The tests that need one are off by themselves.
samples() {
    local kind=$1 package=$work/samples-$1 log=$work/samples.log programs program count all=()
    [[ $kind == release ]] || all=(--no-model)
    cp -r "$work/skein/Tests/Samples" "$package"
    swift build -c "$kind" --build-tests --package-path "$package" >&2
    programs=$(swift build -c "$kind" --package-path "$package" --show-bin-path)
    swift test -c "$kind" --skip-build --package-path "$package" >"$log" 2>&1 ||
        die "$kind: the tests of Tests/Samples fail: $(grep -m 3 'recorded an issue' "$log")" "run them by hand"
    for program in Asking Shaping Calling Guarding; do
        SKEIN_MODEL=$model "$programs/$program" "${all[@]}" >"$log" 2>"$work/samples.errors" ||
            die "$kind: $program: $(tail -n 4 "$work/samples.errors")" "run it by hand: Tests/Samples/README.md"
        count=$(grep -c ': ok, ' "$log") || die "$kind: $program did nothing" "run it by hand: Tests/Samples/README.md"
        printf '%-40s %s ok\n' "$kind: samples of $program" "$count"
    done
    rm -rf "$package"
}

# PROGRAMS: runs the examples that talk to a model: a menu is one whatever the model, a chat answers and ends.
examples() {
    local log=$work/examples.log dishes
    "$1/Menu" "$model" 'A menu with fish' >"$log" 2>&1 || die "Menu: $(tail -n 4 "$log")" "run it by hand"
    dishes=$(grep -cE '^(starter|main|dessert): [A-Z].*, [0-9]+ euros' "$log") || true
    ((dishes == 3)) || die "Menu: $dishes dishes instead of 3: $(tail -n 4 "$log")" "read the guides of Card"
    printf 'Hello\n\n' | "$1/Chat" "$model" >"$log" 2>&1 || die "Chat: $(tail -n 4 "$log")" "run it by hand"
    (($(wc -c <"$log") > 10)) || die "Chat said nothing" "run it by hand"
    printf '%-40s %s ok\n' "examples" "Menu, Chat"
}
