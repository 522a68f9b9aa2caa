"""Runs each pass of xcompile alone on a file; names those that end by a signal."""
import re
import subprocess
import sys

NEEDED_PASSES = 50  # fewer, and the help is not read any more


def list_passes():
    text = subprocess.run(["xc-opt", "--help"], capture_output=True, text=True, check=True).stdout
    section = text.split("Pass Pipelines:")[0]
    return sorted(set(re.findall(r"^ +--(xc-[a-z0-9-]+)", section, re.MULTILINE)))


passes = list_passes()
if len(passes) < NEEDED_PASSES:
    sys.exit(f"expected at least {NEEDED_PASSES} passes, got {passes}")
crashed = 0
for name in passes:
    result = subprocess.run(["xc-opt", sys.argv[1], "-split-input-file", f"-{name}", "-o", "/dev/null"],
                            capture_output=True, text=True)
    if result.returncode < 0:
        crashed += 1
        print(f"-{name} ended by signal {-result.returncode}")
print(f"{len(passes)} passes run, {crashed} of them crashed")
