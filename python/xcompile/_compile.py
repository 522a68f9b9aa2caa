"""Runs the compiler."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from ._errors import Error


class CompileError(Error):
    """The compiler refused a program. `diagnostics` is what it wrote, with places in the source."""

    code = "INVALID_ARGUMENT"

    def __init__(self, message, diagnostics=""):
        super().__init__(message)
        self.diagnostics = diagnostics


def find_tool(name):
    """The path of a tool ("xcompile", "xrun", ...): that of the package, else the one on PATH. Raises Error."""
    for found in (pathlib.Path(__file__).resolve().parent / "bin" / name, pathlib.Path(__file__).parent / "bin" / name):
        if found.is_file():
            return str(found)
    found = shutil.which(name)
    if found is None:
        raise Error(f"the package holds no '{name}', and there is none on PATH")
    return found


def _is_text(program):
    return isinstance(program, str) and ("\n" in program or "{" in program)


def compile(program, *, target="cpu", output=None, flags=(), timeout=None):
    """Compiles a program and returns the bytes of the module, or the path of the file where `output` names one.

    `program`: the path of a file that xcompile reads, MLIR text (a str with a brace or a line break), or MLIR bytecode as
    bytes. `target`: what to compile for, such as "cpu" or "cuda:sm_90a,cpu". `flags`: further flags of xcompile.
    `timeout`: seconds. Raises CompileError with the compiler's diagnostics.
    """
    with tempfile.TemporaryDirectory(prefix="xcompile-") as folder:
        if isinstance(program, (bytes, bytearray)):
            source = os.path.join(folder, "program.mlirbc")
            with open(source, "wb") as file:
                file.write(program)
        elif _is_text(program):
            source = os.path.join(folder, "program.mlir")
            with open(source, "w", encoding="utf-8") as file:
                file.write(program)
        else:
            source = os.fspath(program)
            if not os.path.exists(source):
                raise CompileError(f"there is no file '{source}'")
        made = os.fspath(output) if output is not None else os.path.join(folder, "program.vmfb")
        command = [find_tool("xcompile"), source, "-o", made, f"--target={target}", *flags]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise CompileError(f"xcompile took more than {timeout} s") from None
        diagnostics = done.stderr.replace(folder + os.sep, "")
        if done.returncode != 0:
            lines = [line for line in diagnostics.splitlines() if "error" in line] or diagnostics.splitlines()
            first = lines[0] if lines else f"exit code {done.returncode}"
            raise CompileError(f"xcompile: {first}", diagnostics)
        return made if output is not None else pathlib.Path(made).read_bytes()
