"""Runs cases that lower.py wrote by IREE on the CPU, from the same text, to tell what differs there, too.

    reference.py --cases FOLDER --filter REGEX [--build build/dev]

Needs the packages `iree-base-compiler` and `iree-base-runtime`. For each case: whether IREE's results are ONNX's, and if not, where they
differ, in the tolerance of the case. With --build, whether the results of this build on the CPU are IREE's, too: a text that computes
something else than ONNX wants is then right all the same.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import iree.runtime
import ml_dtypes
import numpy

from run import difference


def compute(text, arrays):
    """The results of the only function of a text."""
    with tempfile.TemporaryDirectory() as folder:
        module = f"{folder}/case.vmfb"
        command = [str(pathlib.Path(sys.executable).parent / "iree-compile")]
        command += [str(text), "-o", module, "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                    "--iree-llvmcpu-target-cpu=generic"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(done.stdout.strip()[:200])
        loaded = iree.runtime.load_vm_flatbuffer_file(module, driver="local-sync")
        name = re.search(r"func\.func @(\w+)", pathlib.Path(text).read_text()).group(1)
        results = loaded[name](*arrays)
    return [numpy.asarray(result) for result in (results if isinstance(results, (tuple, list)) else [results])]


def compute_ours(build, text, files, count):
    """Likewise, by this build."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"{folder}/out{index}.npy" for index in range(count)]
        for command in ([f"{build}/bin/xcompile", str(text), "-o", f"{folder}/case.vmfb"],
                        [f"{build}/bin/xrun", f"{folder}/case.vmfb", "--device=cpu", *(f"--input=@{file}" for file in files),
                         *(f"--output=@{file}" for file in outputs)]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            if done.returncode != 0:
                raise RuntimeError(done.stdout.strip()[:200])
        return [numpy.load(file) for file in outputs]


def view(found, wanted, element):
    """A result in the type that files have for it."""
    if wanted.dtype.kind == "b":
        return found.astype(bool)
    return found.view(numpy.uint16) if element == "bfloat16" else found


def compare(case, build):
    about = json.loads((case / "case.json").read_text())
    text, fixed = (case / "model.mlir", []) if (case / "model.mlir").exists() else (case / "fixed.mlir", about["fixed"])
    files = [case / f"in0_{index}.npy" for index, name in enumerate(about["inputs"]) if name not in fixed]
    arrays = [numpy.load(file) for file in files]
    if "bf16" in re.search(r"func\.func .*", text.read_text()).group(0):
        arrays = [array.view(ml_dtypes.bfloat16) if array.dtype == numpy.uint16 else array for array in arrays]
    try:
        results = compute(text, arrays)
        ours = compute_ours(build, text, files, len(results)) if build else None
    except Exception as error:
        return f"not run: {' '.join(str(error).split())[:160]}"
    said = "the same"
    for index, (found, element) in enumerate(zip(results, about["outputs"])):
        wanted = numpy.load(case / f"out0_{index}.npy")
        why = difference(view(found, wanted, element), wanted, element, about["rtol"], about["atol"])
        if why:
            said = f"differs: output {index}: {why}"
            break
    if ours:
        pairs = zip(ours, results, about["outputs"])
        differences = [difference(view(mine, mine, element), view(found, mine, element), element, about["rtol"], about["atol"])
                       for mine, found, element in pairs]
        said += "; ours differs" if any(differences) else "; ours is the same as IREE's"
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--build")
    arguments = parser.parse_args()
    for path in sorted(pathlib.Path(arguments.cases).glob("*/case.json")):
        if re.search(arguments.filter, path.parent.name):
            print(f"{path.parent.name}: {compare(path.parent, arguments.build)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
