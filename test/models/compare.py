"""Compiles trained models of the packages in scripts/models.txt, and compares what they say with onnxruntime.

    compare.py --build build/dev --models build/models [--filter REGEX] [--device cpu] [--target cpu] [--time]

Each model runs with inputs of several sizes: one module for all of them. With --time, each is also timed beside onnxruntime, on
two threads each. Ends with "N passed, N failed, N skipped".
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

# onnxruntime is in the folder of the models, by PYTHONPATH or --models.


def sound(batch, length):
    return numpy.random.default_rng(length).standard_normal((batch, length)).astype(numpy.float32) * 0.1


def state(*shape):
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32) * 0.1


def pictures(batch, height, width):
    return {"x": numpy.random.default_rng(height).uniform(-1, 1, (batch, 3, height, width)).astype(numpy.float32)}


def files(batch):
    return {"bytes": numpy.random.default_rng(batch).integers(0, 257, (batch, 2048)).astype(numpy.int32)}


def hearing(batch, rate=16000, length=576):
    return {"input": sound(batch, length), "state": state(2, batch, 128), "sr": numpy.array(rate, numpy.int64)}


def without_rate(batch):
    return {"input": sound(batch, 576), "state": state(2, batch, 128)}


def windows(count):
    return {"input": sound(count, 576), "h": state(1, 1, 128), "c": state(1, 1, 128)}


SILERO, OCR = "silero_vad/data", "rapidocr_onnxruntime/models"
# File, inputs of one run after the other, and which of them are fixed while the model is compiled.
MODELS = {
    "magika": ("magika/models/standard_v3_3/model.onnx", [files(1), files(3)]),
    "silero-16k": (f"{SILERO}/silero_vad.onnx", [hearing(1), hearing(3)], "sr"),
    "silero-8k": (f"{SILERO}/silero_vad.onnx", [hearing(1, 8000, 288)], "sr"),
    "silero-op15": (f"{SILERO}/silero_vad_16k_op15.onnx", [hearing(1), hearing(3)]),
    "silero-op18": (f"{SILERO}/silero_vad_op18_ifless.onnx", [hearing(1), hearing(2, 8000, 288)]),
    "silero-half": (f"{SILERO}/silero_vad_half.onnx", [without_rate(1), without_rate(2)]),
    "silero-openvino": (f"{SILERO}/silero_vad_openvino_16k.onnx", [without_rate(1)]),
    "silero-sequence": (f"{SILERO}/silero_vad_16k_sequence.onnx", [windows(1), windows(5)]),
    "ocr-det": (f"{OCR}/ch_PP-OCRv4_det_infer.onnx", [pictures(1, 64, 96), pictures(1, 96, 160)]),
    "ocr-cls": (f"{OCR}/ch_ppocr_mobile_v2.0_cls_infer.onnx", [pictures(1, 48, 192), pictures(2, 48, 192)]),
    "ocr-rec": (f"{OCR}/ch_PP-OCRv4_rec_infer.onnx", [pictures(1, 48, 320), pictures(2, 48, 200)]),
}


def call(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-1500:]}")
    return done.stdout


def difference(found, wanted):
    """What differs by more than rounding does, beside the largest element."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    worst = float(numpy.abs(found - wanted).max(initial=0))
    bound = 1e-4 * max(1.0, float(numpy.abs(wanted).max(initial=0)))
    return None if worst <= bound else f"the largest difference is {worst}, expected at most {bound}"


class Comparison:
    def __init__(self, arguments, folder):
        self.bin, self.models, self.folder = arguments.build / "bin", arguments.models, folder
        self.device, self.target, self.time = arguments.device, arguments.target, arguments.time
        self.ratios = []

    def compare(self, name):
        import onnxruntime
        path, runs, *fixed = MODELS[name]
        module = self.folder / f"{name}.vmfb"
        begin = time.monotonic()
        flags = [f"--fix-input={value}={runs[0][value]}" for value in fixed]
        call(self.bin / "xcompile", self.models / path, "-o", module, f"--target={self.target}", *flags)
        seconds = time.monotonic() - begin
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 2, 3
        session = onnxruntime.InferenceSession(str(self.models / path), options, providers=["CPUExecutionProvider"])
        for number, inputs in enumerate(runs):
            files = []
            for value in session.get_inputs():
                if value.name not in fixed:
                    files.append(self.folder / f"{name}-{number}-in{len(files)}.npy")
                    numpy.save(files[-1], inputs[value.name])
            wanted = session.run(None, inputs)
            out = [self.folder / f"{name}-{number}-out{index}.npy" for index in range(len(wanted))]
            command = [self.bin / "xrun", module, f"--device={self.device}", *(f"--input=@{file}" for file in files)]
            call(*command, *(f"--output=@{file}" for file in out))
            for index, (file, value) in enumerate(zip(out, wanted)):
                why = difference(numpy.load(file), value)
                if why:
                    raise RuntimeError(f"run {number}, output {index}: {why}")
            if self.time:
                self.compare_times(name, number, module, files, session, inputs)
        print(f"{name}: compiled in {seconds:.1f} s, {len(runs)} sizes agree", flush=True)

    def compare_times(self, name, number, module, files, session, inputs):
        """The fastest and the median call of both; a busy machine shows in the median."""
        for _ in range(3):
            session.run(None, inputs)
        theirs, end = [], time.monotonic() + 2
        while time.monotonic() < end or len(theirs) < 5:
            begin = time.perf_counter()
            session.run(None, inputs)
            theirs.append(time.perf_counter() - begin)
        ours = json.loads(call(self.bin / "xbench", module, "--device=cpu:2", "--json", *(f"--input=@{file}" for file in files)))
        ours = ours["latency_s"]["min"], ours["latency_s"]["median"]
        theirs = min(theirs), float(numpy.median(theirs))
        self.ratios.append([other / own for own, other in zip(ours, theirs)])
        print(f"  {name} run {number}: ours {1e3 * ours[0]:.3f} ms (median {1e3 * ours[1]:.3f}), onnxruntime {1e3 * theirs[0]:.3f} ms "
              f"(median {1e3 * theirs[1]:.3f}): {self.ratios[-1][0]:.2f}x ({self.ratios[-1][1]:.2f}x)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--models", default="build/models", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--time", action="store_true")
    arguments = parser.parse_args()
    sys.path.append(str(arguments.models))
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="xc-models-") as folder:
        comparison = Comparison(arguments, pathlib.Path(folder))
        for name in MODELS:
            if not re.search(arguments.filter, name):
                continue
            try:
                comparison.compare(name)
                passed += 1
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as failure:
                print(f"FAILED {name}: {failure}", flush=True)
                failed += 1
        if comparison.ratios:
            fastest, median = numpy.exp(numpy.log(comparison.ratios).mean(0))
            print(f"geometric mean: {fastest:.2f}x by the fastest calls, {median:.2f}x by the medians")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
