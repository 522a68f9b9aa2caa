#!/usr/bin/env python3
"""Draws the arena of a module's function over its commands, as SVG on standard output.

  scripts/arena-picture.py MODULE.vmfb [--function=main] [--target=cuda]

A column is a command, a rectangle is a buffer from the command that writes it to the last one that reads it, and its
height is its size. Only plans of static sizes can be drawn. xdump must be on the PATH.
"""
import argparse
import json
import subprocess
import sys
from xml.sax.saxutils import escape

STYLE = """<style>
  text { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: #1f2328; }
  .small { font-size: 11px; } .mid { text-anchor: middle; } .end { text-anchor: end; } .page { fill: #ffffff; }
  .grid { stroke: #d1d9e0; } .box { stroke: #59636e; }
  .b0 { fill: #ddf4ff; } .b1 { fill: #dafbe1; } .b2 { fill: #fff8c5; } .b3 { fill: #ffebe9; } .b4 { fill: #fbefff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .page { fill: #0d1117; } .grid { stroke: #3d444d; } .box { stroke: #9198a1; }
    .b0 { fill: #0c2d4a; } .b1 { fill: #0f3a20; } .b2 { fill: #3d2f00; } .b3 { fill: #4b1d1a; } .b4 { fill: #34205a; }
  }
</style>"""
LEFT, TOP, COLUMN, HEIGHT = 110, 60, 112, 260


def literal(value):
    if value["formula"] >= 0:
        sys.exit("arena-picture: the plan has sizes that are not static")
    return value["literal"]


def find_plan(module, function, kind):
    for candidate in module["functions"]:
        if candidate["name"] == function:
            for plan in candidate["plans"]:
                if str(module["targets"][plan["target"]]).lower().find(kind) >= 0:
                    return plan
    sys.exit(f"arena-picture: no plan of '{function}' for a target '{kind}'")


def find_buffers(plan):
    """[offset, bytes, first command, last command] of each buffer: from a write on until the last access of its bytes."""
    buffers = []
    for number, command in enumerate(plan["commands"]):
        if command["kind"] != "Dispatch":
            sys.exit(f"arena-picture: command {number} is no dispatch")
        dispatch = plan["dispatches"][command["ordinal"]]
        begin, count = dispatch["bindings"]["begin"], dispatch["bindings"]["count"]
        for binding in plan["bindings"][begin:begin + count]:
            if binding["space"] != "Arena":
                continue
            offset, size = literal(binding["offset"]), literal(binding["length"])
            known = [b for b in buffers if b[0] <= offset < b[0] + b[1]]
            if binding["access"] == "Read" and known:
                known[-1][3] = number
            else:
                buffers.append([offset, size, number, number])
    return buffers


def names(module, plan):
    """The name of the kernel of each command, without that of the function."""
    for command in plan["commands"]:
        variant = plan["variants"][plan["dispatches"][command["ordinal"]]["variants"]["begin"]]
        export = module["executables"][variant["executable"]]["exports"][variant["export_ordinal"]]
        yield export["name"].split("_", 1)[-1]


def draw(module, plan):
    arena = literal(plan["arena_size"])
    buffers, labels = find_buffers(plan), list(names(module, plan))
    width, height = LEFT + COLUMN * len(labels) + 20, TOP + HEIGHT + 50
    mib = 2 ** 20
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'role="img" aria-labelledby="t d">')
    yield '<title id="t">The arena of a plan over its commands</title>'
    yield f'<desc id="d">{len(buffers)} buffers share {arena / mib:g} MiB; a rectangle spans the commands that use a buffer.</desc>'
    yield STYLE
    yield f'<rect class="page" width="{width}" height="{height}"/>'
    scale = HEIGHT / arena
    for index, label in enumerate(labels):
        x = LEFT + index * COLUMN
        yield f'<text class="mid" x="{x + COLUMN / 2:g}" y="28">{index}</text>'
        yield f'<text class="small mid" x="{x + COLUMN / 2:g}" y="46">{escape(label)}</text>'
        yield f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{TOP + HEIGHT}"/>'
    yield f'<text class="end" x="{LEFT - 10}" y="28">command</text>'
    for step in range(int(arena // (mib / 2)) + 1):
        y = TOP + HEIGHT - step * mib / 2 * scale
        yield f'<line class="grid" x1="{LEFT}" y1="{y:g}" x2="{width - 20}" y2="{y:g}"/>'
        yield f'<text class="small end" x="{LEFT - 10}" y="{y + 4:g}">{step / 2:g} MiB</text>'
    for index, (offset, size, first, last) in enumerate(buffers):
        x, w = LEFT + first * COLUMN + 4, (last - first + 1) * COLUMN - 8
        y, h = TOP + HEIGHT - (offset + size) * scale, size * scale
        yield f'<rect class="box b{index % 5}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="3"/>'
        yield f'<text class="mid small" x="{x + w / 2:g}" y="{y + h / 2 + 4:g}">{size / mib:.4g} MiB at {offset / mib:.4g}</text>'
    total = sum(size for _, size, _, _ in buffers)
    yield (f'<text class="small" x="{LEFT}" y="{TOP + HEIGHT + 30}">{len(buffers)} buffers of {total / mib:.4g} MiB in an arena '
           f'of {arena / mib:.4g} MiB</text>')
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("--function", default="main")
    parser.add_argument("--target", default="cuda", help="a part of the target's name")
    arguments = parser.parse_args()
    dump = subprocess.run(["xdump", "--json", arguments.module], capture_output=True, text=True)
    if dump.returncode:
        sys.exit(dump.stderr.strip())
    module = json.loads(dump.stdout)
    print("\n".join(draw(module, find_plan(module, arguments.function, arguments.target))))


if __name__ == "__main__":
    main()
