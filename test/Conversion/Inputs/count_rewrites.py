"""Prints how often a pass of xc-opt tries a pattern, for chains of several lengths."""
import subprocess
import sys


def chain(length):
    lines = ["func.func @main(%x0: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {"]
    for i in range(length):
        lines.append(f"  %x{i + 1} = array.add %x{i}, %y : tensor<?x8xf32>")
    return "\n".join([*lines, f"  return %x{length} : tensor<?x8xf32>", "}"])


def count_rewrites(flag, length, log):
    subprocess.run(["xc-opt", "-", flag, f"--log-actions-to={log}", "-o", "/dev/null"],
                   input=chain(length), text=True, check=True, stdout=subprocess.DEVNULL)
    with open(log) as lines:
        return sum("begins" in line and "apply-pattern" in line for line in lines)


flag, log = sys.argv[1:]
counts = [count_rewrites(flag, length, log) for length in (50, 100, 150)]
if counts[0] < 50:
    sys.exit(f"expected a rewrite or more for each op, got {counts}")
steps = [after - before for before, after in zip(counts, counts[1:])]
print("each op costs the same" if steps[0] == steps[1] else f"later ops cost more: {counts}")
