#!/usr/bin/env python3
"""Exports PyTorch modules with xcompile.torch, runs them, and compares with PyTorch's own results on the CPU.

    run.py --build=build/dev [--target=cpu] [--device=cpu] [--filter=REGEX] [--list]

Needs the packages torch, torchvision, transformers and onnxscript in the Python that runs it; without them all is skipped. The last
line is "N passed, N failed, N skipped".
"""
import argparse
import importlib.util
import logging
import pathlib
import re
import sys
import tempfile
import time
import warnings
import zlib

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ("torch", "torchvision", "transformers", "onnxscript")


def results_of(torch, result):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def difference(got, want):
    """What is wrong with a result, or nothing."""
    import tolerances
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"is {got.dtype} {tuple(got.shape)}, expected {want.dtype} {tuple(want.shape)}"
    if not want.is_floating_point():
        return "" if bool((got == want).all()) else "differs"
    absolute, relative = tolerances.tolerance("model", "f32")
    wrong = ~((got - want).abs() <= absolute + relative * want.abs())
    if not wrong.any():
        return ""
    worst = int((got - want).abs().flatten().argmax())
    return f"differs in {int(wrong.sum())} of {wrong.numel()} elements, most at {worst}: {got.flatten()[worst]}, expected {want.flatten()[worst]}"


class Cases:
    def __init__(self, args, folder):
        import torch
        import xcompile
        self.torch, self.xcompile, self.args, self.folder = torch, xcompile, args, pathlib.Path(folder)

    def load(self, name, model, call, shapes=None):
        """The model as a module; its weights are in a file beside it."""
        path = self.folder / f"{name}.vmfb"
        self.xcompile.torch.export(model, call, dynamic_shapes=shapes, output=path, target=self.args.target)
        return self.xcompile.load(path, self.args.device)

    def compare(self, module, model, calls):
        """What is wrong with the results of the calls, one after another; those of different inputs have to differ."""
        first = None
        for number, call in enumerate(calls):
            want, got = results_of(self.torch, model(*call)), module.main(*call)
            got = list(got) if isinstance(got, tuple) else [got]
            if len(got) != len(want):
                return f"has {len(got)} results, expected {len(want)}"
            for index, (one, other) in enumerate(zip(got, want)):
                problem = difference(one, other)
                if problem:
                    return f"call {number}: result {index} {problem}"
            if first is not None and first.shape == got[0].shape and not difference(got[0], first):
                return "gives the same for different inputs, so nothing has been compared"
            first = got[0] if first is None else first
        return ""

    def run(self, name, make, is_stateful):
        self.torch.manual_seed(zlib.crc32(name.encode()))
        model, given, shapes = (*make(), None)[:3]
        model.eval()
        calls = given if is_stateful else [given, self.others(given, shapes)]
        module = self.load(name, model, calls[0], shapes)
        with self.torch.no_grad():
            return self.compare(module, model, calls)

    def others(self, call, shapes):
        """Inputs of other values, and of other sizes where those are open."""
        torch = self.torch

        def other(tensor, axes):
            sizes = [size + 1 if axis in axes else size for axis, size in enumerate(tensor.shape)]
            if tensor.is_floating_point():
                return torch.randn(sizes)
            return torch.randint(0, int(tensor.max()) + 1, sizes) if tensor.min() != tensor.max() else torch.ones(sizes, dtype=tensor.dtype)

        axes = list((shapes or {}).values()) + [{}] * len(call)
        return tuple(other(tensor, open_axes) for tensor, open_axes in zip(call, axes))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    missing = [package for package in PACKAGES if not importlib.util.find_spec(package)]
    if missing:
        print(f"skipped: not installed: {', '.join(missing)}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    sys.path[:0] = [str(args.build.resolve() / "python"), str(HERE), str(HERE.parent / "e2e")]
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    import models
    cases = [(name, make, False) for name, make in models.MODELS.items()] + [(name, make, True) for name, make in models.STATEFUL.items()]
    cases = [case for case in cases if re.search(args.filter, case[0])]
    if args.list:
        print("\n".join(name for name, _, _ in cases))
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="xc-torch-") as folder:
        runner = Cases(args, folder)
        for case in cases:
            begin = time.monotonic()
            try:
                problem = runner.run(*case)
            except runner.xcompile.Error as error:
                problem = f"{error}\n{getattr(error, 'diagnostics', '')}"
            failed += bool(problem)
            print(f"{'FAILED' if problem else 'passed'} {case[0]}{': ' if problem else ''}{problem} ({time.monotonic() - begin:.1f} s)", flush=True)
    if not cases:
        print("FAILED: no case is called that")
        failed = 1
    print(f"{max(0, len(cases) - failed)} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
