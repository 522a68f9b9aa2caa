"""Lowers the ONNX backend node tests to linalg on tensors as another compiler writes it: IREE's importer and the passes of torch-mlir.

    lower.py --output FOLDER [--filter REGEX] [--jobs N]

Needs the packages `onnx` and `iree-base-compiler[onnx]`, and nothing of a build. For each case that arrives, FOLDER/NAME holds
model.mlir, the arrays of each data set (in0_1.npy is input 1 of set 0, out0_0.npy its output 0) and case.json: the tolerances, the
types of the arrays, and how many sets there are. Where sizes may depend on the values of short inputs, fixed.mlir is the same case with
these inputs as constants; some cases arrive in that form only. arrived.txt has a line for each case: arrived, type (values that are no arrays of ours), or why
it did not arrive. Ends with "N arrived, N did not, N have types without arrays".
"""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import sys
import warnings

import numpy
import onnx
import onnx.backend.test.case.node
import onnx.version_converter
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context
from iree.compiler.passmanager import PassManager
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

SUPPORTED = {
    TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT16, TensorProto.INT16, TensorProto.INT32,
    TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.UINT32, TensorProto.UINT64,
    TensorProto.BFLOAT16
}

# What a generator makes is another generator's by chance only.
RANDOM = re.compile(r"^test_(bernoulli|training_dropout|random)")

NEWER_OPSET = 17

# Sizes that are not known.
OPEN = re.compile(r"tensor<[^>]*\?")

# Some cases keep the passes below busy for good.
LIMIT_S = 120

# The passes of `torch-backend-to-linalg-on-tensors-backend-pipeline`, without the check at its end: it refuses choices between tensors.
PASSES = """builtin.module(
    torch-onnx-to-torch-backend-pipeline,
    func.func(convert-torch-to-tmtensor, canonicalize, convert-torch-to-tensor, convert-torch-to-linalg, cse, convert-torch-to-scf,
              convert-torch-to-arith),
    convert-torch-conversion-to-mlprogram,
    func.func(canonicalize, resolve-shaped-type-result-dims, cse),
    torch-func-backend-type-conversion, canonicalize, func.func(torch-finalizing-backend-type-conversion), symbol-dce)"""


def foreign_types(model):
    """Element types of inputs and outputs that there are no arrays of; "sequence" and the like for what is no tensor."""
    found = set()
    for value in list(model.graph.input) + list(model.graph.output):
        which = value.type.WhichOneof("value")
        if which != "tensor_type":
            found.add((which or "none").replace("_type", ""))
        elif value.type.tensor_type.elem_type not in SUPPORTED:
            found.add(TensorProto.DataType.Name(value.type.tensor_type.elem_type))
    return sorted(found)


def to_array(value):
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else numpy.asarray(value)


def short_inputs(inputs, kinds):
    """Names of inputs that may decide shapes: short lists of numbers."""
    return [name for name, value in inputs.items() if value.dtype.kind in kinds and value.ndim <= 1 and value.size <= 8]


def fix_inputs(model, names, inputs):
    """The model with inputs made weights."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for name in names:
        index = [value.name for value in fixed.graph.input].index(name)
        fixed.graph.initializer.append(numpy_helper.from_array(inputs[name], name))
        del fixed.graph.input[index]
    return fixed


def lower(model):
    """The text of the model in linalg, as `iree-import-onnx` and the passes make it."""
    onnx.checker.check_model(model)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    with Context() as context:
        info = onnx_importer.ModelInfo(inferred)
        module = info.create_module(context=context).operation
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
        module.verify()
        PassManager.parse(PASSES).run(module)
        return str(module)


def lower_any(model):
    """The same; where the passes do not know the ops of an older opset, from a newer one, as `iree-import-onnx --opset-version` does."""
    try:
        return lower(model)
    except Exception:
        if model.opset_import[0].version >= NEWER_OPSET:
            raise
        return lower(onnx.version_converter.convert_version(model, NEWER_OPSET))


def save(path, array):
    """The array as linalg has it: integers without sign, bf16 as its bits."""
    if array.dtype.name == "bfloat16":
        array = array.view(numpy.uint16)
    elif array.dtype.kind == "u":
        array = array.view(array.dtype.name[1:])
    numpy.save(path, array)


def write(case, folder, texts, fixed):
    """The case's files: `texts` by name, and the arrays."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    names = [value.name for value in case.model.graph.input]
    about = {"rtol": case.rtol, "atol": case.atol, "sets": len(case.data_sets), "inputs": names, "fixed": fixed}
    for number, (inputs, outputs) in enumerate(case.data_sets):
        inputs, outputs = [to_array(value) for value in inputs], [to_array(value) for value in outputs]
        about["outputs"] = [value.dtype.name for value in outputs]
        for kind, arrays in (("in", inputs), ("out", outputs)):
            for index, array in enumerate(arrays):
                save(folder / f"{kind}{number}_{index}.npy", array)
    (folder / "case.json").write_text(json.dumps(about))


def lower_fixed(case):
    """The case with the inputs that may decide shapes as constants, and their names."""
    names = [value.name for value in case.model.graph.input]
    inputs = dict(zip(names, map(to_array, case.data_sets[0][0])))
    found, done = (None, []), []
    for kinds in ("iu", "iuf"):
        short = short_inputs(inputs, kinds)
        if not short or short == done or len(case.data_sets) > 1:
            continue
        done = short
        try:
            found = lower_any(fix_inputs(case.model, short, inputs)), short
        except Exception:  # the next kinds
            continue
        if not OPEN.search(found[0]):
            break
    return found


def lower_case(case, folder, report):
    types = foreign_types(case.model)
    if types or RANDOM.match(case.name):
        report.write(f"type {case.name} {', '.join(types) or 'random numbers'}\n")
        return
    texts, fixed, why = {}, [], ""
    try:
        texts["model.mlir"] = lower_any(case.model)
    except Exception as error:
        errors = re.findall(r'error: (?:"[^"]*"(?::\d+:\d+)?: )?(.*)', str(error))
        why = errors[0] if errors else " ".join(str(error).split())
    text, fixed = lower_fixed(case)
    if text:
        texts["fixed.mlir"] = text
    if texts:
        write(case, folder / case.name, texts, fixed)
        report.write(f"arrived {case.name} {'' if 'model.mlir' in texts else 'fixed ' + ', '.join(fixed)}\n")
    else:
        report.write(f"refused {case.name} {why[:200]}\n")


def in_child(work):
    """Runs `work` in a process of its own, as that of another compiler may end early or never; its exit code, or minus the signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT_S)  # its default action ends the process, whatever it computes
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def lower_share(cases, folder, path):
    with open(path, "w", buffering=1) as report:
        for case in cases:
            code = in_child(lambda: lower_case(case, folder, report))
            if code != 0:
                report.write(f"refused {case.name} the importer ends with {code}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for case in collect_testcases(None) if re.search(arguments.filter, case.name)]
    shares = [(cases[index::arguments.jobs], folder / f".share{index}") for index in range(arguments.jobs)]
    children = []
    for share, path in shares:
        child = os.fork()
        if child == 0:
            lower_share(share, folder, path)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    lines = sorted(line for _, path in shares for line in path.read_text().splitlines())
    for _, path in shares:
        path.unlink()
    (folder / "arrived.txt").write_text("\n".join(lines) + "\n")
    kinds = collections.Counter(line.split()[0] for line in lines)
    print(f"{kinds['arrived']} arrived, {kinds['refused']} did not, {kinds['type']} have types without arrays")
    return 0


if __name__ == "__main__":
    sys.exit(main())
