#!/usr/bin/env python3
"""Attention of one query for each sequence, to caches in one piece and in pages, beside torch's, in one run on a GPU.

    decode_attention.py build --build=build/dev --out=DIR [--target=sm_90a] [WORKLOAD...]      compiles modules; needs no GPU
    decode_attention.py run --out=DIR [--lib=libxcr.so] [--filter=REGEX] [--most=GIGABYTES] [--flashinfer]     checks and times them; needs torch

A workload is bBATCH_hHEADS_gKEYHEADS_kCONTEXT_dWIDTH, and _paged for pages of 64 places, in bf16. `run` compares the first sequence with
f32, times both by many calls in one CUDA graph over caches that are rotated, and prints what share of the time of a copy of as many bytes
it is; DIR/results.json has all of it. Workloads of more bytes than --most are left out. With --flashinfer, caches in pages have FlashInfer as
their peer, which compiles its kernels on first use.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

from attention import time_graph

PAGE = 64
WORKLOADS = [f"b{batch}_h{heads}_g{groups}_k{keys}_d128{paged}" for heads, groups in ((64, 8), (32, 32)) for batch in (1, 8, 64)
             for keys in (1024, 8192, 131072) for paged in ("", "_paged")]


def parse(name):
    found = re.fullmatch(r"b(\d+)_h(\d+)_g(\d+)_k(\d+)_d(\d+)(_paged)?", name)
    if not found:
        sys.exit(f"decode_attention.py: {name} is no workload")
    return dict(name=name, paged=bool(found[6]), **dict(zip("bhgkd", map(int, found.groups()[:5]))))


def count_bytes(work):
    return 4 * work["b"] * work["g"] * work["k"] * work["d"]


def mlir(work):
    b, h, g, k, d = (work[name] for name in "bhgkd")
    query, scale = f"tensor<{b}x{h}x1x{d}xbf16>", f"{d ** -0.5:.9e}"
    if work["paged"]:
        pages = f"tensor<{b * k // PAGE}x{g}x{PAGE}x{d}xbf16>"
        table = f"tensor<{b}x{k // PAGE}xi32>"
        return (f"func.func @main(%q: {query}, %k: {pages}, %v: {pages}, %t: {table}, %n: tensor<{b}xi32>) -> {query} {{\n"
                f"  %r = array.paged_attention %q, %k, %v table(%t : {table}) lengths(%n : tensor<{b}xi32>) scale = {scale} : "
                f"({query}, {pages}, {pages}) -> {query}\n  return %r : {query}\n}}\n")
    keys = f"tensor<{b}x{g}x{k}x{d}xbf16>"
    return (f"func.func @main(%q: {query}, %k: {keys}, %v: {keys}) -> {query} {{\n"
            f"  %r = array.attention %q, %k, %v scale = {scale} : ({query}, {keys}, {keys}) -> {query}\n  return %r : {query}\n}}\n")


def build(args):
    args.out.mkdir(parents=True, exist_ok=True)
    modules = []
    for work in map(parse, args.workloads or WORKLOADS):
        source = args.out / f"{work['name']}.mlir"
        source.write_text(mlir(work))
        command = [f"{args.build}/bin/xcompile", source, "-o", source.with_suffix(".vmfb"), f"--target=cuda:{args.target}", "--report=json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"decode_attention.py: {work['name']}: {done.stderr}")
        variants = [kernel["variants"][-1] for kernel in json.loads(done.stdout)[0]["kernels"]]
        modules.append(dict(work=work, configs=[variant["config"] for variant in variants], reasons=[variant["reason"] for variant in variants]))
        print(work["name"], *modules[-1]["configs"], flush=True)
    (args.out / "modules.json").write_text(json.dumps(modules, indent=1))


# ---- On the GPU -----------------------------------------------------------------------------------------------------------------


def make_sets(torch, work):
    """The arguments of calls, as many as fill the caches twice: q, k, v, and with pages a table of their numbers and the lengths."""
    b, h, g, k, d = (work[name] for name in "bhgkd")
    shape = (b * k // PAGE, g, PAGE, d) if work["paged"] else (b, g, k, d)
    sets = []
    for _ in range(max(1, min(8, int(200e6 / count_bytes(work)) + 1))):
        values = [torch.randn(b, h, 1, d, device="cuda", dtype=torch.bfloat16), *(torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in "kv")]
        if work["paged"]:
            table = torch.randperm(shape[0], device="cuda").to(torch.int32).reshape(b, -1)
            values += [table, torch.full((b,), k, device="cuda", dtype=torch.int32)]
        sets.append(values)
    return sets


def first_sequence(torch, work, values):
    """The result of the first sequence, in f32."""
    q, k, v, *paged = values
    if paged:
        k, v = (pages[paged[0][:1].long()].transpose(1, 2).flatten(2, 3) for pages in (k, v))
    found = []
    for head in range(work["h"]):
        key, value = (cache[0, head * work["g"] // work["h"]].float() for cache in (k, v))
        found.append(torch.softmax(q[0, head].float() @ key.mT * work["d"] ** -0.5, -1) @ value)
    return torch.stack(found)


def time_peers(torch, work, sets, iterations):
    """torch's on caches in one piece: it has no attention to pages."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    attend, times = torch.nn.functional.scaled_dot_product_attention, {}
    for name, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
        try:
            with sdpa_kernel(backend):
                times[name] = time_graph(torch, lambda values, _: attend(*values[:3], enable_gqa=work["g"] != work["h"]), sets, iterations)
        except RuntimeError as error:
            print(f"{work['name']} {name}: {str(error).splitlines()[0]}", file=sys.stderr)
    return times


def time_flashinfer(torch, work, sets, iterations):
    """FlashInfer's on pages; what it plans on the host once for given lengths is not timed."""
    import flashinfer
    wrappers, b = [], work["b"]
    pages = work["k"] // PAGE
    begins = torch.arange(b + 1, dtype=torch.int32) * pages
    for _, _, _, table, _ in sets:
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(torch.zeros(128 << 20, dtype=torch.uint8, device="cuda"), "HND",
                                                                use_tensor_cores=work["h"] // work["g"] >= 4)
        wrapper.plan(begins.cuda(), table.flatten(), torch.full((b,), PAGE, dtype=torch.int32, device="cuda"), work["h"], work["g"], work["d"], PAGE,
                     q_data_type=torch.bfloat16, kv_data_type=torch.bfloat16, sm_scale=work["d"] ** -0.5)
        wrappers.append(wrapper)
    q, k, v, *_ = sets[0]
    found, wanted = wrappers[0].run(q[:, :, 0], (k, v))[0].float(), first_sequence(torch, work, sets[0])[:, 0]
    if not float((found - wanted.reshape(found.shape)).norm() / wanted.norm()) < 1e-2:
        raise RuntimeError("FlashInfer's result is another one")
    calls = [(wrapper, values[0][:, :, 0], values[1:3]) for wrapper, values in zip(wrappers, sets)]
    return {"FlashInfer": time_graph(torch, lambda call, _: call[0].run(call[1], tuple(call[2])), calls, iterations)}


def time_copy(torch, iterations):
    """Bytes that a copy reads and writes in a microsecond."""
    source = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    return 2 * source.numel() / time_graph(torch, lambda values, _: values[1].copy_(values[0]), [(source, target)], iterations)


def run(args):
    import torch
    import xcr_torch
    modules = json.loads((args.out / "modules.json").read_text())
    torch.zeros(1, device="cuda")  # makes the context that the runtime shares
    runtime, streams, rows = xcr_torch.Runtime(args.lib), {}, []
    rate = time_copy(torch, args.iterations)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, copy {rate / 1e6:.2f} TB/s", flush=True)

    def launch(call, stream):
        if stream.cuda_stream not in streams:
            streams[stream.cuda_stream] = runtime.stream(stream.cuda_stream)
        runtime.launch(call, streams[stream.cuda_stream])

    for module in modules:
        work = module["work"]
        if not re.search(args.filter, work["name"]) or count_bytes(work) > args.most * 1e9:
            continue
        sets, types = make_sets(torch, work), ["bf16"] * 3 + ["i32"] * 2
        out = torch.full_like(sets[0][0], float("nan"))
        instance = runtime.instance(args.out / f"{work['name']}.vmfb")
        calls = [runtime.call(instance, list(zip(values, types)), [(out, "bf16")]) for values in sets]
        ours = time_graph(torch, launch, calls, args.iterations)
        launch(calls[0], torch.cuda.current_stream())
        torch.cuda.synchronize()
        wanted = first_sequence(torch, work, sets[0])
        error = float((out[0].float() - wanted).norm() / wanted.norm())
        time_theirs = time_peers if not work["paged"] else time_flashinfer if args.flashinfer else lambda *_: {}
        peers = time_theirs(torch, work, sets, args.iterations)
        # Twice in turn, and the shorter time counts: the first one after data has been made may be a tenth longer.
        ours = min(ours, time_graph(torch, launch, calls, args.iterations))
        if peers:
            again = time_theirs(torch, work, sets, args.iterations)
            peers = {name: min(time, again[name]) for name, time in peers.items()}
        best = min(peers.items(), key=lambda item: item[1], default=("none", float("nan")))
        rows.append(dict(work=work["name"], us=round(ours, 2), copy_share=round(count_bytes(work) / ours / rate, 3), error=float(f"{error:.2g}"),
                         nan=int(torch.isnan(out).sum()), peers={name: round(time, 2) for name, time in peers.items()}, best=best[0],
                         ratio=round(best[1] / ours, 3), configs=module["configs"]))
        print(json.dumps(rows[-1]), flush=True)
        (args.out / "results.json").write_text(json.dumps(rows, indent=1))
        for call in calls:
            runtime.release("call", call)
        runtime.release("instance", instance)
        del sets, calls, out
        torch.cuda.empty_cache()
    wrong = [row for row in rows if row["nan"] or not row["error"] < 1e-2]
    print(f"{len(rows)} measured, {len(wrong)} wrong")
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "run"])
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--lib", default="build/dev/lib/libxcr.so")
    parser.add_argument("--filter", default="")
    parser.add_argument("--most", type=float, default=20)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--flashinfer", action="store_true")
    args = parser.parse_intermixed_args()
    return {"build": build, "run": run}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
