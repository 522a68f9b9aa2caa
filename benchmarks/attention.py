#!/usr/bin/env python3
"""Attention beside torch's (cuDNN's and the others' kernels), in one run on a GPU.

    attention.py build --build=build/dev --out=DIR [--target=cuda:sm_90a] [--candidates] [--filter=REGEX] [WORKLOAD...]
                                                                                                   compiles modules; needs no GPU
    attention.py run --out=DIR [--lib=libxcr.so] [--filter=REGEX] [--iterations=N]                 checks and times them; needs torch

`build` compiles each workload as the compiler would by itself, with --candidates in other configurations beside it too, one module each, and
writes DIR/modules.json. `run` compares each result with torch's in f32 (of the first heads, where there are many; outputs start as NaN), then
times modules and torch the same way: many calls in one CUDA graph over inputs that are rotated; the median of several replays. It prints a
line for each and writes DIR/results.json. Workloads are the table's below, or those named: TYPE_bB_hH_sQUERIES_dD, then any of
_gHEADS (of keys), _kKEYS, _causal, _bias (for each query and key, in f32) or _bias16 (in TYPE, as torch's are in both cases), _backward: forward and backward as --gradient gives them, beside
torch's forward and backward ops; the backward alone is the difference to a forward. Types are bf16, f16, f32, and tf32: f32 with --allow-tf32, and
with torch's leave to use it. Results of f32 are compared with f64.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import statistics
import subprocess
import sys

WORKLOADS = ["bf16_b8_h16_s4096_d128", "bf16_b8_h16_s4096_d128_causal", "bf16_b16_h12_s512_d64", "bf16_b4_h32_s8192_d128_causal",
             "bf16_b2_h16_s4096_d64_causal", "bf16_b2_h16_s4096_d64", "bf16_b32_h12_s512_d64", "bf16_b4_h16_s2048_d256",
             "bf16_b4_h16_s2048_d256_causal", "bf16_b4_h32_g8_s4096_d128_causal", "bf16_b4_h16_s1000_d128", "bf16_b4_h16_s4097_d128_causal",
             "bf16_b4_h16_s2048_d80", "bf16_b4_h16_s2048_d96", "bf16_b8_h16_s1024_d64_bias", "bf16_b8_h16_s1024_d64_bias16",
             "bf16_b8_h16_s1024_d64_causal_bias16", "bf16_b4_h16_s2048_d128_bias16", "bf16_b4_h16_s2048_d96_bias16", "f16_b8_h16_s4096_d128"]
BACKWARD = [f"{name}_backward" for name in ("bf16_b8_h16_s4096_d128", "bf16_b8_h16_s4096_d128_causal", "bf16_b2_h16_s4096_d64",
                                           "bf16_b2_h16_s4096_d64_causal", "bf16_b16_h12_s512_d64", "bf16_b32_h12_s512_d64",
                                           "bf16_b4_h32_g8_s4096_d128_causal", "bf16_b4_h16_s1000_d128", "f16_b4_h16_s4097_d128_causal")]
SINGLE = [f"{dtype}_{rest}" for dtype in ("f32", "tf32") for rest in (
    "b8_h16_s4096_d128", "b8_h16_s4096_d128_causal", "b2_h16_s4096_d64", "b2_h16_s4096_d64_causal", "b32_h12_s512_d64", "b4_h32_g8_s4096_d128_causal",
    "b4_h16_s1000_d128", "b4_h16_s2048_d80", "b4_h16_s2048_d256", "b8_h16_s1024_d64_bias")]
CHECKED_HEADS = 4  # whose result is compared


def parse(name):
    found = re.fullmatch(r"(bf16|f16|f32|tf32)_b(\d+)_h(\d+)(?:_g(\d+))?_s(\d+)(?:_k(\d+))?_d(\d+)(_causal)?(_bias(?:16)?)?(_backward)?", name)
    if not found:
        sys.exit(f"attention.py: {name} is no workload")
    dtype, batch, heads, shared, queries, keys, width, causal, bias, backward = found.groups()
    rounds, dtype = dtype == "tf32", dtype.removeprefix("t")
    numbers = dict(b=int(batch), h=int(heads), g=int(shared or heads), s=int(queries), k=int(keys or queries), d=int(width))
    return dict(name=name, dtype=dtype, tf32=rounds, causal=bool(causal), bias={None: None, "_bias": "f32", "_bias16": dtype}[bias], backward=bool(backward), **numbers)


def flops(work):
    pairs = work["s"] * work["k"]
    if work["causal"]:
        pairs = sum(max(0, min(work["k"], row + 1 + work["k"] - work["s"])) for row in range(work["s"]))
    return 4 * work["b"] * work["h"] * pairs * work["d"] * (3.5 if work["backward"] else 1)


def mlir(work):
    def tensor(*shape, dtype=work["dtype"]):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"
    q, k = tensor(work["b"], work["h"], work["s"], work["d"]), tensor(work["b"], work["g"], work["k"], work["d"])
    arguments, clauses = [f"%q: {q}", f"%k: {k}", f"%v: {k}"], ""
    if work["bias"]:
        bias = tensor(work["s"], work["k"], dtype=work["bias"])
        arguments.append(f"%m: {bias}")
        clauses += f"mask(%m : {bias}) "
    clauses += "causal " if work["causal"] else ""
    return (f"func.func @main({', '.join(arguments)}) -> {q} {{\n"
            f"  %r = array.attention %q, %k, %v {clauses}scale = {work['d'] ** -0.5:.9e} : ({q}, {k}, {k}) -> {q}\n  return %r : {q}\n}}\n")


def candidates(work, kernel="attention", mma=False):
    """Warpgroups, keys, stages, stages of queries, heads in a group, ping-pong, cluster, serpentine, stages of masks, loads of columns. Of the
    gradient of keys and values, `keys` are queries. On mma.sync: warpgroups, keys, stages, held queries, heads in a group."""
    if mma:
        blocks, held = ((16, 32, 48, 64), (0,)) if kernel != "attention" or work["dtype"] == "f32" else ((32, 64, 96, 128), (0, 1))
        return [(warpgroups, keys, stages, hold, 8 if work["causal"] else 1) for warpgroups in (1, 2) for keys in blocks for stages in (2, 3)
                for hold in held]
    if kernel != "attention":
        of_keys = "queries" not in kernel
        blocks = ((32, 48) if work["d"] > 192 else (48, 64, 80) if work["d"] > 64 else (64, 96, 128)) if of_keys else (48, 64, 80, 96, 112, 128)
        return [(2, rows, stages, own, raster, 0, 1, backwards, 0, loads) for rows in blocks for stages in (2, 3, 4) for own in (1, 2)
                for raster in ((1,) if not work["causal"] else (4, 16)) for backwards in ((0, 1) if work["causal"] else (0,))
                for loads in ((0, 1) if of_keys and not backwards else (0,))]
    wide, group = work["d"], 16 if work["causal"] else 1
    if wide > 128:
        return [(2, 80, 2, 1, group, 0), (2, 80, 2, 1, group, 1), (2, 64, 2, 1, group, 1), *([] if work["causal"] else [(2, 80, 2, 1, group, 0, 2)])]
    found = [(2, keys, 2, 2 if keys == 128 else 1, group, turn) for keys in (112, 128, 144, 160, 176) for turn in (0, 1)]
    if wide <= 64:
        found += [(2, keys, 3, 2, group, turn) for keys in (128, 192, 224) for turn in (0, 1)]
        found += [(3, keys, stages, 2, group, turn) for keys in (96, 128) for stages in (2, 3) for turn in (0, 1)]
    if work["causal"]:
        found += [(2, 128, 2, 2, other, 1, 1, backwards) for other in (1, 2, 4, 8, 32, 64) for backwards in (0, 1)]
    else:
        found += [(2, keys, 2, 1, 1, turn, 2) for keys in (128, 176) for turn in (0, 1)]
    return found


def config_text(values):
    if len(values) == 5:
        names = ("warpgroups", "keys", "stages", "held_queries", "raster")
        return f"#cuda.attention_mma<{', '.join(f'{name} = {value}' for name, value in zip(names, values))}>"
    names = ("warpgroups", "keys", "stages", "query_stages", "raster", "ping_pong", "cluster", "serpentine", "mask_stages", "column_loads")
    return f"#cuda.attention<{', '.join(f'{name} = {value}' for name, value in zip(names, values))}>"


def compile_one(args, work, number, key=None, values=None):
    base = pathlib.Path(args.out) / f"{work['name']}.{number}"
    pathlib.Path(f"{base}.mlir").write_text(mlir(work))
    command = [f"{args.build}/bin/xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", f"--target={args.target}", "-j", "1", "--report=json"]
    if work["backward"]:
        command.append("--gradient=main:0,1,2") # none of a bias
    if work["tf32"]:
        command.append("--allow-tf32")
    if values:
        pathlib.Path(f"{base}.tuning").write_text(f"{key} = {config_text(values)}\n")
        command.append(f"--tuning={base}.tuning")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{work['name']} {values}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    report = json.loads(done.stdout)[0]["kernels"]
    variants = [variant for kernel in report for variant in kernel["variants"] if "key: " in variant["reason"] or "tuned: " in variant["reason"]]
    tuned = [variant for variant in variants if "tuned: " in variant["reason"]] or variants
    return dict(work=work, module=f"{base.name}.vmfb", kernels=len(report), config=tuned[0]["config"],
                keys={re.search("(?:key|tuned): (.*)", variant["reason"]).group(1): variant["config"] for variant in variants},
                registers=[variant["registers"] for variant in variants], spills=[variant["spills"] for variant in variants])


def build(args):
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    works = [parse(name) for name in args.workloads or WORKLOADS + BACKWARD + SINGLE if re.search(args.filter, name)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        modules = [module for module in pool.map(lambda work: compile_one(args, work, 0), works) if module]
        if args.candidates:
            found = [(module["work"], key, values) for module in modules for key, config in module["keys"].items()
                     for values in candidates(module["work"], key.split()[1], args.target != "cuda:sm_90a" or module["work"]["dtype"] == "f32") if config_text(values) != config]
            jobs = [(work, 1 + number, key, values) for number, (work, key, values) in enumerate(found)]
            modules += [module for module in pool.map(lambda job: compile_one(args, *job), jobs) if module]
    (pathlib.Path(args.out) / "modules.json").write_text(json.dumps(modules, indent=1))
    print(f"{len(modules)} modules")


# ---- On the GPU -----------------------------------------------------------------------------------------------------------------

def time_graph(torch, launch, sets, iterations):
    """Median microseconds of one launch; many in one graph, over all sets in turn."""
    stream = torch.cuda.Stream()
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    with torch.cuda.stream(stream):
        for values in sets:
            launch(values, stream)
        begin.record(stream)
        for values in sets:
            launch(values, stream)
        end.record(stream)
    torch.cuda.synchronize()
    once = max(begin.elapsed_time(end) * 1e3 / len(sets), 2.0)
    count = len(sets) * (int(1000 / once / len(sets)) + 1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(count):
            launch(sets[i % len(sets)], stream)
    for _ in range(3):
        graph.replay()
    events = [(torch.cuda.Event(True), torch.cuda.Event(True)) for _ in range(iterations)]
    for first, last in events:
        first.record()
        graph.replay()
        last.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in events) * 1e3 / count


def widen(torch, work, tensor):
    return tensor.double() if work["dtype"] == "f32" else tensor.float()


def reference(torch, work, q, k, v, bias):
    """Of the first heads of the first batch, in f32, or f64 of f32."""
    q, k, v = (widen(torch, work, t) for t in (q, k, v))
    heads = min(CHECKED_HEADS, work["h"])
    each = work["h"] // work["g"]
    shared = [head // each for head in range(heads)]
    scores = q[0, :heads] @ k[0, shared].mT * work["d"] ** -0.5
    if bias is not None:
        scores += bias
    if work["causal"]:
        hidden = torch.ones_like(scores[0], dtype=torch.bool).triu(1 + work["k"] - work["s"])
        scores.masked_fill_(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ v[0, shared]


def gradients(torch, work, q, k, v, bias, cotangent):
    """Of the first key head of the first batch and its queries, likewise, one query head at a time."""
    each = work["h"] // work["g"]
    key, value = (widen(torch, work, t[0, :1]).requires_grad_() for t in (k, v))
    found = []
    for head in range(each):
        query = widen(torch, work, q[0, head:head + 1]).requires_grad_()
        result = reference(torch, dict(work, h=1, g=1), query[None], key[None], value[None], bias)
        result.backward(widen(torch, work, cotangent[0, head:head + 1]))
        found.append(query.grad)
    return torch.cat(found), key.grad, value.grad


def time_peers_backward(torch, work, sets, iterations):
    """Forward and backward, and a forward alone, by torch's ops for each of its back ends."""
    aten, scale = torch.ops.aten, work["d"] ** -0.5
    shared = work["h"] // work["g"]
    # These ops want as many heads of keys as of queries; torch repeats them, too.
    bias = sets[0][3]
    if bias is not None:
        bias = bias.to(sets[0][0].dtype).expand(work["b"], work["h"], work["s"], work["k"])
    sets = [(q, k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1), g) for q, k, v, g in ((s[0], s[1], s[2], s[5]) for s in sets)]

    def cudnn(q, k, v):
        return aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, work["causal"], False, scale=scale)

    def flash(q, k, v):
        return aten._scaled_dot_product_flash_attention(q, k, v, 0.0, work["causal"], False, scale=scale)

    def cudnn_backward(q, k, v, g, saved):
        out, logsumexp, cum_q, cum_k, max_q, max_k, seed, offset, _ = saved
        return aten._scaled_dot_product_cudnn_attention_backward(g, q, k, v, out, logsumexp, seed, offset, None, cum_q, cum_k, max_q, max_k, 0.0,
                                                                 work["causal"], scale=scale)

    def flash_backward(q, k, v, g, saved):
        out, logsumexp, cum_q, cum_k, max_q, max_k, seed, offset, _ = saved
        return aten._scaled_dot_product_flash_attention_backward(g, q, k, v, out, logsumexp, cum_q, cum_k, max_q, max_k, 0.0, work["causal"], seed,
                                                                 offset, scale=scale)

    def efficient(q, k, v):
        return aten._scaled_dot_product_efficient_attention(q, k, v, bias, True, 0.0, work["causal"], scale=scale)

    def efficient_backward(q, k, v, g, saved):
        out, logsumexp, seed, offset = saved
        return aten._scaled_dot_product_efficient_attention_backward(g, q, k, v, bias, out, logsumexp, seed, offset, 0.0, (True, True, True, False),
                                                                     work["causal"], scale=scale)
    # The first two get no bias.
    peers = (("efficient", efficient, efficient_backward),) if work["bias"] or work["dtype"] == "f32" else (("cuDNN", cudnn, cudnn_backward), ("flash", flash, flash_backward))
    times = {}
    for name, forward, backward in peers:
        try:
            both = time_graph(torch, lambda values, _: backward(*values, forward(*values[:3])), sets, iterations)
            first = time_graph(torch, lambda values, _: forward(*values[:3]), sets, iterations)
            saved = [(*values, forward(*values[:3])) for values in sets]
            times[name], times[f"{name} backward"] = both, time_graph(torch, lambda values, _: backward(*values), saved, iterations)
            times[f"{name} forward"] = first
        except (RuntimeError, TypeError, ValueError) as error:
            print(f"{work['name']} {name}: {str(error).splitlines()[0]}", file=sys.stderr)
    return times


def time_peers(torch, work, sets, iterations):
    if work["backward"]:
        return time_peers_backward(torch, work, sets, iterations)
    from torch.nn.attention import SDPBackend, sdpa_kernel
    attend = torch.nn.functional.scaled_dot_product_attention
    times = {}
    # Biases of the operands' type: no kernel of torch's takes others.
    sets = [(q, k, v, None if bias is None else bias.to(q.dtype)) for q, k, v, bias, *_ in sets]
    backends = dict(cuDNN=SDPBackend.CUDNN_ATTENTION, flash=SDPBackend.FLASH_ATTENTION, efficient=SDPBackend.EFFICIENT_ATTENTION)
    if work["dtype"] == "f32":
        backends["math"] = SDPBackend.MATH
    for name, backend in backends.items():
        def call(values, stream):
            q, k, v, bias = values
            attend(q, k, v, attn_mask=bias, is_causal=work["causal"], enable_gqa=work["g"] != work["h"])
        try:
            with sdpa_kernel(backend):
                times[name] = time_graph(torch, call, sets, iterations)
        except RuntimeError:
            torch.cuda.empty_cache()  # of squares of queries and keys, where these had no room
    return times


def make_sets(torch, work):
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[work["dtype"]]

    def random(*shape):
        return torch.randn(*shape, device="cuda").to(dtype)
    elements = work["b"] * work["d"] * (2 * work["h"] * work["s"] + 2 * work["g"] * work["k"])
    sets = []
    for _ in range(max(2, min(8, int(200e6 / (dtype.itemsize * elements)) + 1))):
        q, k, v = random(work["b"], work["h"], work["s"], work["d"]), *(random(work["b"], work["g"], work["k"], work["d"]) for _ in "kv")
        bias = torch.randn(work["s"], work["k"], device="cuda").to(dtype) if work["bias"] else None
        bias = bias.float() if work["bias"] == "f32" else bias
        sets.append((q, k, v, bias, torch.full_like(q, float("nan")), random(work["b"], work["h"], work["s"], work["d"]) if work["backward"] else None))
    return sets


def measure(torch, runtime, args, module, sets):
    """Microseconds of all that the module's function does, those of its forward alone (for a backward), the largest error, and elements that are
    not there."""
    work = module["work"]
    instance = runtime.instance(pathlib.Path(args.out) / module["module"])
    streams = {}

    def launch(call, stream):
        if stream.cuda_stream not in streams:
            streams[stream.cuda_stream] = runtime.stream(stream.cuda_stream)
        runtime.launch(call, streams[stream.cuda_stream])

    def time(calls):
        torch.cuda.synchronize()
        microseconds = time_graph(torch, launch, calls, args.iterations)
        for call in calls:
            runtime.release("call", call)
        return microseconds
    forwards, calls, results = [], [], []
    for q, k, v, bias, out, cotangent in sets:
        out.fill_(float("nan"))
        inputs = [(tensor, work["dtype"]) for tensor in (q, k, v)] + ([(bias, work["bias"])] if work["bias"] else [])
        forwards.append(runtime.call(instance, inputs, [(out, work["dtype"])]))
        if work["backward"]:
            results.append([torch.full_like(tensor, float("nan")) for tensor in (q, k, v)])
            calls.append(runtime.call(instance, inputs + [(cotangent, work["dtype"])], [(tensor, work["dtype"]) for tensor in results[-1]],
                                      "main_vjp"))
    forward = time(forwards)
    microseconds = time(calls) if work["backward"] else forward
    q, k, v, bias, out, cotangent = sets[-1]
    if work["backward"]:
        wanted = gradients(torch, work, q, k, v, bias, cotangent)
        pairs = [(found[0, :part.shape[0]], part) for found, part in zip(results[-1], wanted)]
        missing = sum(int(torch.isnan(found).sum()) for found in results[-1])
    else:
        expected = reference(torch, work, q, k, v, bias)
        pairs, missing = [(out[0, :expected.shape[0]], expected)], int(torch.isnan(out).sum())
    error = max(float((widen(torch, work, found) - part).norm() / part.norm()) for found, part in pairs)
    runtime.release("instance", instance)
    return microseconds, forward, error, missing


def run(args):
    import torch
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import xcr_torch
    modules = json.loads((pathlib.Path(args.out) / "modules.json").read_text())
    torch.zeros(1, device="cuda")  # makes the context that the runtime shares
    runtime, rows, peers, sets, last = xcr_torch.Runtime(args.lib), [], {}, [], None
    for module in sorted(modules, key=lambda module: module["work"]["name"]):
        work = module["work"]
        if not re.search(args.filter, work["name"]):
            continue
        if work["name"] != last:
            sets, last = make_sets(torch, work), work["name"]
            torch.backends.cuda.matmul.allow_tf32 = work["tf32"]
            peers = time_peers(torch, work, sets, args.iterations)
        microseconds, forward, error, missing = measure(torch, runtime, args, module, sets)
        whole = {name: time for name, time in peers.items() if " " not in name}
        best = min(whole.items(), key=lambda item: item[1], default=("none", float("nan")))
        back = dict(forward=round(forward, 2), backward=round(microseconds - forward, 2)) if work["backward"] else {}
        rows.append(dict(work=work["name"], config=module["config"], us=round(microseconds, 2), tflops=round(flops(work) / microseconds / 1e6),
                         error=float(f"{error:.3g}"), nan=missing, peers={name: round(time, 2) for name, time in peers.items()},
                         ratio=round(best[1] / microseconds, 3), best=best[0], module=module["module"], **back))
        print(json.dumps(rows[-1]), flush=True)
        (pathlib.Path(args.out) / "results.json").write_text(json.dumps(rows, indent=1))
    wrong = [row for row in rows if row["nan"] or not row["error"] < (1e-5 if row["work"].startswith("f32") else 1e-2)]
    print(f"{len(rows)} measured, {len(wrong)} wrong")
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "run"])
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--out", required=True)
    parser.add_argument("--target", default="cuda:sm_90a", help="what to compile for; sm_80 gives kernels on mma.sync")
    parser.add_argument("--lib", default="build/dev/lib/libxcr.so")
    parser.add_argument("--filter", default="")
    parser.add_argument("--candidates", action="store_true")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_intermixed_args()
    return {"build": build, "run": run}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
