#!/usr/bin/env python3
"""Says which ops of the dialect random programs never hold, but for those of LEFT_OUT; the programs are only drawn.

The ops are those of docs/reference/array.md, which another test keeps current.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import generate  # noqa: E402

REFERENCE = HERE.parents[1] / "docs" / "reference" / "array.md"
LEFT_OUT = {
    "attention_gradient": "--gradient makes it of attention, which is drawn; test/e2e/cases/fused_attention.py compares it",
    "custom_kernel": "its meaning is PTX that the program brings; test/e2e/cases/custom.py",
    "within": "-xc-array-resolve-extents makes it of device-bounded dims, which are drawn; nobody writes it",
}
# Enough for the rarest.
PROGRAMS = 2000


def main():
    ops = set(re.findall(r"^### `array\.([\w.]+)`", REFERENCE.read_text(), re.M))
    drawn = set()
    for seed in range(PROGRAMS):
        drawn.update(re.findall(r"\barray\.([a-z_0-9.]+)", generate.generate(seed).text()))
        if ops - drawn == set(LEFT_OUT):
            break
    problems = [f"no program holds array.{op}: draw it (test/graphfuzz/ops_*.py), or say in LEFT_OUT why not" for op in
                sorted(ops - drawn - set(LEFT_OUT))]
    problems += [f"array.{op} is in LEFT_OUT, but {'is drawn' if op in drawn else 'there is no such op'}"
                 for op in sorted(LEFT_OUT) if op in drawn or op not in ops]
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
