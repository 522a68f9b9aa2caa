"""What the command lines of xcompile.jax, xcompile.torch and xcompile.onnx share."""
import argparse
import importlib
import os
import sys

from ._compile import CompileError
from ._errors import Error


def resolve(text):
    """The object that "package.module:name" names; modules are looked for in the working directory, too."""
    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise Error(f"expected MODULE:NAME, got '{text}'")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0] and error.name != module:
            raise
        raise Error(f"there is no module '{module}'") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise Error(f"module '{module}' has no '{name}'")
        found = getattr(found, part)
    return found


def call(text, what):
    """What the function that `text` names returns: `what`."""
    function = resolve(text)
    if not callable(function):
        raise Error(f"expected '{text}' to be a function that returns {what}, got {type(function).__name__}")
    return function()


def parser(door, what, description):
    """A parser with what all doors take."""
    result = argparse.ArgumentParser(prog=f"python -m xcompile.{door}", description=description)
    result.add_argument("source", metavar=what)
    result.add_argument("-o", dest="output", required=True, metavar="FILE", help="the module (.vmfb) to write")
    result.add_argument("--target", default="cpu", help="what to compile for, such as cuda:sm_90a,cpu")
    result.add_argument("--flag", action="append", default=[], metavar="FLAG", help="one more flag of xcompile; may be repeated")
    return result


def run(main):
    """Runs a command line; what was refused is one line and the compiler's diagnostics."""
    try:
        main()
    except CompileError as error:
        print(error.diagnostics or f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
