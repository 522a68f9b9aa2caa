#!/usr/bin/env python3
"""Keeps the output that documentation pages show the output of the tools.

  scripts/walkthroughs.py            renews the blocks of every page
  scripts/walkthroughs.py --check    says which blocks are not what the tools print; exit code 1 if any
  scripts/walkthroughs.py PAGE...    only these pages (also with --check)

A page says in comments how its code blocks come about. One comment stands right before each block:

  <!-- file NAME -->           the block is the content of a file in the page's own folder
  <!-- shell -->               the block holds lines "$ COMMAND", each followed by what it prints
  <!-- shell keep=REGEX -->    the same, with only those lines of the output that match; a command that ends in
                               "# fails" may fail
  <!-- show FILE: A | B +2 -->  the first line that matches the regular expression A, then the next one that
                               matches B and the two lines behind it, and so on; FILE is one that a command
                               has written, or one of the repository. "..." stands for lines left out. ~A shows
                               what A matches instead of the whole line

and, anywhere,

  <!-- run COMMAND -->         runs a command without showing it
  <!-- picture FILE: COMMAND -->  the command prints what FILE of the repository holds, a picture that the page shows

Commands run in a folder of the page's own, with the tools on the PATH and, as CUDA driver, the stand-in. A
command that fails, and an expression that nothing matches, are errors in any case. Names of SSA values, of maps and
of registers may differ, since every change of the compiler renumbers them, and so may small errors such as 5.8e-10.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"^<!-- (file|shell|show|run|picture)\b ?(.*?) ?-->$")
WIDTH = 118


class Wrong(Exception):
    """What is wrong with a page, in a sentence."""


def pages():
    """The pages that have such comments."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
                           check=True, capture_output=True, text=True).stdout
    for name in sorted(set(filter(None, names.split("\0")))):
        if name.startswith("test/"):
            continue  # false on purpose
        if (ROOT / name).is_file() and any(map(COMMENT.match, (ROOT / name).read_text().splitlines())):
            yield name


def stable(lines):
    """The lines without what may differ."""
    text = "\n".join(line.rstrip() for line in lines)
    text = re.sub(r"%[\w#]+", "%_", text)
    text = re.sub(r"#map\d*", "#map", text)
    text = re.sub(r"\d[\d.]*e-\d+", "small", text)
    text = re.sub(r"\$L__BB\w+|\$L__tmp\w+", "$L", text)
    return re.sub(r" {2,}", " ", text)


def shorten(line):
    return line if len(line) <= WIDTH else line[:WIDTH].rstrip() + " ..."


def excerpt(text, patterns, where):
    """The lines of the text that a comment asks for."""
    lines, at, out = text.splitlines(), 0, []
    for pattern in patterns:
        match = re.fullmatch(r"(~?)(.*?)(?: \+(\d+))?", pattern.strip())
        expression, more = re.compile(match.group(2)), int(match.group(3) or 0)
        found = next((i for i in range(at, len(lines)) if expression.search(lines[i])), None)
        if found is None:
            raise Wrong(f"{where}: no line {'behind line ' + str(at) + ' ' if at else ''}matches '{match.group(2)}'")
        if match.group(1):
            out.append(expression.search(lines[found]).group())
            at = found + 1
            continue
        if found > at and out:
            indent = re.match(r"\s*", lines[found]).group()
            out.append(indent + "...")
        out += lines[found:found + more + 1]
        at = found + more + 1
    return [shorten(line) for line in textwrap.dedent("\n".join(out)).splitlines()]


class Page:
    """One page, and the folder in which its commands run."""

    def __init__(self, name, folder, build):
        self.name, self.folder = name, folder
        self.pictures = {}  # what they should be
        self.environment = dict(os.environ, LC_ALL="C", PATH=f"{build / 'bin'}{os.pathsep}{os.environ['PATH']}",
                                XC_SOURCE=str(ROOT),
                                XCR_CUDA_LIBRARY=str(build / "lib" / "libcuda_sim.so"), PTXSIM_ARCH="sm_90a")
        for name, value in (("CPATH", ROOT / "runtime" / "include"), ("LIBRARY_PATH", build / "lib"),
                            ("LD_LIBRARY_PATH", build / "lib")):
            self.environment[name] = str(value)

    def run(self, command, where, may_fail=False):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode and not may_fail:
            raise Wrong(f"{where}: '{command}' ended with {done.returncode}: {done.stdout.strip()[-400:]}")
        return done.stdout

    def find(self, name, where):
        for path in (pathlib.Path(self.folder) / name, ROOT / name):
            if path.is_file():
                return path.read_text(errors="replace")
        raise Wrong(f"{where}: there is no file '{name}'")

    def shell(self, block, argument, where):
        """The block again, each command followed by its output."""
        keep = re.match(r"keep=(.*)", argument)
        out, commands = [], re.findall(r"^\$ ((?:.*\\\n)*.*)$", "\n".join(block), re.M)
        for command in commands:
            out += ("$ " + command).splitlines()
            printed = self.run(command, where, may_fail=command.endswith("# fails"))
            out += [shorten(line.rstrip()) for line in printed.splitlines()
                    if not keep or re.search(keep.group(1), line)]
        if keep and len(out) == sum(command.count("\n") + 1 for command in commands):
            raise Wrong(f"{where}: no line of the output matches '{keep.group(1)}'")
        return out

    def renew(self):
        """The page's text with new blocks."""
        lines, out, at = (ROOT / self.name).read_text().splitlines(), [], 0
        while at < len(lines):
            match = COMMENT.match(lines[at])
            where = f"{self.name}:{at + 1}"
            out.append(lines[at])
            at += 1
            if not match:
                continue
            kind, argument = match.groups()
            if kind == "run":
                self.run(argument, where)
                continue
            if kind == "picture":
                name, _, command = argument.partition(": ")
                self.pictures[name] = self.run(command, where)
                continue
            if at >= len(lines) or not lines[at].startswith("```"):
                raise Wrong(f"{where}: expected a code block behind this comment")
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), None)
            if end is None:
                raise Wrong(f"{where}: the code block has no end")
            block = lines[at + 1:end]
            if kind == "file":
                path = pathlib.Path(self.folder) / argument
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(block) + "\n")
                new = block
            elif kind == "shell":
                new = self.shell(block, argument, where)
            else:
                name, _, patterns = argument.partition(": ")
                new = excerpt(self.find(name, where), patterns.split(" | "), where)
            # What differs in names alone stays.
            out += [lines[at], *(block if stable(block) == stable(new) else new), lines[end]]
            at = end + 1
        return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="*")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev", help="build tree with the tools")
    arguments = parser.parse_args()
    wrong = 0
    for name in arguments.page or pages():
        with tempfile.TemporaryDirectory() as folder:
            page = Page(str(pathlib.Path(name)), folder, arguments.build.resolve())
            try:
                made = {page.name: page.renew(), **page.pictures}
            except Wrong as reason:
                print(reason)
                wrong += 1
                continue
        for file, new in made.items():
            old = (ROOT / file).read_text() if (ROOT / file).is_file() else ""
            if old == new:
                continue
            if arguments.check:
                print("\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), file, "what the tools print",
                                                     lineterm="")))
                wrong += 1
            else:
                (ROOT / file).write_text(new)
                print(f"renewed {file}")
    if arguments.check and wrong:
        print(f"{wrong} files do not show what the tools print: read the difference, then run scripts/walkthroughs.py")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
