#===- kernel_image.py - Read compiled kernel modules --------------------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Reads `plan.image` and `plan.exports` out of the text that xc-opt prints.

As a program: writes the PTX of all modules on stdin to stdout, for FileCheck and ptxas."""
import re
import sys


def unescape(text):
    return re.sub(r'\\([0-9A-Fa-f]{2}|["\\])', lambda m: m[1] if m[1] in '"\\' else chr(int(m[1], 16)), text)


def find_images(text):
    return [unescape(m) for m in re.findall(r'plan\.image = "((?:[^"\\]|\\.)*)"', text)]


class Formula:
    """A formula without functions: `s0 ceildiv 4`, `s0 * s1 + 3`."""

    def __init__(self, text):
        self.tokens = re.findall(r"\d+|s\d+|floordiv|ceildiv|mod|[-+*()]", text)

    def evaluate(self, symbols):
        self.position, self.symbols = 0, symbols
        return self.sum()

    def take(self, *choices):
        if self.position < len(self.tokens) and self.tokens[self.position] in choices:
            self.position += 1
            return self.tokens[self.position - 1]
        return None

    def sum(self):
        value = self.product()
        while operator := self.take("+", "-"):
            other = self.product()
            value = value + other if operator == "+" else value - other
        return value

    def product(self):
        value = self.factor()
        while operator := self.take("*", "floordiv", "ceildiv", "mod"):
            other = self.factor()
            value = {"*": lambda: value * other, "floordiv": lambda: value // other,
                     "ceildiv": lambda: -(-value // other), "mod": lambda: value % other}[operator]()
        return value

    def factor(self):
        if self.take("("):
            value = self.sum()
            self.take(")")
            return value
        if self.take("-"):
            return -self.factor()
        token = self.tokens[self.position]
        self.position += 1
        return self.symbols[int(token[1:])] if token[0] == "s" else int(token)


def split_top(text):
    """Splits at the commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def expand_aliases(text):
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    for _ in range(3):
        text = re.sub(r"#\w+\b", lambda m: aliases.get(m[0], m[0]), text)
    return text


def find_exports(text):
    """One dictionary for each kernel, in the order of trial."""
    text = expand_aliases(re.sub(r'plan\.image = "(?:[^"\\]|\\.)*"', "", text))
    exports = []
    starts = [m.start() for m in re.finditer(r"\{(?:config|guards|launch) = ", text)]
    for begin, end in zip(starts, starts[1:] + [len(text)]):
        entry = text[begin:end]
        name = re.search(r'\bname = "([^"]*)"', entry)
        launch = re.search(r"launch_config<grid = \[([^\]]*)\], block = \[([^\]]*)\], "
                           r"cluster = \[([^\]]*)\], shared = (\d+)", entry)
        if not name or not launch:
            continue
        parameters = re.search(r"parameters = (\[(?:\[[^\]]*\](?:, )?)*\])", entry)
        exports.append({
            "name": name[1],
            "grid": [Formula(part) for part in split_top(launch[1])],
            "block": [int(n) for n in launch[2].split(",")],
            "cluster": [int(n) for n in launch[3].split(",")],
            "shared": int(launch[4]),
            "parameters": [(kind, int(n)) for kind, n in re.findall(r'\["(\w+)", (\d+)\]', parameters[1])],
            "guards": [(Formula(value), int(low), int(high), int(divisor)) for value, low, high, divisor in re.findall(
                r"value_guard<([^,]*), min = (\d+), max = (\d+), divisor = (\d+)>",
                entry)],
            "config": re.search(r"#cuda\.[a-z_]+<[^>]*>|#cuda<[^>]*>+", entry)[0],
        })
    return exports


def holds(export, scalars):
    values = [(guard[0].evaluate(scalars), guard) for guard in export["guards"]]
    return all(low <= value <= high and value % divisor == 0 for value, (_, low, high, divisor) in values)


if __name__ == "__main__":
    sys.stdout.write("\n".join(find_images(sys.stdin.read())))
