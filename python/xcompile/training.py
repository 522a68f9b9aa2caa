"""Training steps as programs: a loss of a model, its gradient, and an optimiser, in one function of a module.

    lowered = xcompile.torch.lower(LossOf(model), (images, labels), scope="step.safetensors")
    xcompile.training.export(lowered, output="step.vmfb", optimizer="adamw", decay=0.01)

The module has two functions. `train_step` takes the model's inputs and `rate`, the learning rate, gives the model's results, of which
the first is the loss, and moves the weights against their gradient. `evaluate` takes the inputs and gives the results. Weights are variables with their own keys,
"fc.weight", so that a checkpoint that the module writes has what state_dict() has. What the optimiser keeps is beside them, "fc.weight.m", and `steps` counts.
"""
import pathlib
import re

from . import _text
from ._compile import compile as _compile
from ._errors import Error
from ._lowered import Lowered

__all__ = ["export", "program"]

_DEFAULTS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "decay": 0.0, "momentum": 0.9}


class _Optimizer:
    """A function of share/xcompile/optimizers: what it takes besides a weight and its gradient, in its order."""

    def __init__(self, name, settings):
        path = pathlib.Path(__file__).parent / "optimizers" / f"{name}.mlir"
        if not re.fullmatch(r"\w+", name) or not path.exists():
            known = ", ".join(sorted(file.stem for file in path.parent.glob("*.mlir")))
            raise Error(f"there is no optimiser '{name}'; known are {known}")
        self.text = path.read_text(encoding="utf-8")
        self.name, self.signature = name, _text.signature(self.text, name)
        self.arguments = re.findall(r"%(\w+): tensor", self.text[self.text.index("func.func"):].partition("->")[0])
        self.state = self.arguments[2:1 + len(self.signature.results)]
        taken = [name for name in self.arguments[2 + len(self.state):] if name not in ("t", "rate")]
        unknown = sorted(set(settings) - set(taken))
        if unknown:
            raise Error(f"{name} has no setting '{unknown[0]}'; it has {', '.join(taken)}")
        self.settings = {name: float(settings.get(name, _DEFAULTS[name])) for name in taken}


def program(lowered, optimizer="adamw", **settings):
    """(text, flags): the program of training steps for a Lowered model whose first result is the loss, f32 of rank 0.

    `settings`: the optimiser's numbers, such as beta1, beta2, epsilon, decay and momentum. Weights have to be f32.
    """
    if not isinstance(lowered, Lowered) or lowered.variables:
        raise Error("expected a Lowered model without variables: buffers that forward() changes cannot be trained with")
    rule, core = _Optimizer(optimizer, settings), _text.signature(lowered.function)
    if not core.results or core.results[0].type != "tensor<f32>":
        raise Error(f"expected a model whose first result is the loss, tensor<f32>, got {core.results[0].type if core.results else 'no result'}")
    count = sum(role.kind == "input" for role in lowered.roles)
    weights = [(role.key, port.type) for role, port in zip(lowered.roles[count:], core.inputs[count:])]
    wrong = [key for key, kind in weights if not re.fullmatch(r"tensor<(\d+x)*f32>", kind)]
    if wrong or not weights:
        raise Error(f"expected weights of f32, got '{wrong[0]}' of another type" if wrong else "the model has no weights")
    lines = _variables(weights, rule, lowered) + _loss(core, weights) + _evaluate(core, count, weights) + _step(core, count, weights, rule)
    text = _text.insert(_text.privatize(lowered.function, "main", "model"), lines + rule.text.splitlines())
    numbers = ",".join(str(count + index) for index in range(len(weights)))
    return text, [f"--gradient=model_loss:{numbers}"]


def export(lowered, *, output, weights=None, optimizer="adamw", target="cpu", flags=(), **settings):
    """Compiles program() to the file `output`; the first weights go to `weights`, by default `output` with the ending .safetensors.

    The file has to be called as lowered.scope says, since the module reads that one beside it.
    """
    weights = pathlib.Path(weights or pathlib.Path(output).with_suffix(".safetensors"))
    if weights.name != lowered.scope:
        raise Error(f"the model was lowered with scope='{lowered.scope}', but its weights would be in '{weights.name}'")
    text, own_flags = program(lowered, optimizer, **settings)
    lowered.save_weights(weights)
    return _compile(text, target=target, output=output, flags=[*own_flags, *flags])


def _variables(weights, rule, lowered):
    lines = ["  array.variable @steps : tensor<f32>"]
    for key, kind in weights:
        first = f" = #array.parameter<{_text.quote(lowered.scope)}::{_text.quote(key)}>" if key in lowered.weights else ""
        lines.append(f"  array.variable @{_text.symbol(key)} : {kind}{first}")
        lines += [f"  array.variable @{_text.symbol(f'{key}.{state}')} : {kind}" for state in rule.state]
    return lines


def _loss(core, weights):
    """The loss alone, and the gradient that --gradient makes of it."""
    names = [f"%x{i}" for i in range(len(core.inputs))]
    # Names in a private function would be those of another function's inputs.
    taken = ", ".join(f"{name}: {port}" for name, port in zip(names, core.inputs))
    return [f"  func.func private @model_loss({taken}) -> tensor<f32> {{", "    " + _text.call("r", "model", names, core),
            f"    return {_text.result('r', 0, len(core.results))} : tensor<f32>", "  }",
            f"  func.func private @model_loss_vjp({_text.types(core.inputs)}, tensor<f32>) -> ({', '.join(kind for _, kind in weights)})"]


def _called(core, count, weights):
    """Lines that read the weights and call the model; its results are %r."""
    lines = [f"    %w{i} = array.variable.read @{_text.symbol(key)} : {kind}" for i, (key, kind) in enumerate(weights)]
    arguments = [f"%in{i}" for i in range(count)] + [f"%w{i}" for i in range(len(weights))]
    return lines + ["    " + _text.call("r", "model", arguments, core)], arguments


def _return(core):
    names = ", ".join(_text.result("r", i, len(core.results)) for i in range(len(core.results)))
    return [f"    return {names} : {_text.types(core.results)}", "  }"]


def _evaluate(core, count, weights):
    taken = ", ".join(f"%in{i}: {port}" for i, port in enumerate(core.inputs[:count]))
    return [f"  func.func @evaluate({taken}){_text.returns(core.results)} {{", *_called(core, count, weights)[0], *_return(core)]


def _step(core, count, weights, rule):
    inputs = [f"%in{i}: {port}" for i, port in enumerate(core.inputs[:count])] + ['%rate: tensor<f32> {array.name = "rate"}']
    called, arguments = _called(core, count, weights)
    lines = [f"  func.func @train_step({', '.join(inputs)}){_text.returns(core.results)} {{", *called,
             "    %one = array.constant dense<1.0> : tensor<f32>", "    %done = array.variable.read @steps : tensor<f32>",
             "    %t = array.add %done, %one : tensor<f32>", "    array.variable.assign @steps, %t : tensor<f32>"]
    lines += [f"    %{name} = array.constant dense<{value:.9e}> : tensor<f32>" for name, value in rule.settings.items()]
    gradient = _text.Signature([*core.inputs, _text.Port("tensor<f32>", "")], [_text.Port(kind, "") for _, kind in weights])
    lines.append("    " + _text.call("d", "model_loss_vjp", [*arguments, "%one"], gradient))
    for i, (key, kind) in enumerate(weights):
        lines += _update(i, key, kind, len(weights), rule)
    return lines + _return(core)


def _update(i, key, kind, count, rule):
    """Lines that give weight `i` and what belongs to it their new values."""
    targets = [key, *(f"{key}.{state}" for state in rule.state)]
    lines = [f"    %w{i}_{state} = array.variable.read @{_text.symbol(name)} : {kind}" for state, name in zip(rule.state, targets[1:])]
    given = [f"%w{i}", _text.result("d", i, count), *(f"%w{i}_{state}" for state in rule.state)]
    flat = []
    for part, value in enumerate(given):
        lines.append(f"    %f{i}_{part} = array.reshape {value} : {kind} -> tensor<?xf32>")
        flat.append(f"%f{i}_{part}")
    numbers = [f"%{name}" for name in rule.arguments[len(given):]]
    lines.append("    " + _text.call(f"n{i}", rule.name, flat + numbers, rule.signature))
    for part, name in enumerate(targets):
        value = _text.result(f"n{i}", part, len(targets))
        lines += [f"    %s{i}_{part} = array.reshape {value} : tensor<?xf32> -> {kind}",
                  f"    array.variable.assign @{_text.symbol(name)}, %s{i}_{part} : {kind}"]
    return lines
