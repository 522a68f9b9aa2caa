"""What xcompile.torch does with torch: traces a model, writes ONNX, and keeps its weights. Imports torch and onnxscript.

The exporter to ONNX knows inputs, results and weights. That forward() changes a buffer it drops, so the new values become
results here, before anything is optimised away.
"""
import contextlib
import inspect
import logging
import warnings

import torch
from torch.export import graph_signature
from torch.utils import _pytree as pytree

from . import _arrays
from ._errors import Error
from ._text import Role

# The newest operator set that exporters of the supported versions write: it has attention and RMS norms as ops.
_OPSET = 23
_MUTATIONS = (graph_signature.OutputKind.BUFFER_MUTATION, graph_signature.OutputKind.USER_INPUT_MUTATION)


@contextlib.contextmanager
def _quietly():
    """Without what the exporter says about its own insides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels):
                logger.setLevel(level)


@contextlib.contextmanager
def _evaluating(model):
    """The model in evaluation mode, and each of its modules as it was afterwards."""
    was_training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in was_training:
            module.training = True


class Program:
    """A traced model: its ONNX form, and which tensors of the model that reads and writes."""

    def __init__(self, model, args=(), kwargs=None, dynamic_shapes=None, input_names=None, output_names=None):
        args, kwargs = tuple(args), dict(kwargs or {})
        if not isinstance(model, torch.nn.Module):
            raise Error(f"expected a torch.nn.Module, got {type(model).__name__}")
        self._model, shapes = model, _dims(dynamic_shapes)
        with _evaluating(model), _quietly(), torch.no_grad():
            exported = _trace(model, args, kwargs, shapes)
            names = output_names or _result_names(exported)
            self.changed_buffers = _changed_buffers(exported)
            if self.changed_buffers:
                with _giving_buffers(model, self.changed_buffers):
                    exported = _trace(model, args, kwargs, shapes)
            self._onnx = _to_onnx(exported)
        graph = self._onnx.model.graph
        results = len(graph.outputs) - len(self.changed_buffers)
        self._new_values = list(graph.outputs)[results:]
        del graph.outputs[results:]
        self._rename(graph.inputs, input_names, "input")
        self._rename(graph.outputs, names, "result")
        self._name_sizes(model, args, kwargs, dynamic_shapes)

    def state_to_inputs(self):
        """Makes inputs of the floats of state_dict(), and of all buffers that forward() changes, whose new values become results.

        Integers, which may decide sizes, buffers that are not saved, and constants stay in the program. Returns the Role of each input, and
        for each result the key of the buffer whose new value it is, or None.
        """
        graph, inputs = self._onnx.model.graph, {}
        saved = self._model.state_dict().keys()
        # Tied weights are one, by the name that the model lists first.
        own = {_identity(tensor): key for key, tensor in self._model.named_parameters()}
        for key, tensor in self._tensors().items():
            value = graph.initializers.get(key)
            if value is None or key not in saved or key in self.changed_buffers or not tensor.is_floating_point() or not value.uses():
                continue
            graph.initializers.pop(key)
            name = own.get(_identity(tensor), key)
            if name in inputs:
                value.replace_all_uses_with(inputs[name])
            else:
                value.name = name
                inputs[name] = value
        roles = [Role("input") for _ in graph.inputs] + [Role("parameter", key) for key in inputs]
        inputs.update((key, graph.initializers.pop(key)) for key in self.changed_buffers)
        for value in inputs.values():
            value.const_value = None
            graph.inputs.append(value)
        updates = [None for _ in graph.outputs] + self.changed_buffers
        for key, value in zip(self.changed_buffers, self._new_values):
            value.name = f"{key}.next"
            graph.outputs.append(value)
        return roles + [Role("variable", key) for key in self.changed_buffers], updates

    def _tensors(self):
        """{key: tensor} of everything that the program reads."""
        exported = self._onnx.exported_program
        found = dict(exported.named_parameters())
        found.update(exported.named_buffers())
        found.update((key, tensor) for key, tensor in exported.constants.items() if isinstance(tensor, torch.Tensor))
        return found

    def weights(self, roles):
        """{key: NumPy array} of what a file has to hold for the Roles: variables that begin as zeros need none."""
        tensors = self._tensors()
        return {role.key: _to_numpy(role.key, tensors[role.key]) for role in roles
                if role.kind == "parameter" or role.kind == "variable" and tensors[role.key].count_nonzero()}

    def save(self, path):
        """Writes the ONNX file; what is large is in a file beside it."""
        with _quietly():
            self._onnx.optimize()
            self._onnx.save(path, external_data=True)

    @staticmethod
    def _rename(values, names, what):
        if names is None:
            return
        names = list(names)
        if len(names) > len(values):
            raise Error(f"expected at most {len(values)} names of {what}s, got {len(names)}")
        # Through names that nothing has, so that two can be exchanged.
        for index in range(len(names)):
            values[index].name = f"xcompile.{what}.{index}"
        for value, name in zip(values, names):
            value.name = name

    def _name_sizes(self, model, args, kwargs, shapes):
        """Gives sizes the names that `shapes` gives them: the exporter calls them s0, s28, ..."""
        import onnx_ir
        names = {}
        leaves = _leaves_with_shapes(model, args, kwargs, shapes)
        for value, (tensor, dims) in zip(self._onnx.model.graph.inputs, leaves):
            for axis, name in dims.items():
                size = value.shape[axis]
                if isinstance(size, onnx_ir.SymbolicDim) and size.value:
                    names.setdefault(size.value, name)
        for value in [*self._onnx.model.graph.inputs, *self._onnx.model.graph.outputs]:
            if value.shape is not None:
                value.shape = onnx_ir.Shape([names.get(size.value, size.value) if isinstance(size, onnx_ir.SymbolicDim) else size
                                             for size in value.shape])


def _trace(model, args, kwargs, shapes):
    try:
        return torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        raise Error(f"torch.export cannot follow the model: {_first_lines(error)}") from error


def _to_onnx(exported):
    try:
        return torch.onnx.export(_without_strides(exported), dynamo=True, opset_version=_OPSET, optimize=False, verbose=False)
    except Exception as error:
        missing = _unknown_ops(exported)
        what = f"there is nothing in ONNX for {', '.join(missing)}" if missing else _first_lines(_innermost(error))
        raise Error(f"torch.onnx.export cannot write the model: {what}") from error


def _identity(tensor):
    """Equal for tensors that are the same memory, read alike."""
    return tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


def _changed_buffers(exported):
    """The keys of buffers that forward() changes. Raises Error where it changes an input."""
    for spec in exported.graph_signature.input_specs:
        if spec.kind == graph_signature.InputKind.CONSTANT_TENSOR and _is_changed(exported, spec.arg.name):
            raise Error(f"forward() changes a tensor that is no buffer, '{spec.target}'; call register_buffer() for it, and read it from self in forward()")
    changed = []
    for spec in exported.run_decompositions({}).graph_signature.output_specs:
        if spec.kind == graph_signature.OutputKind.USER_INPUT_MUTATION:
            raise Error(f"forward() changes its input '{spec.target}', which a module's function cannot; return the new value, or keep it in a buffer")
        if spec.kind == graph_signature.OutputKind.BUFFER_MUTATION:
            changed.append(spec.target)
    return changed


def _is_changed(exported, placeholder):
    """Whether an op writes to the tensor of a placeholder."""
    node = next(node for node in exported.graph.nodes if node.name == placeholder)
    return any(isinstance(user.target, torch._ops.OpOverload) and user.target._schema.is_mutable and user.args and user.args[0] is node
               for user in node.users)


@contextlib.contextmanager
def _giving_buffers(model, keys):
    """The model with the values that buffers have at the end of forward() as further results."""
    hook = model.register_forward_hook(lambda model, args, result: (result, [model.get_buffer(key).clone() for key in keys]), always_call=False)
    try:
        yield
    finally:
        hook.remove()


def _innermost(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _first_lines(error):
    """What an error says, without the traceback that torch puts into its text."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    where = [line for line in lines if line.startswith('File "') and "/torch/" not in line]
    return (lines[0] if lines else type(error).__name__) + (f" ({where[-1]})" if where else "")


def _unknown_ops(exported):
    """["aten.op.default (2 times)"] of the ops that the exporter has nothing for, as far as it can be asked."""
    try:
        from torch.onnx._internal.exporter import _fx_passes, _registration
        registry = _registration.ONNXRegistry().from_torchlib(opset_version=_OPSET)
        decomposed = _fx_passes.decompose_with_registry(exported, registry)
        nodes = _fx_passes.remove_assertion_nodes(decomposed.graph_module).graph.nodes
        counts = {}
        for node in nodes:
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and not registry.is_registered(node.target):
                counts[str(node.target)] = counts.get(str(node.target), 0) + 1
    except Exception:  # these are the exporter's insides, which change
        return []
    return [f"{name} ({count} time{'s' * (count > 1)})" for name, count in sorted(counts.items())]


def _without_strides(exported):
    """The program without what changes tensors in place, and with a copy before each view.

    What the exporter decomposes an op into may have other strides than the op, and a view of that is refused. In ONNX the copies are nothing.
    """
    functional = exported.run_decompositions({})
    graph = functional.graph
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.view.default):
        with graph.inserting_before(node):
            copy = graph.call_function(torch.ops.aten.clone.default, (node.args[0],), {"memory_format": torch.contiguous_format})
        copy.meta = {key: value for key, value in node.args[0].meta.items() if key != "nn_module_stack"} | {
            key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if key in node.meta}
        node.args = (copy, *node.args[1:])
    functional.graph_module.recompile()
    return functional


def _dims(shapes):
    """The same tree with torch.export.Dim for names; equal names are one size."""
    dims = {}

    def convert(value):
        if isinstance(value, str):
            return dims.setdefault(value, torch.export.Dim(value))
        if isinstance(value, dict):
            return {key: convert(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(convert(inner) for inner in value)
        return value

    return convert(shapes)


def _leaves_with_shapes(model, args, kwargs, shapes):
    """[(tensor, {axis: name})] for the tensors of a call, in order."""
    bound = inspect.signature(model.forward).bind(*args, **kwargs).arguments
    by_name = shapes if isinstance(shapes, dict) else dict(zip(bound, shapes or ()))
    found = []

    def visit(value, spec):
        if isinstance(value, torch.Tensor):
            axes = spec.items() if isinstance(spec, dict) else enumerate(spec or ())
            found.append((value, {axis: getattr(dim, "__name__", dim) for axis, dim in axes if isinstance(dim, str) or hasattr(dim, "__name__")}))
        elif isinstance(value, dict):
            for key, inner in value.items():
                visit(inner, spec.get(key) if isinstance(spec, dict) else None)
        elif isinstance(value, (list, tuple)):
            for index, inner in enumerate(value):
                visit(inner, spec[index] if isinstance(spec, (list, tuple)) else None)
        else:
            found.extend((leaf, {}) for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor))

    for name, value in bound.items():
        visit(value, by_name.get(name))
    return found


def _result_names(exported):
    """Names of results from keys and fields of what forward() returns; None where it has none such."""
    kinds = [spec for spec in exported.graph_signature.output_specs if spec.kind not in _MUTATIONS]
    tree = pytree.tree_unflatten(list(range(len(kinds))), exported.call_spec.out_spec)
    names = []
    for path, index in pytree.tree_flatten_with_path(tree)[0]:
        if isinstance(kinds[index].arg, graph_signature.TensorArgument):
            parts = [str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", "")))) for key in path]
            named = any(not part.isdigit() for part in parts)
            names.append("_".join(parts) if named else f"output{len(names)}")
    return names if len(set(names)) == len(names) else None


def _to_numpy(key, tensor):
    """The tensor as a NumPy array, over the same memory where that can be."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.is_complex() or tensor.is_quantized:
        raise Error(f"weight '{key}': no element type for {tensor.dtype}")
    short = _arrays.SHORT_TENSORS.get(str(tensor.dtype).removeprefix("torch."))
    return _arrays.Bits(short, tensor.view(getattr(torch, f"uint{8 * tensor.element_size()}")).numpy()) if short else tensor.numpy()
