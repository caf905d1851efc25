# shellcheck shell=bash
# Sourced by Scripts/check-package, which sets work, built, scripts and model.

# KIND: builds Tests/Samples as it is in the last commit and runs its tests and programs; in debug those
# that need no model, since computing is slow there. The tests that need one are off by themselves.
samples() {
    local kind=$1 package=$work/samples-$1 log=$work/samples.log programs program count all=()
    [[ $kind == release ]] || all=(--no-model)
    cp -r "$work/skein/Tests/Samples" "$package"
    swift build -c "$kind" --build-tests --package-path "$package" --scratch-path "$built" >&2
    programs=$(swift build -c "$kind" --package-path "$package" --scratch-path "$built" --show-bin-path)
    swift test -c "$kind" --skip-build --package-path "$package" --scratch-path "$built" >"$log" 2>&1 ||
        die "$kind: the tests of Tests/Samples fail: $(grep -m 3 'recorded an issue' "$log")" "run them by hand"
    for program in Asking Shaping Calling Guarding; do
        SKEIN_MODEL=$model "$programs/$program" "${all[@]}" >"$log" 2>"$work/samples.errors" ||
            die "$kind: $program: $(tail -n 4 "$work/samples.errors")" "run it by hand: Tests/Samples/README.md"
        count=$(grep -c ': ok, ' "$log") || die "$kind: $program did nothing" "run it by hand: Tests/Samples/README.md"
        printf '%-40s %s ok\n' "$kind: samples of $program" "$count"
    done
    rm -rf "$package"
}

# PROGRAMS: answers with the adapters of two runs in turns, on one copy of the weights, and compares the loss of each on
# rows that it has not seen with skein evaluate's, digit by digit.
adapters() {
    local log=$work/adapters.log held=$work/held.jsonl seed loss one turns
    sed -n '2201,2220p' "$pairs" >"$held"
    "$1/Adapters" "$model" "$held" "$work/release-0/adapter" "$work/release-1/adapter" >"$log" 2>&1 ||
        die "Adapters: $(tail -n 4 "$log")" "run it by hand"
    for seed in 0 1; do
        loss=$("$skein" evaluate --model "$model" --adapter "$work/release-$seed/adapter" --data "$held" \
            --max-length 64 --json 2>"$work/evaluate.log" |
            sed -n 's/.*"adapter":{"loss":\([0-9.e-]*\),.*/\1/p') || true
        [[ -n $loss ]] || die "skein evaluate: $(tail -n 2 "$work/evaluate.log")" "run it by hand"
        same "release: held-out loss of adapter $seed" "$loss" "$(sed -n "s/^loss of $seed: //p" "$log")"
    done
    one=$(sed -n 's/^resident with 1: //p' "$log")
    turns=$(sed -n 's/^resident with 2: //p' "$log")
    [[ $one$turns =~ ^[0-9]{10,}$ ]] || die "Adapters says no sizes: $(tail -n 4 "$log")" "read Adapters.swift"
    # A second copy of the weights would be half as much again; what threads keep of what they have freed is 8 % of it where
    # both cores are busy with something else.
    ((turns * 100 <= one * 120)) || die "two adapters take $turns bytes, one $one" "see what HostedAdapters keeps"
    printf '%-40s %s MiB with one, %s with two in turns: ok\n' "release: two adapters" $((one >> 20)) $((turns >> 20))
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
