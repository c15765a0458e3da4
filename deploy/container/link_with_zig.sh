#!/usr/bin/env bash
# Links with Zig for the platform ZIG_TARGET, in place of the linker of cargo-zigbuild. Joins
# `-u SYMBOL`, with which rustc links the counters of an instrumented build: Zig takes SYMBOL for a
# file (https://github.com/rust-cross/cargo-zigbuild/issues/315).
set -euo pipefail

arguments=()
while [[ $# -gt 0 ]]; do
    if [[ "$1" == -u && $# -gt 1 ]]; then
        arguments+=("-Wl,-u,$2")
        shift
    else
        arguments+=("$1")
    fi
    shift
done
exec cargo-zigbuild zig cc -- -g -fno-sanitize=all -target "$ZIG_TARGET" "${arguments[@]}"
