#!/usr/bin/env python3
"""Matrix products on tensor cores (and f32 on ordinary arithmetic) beside cuBLAS (torch), in one run on a GPU.

    matmul.py build --build=build/dev --out=DIR [--candidates=N] [--filter=REGEX] [WORKLOAD...]  compiles kernels; needs no GPU
    matmul.py run --out=DIR [--filter=REGEX] [--quick] [--torch-only]                           checks and times them; needs torch

`build` compiles each workload in the tiles that the cost model ranks first and in others beside them, one module
each, and writes DIR/kernels.json. `run` checks every kernel against a product in f32 (outputs start as NaN), then
times kernels and torch the same way: many launches in one CUDA graph over inputs that are rotated past the L2 cache;
the median of several replays. It prints a line for each, then the table of benchmarks/results with what is wanted of each
row, and writes DIR/results.json. Workloads are those of the tables, or those named: TYPE_[BATCHx]MxNxK[_LAYOUTS][_EPILOGUE], as in
bf16_64x11008x4096_nt_relu; @FILE is a file of names (matmul_shapes.txt has those of "Other shapes"). Other peers are timed in the same run where they are installed: torch.compile where a bias and gelu
follow (in the same graphs), JAX where torch takes so long that calls from Python keep the GPU busy (by the clock of the host).
"""
import argparse
import concurrent.futures
import ctypes
import gc
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

# name, type, batch, M, N, K, layouts of A and B (n: rows are contiguous, t: columns are), epilogue (see EPILOGUES)
SHAPES = [(4096, 4096, 4096), (8192, 8192, 8192), (8192, 14336, 4096), (8192, 4096, 14336), (2048, 2048, 2048),
          (1024, 1024, 1024), (512, 512, 512), (4096, 3072, 768), (4096, 768, 3072), (4096, 768, 768), (1000, 1000, 1000),
          (128, 128, 65536), (32, 1000, 2048), (64, 4096, 4096), (16, 4096, 4096), (8, 4096, 4096), (1, 4096, 4096),
          (64, 14336, 4096), (16, 14336, 4096), (8, 14336, 4096), (1, 14336, 4096), (4097, 4095, 4099)]


def workloads():
    for m, n, k in SHAPES:
        yield f"bf16_{m}x{n}x{k}", ("bf16", 1, m, n, k, "nn", "")
    for size in (4096, 8192):
        yield f"f16_{size}x{size}x{size}", ("f16", 1, size, size, size, "nn", "")
    for layout in ("nt", "tn", "tt"):
        yield f"bf16_4096x4096x4096_{layout}", ("bf16", 1, 4096, 4096, 4096, layout, "")
    for m, n, k in SHAPES:
        yield f"tf32_{m}x{n}x{k}", ("tf32", 1, m, n, k, "nn", "")
    for m, n, k in SHAPES:
        yield f"f32_{m}x{n}x{k}", ("f32", 1, m, n, k, "nn", "")
    for dtype, layouts in (("tf32", ("nt",)), ("s8", ("nn", "nt"))):
        for m, n, k in ((4096, 4096, 4096), (2048, 2048, 2048), (8192, 8192, 8192), (4096, 3072, 768)):
            for layout in layouts:
                yield f"{dtype}_{m}x{n}x{k}_{layout}", (dtype, 1, m, n, k, layout, "")
    for layout in ("tn", "tt"):
        yield f"tf32_4096x4096x4096_{layout}", ("tf32", 1, 4096, 4096, 4096, layout, "")
    yield "tf32_2048x2048x2048_tn", ("tf32", 1, 2048, 2048, 2048, "tn", "")
    yield "s8_4096x4096x4096_tn", ("s8", 1, 4096, 4096, 4096, "tn", "")
    for layout in ("nn", "nt"):
        yield f"mma_bf16_4096x4096x4096_{layout}", ("bf16", 1, 4096, 4096, 4096, layout, "mma")
    # mma.sync as code for Hopper, which the model of its time is held against.
    for dtype in ("bf16", "tf32", "s8"):
        for m, n, k in ((4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024), (4096, 768, 768), (64, 4096, 4096), (1000, 1000, 1000)):
            yield f"sync_{dtype}_{m}x{n}x{k}", (dtype, 1, m, n, k, "nt" if dtype == "s8" else "nn", "sync")
    for m, n, k in ((4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024), (512, 512, 512), (8192, 1024, 1024), (4097, 4095, 4099),
                    (1000, 1000, 1000), (64, 4096, 4096), (8, 4096, 4096), (128, 128, 16384)):
        yield f"f64_{m}x{n}x{k}", ("f64", 1, m, n, k, "nn", "")
    for layout in ("nt", "tn", "tt"):
        yield f"f64_2048x2048x2048_{layout}", ("f64", 1, 2048, 2048, 2048, layout, "")
    yield "bmm_f64_96x512x512x64", ("f64", 96, 512, 512, 64, "nn", "")
    yield "bmm_tf32_96x512x512x64", ("tf32", 96, 512, 512, 64, "nn", "")
    yield "bmm_bf16_96x512x512x64", ("bf16", 96, 512, 512, 64, "nn", "")
    # The epilogue's cost: each layout with bias and gelu, and without in the same run.
    yield "bf16_4096x3072x768_nt", ("bf16", 1, 4096, 3072, 768, "nt", "")
    for layout in ("nt", "nn"):
        yield f"bias_gelu_bf16_4096x3072x768_{layout}", ("bf16", 1, 4096, 3072, 768, layout, "gelu")


# What follows the product: nothing, also in code for sm_80 or sm_90 (on mma.sync) or where all of a batch share B; a cast, a scale and a cast, a bias and what follows that.
EPILOGUES = ("", "mma", "sync", "shared", "f32", "scaled", "bias", "relu", "gelu", "residual")
SCALE = 0.125


def parse_workload(name):
    """The workload of a name that was given."""
    found = re.fullmatch(rf"(bf16|f16|tf32|f32|f64|s8)_((?:\d+x)?)(\d+)x(\d+)x(\d+)(?:_([nt]{{2}}))?(?:_({'|'.join(EPILOGUES[1:])}))?", name)
    if not found:
        sys.exit(f"expected TYPE_[BATCHx]MxNxK[_LAYOUTS][_EPILOGUE], got {name}")
    dtype, batch, m, n, k, layout, epilogue = found.groups()
    return name, (dtype, int(batch.rstrip("x") or 1), int(m), int(n), int(k), layout or "nn", epilogue or "")


# Only checked: odd sizes, layouts, batches, outputs of 4 bytes.
def checks():
    for layout in ("nn", "nt", "tn", "tt"):
        yield f"check_{layout}", ("bf16", 1, 200, 328, 456, layout, "")
    yield "check_small_k", ("f16", 1, 264, 136, 8, "nn", "")
    yield "check_batch", ("bf16", 3, 136, 200, 72, "nt", "")
    yield "check_gelu", ("bf16", 1, 264, 328, 200, "nn", "gelu")
    yield "check_split", ("bf16", 1, 72, 200, 1000, "nn", "")
    for dtype in ("tf32", "s8"):
        for layout in ("nn", "nt", "tt", "tn"):
            yield f"check_{dtype}_{layout}", (dtype, 1, 208, 336, 464, layout, "")
    yield "check_tf32_batch", ("tf32", 3, 136, 200, 72, "nn", "")
    yield "check_tf32_ragged", ("tf32", 1, 333, 132, 1000, "nn", "")
    yield "check_tf32_turned_ragged", ("tf32", 1, 131, 332, 1001, "tn", "")
    yield "check_s8_turned_ragged", ("s8", 1, 336, 144, 1001, "tn", "")
    yield "check_s8_unaligned", ("s8", 1, 421, 423, 425, "nn", "")
    yield "check_mma", ("bf16", 1, 200, 328, 456, "nn", "mma")
    for layout in ("nn", "nt", "tn", "tt"):
        yield f"check_f64_{layout}", ("f64", 1, 200, 332, 456, layout, "")
        yield f"check_f64_odd_{layout}", ("f64", 1, 201, 333, 455, layout, "")
    yield "check_f32", ("bf16", 1, 200, 333, 456, "nt", "f32")


# What the types of workloads are to the compiler, and their products.
ELEMENTS = {"bf16": "bf16", "f16": "f16", "tf32": "f32", "f32": "f32", "f64": "f64", "s8": "i8"}
RESULTS = {"s8": "i32", "tf32": "f32"}
BYTES = {"tf32": 4, "f32": 4, "f64": 8, "i32": 4, "s8": 1}


def has_third(work):
    """Whether the product's epilogue reads a bias or a residual."""
    return work[-1] in ("bias", "relu", "gelu", "residual")


def mlir(work):
    name, batch, m, n, k, layout, epilogue = work
    dtype = ELEMENTS[name]
    lead = f"{batch}x" if batch > 1 else ""
    a = f"tensor<{lead}{f'{m}x{k}' if layout[0] == 'n' else f'{k}x{m}'}x{dtype}>"
    b = f"tensor<{'' if epilogue == 'shared' else lead}{f'{k}x{n}' if layout[1] == 'n' else f'{n}x{k}'}x{dtype}>"
    product = f"tensor<{lead}{m}x{n}x{RESULTS.get(name, 'f32' if epilogue in ('f32', 'scaled') else dtype)}>"
    flags = (" transpose_a" if layout[0] == "t" else "") + (" transpose_b" if layout[1] == "t" else "")
    flags += " allow_tf32" if name == "tf32" else ""
    third, c = f"tensor<{m}x{n}x{dtype}>" if epilogue == "residual" else f"tensor<{n}x{dtype}>", product
    lines = [f"%p = array.matmul %a, %b{flags} : ({a}, {b}) -> {product}"]
    if has_third(work):
        lines.append(f"%z = array.add %p, %third : ({c}, {third}) -> {c}")
    if epilogue == "gelu":
        lines.append(f"%r = array.gelu %z approximate = tanh : {c}")
    if epilogue == "relu":
        lines.append(f"%r = array.relu %z : {c}")
    if epilogue == "scaled":
        c = f"tensor<{lead}{m}x{n}xf32>"
        lines += [f"%x = array.convert %p : {product} -> {c}"] if c != product else []
        lines += [f"%s = array.constant dense<{SCALE}> : tensor<f32>", f"%r = array.mul {'%x' if c != product else '%p'}, %s : ({c}, tensor<f32>) -> {c}"]
    last = lines[-1].split(" ")[0]
    arguments = f"%a: {a}, %b: {b}" + (f", %third: {third}" if has_third(work) else "")
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @main({arguments}) -> {c} {{\n{body}  return {last} : {c}\n}}\n"


def arch(work):
    return {"mma": "sm_80", "sync": "sm_90"}.get(work[-1], "sm_90a")


def key(work):
    """How the compiler names the product, if it leaves it whole."""
    dtype, batch, m, n, k, layout, epilogue = work
    result = "f32" if epilogue in ("f32", "scaled") else RESULTS.get(dtype, dtype)
    dtype = "i8" if dtype == "s8" else dtype
    return f"{arch(work)} matmul {dtype}*{dtype}>{result} {batch}x{m}x{n}x{k} {layout}"


def find_key(reason):
    """How the compiler names the product that a kernel computes, without what is fused to it; None if it is no product."""
    found = re.search(r"(?:key:|tuned:|lines of) (\S+ matmul \S+ \S+ [nt]{2})", reason)
    return found and found.group(1)


def compile_one(args, folder, name, work, number, tuned, config, flags=()):
    base = folder / f"{name}.{number}"
    pathlib.Path(f"{base}.mlir").write_text(mlir(work))
    command = [f"{args.build}/bin/xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", f"--target=cuda:{arch(work)}", "-j", "1", *flags]
    if config:
        pathlib.Path(f"{base}.tuning").write_text(f"{tuned} = {config}\n")
        command.append(f"--tuning={base}.tuning")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"name": name, "config": config, "error": done.stderr.strip()[-300:]}
    tables = json.loads(subprocess.run([f"{args.build}/bin/xdump", f"{base}.vmfb", "--json"], capture_output=True, text=True,
                                       check=True).stdout)
    # The driver assembles older code for the GPU that is there, as it does for users.
    executable = next(e for e in tables["executables"] if e["kind"] == ("PTX" if work[-1] == "mma" else "Cubin"))
    plan = tables["functions"][0]["plans"][0]
    launches = []
    for dispatch in plan["dispatches"]:
        variant = plan["variants"][dispatch["variants"]["begin"]]
        first, count = dispatch["bindings"]["begin"], dispatch["bindings"]["count"]
        launches.append({"export": executable["exports"][variant["export_ordinal"]], "grid": variant["grid_x"]["literal"],
                         "bindings": [(b["space"], b["ordinal"], b["offset"]["literal"]) for b in plan["bindings"][first:first + count]]})
    export = next((launch["export"] for launch in launches if launch["export"]["reason"].startswith(("matrix product", "tuned"))), launches[-1]["export"])
    image = pathlib.Path(f"{base}.vmfb").read_bytes()[executable["image"]["offset"]:][:executable["image"]["size"]]
    pathlib.Path(f"{base}.cubin").write_bytes(image + b"\0")
    return {"name": name, "number": number, "work": work, "config": export["strategy"], "reason": export["reason"], "export": export, "image": f"{base.name}.cubin",
            "launches": launches, "arena": plan["arena_size"]["literal"], "log": done.stderr.strip()[-300:]}


def build(args):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools" / "xtune"))
    from candidates import candidates, double_candidates, fma_candidates, mma_candidates
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    known = map(parse_workload, args.workloads) if args.workloads else [*workloads(), *checks()]
    chosen = [(name, work) for name, work in known if re.search(args.filter, name)]
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        kernels = list(pool.map(lambda item: compile_one(args, folder, *item, 0, None, None), chosen))
        if args.candidates:
            measured = [item for item in chosen if not item[0].startswith("check")]
            kernels += pool.map(lambda item: compile_one(args, folder, *item, "model", None, None, ["--no-shipped-tuning"]), measured)
        # Candidates are for the product that the compiler makes of it: a long sum may be a batch of parts by now.
        for (name, work), kernel in zip(chosen, kernels):
            product = find_key(kernel.get("reason", ""))
            if not product:
                continue
            most = 12 if name == "check_split" else 4 if name.startswith("check") else args.candidates
            types, sizes, layout = product.split(" ")[2:]
            bytes_in, bytes_out = (BYTES.get(name, 2) for name in (types.split("*")[0].replace("i8", "s8"), types.split(">")[1]))
            batch, m, n, k = map(int, sizes.split("x"))
            if batch * m * n * k >= LARGE:
                most = min(most, 4)
            if work[0] == "f32":
                found = fma_candidates(batch, m, n, k, most)
            elif work[0] == "f64":
                found = double_candidates(m, n, layout, most)
            elif work[-1] in ("mma", "sync"):
                found = mma_candidates(batch, m, n, most, bytes_in, 108 if work[-1] == "mma" else 132)
            else:
                found = candidates(batch, m, n, k, layout, most, bytes_out, 19 if work[-1] == "gelu" else 0, bytes_in)
            jobs += [(name, work, 1 + number, product, config) for number, config in enumerate(found)]
        kernels += pool.map(lambda job: compile_one(args, folder, *job), jobs)
    for kernel in kernels:
        if "error" in kernel or kernel.get("log", "").find("warning") >= 0 or kernel["export"]["spill_bytes"]:
            print(kernel["name"], kernel["config"], kernel.get("error") or kernel["log"], file=sys.stderr)
    (folder / "kernels.json").write_text(json.dumps([k for k in kernels if "error" not in k]))
    print(f"{len(kernels)} kernels, {sum('error' in k for k in kernels)} refused")


def get_family(work):
    """Which model tells the time of the product."""
    dtype, *_, epilogue = work
    return "mma.sync" if epilogue in ("mma", "sync") else {"bf16": "16 bits", "f16": "16 bits", "s8": "i8", "tf32": "TF32"}.get(dtype, dtype)


def get_expected(reason):
    """The microseconds that the model expects, or None where no model was asked."""
    found = re.search(r"([0-9.]+) us expected", reason)
    return found and float(found.group(1))


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class Kernel:
    """A kernel of a module, launched through the driver as the runtime does."""

    TYPES = {"F16": 6, "BF16": 9, "F32": 7, "I8": 0, "I32": 3}

    def __init__(self, driver, image, launch):
        self.driver, self.spec = driver, launch
        export = launch["export"]
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(driver.cuModuleLoadData(ctypes.byref(module), image))
        self.check(driver.cuModuleGetFunction(ctypes.byref(self.function), module, export["name"].encode()))
        self.check(driver.cuFuncSetAttribute(self.function, 8, export["dynamic_shared_memory"]))

    @staticmethod
    def check(status):
        if status:
            raise RuntimeError(f"CUDA error {status}")

    def bind(self, pointers):
        """Encodes the tensor maps for these buffers; returns what a launch needs."""
        values = []
        for parameter in self.spec["export"]["parameters"]:
            if parameter["kind"] == "BindingPointer":
                values.append(ctypes.c_uint64(pointers[parameter["operand"]]))
                continue
            spec = self.spec["export"]["tensor_maps"][parameter["operand"]]
            rank = spec["rank"]
            raw = ctypes.create_string_buffer(128 + 64)
            place = (ctypes.addressof(raw) + 63) // 64 * 64
            long, short = ctypes.c_uint64 * 5, ctypes.c_uint32 * 5
            self.check(self.driver.cuTensorMapEncodeTiled(
                ctypes.c_void_p(place), 11 if spec.get("round_tf32") else self.TYPES[spec["dtype"]], rank, ctypes.c_void_p(pointers[spec["binding"]] + spec["offset"]["literal"]),
                long(*(d["literal"] for d in spec["dims"])), long(*(s["literal"] for s in spec["strides"])), short(*spec["box"]),
                short(*spec["element_strides"]), spec["interleave"], spec["swizzle"], spec["l2_promotion"], spec["oob_fill"]))
            values.append((ctypes.c_char * 128).from_address(place))
            values.append(raw)  # keeps the memory
        addresses = [ctypes.addressof(v) for v in values if not (isinstance(v, ctypes.Array) and len(v) != 128)]
        return (ctypes.c_void_p * len(addresses))(*addresses), values

    def launch(self, bound, stream):
        """As the runtime does: a cluster where the kernel has one, early where it waits by itself."""
        export = self.spec["export"]
        attributes = (LaunchAttribute * 2)()
        count = 0
        if export["cluster"][0] > 1:
            attributes[count].id = 4
            attributes[count].value[0:3] = export["cluster"]
            count += 1
        if export["programmatic_launch"]:
            attributes[count].id = 6
            attributes[count].value[0] = 1
            count += 1
        config = LaunchConfig((ctypes.c_uint * 3)(self.spec["grid"], 1, 1), (ctypes.c_uint * 3)(*export["block"]),
                              export["dynamic_shared_memory"], ctypes.c_void_p(stream), attributes, count)
        self.check(self.driver.cuLaunchKernelEx(ctypes.byref(config), self.function, bound[0], None))


class Plan:
    """The kernels of a module's function, one after another."""

    def __init__(self, driver, folder, spec, arena):
        image = (folder / spec["image"]).read_bytes()
        self.kernels = [Kernel(driver, image, launch) for launch in spec["launches"]]
        self.arena = arena

    def find_product(self):
        """The kernel whose time is predicted, where others follow it."""
        for number, kernel in enumerate(self.kernels):
            if get_expected(kernel.spec["export"]["reason"]):
                return number
        return None

    def bind(self, inputs, outputs):
        places = {"Input": inputs, "Output": outputs, "Arena": [self.arena]}
        return [kernel.bind([places[space][ordinal] + offset for space, ordinal, offset in kernel.spec["bindings"]])
                for kernel in self.kernels]

    def launch(self, bound, stream, only=None):
        for number, (kernel, values) in enumerate(zip(self.kernels, bound)):
            if only in (None, number):
                kernel.launch(values, stream)


def time_graph(torch, launch, sets, iterations):
    """Median microseconds of one launch; many in one graph, over all sets in turn."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for i in range(min(3, len(sets))):
            launch(sets[i])
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        launch(sets[0])
        launch(sets[-1])
        end.record()
    torch.cuda.synchronize()
    once = max(begin.elapsed_time(end) * 500, 2.0)
    # Long products heat the GPU up, and whoever follows is granted less power.
    if once > LONG:
        time.sleep(0.01 * iterations)
    count = len(sets) * (int(400 / once / len(sets)) + 1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(count):
            launch(sets[i % len(sets)])
    for _ in range(3):
        graph.replay()
    events = [(torch.cuda.Event(True), torch.cuda.Event(True)) for _ in range(iterations)]
    for begin, end in events:
        begin.record()
        graph.replay()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(b.elapsed_time(e) for b, e in events) * 1e3 / count


def compile_peer(torch, function, values):
    """`function` by torch.compile, or None where that cannot (it needs Triton and a C compiler)."""
    try:
        compiled = torch.compile(lambda a, b, bias, out: function((a, b, bias, out)))
        compiled(*values)
        return lambda values: compiled(*values)
    except Exception as failure:  # whatever its back end raises
        print(f"no torch.compile: {str(failure).splitlines()[0]}", file=sys.stderr)
        return None


# Products from which on candidates are few: each takes milliseconds.
LARGE = 1 << 38
# Microseconds from which on calls from Python follow each other without a gap.
LONG = 100


def find_jax():
    """JAX with a GPU, or None."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax
        jax.config.update("jax_enable_x64", True)
        return jax if jax.default_backend() == "gpu" else None
    except (ImportError, RuntimeError):
        return None


def time_jax(jax, torch, work, sets, expected):
    """Microseconds of a product in JAX, or None where it does not know the types or is wrong."""
    dtype, _, m, n, k, layout, epilogue = work
    if dtype == "s8" or epilogue not in ("", "gelu"):
        return None
    precision = {"tf32": "tensorfloat32", "f32": "highest"}.get(dtype)

    def product(a, b, bias):
        left, right = a if layout[0] == "n" else a.mT, b if layout[1] == "n" else b.mT
        result = jax.numpy.matmul(left, right, precision=precision)
        return jax.nn.gelu(result + bias, approximate=True) if epilogue == "gelu" else result
    function = jax.jit(product)
    arrays = [[jax.dlpack.from_dlpack(tensor) for tensor in (a, b, bias)] for a, b, bias, _ in sets]
    result = torch.from_dlpack(function(*arrays[0])).to(expected.dtype)
    if not float((result - expected).norm() / expected.norm()) < 1e-2:
        return None
    torch.cuda.synchronize()

    def measure(count):
        begin = time.perf_counter()
        results = [function(*arrays[i % len(arrays)]) for i in range(count)]
        results[-1].block_until_ready()
        return (time.perf_counter() - begin) * 1e6 / count
    # Few results at a time: none is given back before the last call.
    count = max(4, min(64, int(8e9 / (m * n * 8))))
    measure(count)
    return min(measure(count) for _ in range(10))


def wanted(name, work):
    """How many times as fast as torch the product is to be; None where nothing is said."""
    dtype, batch, m, n, k, _, epilogue = work
    if name not in dict(workloads()):
        return 0.95
    if epilogue in ("gelu", "sync") or dtype == "s8":
        return None
    if dtype == "f64":
        return 0.9
    if epilogue == "mma":
        return 0.62
    if dtype in ("tf32", "f32"):
        return 0.85
    if (m, n, k) == (4097, 4095, 4099):
        return 3.0
    return 1.0 if min(m, n, k) >= 4096 or (m <= 64 and k == 4096) else 0.9


def mean(results, is_meant):
    """The geometric mean of torch / ours over the results that `is_meant` takes, and how many these are."""
    ratios = [r["torch_us"] / r["chosen_us"] for r in results if is_meant(*r["work"])]
    return f"{math.exp(statistics.fmean(map(math.log, ratios))):.3f} over {len(ratios)}" if ratios else "-"


def print_table(results):
    print("\n| workload (M x N x K, layout nn unless named) | torch, us | ours, us | torch / ours | wanted | | other peers, us |\n|---|---|---|---|---|---|---|")
    for result in results:
        ratio, least = result["torch_us"] / result["chosen_us"], wanted(result["name"], result["work"])
        others = ", ".join(f"{peer} {us:.1f}" for peer, us in result["peers"].items())
        print(f"| {result['name']} | {result['torch_us']:.1f} | {result['chosen_us']:.1f} | {ratio:.2f} | {least or '-'} "
              f"| {'' if least is None else 'reached' if ratio >= least else 'missed'} | {others or '-'} |")
    results = [result for result in results if not result["name"].startswith("sync_")] # those are code for another GPU
    whole = lambda m, n, k: (m, n, k) != (4097, 4095, 4099)
    print("\nGeometric means of torch / ours, without 4097x4095x4099: 16 bits, nn",
          mean(results, lambda dtype, batch, m, n, k, layout, epilogue: dtype in ("bf16", "f16") and (batch, layout, epilogue) == (1, "nn", "") and whole(m, n, k)))
    for dtype in ("tf32", "f32"):
        print(f"  {dtype}, nn", mean(results, lambda name, batch, m, n, k, layout, _: (name, batch, layout) == (dtype, 1, "nn") and whole(m, n, k)))
    print("  both, and batches of 96", mean(results, lambda name, batch, m, n, k, layout, _: (name in ("tf32", "f32") or batch == 96) and layout == "nn" and whole(m, n, k)))
    times = {result["name"]: result["chosen_us"] for result in results}
    for name, us in times.items():
        plain = times.get(name.removeprefix("bias_gelu_")) or times.get(name.removeprefix("bias_gelu_").removesuffix("_nn"))
        if name.startswith("bias_gelu_") and plain:
            print(f"  {name}: {us / plain:.3f} times the plain product's time (wanted 1.10 at most)")


def find_peer(torch, work):
    """The product in torch: of operands, what the epilogue reads, and a place for the result."""
    dtype, batch, _, _, _, layout, epilogue = work
    left = (lambda s: s[0]) if layout[0] == "n" else (lambda s: s[0].mT)
    right = (lambda s: s[1]) if layout[1] == "n" else (lambda s: s[1].mT)
    product = torch.mm if batch == 1 else torch.bmm
    if epilogue == "gelu":
        return lambda s: torch.nn.functional.gelu(torch.addmm(s[2], left(s), right(s)), approximate="tanh")
    if epilogue == "relu":
        return lambda s: torch._addmm_activation(s[2], left(s), right(s))
    if epilogue in ("bias", "residual"):
        return lambda s: torch.addmm(s[2], left(s), right(s), out=s[3])
    if dtype == "s8":
        if epilogue == "scaled":
            return lambda s: torch.mul(torch._int_mm(left(s), right(s)), SCALE, out=s[3])
        return lambda s: torch._int_mm(left(s), right(s), out=s[3])
    if epilogue == "scaled":
        return lambda s: product(left(s), right(s), out_dtype=torch.float32).mul_(SCALE)
    if epilogue == "f32" and dtype != "f32":
        return lambda s: product(left(s), right(s), out_dtype=torch.float32)
    return lambda s: torch.matmul(left(s), right(s), out=s[3])


def follow(torch, epilogue, product, third):
    """What the epilogue makes of the exact product."""
    if epilogue == "scaled":
        return product * SCALE
    if epilogue in ("bias", "relu", "gelu", "residual"):
        product = product + third.to(product.dtype)
    if epilogue == "gelu":
        return torch.nn.functional.gelu(product, approximate="tanh")
    return product.relu() if epilogue == "relu" else product


def print_models(results):
    """Of each model: how far its choices are behind the best candidates, and its times off the measured ones."""
    families = {}
    for result in results:
        families.setdefault(get_family(result["work"]), []).append(result)
    print("\n| model of | products | its choice / best candidate, geometric mean | largest | times | median error | mean of predicted / measured |\n"
          "|---|---|---|---|---|---|---|")
    for family, members in families.items():
        choices = [(r["model_us"] / r["best_us"], r["name"]) for r in members if len(r["all"]) > 2]
        # Code for sm_80 is expected to take what it takes on an A100.
        ratios = [get_expected(row[2]) / row[4] for r in members for row in r["all"] if get_expected(row[2]) and arch(r["work"]) != "sm_80"]
        if not choices or not ratios:
            continue
        behind = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in choices))
        error = statistics.median(abs(ratio - 1) for ratio in ratios)
        print(f"| {family} | {len(choices)} | {behind:.3f} | {max(choices)[0]:.2f} ({max(choices)[1]}) | {len(ratios)} | {100 * error:.0f} % "
              f"| {math.exp(statistics.fmean(map(math.log, ratios))):.2f} |")


def run(args):
    import torch
    folder = pathlib.Path(args.out)
    driver = ctypes.CDLL("libcuda.so.1")
    torch.cuda.init()
    torch.manual_seed(0)
    torch.empty(1, device="cuda")
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    kernels = [k for k in json.loads((folder / "kernels.json").read_text()) if re.search(args.filter, k["name"])]
    names = list(dict.fromkeys(k["name"] for k in kernels))
    jax = None if args.torch_only else find_jax()
    # Each capture of a graph collects garbage; of what was read that takes longer than what is timed.
    gc.freeze()
    results = []
    for name in names:
        mine = [k for k in kernels if k["name"] == name]
        dtype, batch, m, n, k, layout, epilogue = mine[0]["work"]
        torch_type = {"bf16": torch.bfloat16, "f16": torch.float16, "s8": torch.int8, "f64": torch.float64}.get(dtype, torch.float32)
        out_type = torch.float32 if epilogue in ("f32", "scaled") else torch.int32 if dtype == "s8" else torch_type
        lead = (batch,) if batch > 1 else ()
        moved = BYTES.get(dtype, 2) * batch * (m * k + k * n + m * n)
        count = 1 if name.startswith("check") else max(2, min(16, int(150e6 / moved) + 1))
        sets = []

        def draw(*shape):
            if dtype == "s8":
                return torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
            # Of f64 all bits of the mantissa: they take power.
            return torch.randn(*shape, device="cuda", dtype=torch.float64 if dtype == "f64" else None).to(torch_type)
        for _ in range(count):
            a = draw(*lead, *((m, k) if layout[0] == "n" else (k, m)))
            b = draw(*(() if epilogue == "shared" else lead), *((k, n) if layout[1] == "n" else (n, k)))
            third = torch.randn(*((m, n) if epilogue == "residual" else (n,)), device="cuda").to(torch_type)
            sets.append((a, b, third, torch.empty(*lead, m, n, device="cuda", dtype=out_type)))
        torch.backends.cuda.matmul.allow_tf32 = False
        # The order of long sums is not to matter.
        exact = torch.float64 if dtype in ("s8", "f64") or k > 8192 else torch.float32
        a, b = (side.to(exact) if way == "n" else side.to(exact).mT for side, way in zip(sets[0], layout))
        expected = a @ b
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        expected = follow(torch, epilogue, expected, sets[0][2])
        rows, model = [], mine[0]
        mine.sort(key=lambda spec: ("0", "model").index(str(spec["number"])) if str(spec["number"]) in ("0", "model") else 2)
        for spec in mine:
            # What the model chooses is often what was measured, or a candidate.
            if spec["config"] in [other["config"] for other, *_ in rows] and len(spec["launches"]) == len(rows[0][0]["launches"]):
                if spec["number"] == "model":
                    model = spec
                continue
            try:
                arena = torch.empty(spec["arena"] + 256, dtype=torch.uint8, device="cuda")
                kernel = Plan(driver, folder, spec, (arena.data_ptr() + 255) // 256 * 256)
                bound = []
                for a, b, third, c in sets:
                    inputs = [a.data_ptr(), b.data_ptr()] + ([third.data_ptr()] if has_third(mine[0]["work"]) else [])
                    bound.append(kernel.bind(inputs, [c.data_ptr()]))
                sets[0][3].fill_(-(2**31) if out_type == torch.int32 else float("nan"))
                kernel.launch(bound[0], torch.cuda.current_stream().cuda_stream)
                torch.cuda.synchronize()
                error = float((sets[0][3].to(exact) - expected).norm() / expected.norm())
                limit = {"s8": 0, "f64": 1e-13, "tf32": 1e-3, "f32": 1e-5}.get(dtype, 5e-3)
                if out_type == torch.float32 and torch_type.itemsize == 2:
                    limit = 1e-5 if k <= 1024 else 5e-5
                if not error <= limit:
                    bad = ((sets[0][3].to(exact) - expected).abs() > 0.1 * expected.abs().max()) | sets[0][3].isnan()
                    where = bad.nonzero()
                    print(f"WRONG {name} {spec['config']}: error {error}, {len(where)} elements from {where[0].tolist() if len(where) else '-'} "
                          f"to {where[-1].tolist() if len(where) else '-'}", flush=True)
                    continue
                rows.append((spec, kernel, bound, arena))
                if spec["number"] == "model":
                    model = spec
            except RuntimeError as failure:
                print(f"FAILED {name} {spec['config']}: {failure}", flush=True)
                if "700" in str(failure) or "719" in str(failure):
                    return 1
        if name.startswith("check"):
            print(f"{name}: {len(rows)} of {len(mine)} right", flush=True)
            continue
        count = 5 if args.quick else 20

        def time_ours(item, only=None):
            _, kernel, bound, _ = item
            return time_graph(torch, lambda values: kernel.launch(values, torch.cuda.current_stream().cuda_stream, only), bound, count)

        def time_product(item):
            """The time of the product's kernel without those behind it, which the prediction does not count."""
            product = item[1].find_product()
            return time_ours(item, product) if product is not None and len(item[1].kernels) > 1 else None
        peer = find_peer(torch, mine[0]["work"])
        try:
            peer(sets[0])
        except RuntimeError as failure:
            print(f"{name}: not in torch: {str(failure).splitlines()[0]}", flush=True)
            continue
        # Twice each, in turn, and the shorter time: what the GPU is granted changes with what it has just done.
        theirs, times, others = math.inf, [math.inf] * len(rows), {}
        compiled = compile_peer(torch, peer, sets[0]) if epilogue == "gelu" and not args.torch_only else None
        for _ in range(2):
            theirs = min(theirs, time_graph(torch, peer, sets, count))
            if compiled:
                others["torch.compile"] = min(others.get("torch.compile", math.inf), time_graph(torch, compiled, sets, count))
            times = [min(before, time_ours(item)) for before, item in zip(times, rows)]
        if jax and theirs > LONG and (us := time_jax(jax, torch, mine[0]["work"], sets, expected)):
            others["JAX"] = us
        rows = [(us, spec["config"], spec["reason"], spec["export"]["registers"], time_product(item) or us)
                for us, item in zip(times, rows) for spec in [item[0]]]
        chosen = rows[0] if rows else (float("nan"), "", "")
        best = min(rows) if rows else chosen
        named = re.search("(?:key|tuned): (.*)", chosen[2])
        results.append({"name": name, "work": mine[0]["work"], "key": named.group(1) if named else name, "torch_us": theirs, "peers": others, "chosen_us": chosen[0],
                        "model_us": next((row[0] for row in rows if row[1] == model["config"]), chosen[0]), "model": model["config"], "best_us": best[0], "best": best[1], "all": rows})
        rate = 2 * batch * m * n * k / 1e6
        brief = re.sub(r"[^0-9,]", "", best[1]).replace(",", "/")
        predicted = get_expected(chosen[2])
        print(f"{name:32} torch {theirs:8.1f} ({rate / theirs:5.0f})  ours {chosen[0]:8.1f} ({theirs / chosen[0]:.2f}x, predicted {predicted or '-'})  best {best[0]:8.1f} ({theirs / best[0]:.2f}x) {brief}"
              + "".join(f"  {other} {us:.1f}" for other, us in others.items()), flush=True)
    out = pathlib.Path(os.environ.get("OUT", args.out))
    (out / "results.json").write_text(json.dumps(results))
    print_table([result for result in results if result["chosen_us"] == result["chosen_us"]])
    print_models(results)
    (out / "best.tuning").write_text("".join(f"{result['key']} = {result['best']}\n" for result in results if result["best"]))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, fromfile_prefix_chars="@", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--out", default="matmul-kernels")
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--torch-only", action="store_true", help="times neither torch.compile nor JAX")
    args = parser.parse_intermixed_args()
    return build(args) if args.command == "build" else run(args)


if __name__ == "__main__":
    sys.exit(main())
