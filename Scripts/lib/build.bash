# shellcheck shell=bash disable=SC2034,SC2154
# The flags of every build in .build; Scripts/lib/prepare.bash sources it. With other flags, SwiftPM builds everything
# again. With -enable-testing tests see what a room keeps for itself, so that one build serves the demo, the tests and
# the checks.
flags=(-c release -Xswiftc -enable-testing --explicit-target-dependency-import-check error)

# ROOMS WORDS...: builds the tests of these rooms, and runs those that WORDS of swift test choose.
test_rooms() {
    export SKEIN_ROOMS=$1
    cd "$root" || return
    swift build "${flags[@]}" --product skeinPackageTests >&2
    swift test "${flags[@]}" --skip-build "${@:2}"
}

# BIN: sets maps, the flags by which swiftc finds the C modules of a build.
find_module_maps() {
    local map
    maps=()
    for map in "$1"/CSkein*.build/module.modulemap "$root"/Sources/CSkein*/module.modulemap; do
        # Those of the build for programs that the build runs are the same modules again.
        [[ $map == *-tool.build/* ]] || maps+=(-Xcc "-fmodule-map-file=$map")
    done
}
