"""Texts of array programs: what a function takes and gives, and a function around it that keeps state."""
import re
from typing import NamedTuple

from ._errors import Error


class Port(NamedTuple):
    """An input or result: its type, as in "tensor<2x3xf32>", and its attributes without braces ("" where it has none)."""

    type: str
    attributes: str

    @property
    def name(self):
        """Its `array.name`, or ""."""
        found = re.search(r'array\.name = "((?:[^"\\]|\\.)*)"', self.attributes)
        return found.group(1) if found else ""

    def having(self, attribute):
        """The same with one more attribute."""
        return Port(self.type, ", ".join(filter(None, [self.attributes, attribute])))

    def __str__(self):
        return f"{self.type} {{{self.attributes}}}" if self.attributes else self.type


def _scan(text, begin, stop):
    """The end of the piece that begins at `begin`: the first of the characters `stop` that no bracket and no string holds."""
    depth, place = 0, begin
    while place < len(text):
        char = text[place]
        if char == '"':
            place = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, place).end()
            continue
        if text.startswith("->", place):
            place += 2
            continue
        if depth == 0 and char in stop:
            return place
        depth += (char in "([{<") - (char in ")]}>")
        place += 1
    raise Error(f"expected one of '{stop}' behind '{text[begin:begin + 40]}'")


def _port(piece):
    piece = re.sub(r"^%[\w.$-]+\s*:\s*", "", piece.strip())
    kind, brace, attributes = piece.partition(" {")
    return Port(kind.partition(" loc(")[0].strip(), attributes.rpartition("}")[0].strip() if brace else "")


def _ports(text, begin):
    """([Port], the place behind ")") of a list in parentheses, of which `begin` is behind the first."""
    ports = []
    while True:
        end = _scan(text, begin, ",)")
        if text[begin:end].strip():
            ports.append(_port(text[begin:end]))
        if text[end] == ")":
            return ports, end + 1
        begin = end + 1


class Signature(NamedTuple):
    """What a function takes and gives."""

    inputs: list
    results: list


def _head(text, name):
    """The Signature of a function, and where its inputs and its results end and begin: behind "(", and before attributes or the body."""
    found = re.search(rf"func\.func (?:public |private )?@{re.escape(name)}\(", text)
    if not found:
        raise Error(f"the program has no function '{name}'")
    inputs, place = _ports(text, found.end())
    arrow = re.compile(r"\s*->\s*").match(text, place)
    if not arrow:
        return Signature(inputs, []), found.end(), place
    if text[arrow.end()] == "(":
        results, place = _ports(text, arrow.end() + 1)
        return Signature(inputs, results), found.end(), place
    place = _scan(text, arrow.end(), "{ \n")
    return Signature(inputs, [_port(text[arrow.end():place])]), found.end(), place


def signature(text, name="main"):
    """The Signature of a function in the text that xcompile prints. Raises Error where there is none of that name."""
    return _head(text, name)[0]


def types(ports):
    """Types of ports, as they stand behind a call."""
    return ", ".join(port.type for port in ports)


def returns(ports):
    """What stands behind a function's inputs."""
    return f" -> ({', '.join(map(str, ports))})" if ports else ""


def symbol(name):
    """A symbol's name as it is written behind "@"."""
    return name if re.fullmatch(r"[A-Za-z_][\w$.]*", name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def call(results, function, arguments, parts):
    """The line of a call: `results` is the name that its results get, `parts` the function's Signature."""
    count = len(parts.results)
    left = f"%{results}{f':{count}' if count > 1 else ''} = " if count else ""
    given = f"({types(parts.results)})" if count != 1 else parts.results[0].type
    return f"{left}func.call @{symbol(function)}({', '.join(arguments)}) : ({types(parts.inputs)}) -> {given}"


def result(results, index, count):
    """Result `index` of the `count` results of a call."""
    return f"%{results}#{index}" if count > 1 else f"%{results}"


def insert(text, lines):
    """The text with lines at the top of its module."""
    found = re.search(r"^module\b.*\{$", text, re.M)
    if not found:
        raise Error("expected a module")
    return text[:found.end()] + "\n" + "\n".join(lines) + text[found.end():]


def privatize(text, name, new):
    """The text with the function `name` private and called `new`."""
    return re.sub(rf"func\.func (?:public )?@{re.escape(name)}\(", f"func.func private @{symbol(new)}(", text, count=1)


def name_ports(text, inputs, results, name="main"):
    """The text with an `array.name` for each input and result of a function that has none. Its arguments are called %arg0, ..."""
    parts, begin, end = _head(text, name)

    def named(ports, names):
        return [port if port.name else port.having(f"array.name = {quote(name)}") for port, name in zip(ports, names)]
    return _with_head(text, begin, end, named(parts.inputs, inputs), named(parts.results, results))


def name_sizes(text, shapes, name="main"):
    """The text with `array.dims` for the inputs of a function: `shapes` has numbers, names, and what is no name, for each input."""
    parts, begin, end = _head(text, name)
    inputs = []
    for port, shape in zip(parts.inputs, shapes):
        names = [size if isinstance(size, str) and size.isidentifier() else "" for size in shape]
        inputs.append(port.having(f"array.dims = [{', '.join(map(quote, names))}]") if any(names) else port)
    return _with_head(text, begin, end, inputs, parts.results)


def _with_head(text, begin, end, inputs, results):
    arguments = ", ".join(f"%arg{i}: {port}" for i, port in enumerate(inputs))
    return f"{text[:begin]}{arguments}){returns(results)}{text[end:]}"


class Role(NamedTuple):
    """What an input of a function is: one of main's own ("input"), an external parameter, or the value of a variable."""

    kind: str
    key: str = ""


def keep_state(text, roles, updates, scope, initial):
    """A program whose function `main` keeps its state itself.

    `roles` has a Role for each input of the `main` of `text`; `updates`, for each of its results, the key of the variable whose new
    value it is, or None for a result of the new `main`. Parameters are read from the file `scope`. `initial` has the text of each
    variable's initial value, "" for zeros.
    """
    core = signature(text)
    if len(core.inputs) != len(roles) or len(core.results) != len(updates):
        raise Error(f"expected {len(roles)} inputs and {len(updates)} results, got {len(core.inputs)} and {len(core.results)}")
    own = [port for port, role in zip(core.inputs, roles) if role.kind == "input"]
    given = [(f"%r#{i}" if len(updates) > 1 else "%r", port) for i, (port, key) in enumerate(zip(core.results, updates)) if key is None]
    kinds = {role.key: port.type for port, role in zip(core.inputs, roles) if role.kind == "variable"}
    lines = [f"  array.variable @{symbol(key)} : {kind}" + (f" = {initial[key]}" if initial[key] else "") for key, kind in kinds.items()]
    named = ", ".join(f"%in{i}: {port}" for i, port in enumerate(own))
    lines.append(f"  func.func @main({named}){returns([port for _, port in given])} {{")
    arguments = []
    for port, role in zip(core.inputs, roles):
        number = len(arguments) if role.kind != "input" else sum(name.startswith("%in") for name in arguments)
        arguments.append(f"%in{number}" if role.kind == "input" else f"%s{number}")
        if role.kind == "parameter":
            lines.append(f"    %s{number} = array.parameter {quote(scope)}::{quote(role.key)} : {port.type}")
        elif role.kind == "variable":
            lines.append(f"    %s{number} = array.variable.read @{symbol(role.key)} : {port.type}")
    lines.append("    " + call("r", "stateless", arguments, core))
    for i, key in enumerate(updates):
        if key is not None:
            lines.append(f"    array.variable.assign @{symbol(key)}, {result('r', i, len(updates))} : {kinds[key]}")
    values = ", ".join(name for name, _ in given)
    lines += [f"    return {values} : {types([port for _, port in given])}" if given else "    return", "  }"]
    return insert(privatize(text, "main", "stateless"), lines)


def quote(name):
    """A string literal."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
