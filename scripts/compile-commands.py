#!/usr/bin/env python3
#===- compile-commands.py - How each source of a build tree is compiled -------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Writes a compile_commands.json with an entry for each source, for clangd and clang-tidy: where several are compiled at a time (XC_UNITY), CMake's has
only the files that include them.

    scripts/compile-commands.py build/dev .      # into this folder
"""
import json
import pathlib
import re
import sys


def entries_of(entry):
    """One of CMake's entries as one for each source."""
    sources = [entry["file"]]
    if "/Unity/" in entry["file"]:
        sources = re.findall(r'^#include "(.*)"$', pathlib.Path(entry["file"]).read_text(), flags=re.M)
    for source in sources:
        yield {**entry, "file": source, "command": entry["command"].replace(entry["file"], source)}


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: compile-commands.py BUILD_TREE FOLDER")
    tree, folder = map(pathlib.Path, sys.argv[1:])
    database = tree / "compile_commands.json"
    if not database.exists():
        sys.exit(f"compile-commands.py: '{tree}' is no build tree: it has no compile_commands.json")
    folder.mkdir(parents=True, exist_ok=True)
    found = [made for entry in json.loads(database.read_text()) for made in entries_of(entry)]
    (folder / "compile_commands.json").write_text(json.dumps(found, indent=1))


main()
