#!/usr/bin/env bash
# Builds `antiphon` for Linux, linked statically with musl, on any machine with Rust and Python:
#
#   build_binary.sh [--optimized] [x86_64-unknown-linux-musl | aarch64-unknown-linux-musl]
#
# With --optimized, it builds twice: a load on the first build shows the second one which code turns
# execute most. This needs a machine of the target, and `llvm-profdata` (cargo xtask optimize).
#
# The C compiler and the linker are Zig's, from the package `ziglang` of PyPI. pip installs it into
# the environment of the `python3` in the PATH. Prints the path of the binary as its last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

optimized=
if [[ "${1:-}" == --optimized ]]; then
    optimized=1
    shift
fi
if [[ $# -gt 1 ]]; then
    echo "error: unexpected argument: $2" >&2
    exit 2
fi
target="${1:-$(uname -m)-unknown-linux-musl}"
case "$target" in
x86_64-unknown-linux-musl | aarch64-unknown-linux-musl) ;;
*)
    echo "error: $target is no target of the container: use x86_64- or aarch64-unknown-linux-musl" >&2
    exit 2
    ;;
esac
if [[ -n "$optimized" && "$target" != "$(uname -m)"-* ]]; then
    echo "error: --optimized needs a machine of $target, because it runs the first build" >&2
    exit 2
fi

if command -v rustup >/dev/null; then
    rustup target add "$target"
fi
# Kernels for ARM have pages of 4, 16 or 64 KiB, and jemalloc runs on those up to the size that it is
# built for. A build on such a machine would take the machine's own.
if [[ "$target" == aarch64-* ]]; then
    export JEMALLOC_SYS_WITH_LG_PAGE=16
fi
python3 -m pip install --quiet cargo-zigbuild==0.24.0 ziglang==0.17.1
if [[ -n "$optimized" ]]; then
    linker="CARGO_TARGET_$(tr a-z- A-Z_ <<<"$target")_LINKER"
    export "$linker=$PWD/deploy/container/link_with_zig.sh"
    export ZIG_TARGET="${target%%-*}-linux-musl"
    cargo xtask optimize --zig --target "$target"
else
    cargo zigbuild --release --locked --package antiphon-cli --target "$target"
    echo "${CARGO_TARGET_DIR:-target}/$target/release/antiphon"
fi
