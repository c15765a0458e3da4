#!/usr/bin/env python3
"""What a repair of the same items costs in each language.

    bench.py --build-dir DIR --clients-dir DIR ITEMS.json [ITEMS.json ...]

Builds the packages as users get them, and prints a line of JSON for each language and file.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import json
import shutil
import subprocess
from pathlib import Path

from places import NODE, PYTHON

from building import build_node_package, build_wheel
from environments import Tools, add_node_package, add_wheel, install_tools

RUN_TIMEOUT = 300


def main() -> None:
    options = parse_options()
    tools = install_tools(options.build_dir, options.clients_dir)
    add_wheel(tools, build_wheel(tools))
    add_node_package(tools, build_node_package(tools))
    for language, command in benchmarks(tools).items():
        for items in options.items:
            measured = json.loads(output([*command, items]))
            print(json.dumps({"language": language, "history": items.stem, **measured}), flush=True)


def benchmarks(tools: Tools) -> dict[str, list[Path]]:
    """The programs that measure, by language. Node finds modules from where a program is."""
    in_node = tools.node_dir / "repair.bench.mjs"
    shutil.copy(NODE / "benches" / "repair.mjs", in_node)
    return {
        "python": [tools.python, PYTHON / "benches" / "repair.py"],
        "node": [tools.node, in_node],
    }


def output(command: list[Path]) -> str:
    ended = subprocess.run(
        command, timeout=RUN_TIMEOUT, check=True, stdout=subprocess.PIPE, text=True
    )
    return ended.stdout


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=resolved, required=True)
    parser.add_argument("--clients-dir", type=resolved, required=True)
    parser.add_argument("items", type=resolved, nargs="+", help="an array of items")
    return parser.parse_args()


def resolved(path: str) -> Path:
    return Path(path).resolve()


if __name__ == "__main__":
    main()
