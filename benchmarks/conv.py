#!/usr/bin/env python3
"""Convolutions beside torch's (cuDNN in benchmark mode, channels last), in one run on a GPU.

    conv.py build --build=build/dev --out=DIR [--filter=REGEX] [WORKLOAD...]                         compiles modules; needs no GPU
    conv.py run --out=DIR [--lib=libxcr.so] [--filter=REGEX] [--iterations=N] [--seconds=N]          checks and times them; needs torch

`build` compiles each workload, one module each, and writes DIR/modules.json. `run` compares each result with torch's in f32 (outputs start as
NaN), then times modules and torch the same way: many calls in one CUDA graph over inputs that are rotated; the median of several replays. It
prints a line for each, stops before --seconds are over, and writes DIR/results.json. Workloads are the table's below, or those named:
[input_|filter_|transposed_]TYPE_nBATCH_cCHANNELS_hHEIGHT_kFEATURES_rWINDOW, then any of _sSTRIDE, _pPADDING (half the window if it is not
said), _dDILATION, _gGROUPS, _xDIMS (spatial ones, 2 if it is not said), _sm80 (code for sm_80), _fused (scale, shift, residual and relu behind
it). `input_` and `filter_` are gradients; `transposed_` is a transposed convolution of kCHANNELS to cFEATURES.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import re
import subprocess
import sys
import time

SHAPES = [  # those that peers are compared by; ResNet-50; EfficientNet and ConvNeXt (dense ones); U-Net
    "n32_c64_h56_k64_r3", "n32_c256_h14_k256_r3", "n32_c512_h7_k512_r3", "n128_c128_h28_k128_r3", "n32_c256_h56_k64_r1",
    "n32_c128_h28_k128_r3", "n32_c128_h56_k128_r3_s2", "n32_c256_h28_k256_r3_s2", "n32_c512_h14_k512_r3_s2", "n32_c256_h56_k512_r1_s2",
    "n32_c512_h28_k1024_r1_s2", "n1_c64_h56_k64_r3", "n1_c256_h14_k256_r3", "n32_c32_h112_k16_r1", "n32_c192_h14_k1152_r1",
    "n32_c24_h56_k96_r3", "n32_c96_h56_k192_r2_s2_p0", "n32_c384_h14_k768_r2_s2_p0", "n4_c64_h256_k64_r3", "n4_c256_h64_k512_r3",
    "n4_c1024_h16_k1024_r3", "n16_c256_h28_k256_r3_p2_d2"]
WORKLOADS = [f"bf16_{shape}" for shape in SHAPES] + ["bf16_n32_c64_h56_k64_r3_fused", "bf16_n128_c128_h28_k128_r3_fused",
                                                     "f16_n32_c256_h14_k256_r3"] + [
    f"{kind}_bf16_{shape}" for kind in ("input", "filter") for shape in SHAPES]
DEPTHWISE = ["n32_c144_h56_k144_r3_g144", "n32_c144_h56_k144_r3_s2_g144", "n32_c96_h56_k96_r7_g96", "n32_c240_h28_k240_r5_s2_g240"]
OTHERS = [f"{kind}bf16_{shape}" for shape in DEPTHWISE for kind in ("", "input_", "filter_")] + [
    "bf16_n32_c3_h224_k64_r7_s2", "filter_bf16_n32_c3_h224_k64_r7_s2", "bf16_n32_c3_h224_k32_r3_s2", "bf16_n32_c3_h224_k96_r4_s4_p0",
    "f16_n8_c128_h56_k128_r3_g32", "bf16_n32_c256_h14_k256_r3_g8", "bf16_n4_c256_h64_k128_r2_s2_p0", "transposed_bf16_n4_c512_h32_k1024_r2_s2_p0",
    "transposed_bf16_n16_c128_h32_k256_r4_s2_p1", "bf16_n2_c64_h32_k64_r3_x3", "bf16_n8_c512_h1500_k512_r3_x1", "bf16_n8_c256_h4096_k256_r7_x1",
    "bf16_n4_c256_h64_k256_r3_p4_d4"] + [f"{kind}bf16_{shape}_sm80" for kind in ("", "input_", "filter_") for shape in SHAPES[:9]]
WORKLOADS += OTHERS


def parse(name):
    found = re.fullmatch(r"(input_|filter_|transposed_)?(bf16|f16)_n(\d+)_c(\d+)_h(\d+)_k(\d+)_r(\d+)"
                         r"(?:_s(\d+))?(?:_p(\d+))?(?:_d(\d+))?(?:_g(\d+))?(?:_x(\d))?(_sm80)?(_fused)?", name)
    if not found or (found[1] and found[14]):
        sys.exit(f"conv.py: {name} is no workload")
    kind, dtype, *numbers, old, fused = found.groups()
    n, c, h, k, r, s, p, d, g, x = (None if number is None else int(number) for number in numbers)
    s, d, p, g, x = s or 1, d or 1, r // 2 if p is None else p, g or 1, x or 2
    work = dict(name=name, kind=(kind or "forward_")[:-1], dtype=dtype, fused=bool(fused), arch="sm_80" if old else "sm_90a", n=n, c=c, h=h, k=k,
                r=r, s=s, p=p, d=d, g=g, x=x, out=(h + 2 * p - (r - 1) * d - 1) // s + 1)
    if kind == "transposed_":  # the gradient of a convolution of an image of which `h` is the result
        work.update(h=(h - 1) * s - 2 * p + r, out=h)
    return work


def flops(work):
    return 2 * work["n"] * work["out"] ** work["x"] * work["k"] * work["c"] // work["g"] * work["r"] ** work["x"]


def shape_of(work, tensor):
    """Of the image, the filter and the result, channels last."""
    x = work["x"]
    return {"x": (work["n"], *[work["h"]] * x, work["c"]), "w": (work["k"], *[work["r"]] * x, work["c"] // work["g"]),
            "y": (work["n"], *[work["out"]] * x, work["k"])}[tensor]


def mlir(work):
    def tensor(*shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{work['dtype']}>"
    x, w, y = (tensor(*shape_of(work, name)) for name in "xwy")
    line = tensor(work["k"])
    s, p, d, g, r, rank = (work[key] for key in "spdgrx")
    places = ", ".join(str(dim) for dim in range(rank))

    def window(**attributes):
        lists = {"strides": s, "low": p, "high": p, "filter_dilation": d, "feature_groups": g, **attributes}
        return "".join(f" {name} = " + (str(value) if name == "feature_groups" else str([value] * rank))
                       for name, value in lists.items() if value != (0 if name in ("low", "high") else 1))
    if work["kind"] == "transposed":
        around = r - 1 - p
        attributes = window(strides=1, low=around, high=around, input_dilation=s)
        return f"""func.func @main(%x: {y} {{array.name = "x"}}, %w: {w} {{array.name = "w"}}) -> {x} {{
  %v = array.reverse %w axes = {list(range(1, rank + 1))} : {w} -> {w}
  %y = array.conv %x, %v dims = <[b, {places}, f] x [i, {places}, o] -> [b, {places}, f]>{attributes} : ({y}, {w}) -> {x}
  return %y : {x}
}}
"""
    dims = f"[b, {places}, f] x [o, {places}, i] -> [b, {places}, f]"
    arguments, lines, result = f'%x: {x} {{array.name = "x"}}, %w: {w} {{array.name = "w"}}', [], "%y"
    if work["fused"]:
        arguments += f", %g: {line}, %b: {line}, %r: {y}"
        lines = [f"%z = array.mul %y, %g : ({y}, {line}) -> {y}", f"%u = array.add %z, %b : ({y}, {line}) -> {y}",
                 f"%v = array.add %u, %r : {y}", f"%o = array.relu %v : {y}"]
        result = "%o"
    body = "\n  ".join([f"%y = array.conv %x, %w dims = <{dims}>{window()} : ({x}, {w}) -> {y}", *lines])
    return f"func.func @main({arguments}) -> {y} {{\n  {body}\n  return {result} : {y}\n}}\n"


def gradient(work):
    """The compiler's options for the gradient that the workload is of."""
    return {"input": ["--gradient=main:x"], "filter": ["--gradient=main:w"]}.get(work["kind"], [])


def compile_one(args, work):
    base = pathlib.Path(args.out) / work["name"]
    pathlib.Path(f"{base}.mlir").write_text(mlir(work))
    command = [f"{args.build}/bin/xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", f"--target=cuda:{work['arch']}", "-j", "1", "--report=json",
               *gradient(work), *(["--ptxas=off"] if work["arch"] == "sm_80" else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{work['name']}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    variants = [kernel["variants"][0] for function in json.loads(done.stdout) for kernel in function["kernels"]
                if work["kind"] in ("forward", "transposed") or "vjp" in kernel["name"]]
    return dict(work=work, module=f"{base.name}.vmfb", kernels=[dict(reason=variant["reason"], config=variant["config"]) for variant in variants])


def build(args):
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    works = [parse(name) for name in args.workloads or WORKLOADS if re.search(args.filter, name)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        modules = [module for module in pool.map(lambda work: compile_one(args, work), works) if module]
    (pathlib.Path(args.out) / "modules.json").write_text(json.dumps(modules, indent=1))
    print(f"{len(modules)} modules")


# ---- On the GPU -----------------------------------------------------------------------------------------------------------------

class Problem:
    """Inputs of a workload in sets to rotate, and what torch makes of them."""

    def __init__(self, torch, work):
        self.torch, self.work = torch, work
        dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[work["dtype"]]

        def random(*shape, scale=1.0):
            return (torch.randn(*shape, device="cuda") * scale).to(dtype)
        shapes = {name: shape_of(work, name) for name in "xwy"}
        k, fan = work["k"], work["r"] ** work["x"] * work["c"] // work["g"]
        elements = math.prod(shapes["x"]) + math.prod(shapes["y"]) * (2 if work["fused"] else 1)
        self.sets = []
        for _ in range(max(2, min(8, int(200e6 / (2 * elements)) + 1))):
            x, w = random(*shapes["y" if work["kind"] == "transposed" else "x"]), random(*shapes["w"], scale=fan ** -0.5)
            more = ()
            if work["fused"]:
                more = (random(k), random(k), random(*shapes["y"]))
            elif work["kind"] in ("input", "filter"):
                more = (random(*shapes["y"]),)
            self.sets.append((x, w, *more))
        like = shapes[{"forward": "y", "input": "x", "filter": "w", "transposed": "x"}[work["kind"]]]
        self.output = torch.full(like, float("nan"), device="cuda", dtype=dtype)

    def compute(self, x, w, *more):
        """What the module computes, by torch, in the types of the operands."""
        torch, work = self.torch, self.work
        rank = work["x"]
        first, last = (0, rank + 1, *range(1, rank + 1)), (0, *range(2, rank + 2), 1)
        x, w = x.permute(first), w.permute(first)
        window = dict(stride=work["s"], padding=work["p"], dilation=work["d"], groups=work["g"])
        functions = torch.nn.functional
        if work["kind"] == "transposed":
            return getattr(functions, f"conv_transpose{rank}d")(x, w, **window).permute(last)
        if work["kind"] == "forward":
            y = getattr(functions, f"conv{rank}d")(x, w, **window)
            if work["fused"]:
                g, b, r = more
                y = torch.relu(y * g[:, None, None] + b[:, None, None] + r.permute(first))
            return y.permute(last)
        s, p, d = ([work[key]] * rank for key in "spd")
        mask = [work["kind"] == "input", work["kind"] == "filter", False]
        results = torch.ops.aten.convolution_backward(more[0].permute(first), x, w, None, s, p, d, False, [0] * rank, work["g"], mask)
        return results[0 if mask[0] else 1].permute(last)

    def error(self):
        """Of the output against torch in f32, relative."""
        wanted = self.compute(*(tensor.float() for tensor in self.sets[-1]))
        return float((self.output.float() - wanted).norm() / wanted.norm())


def measure(torch, runtime, args, module, problem):
    from attention import time_graph
    work, streams = module["work"], {}
    instance = runtime.instance(pathlib.Path(args.out) / module["module"])
    entry = "main_vjp" if work["kind"] in ("input", "filter") else "main"
    calls = [runtime.call(instance, [(tensor, work["dtype"]) for tensor in values], [(problem.output, work["dtype"])], entry)
             for values in problem.sets]

    def launch(call, stream):
        if stream.cuda_stream not in streams:
            streams[stream.cuda_stream] = runtime.stream(stream.cuda_stream)
        runtime.launch(call, streams[stream.cuda_stream])
    launch(calls[-1], torch.cuda.current_stream())
    torch.cuda.synchronize()
    error = problem.error()
    time_ours = time_graph(torch, launch, calls, args.iterations)
    for call in calls:
        runtime.release("call", call)
    runtime.release("instance", instance)
    return error, time_ours


def run(args):
    import torch

    import xcr_torch
    from attention import time_graph
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    begin, results = time.monotonic(), []
    runtime = xcr_torch.Runtime(args.lib or pathlib.Path(args.out) / "libxcr.so")
    print(torch.cuda.get_device_name(), torch.__version__, "cuDNN", torch.backends.cudnn.version(), flush=True)
    for module in json.loads((pathlib.Path(args.out) / "modules.json").read_text()):
        work = module["work"]
        if not re.search(args.filter, work["name"]):
            continue
        if time.monotonic() - begin > args.seconds:
            print("no time is left for", work["name"], flush=True)
            continue
        problem = Problem(torch, work)
        peer = time_graph(torch, lambda values, stream: problem.compute(*values), problem.sets, args.iterations)
        try:
            error, ours = measure(torch, runtime, args, module, problem)
        except RuntimeError as failure:
            print(f"{work['name']}: {failure}", flush=True)
            continue
        isRight = error < 1e-2
        expected = sum(float(found[1]) for kernel in module["kernels"] if (found := re.search(r"([\d.]+) us expected", kernel["reason"])))
        results.append(dict(work=work, error=error, right=isRight, ours=ours, peer=peer, expected=expected, kernels=module["kernels"]))
        print(f"{work['name']:36} {'ok' if isRight else 'WRONG'} {error:.1e}  ours {ours:7.1f}  expected {expected:7.1f}  cuDNN {peer:7.1f}  "
              f"{peer / ours:5.2f}x  {flops(work) / ours / 1e6:6.1f} TFLOP/s", flush=True)
        del problem
    (pathlib.Path(args.results or args.out) / "results.json").write_text(json.dumps(results, indent=1))
    print(f"{sum(result['right'] for result in results)} of {len(results)} right")
    return 0 if all(result["right"] for result in results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("build", "run"))
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--out", required=True)
    parser.add_argument("--results", help="folder of results.json, if not --out")
    parser.add_argument("--lib")
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1e9, help="workloads are left out from then on")
    args = parser.parse_args()
    return (build if args.mode == "build" else run)(args)


if __name__ == "__main__":
    sys.exit(main())
