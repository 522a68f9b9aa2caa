#!/usr/bin/env python3
"""Compares Targets.inl with ptxas: each form must be taken on its target with its version, and on none before.

    check-targets.py [PTXAS]

For whoever adds an instruction, or has a newer ptxas. The last line is "N passed, N failed, 0 skipped".
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TARGETS = {"sm_75": 63, "sm_80": 70, "sm_86": 71, "sm_89": 78, "sm_90": 78, "sm_90a": 80}
VERSIONS = (63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)
TEXT = """.version {major}.{minor}
.target {target}
.address_size 64
.visible .entry k(.param .u64 a) {{
  .reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>; .reg .f64 %d<16>; .reg .b16 %h<16>;
  .shared .align 128 .b8 s[2048]; .shared .align 8 .b64 m;
  {body}
  ret;
}}
"""


def taken(ptxas, body, target, version):
    # One form a module: what is wrong with one hides what is wrong with others.
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(TEXT.format(major=version // 10, minor=version % 10, target=target, body=body))
        file.flush()
        done = subprocess.run([ptxas, f"-arch={target}", file.name, "-o", "/dev/null"], capture_output=True)
    return done.returncode == 0


def problem(ptxas, body, target, version):
    if not taken(ptxas, body, target, version):
        return "is refused there"
    names = list(TARGETS)
    if (place := names.index(target)) and taken(ptxas, body, names[place - 1], VERSIONS[-1]):
        return f"is taken for {names[place - 1]}"
    before = max((v for v in VERSIONS if v < version), default=0)
    if before >= TARGETS[target] and taken(ptxas, body, target, before):
        return f"is taken with version {before}"
    return None


def main():
    ptxas = sys.argv[1] if len(sys.argv) > 1 else "ptxas"
    text = (pathlib.Path(__file__).parent / "Targets.inl").read_text()
    rows = re.findall(r'^\s*\{"(.*)", "(sm_\w+)", (\d+)\},$', text, re.M)
    failed = 0
    for body, target, version in rows:
        if what := problem(ptxas, body, target, int(version)):
            print(f"FAILED {body} ({target}, {version}): {what}")
            failed += 1
    print(f"{len(rows) - failed} passed, {failed} failed, 0 skipped")
    return not rows or failed != 0


if __name__ == "__main__":
    sys.exit(main())
