# shellcheck shell=bash disable=SC2034
# Sourced by scripts that build: the flags of every build in .build. With other flags, SwiftPM builds everything again.
# With -enable-testing tests see what a room keeps for itself, so that one build serves the demo, the tests and the checks.
flags=(-c release -Xswiftc -enable-testing --explicit-target-dependency-import-check error)
