"""Functions of other libraries as programs with their state."""
import os

from . import _arrays, _text
from ._compile import compile as _compile


class Lowered:
    """A function as a program, with the tensors that it reads.

    `text`: an array program whose `main` takes the inputs alone, and has parameters and variables. `weights`: {key: array}, what its
    parameters and the first values of its variables are, in the file `scope`. `function`: the same without state, for programs that
    do more with it, gradients for example: all that `roles` lists are inputs of its `main`, and the new values of variables are among the
    results, where `updates` has their keys.
    """

    def __init__(self, function, roles, updates, weights, scope):
        self.function, self.roles, self.updates, self.weights, self.scope = function, roles, updates, weights, scope

    @property
    def parameters(self):
        """Keys of the external parameters."""
        return [role.key for role in self.roles if role.kind == "parameter"]

    @property
    def variables(self):
        """Keys of the variables."""
        return [role.key for role in self.roles if role.kind == "variable"]

    @property
    def text(self):
        initial = {key: f"#array.parameter<{_text.quote(self.scope)}::{_text.quote(key)}>" if key in self.weights else ""
                   for key in self.variables}
        return _text.keep_state(self.function, self.roles, self.updates, self.scope, initial)

    def save_weights(self, path):
        """Writes the weights as a .safetensors file."""
        with open(os.fspath(path), "wb") as file:
            for part in _arrays.safetensors_parts(self.weights):
                file.write(part)

    def compile(self, output, parameters, target, flags):
        """Writes the weights to the file `parameters` and compiles; see xcompile.compile()."""
        if self.weights:
            self.save_weights(parameters)
        return _compile(self.text, target=target, output=output, flags=flags)
