"""Compiles and runs the ONNX backend node tests of the `onnx` package, and compares what comes out.

    run.py --build build/dev [--filter REGEX] [--sample K/N] [--jobs N] [--results FILE] [--table docs/onnx.md]

A case is a model of one node or a few, inputs and outputs. Each is compiled with xcompile for the CPU, run with xrun, and its outputs
compared in shape, type and value, with the tolerance that the case itself names. What decides shapes must be known when a module is
compiled; where a case has it as an input and xcompile says so, that input becomes a weight of the model and the case is tried once
more ("fixed" in the table). Cases whose values have types that there are no arrays of are counted apart, with the type.

Ends with "N passed, N failed, N skipped": failed are cases that crash, or are refused or differ and are not in the list of those that do,
with the reason (refused.txt); a case in that list that passes is a failure, too, so that the list stays true.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, numpy_helper
import onnx.backend.test.case.node
from onnx.backend.test.case.node import collect_testcases

HERE = pathlib.Path(__file__).resolve().parent
REFUSED = HERE / "refused.txt"

SUPPORTED = {
    TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT16, TensorProto.INT16, TensorProto.INT32,
    TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.UINT32, TensorProto.UINT64,
    TensorProto.BFLOAT16
}

# What a generator makes is another generator's by chance only.
RANDOM = re.compile(r"^test_(bernoulli|training_dropout|random)")

Result = collections.namedtuple("Result", "name kind why fixed")


def value_types(model):
    """The element types of what goes in and out, "sequence" and the like for what is no tensor."""
    for value in list(model.graph.input) + list(model.graph.output):
        which = value.type.WhichOneof("value")
        if which != "tensor_type":
            yield (which or "none").replace("_type", "")
        elif value.type.tensor_type.elem_type not in SUPPORTED:
            yield TensorProto.DataType.Name(value.type.tensor_type.elem_type)
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type in ("Cast", "QuantizeLinear", "DequantizeLinear") and attribute.name in ("to", "output_dtype"):
                if attribute.i not in SUPPORTED and attribute.i != 0:
                    yield TensorProto.DataType.Name(attribute.i)


def to_array(value):
    """Values of types that NumPy does not have come as messages."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else numpy.asarray(value)


def save(path, array):
    if array.dtype.name == "bfloat16":
        array = array.view(numpy.uint16)
    numpy.save(path, array)


def load(path, like):
    array = numpy.load(path)
    return array.view(like.dtype) if like.dtype.name == "bfloat16" else array


def call(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
    return done.returncode, done.stdout


def fix_inputs(model, names, inputs):
    """The model with inputs made weights."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for name in names:
        index = [value.name for value in fixed.graph.input].index(name)
        fixed.graph.initializer.append(numpy_helper.from_array(inputs[name], name))
        del fixed.graph.input[index]
    return fixed


def difference(found, wanted, rtol, atol):
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)}, expected {list(wanted.shape)}"
    if found.dtype != wanted.dtype:
        return f"type {found.dtype}, expected {wanted.dtype}"
    if wanted.dtype.kind in "biu":
        return None if numpy.array_equal(found, wanted) else f"{(found != wanted).sum()} of {wanted.size} elements differ"
    found, wanted = found.astype(numpy.float64), wanted.astype(numpy.float64)
    if numpy.allclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True):
        return None
    return f"{(~numpy.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)).sum()} of {wanted.size} elements differ"


class Runner:
    def __init__(self, build, device, target):
        self.xcompile, self.xrun = (str(pathlib.Path(build).resolve() / "bin" / name) for name in ("xcompile", "xrun"))
        self.device, self.target = device, target

    def compile(self, model, folder):
        path = f"{folder}/model.onnx"
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        return call([self.xcompile, path, "-o", f"{folder}/model.vmfb", f"--target={self.target}", "-j1"])

    def run(self, case):
        types = sorted(set(value_types(case.model)))
        if types:
            return Result(case.name, "type", ", ".join(types), ())
        if RANDOM.match(case.name):
            return Result(case.name, "type", "random numbers", ())
        with tempfile.TemporaryDirectory() as folder:
            return self.run_in(case, folder)

    def run_in(self, case, folder):
        names = [value.name for value in case.model.graph.input]
        model, fixed = case.model, ()
        for inputs, outputs in case.data_sets:
            inputs = {name: to_array(value) for name, value in zip(names, inputs)}
            while True:
                code, text = self.compile(model, folder)
                wanted = self.find_deciding(text, inputs, fixed)
                if code == 0 or not wanted:
                    break
                fixed += wanted
                model = fix_inputs(case.model, fixed, inputs)
            if code not in (0, 1):
                return Result(case.name, "crash", f"xcompile exits with {code}: {text[-300:]}", fixed)
            if code == 1:
                return Result(case.name, "refused", re.sub(r"^.*?not supported; 0 are:", "", " ".join(text.split())), fixed)
            why = self.execute(model, folder, inputs, outputs, case)
            if why:
                return Result(case.name, why[0], why[1], fixed)
        return Result(case.name, "pass", "", fixed)

    @staticmethod
    def find_deciding(text, inputs, fixed):
        """Inputs that decide shapes: the one that an error names, or, where it names a value in between, short lists of numbers."""
        named = re.findall(r"input '([^']*)', to be known before", text)
        direct = [name for name in named if name in inputs and name not in fixed]
        if direct:
            return (direct[0],)
        if not named:
            return ()
        for kind in "if":
            short = tuple(name for name, value in inputs.items()
                          if name not in fixed and value.dtype.kind == kind and value.ndim <= 1 and value.size <= 8)
            if short:
                return short
        return ()

    def execute(self, model, folder, inputs, outputs, case):
        command = [self.xrun, f"{folder}/model.vmfb", f"--device={self.device}"]
        for index, value in enumerate(model.graph.input):
            save(f"{folder}/in{index}.npy", inputs[value.name])
            command.append(f"--input=@{folder}/in{index}.npy")
        for index in range(len(outputs)):
            command.append(f"--output=@{folder}/out{index}.npy")
        code, text = call(command)
        if code != 0:
            return ("wrong" if code == 1 else "crash"), f"xrun exits with {code}: {text.strip()[-300:]}"
        for index, wanted in enumerate(outputs):
            wanted = to_array(wanted)
            why = difference(load(f"{folder}/out{index}.npy", wanted), wanted, case.rtol, case.atol)
            if why:
                return "wrong", f"output {index}: {why}"
        return None


def is_sampled(name, sample):
    part, parts = (int(x) for x in sample.split("/"))
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % parts == part


MARK = "<!-- Written by test/onnx/run.py --table. -->"


def get_op(case):
    """The op of a case with nodes of one op; None for others."""
    names = {(node.domain + "." if node.domain else "") + node.op_type for node in case.model.graph.node}
    return names.pop() if len(names) == 1 else None


def is_typed_out(case):
    return bool(list(value_types(case.model))) or bool(RANDOM.match(case.name))


def write_table(path, cases, results):
    """The rows of ops behind the mark of a page, from cases of one node; cases of several count in the sum only. Rows of ops of which
    not all cases ran stay as they are. Cases that did not run count as refused.txt says."""
    ran = {result.name for result in results}
    partly = {get_op(case) for case in cases if case.name not in ran}
    rows = collections.defaultdict(collections.Counter)
    reasons = {}
    by_name = {case.name: case for case in cases}
    for result in results:
        op = get_op(by_name[result.name])
        if result.kind == "type" or op is None or op in partly:
            continue
        rows[op][result.kind] += 1
        rows[op]["fixed"] += result.kind == "pass" and bool(result.fixed)
        if result.kind != "pass":
            reasons[op] = shorten(result.why)[:120].replace("|", "/")
    page = pathlib.Path(path)
    head, _, old = page.read_text().partition(MARK)
    text = {line.split("|")[1].strip(): line for line in old.splitlines() if line.startswith("| ") and not line.startswith("| op ")}
    for op, row in rows.items():
        others = sum(count for kind, count in row.items() if kind not in ("pass", "fixed"))
        text[op] = f"| {op} | {row['pass']} | {row['fixed'] or ''} | {others or ''} | {reasons.get(op, '')} |"
    typed_out = sum(map(is_typed_out, cases))
    tried = len(cases) - typed_out
    passed = tried - len(read_refused())
    lines = [f"{passed} of {tried} cases pass ({100 * passed / max(tried, 1):.1f} %); {typed_out} more have types without arrays.", "",
             "| op | pass | of them fixed | not | why not |", "|---|---|---|---|---|"]
    page.write_text(head + MARK + "\n\n" + "\n".join(lines + [text[op] for op in sorted(text)]) + "\n")


def shorten(why):
    """One line without the names of temporary files, and without the count of nodes where it is one of one."""
    why = re.sub(r"^xcompile: error: cannot read '[^']*': ", "", why)
    return re.sub(re.escape(tempfile.gettempdir()) + r"/\S*", "", re.sub(r"^ *\d+ of \d+ nodes? (is|are) not supported; \d+ (are|is): *", "", why)).strip()[:180]


def write_refused(results):
    """The list anew, but for cases that did not run."""
    ran = {result.name for result in results}
    kept = {name: f"{name} {why}" for name, why in read_refused().items() if name not in ran}
    lines = ["# Cases that are refused, or whose result differs from the case's by more than its tolerance, each with the reason.",
             "# Written by test/onnx/run.py --update-refused; what is new in it is to be looked at.", "#"]
    for result in results:
        if result.kind in ("refused", "wrong"):
            kept[result.name] = f"{result.name} {result.kind}: {shorten(result.why)}"
    lines += [kept[name] for name in sorted(kept)]
    REFUSED.write_text("\n".join(lines) + "\n")


def read_refused():
    refused = {}
    if REFUSED.exists():
        for line in REFUSED.read_text().splitlines():
            if line and not line.startswith("#"):
                name, _, why = line.partition(" ")
                refused[name] = why.strip()
    return refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--sample", default="0/1", help="K/N: the cases whose name's hash is K modulo N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--results", help="write a line for each case to this file")
    parser.add_argument("--update-refused", action="store_true", help="write refused.txt anew for the cases that ran")
    parser.add_argument("--table", help="write the table of ops into this page")
    arguments = parser.parse_args()
    everything = collect_testcases(None)
    cases = [case for case in everything if re.search(arguments.filter, case.name) and is_sampled(case.name, arguments.sample)]
    runner = Runner(arguments.build, arguments.device, arguments.target)
    refused = read_refused()
    passed = failed = skipped = 0
    lines, results = [], []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(runner.run, cases):
            results.append(result)
            lines.append(f"{result.kind:8} {result.name} {','.join(result.fixed)} {result.why}")
            if result.kind == "type":
                skipped += 1
            elif result.kind in ("refused", "wrong") and result.name in refused:
                skipped += 1
            elif result.kind == "pass" and result.name not in refused:
                passed += 1
            else:
                failed += 1
                known = " (listed in refused.txt)" if result.name in refused else ""
                print(f"{result.kind}: {result.name}{known}: {result.why}", flush=True)
    if arguments.results:
        pathlib.Path(arguments.results).write_text("\n".join(sorted(lines)) + "\n")
    if arguments.update_refused:
        write_refused(results)
    if arguments.table:
        write_table(arguments.table, everything, results)
    kinds = collections.Counter(line.split()[0] for line in lines)
    print(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
