# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by Scripts/nightly, which sets scripts: what it runs, and what it reads about that.

# A command line as a person types it, where @ is the seed; behind # what it needs beyond what it installs itself:
# programs, files, or root. How long it takes is said in its script's first lines, once.
entries=(
    "Scripts/api-table --check              # .build/release/Modules/Skein.swiftmodule"
    "SEED=@ Scripts/chaos 1"
    "Scripts/check-adapters --seed @"
    "Scripts/check-arm --mutations"
    "Scripts/check-chat-page                # chromium"
    "Scripts/check-clients                  # curl"
    "Scripts/check-completions"
    "Scripts/check-damage --minutes 1 --seed @"
    "Scripts/check-families --seed @"
    "Scripts/check-fuse --seed @"
    "Scripts/check-gemma"
    "Scripts/check-generable --seed @       # pkg-config"
    "Scripts/check-grammar --seed @"
    "Scripts/check-hashes"
    "Scripts/check-hub                      # openssl unshare"
    "Scripts/check-large"
    "Scripts/check-load 3"
    "Scripts/check-macros --seed @"
    "Scripts/check-mlflow"
    "Scripts/check-newcomer"
    "Scripts/check-package debug"
    "Scripts/check-page                     # chromium promtool prometheus"
    "Scripts/check-parquet"
    "Scripts/check-peft"
    "Scripts/check-planted"
    "Scripts/check-release                  # root debootstrap"
    "Scripts/check-report                   # chromium"
    "Scripts/check-simulation 60 @"
    "Scripts/check-slow-links               # root ip tc"
    "Scripts/check-status"
    "Scripts/check-syscalls --part 1/10 --seed @ # cc"
    "Scripts/check-templates"
    "Scripts/check-tensorboard"
    "Scripts/check-tokenizers --seed @"
    "Scripts/check-torchrun"
    "Scripts/check-trl @"
    "Scripts/check-vllm"
    "Scripts/recovery 50 --seed @"
    "SEED=@ Scripts/soak-serve 10"
    "SKEIN_TEST_FIRST_SEED=1 Scripts/test --filter SkeinSimulationTests.SimulationTests"
    "Scripts/test-cluster                   # root"
)

# Reads the entries into these, by name.
names=()
declare -A commands needs minutes bounds

# Fails if a script is missing on either side, or does not say how long it takes.
read_entries() {
    local entry name script file
    for entry in "${entries[@]}"; do
        read -r script <<<"${entry%%#*}"
        [[ $script =~ Scripts/([^ ]+) ]]
        name=${BASH_REMATCH[1]}
        names+=("$name") commands[$name]=$script needs[$name]=''
        [[ $entry != *#* ]] || read -r "needs[$name]" <<<"${entry#*#}"
        [[ -x $scripts/$name ]] || die "there is no Scripts/$name" "take it out of Scripts/lib/nightly.bash"
        read_minutes "$name"
    done
    for file in "$scripts"/check-*; do
        name=${file##*/}
        [[ $name == *.py || -n ${commands[$name]-} ]] ||
            die "Scripts/$name would not run at night" "add a line for it to Scripts/lib/nightly.bash"
    done
}

# NAME: how long its script says that it takes: "Takes about 5 minutes", measured, or "Takes up to 30 minutes", a bound;
# ", with --quick about 3" is how long it takes with these words.
read_minutes() {
    local line words
    line=$(sed -n '1,15{/^# Takes /{p;q}}' "$scripts/$1")
    words=$(sed 's|^.*Scripts/[^ ]*||; s| --seed @||; s| @||; s|^ ||' <<<"${commands[$1]}")
    [[ $line =~ ^'# Takes '(about|up to)' '([0-9]+)' minute' ]] ||
        die "Scripts/$1 does not say how long it takes" 'put "# Takes about 5 minutes on 2 cores." at its top'
    bounds[$1]=${BASH_REMATCH[1]} minutes[$1]=${BASH_REMATCH[2]}
    [[ -n $words && $line =~ ', with '$words' '(about|up to)' '([0-9]+) ]] || return 0
    bounds[$1]=${BASH_REMATCH[1]} minutes[$1]=${BASH_REMATCH[2]}
}

# NAME: prints what it needs and is not here.
missing() {
    local need
    for need in ${needs[$1]}; do
        if [[ $need == root ]]; then
            [[ $(id -u) == 0 ]] || echo root
        else
            [[ -e $need ]] || command -v "$need" >/dev/null || echo "$need"
        fi
    done
}

# BASE NAME: prints a number from 1 to 999999999, which every check takes; "-" if it takes none.
seed_of() {
    [[ ${commands[$2]} == *@* ]] || { echo - && return; }
    local digest
    digest=$(printf '%s %s' "$1" "$2" | sha256sum)
    echo $((16#${digest:0:8} % 999999999 + 1))
}

# GROUP MARK: prints the ids of what a check has left: its process group, and what has gone from that and has the mark
# in its environment, as a browser has. A process that is dead and that nobody has waited for does not count.
remains() {
    {
        sed -n "s|^\([0-9]*\) (.*) [^ZX] [0-9]* $1 .*|\1|p" /proc/[0-9]*/stat
        grep -lszxF "SKEIN_NIGHTLY=$2" /proc/[0-9]*/environ | cut -d / -f 3
    } 2>/dev/null | sort -u
}

# GROUP MARK END: ends what is left: TERM, and KILL once SECONDS is END. Sets strays, how many processes there were.
end_rest() {
    local ids signal=TERM
    strays=0
    # Ctrl-C must not end the search.
    while mapfile -t ids < <(trap '' INT && remains "$1" "$2") && ((${#ids[@]})); do
        ((strays)) || strays=${#ids[@]}
        ((SECONDS < $3)) || signal=KILL
        [[ -z $signal ]] || kill -s "$signal" "${ids[@]}" 2>/dev/null || true
        # What is stopped hears TERM only then.
        [[ $signal != TERM ]] || kill -s CONT "${ids[@]}" 2>/dev/null || true
        signal=''
        sleep 0.2 || true
    done
}
