#!/usr/bin/env python3
"""Tests xrun, xbench and xdump as a user calls them: what they print, write and refuse.

    run.py --build=build/dev [--filter=REGEX]

The last line is "N passed, N failed, N skipped".
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np

MODEL = """
module {
  array.variable @weight : tensor<3xf32> = dense<[1.0, 2.0, 3.0]>
  func.func @main(%x: tensor<2x3xf32> {array.name = "x"}, %y: tensor<2x3xf32> {array.name = "y"})
      -> (tensor<2x3xf32> {array.name = "sum"}) {
    %s = array.add %x, %y : tensor<2x3xf32>
    return %s : tensor<2x3xf32>
  }
  func.func @scale(%x: tensor<?x3xf32> {array.name = "x", array.dims = ["rows", ""]},
                   %y: tensor<?x3xf32> {array.name = "y", array.dims = ["rows", ""]})
      -> (tensor<?x3xf32> {array.name = "scaled"}, tensor<?xf32> {array.name = "total"}) {
    %w = array.variable.read @weight : tensor<3xf32>
    %s = array.add %x, %y : tensor<?x3xf32>
    %m = array.mul %s, %w : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %t = array.reduce sum, %m axes = [1] : tensor<?x3xf32> -> tensor<?xf32>
    return %m, %t : tensor<?x3xf32>, tensor<?xf32>
  }
  func.func @store(%x: tensor<3xf32> {array.name = "x"}) {
    array.variable.assign @weight, %x : tensor<3xf32>
    return
  }
  func.func @half(%x: tensor<4xbf16> {array.name = "x"}) -> (tensor<4xbf16> {array.name = "y"}) {
    %y = array.neg %x : tensor<4xbf16>
    return %y : tensor<4xbf16>
  }
}
"""
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Failed(Exception):
    pass


class Bench:
    """The tools of one build and a folder with a model, inputs and room to write."""

    def __init__(self, build, folder):
        self.bin, self.folder = (build / "bin").resolve(), folder
        self.stand_in = (build / "lib" / "libcuda_sim.so").resolve()
        (folder / "model.mlir").write_text(MODEL)
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.y = np.array([[10, 20, 30], [40, 50, 60]], np.float32)
        np.save(folder / "x.npy", self.x)
        np.save(folder / "y.npy", self.y)
        np.save(folder / "sum.npy", self.x + self.y)
        self.tool("xcompile", "model.mlir", "-o", "model.vmfb", "--target=cpu")

    def run(self, *command, **environment):
        return subprocess.run([self.bin / command[0], *command[1:]], cwd=self.folder, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, **environment})

    def on_both(self):
        """(device, environment) of the CPU, and of the stand-in for the CUDA driver where it was built."""
        yield "cpu", {}
        if self.stand_in.exists():
            yield "cuda", {"XCR_CUDA_LIBRARY": str(self.stand_in), "PTXSIM_ARCH": "sm_90a"}

    def tool(self, *command):
        """What a command that must succeed prints."""
        done = self.run(*command)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def refuses(self, *command, says):
        """The command must end with code 1, one line on stderr that |says| matches, and nothing left behind."""
        before = sorted(os.listdir(self.folder))
        done = self.run(*command)
        text = " ".join(map(str, command))
        if done.returncode != 1:
            raise Failed(f"{text}: expected exit code 1, got {done.returncode}")
        if not re.search(says, done.stderr):
            raise Failed(f"{text}: expected a message like '{says}', got '{done.stderr.strip()}'")
        if not re.match(r"x\w+: (error: )?", done.stderr):
            raise Failed(f"{text}: the message does not begin with the tool's name: '{done.stderr.strip()}'")
        if sorted(os.listdir(self.folder)) != before:
            raise Failed(f"{text}: left files behind: {set(os.listdir(self.folder)) - set(before)}")

    def file(self, name, data):
        (self.folder / name).write_bytes(data)
        return name


def expect(condition, what):
    if not condition:
        raise Failed(what)


XY = ("--input=@x.npy", "--input=@y.npy")


# ---- xcompile ----------------------------------------------------------------------------------------------------------

@test
def damaged_bytecode(b):
    """One flipped bit anywhere: a module or an error, never a crash, never a process that does not end."""
    b.file("small.mlir", b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = array.exp %x : tensor<4xf32>\n"
                         b"  return %y : tensor<4xf32>\n}\n")
    b.tool("xcompile", "small.mlir", "--compile-to=input", "--emit=bytecode", "-o", "small.mlirbc")
    good = (b.folder / "small.mlirbc").read_bytes()
    said = []
    for position in range(len(good)):
        flipped = bytearray(good)
        flipped[position] ^= 2
        b.file("flipped.mlirbc", flipped)
        done = b.run("xcompile", "flipped.mlirbc", "--compile-to=input", "-o", "flipped.mlir")
        what = f"byte {position}: exit code {done.returncode}: {done.stderr[-200:]}"
        expect(done.returncode in (0, 1) and "Stack dump" not in done.stderr, what)
        expect(done.returncode == 0 or "error: " in done.stderr, what)
        said.append(done.stderr)
    expect(any("cannot read 'flipped.mlirbc': it is damaged" in text for text in said), "no flip was found by the trial")


# ---- xrun --------------------------------------------------------------------------------------------------------------

@test
def prints_as_numpy(b):
    out = b.tool("xrun", "model.vmfb", *XY)
    expect(str(b.x + b.y) in out, f"expected NumPy's text, got {out}")
    expect("output 0 (sum): 2x3xf32" in out, out)


@test
def versions(b):
    for tool in ("xrun", "xbench", "xdump"):
        out = b.tool(tool, "--version")
        expect(re.fullmatch(rf"{tool} \d+\.\d+\.\d+, runtime library \d+\.\d+\n", out), out)
        expect("--version" in b.tool(tool, "--help"), f"{tool} --help does not name --version")
    expect(re.fullmatch(r"xcompile \d+\.\d+\.\d+\n", b.tool("xcompile", "--version")), "xcompile --version")


@test
def says_which_device(b):
    expect(re.search(r"^device: cpu", b.tool("xrun", "model.vmfb", *XY, "--device=cpu"), re.M), "no device line")
    expect(re.search(r"^device: \w+", b.tool("xrun", "model.vmfb", *XY), re.M), "no device line with auto")


@test
def writes_npy(b):
    b.tool("xrun", "model.vmfb", *XY, "--output=@out.npy")
    expect((np.load(b.folder / "out.npy") == b.x + b.y).all(), "wrong contents")
    b.tool("xrun", "model.vmfb", *XY, "--output=sum=@out2.npy")
    expect((b.folder / "out2.npy").read_bytes() == (b.folder / "out.npy").read_bytes(), "named output differs")


@test
def inputs_by_name_literal_and_zeros(b):
    out = b.tool("xrun", "model.vmfb", "--input=y=2x3xf32=1 2 3 4 5 6", "--input=x=zeros:2x3xf32")
    expect("[[1. 2. 3.]\n [4. 5. 6.]]" in out, out)


@test
def random_is_reproducible(b):
    runs = {b.tool("xrun", "model.vmfb", "--input=random:2x3xf32:7", "--input=random:2x3xf32:8") for _ in range(2)}
    expect(len(runs) == 1, "two runs differ")


@test
def expectation_holds(b):
    expect("as expected" in b.tool("xrun", "model.vmfb", *XY, "--expect=@sum.npy"), "not said")


@test
def expectation_fails(b):
    wrong = b.x + b.y
    wrong[1, 2] += 1
    np.save(b.folder / "wrong.npy", wrong)
    done = b.run("xrun", "model.vmfb", *XY, "--expect=@wrong.npy")
    expect(done.returncode == 1, f"exit code {done.returncode}")
    expect("1 of 6 elements are not as expected, worst at [1, 2]: expected 66, got 65" in done.stdout, done.stdout)
    b.tool("xrun", "model.vmfb", *XY, "--expect=@wrong.npy", "--atol=1.5")
    b.tool("xrun", "model.vmfb", *XY, "--expect=@wrong.npy", "--rtol=0.1")


@test
def symbolic_dims(b):
    for rows in (1, 5, 64):
        out = b.tool("xrun", "model.vmfb", "--function=scale", f"--input={rows}x3xf32=1", f"--input={rows}x3xf32=2",
                     "--output=@a.npy", "--output=@b.npy")
        expect(f"{rows}x3xf32" in out, out)
        expect((np.load(b.folder / "b.npy") == 18).all() and len(np.load(b.folder / "b.npy")) == rows, "wrong total")


@test
def variables_are_set_and_written(b):
    b.tool("xrun", "model.vmfb", "--function=store", "--input=3xf32=7 8 9", "--variable=weight=>@w.npy")
    expect((np.load(b.folder / "w.npy") == [7, 8, 9]).all(), "wrong variable")
    out = b.tool("xrun", "model.vmfb", "--function=scale", "--input=1x3xf32=1", "--input=1x3xf32=0",
                 "--variable=weight=3xf32=5 6 7")
    expect("[[5. 6. 7.]]" in out, out)


@test
def bfloat16_from_bits(b):
    bits = (np.array([1, -2, 0.5, 3], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    np.save(b.folder / "bits.npy", bits)
    b.tool("xrun", "model.vmfb", "--function=half", "--input=@bits.npy", "--output=@half.npy")
    back = np.load(b.folder / "half.npy").view(np.uint16)
    expect((back == bits ^ 0x8000).all(), f"got {back}")
    b.tool("xrun", "model.vmfb", "--function=half", "--input=@half.npy", "--expect=4xbf16=1 -2 0.5 3")


@test
def prints_statistics(b):
    out = b.tool("xrun", "model.vmfb", *XY, "--print-stats")
    expect(re.search(r"^commands: 1 \(1 dispatch, 0 empty\)$", out, re.M) and "device memory:" in out, out)
    expect("\nlaunches: 1 (1 checked, 1 instantiation, 0 patches), each on 1 stream\n" in out, out)


@test
def lists_devices(b):
    for environment in ({}, {"XCR_CUDA_LIBRARY": "/nowhere/libcuda.so.1"}):
        done = subprocess.run([b.bin / "xrun", "--list-devices"], capture_output=True, text=True, env={**os.environ, **environment})
        expect(done.returncode == 0 and re.search(r"^cpu\b", done.stdout, re.M), done.stdout + done.stderr)


@test
def refuses_bad_command_lines(b):
    b.refuses("xrun", "model.vmfb", "--nonsense", says="unknown option '--nonsense'; known are .*--input")
    b.refuses("xrun", "--help=1", says="option --help takes no value, got '1'")
    b.refuses("xrun", says="expected one module, got 0")
    b.refuses("xrun", "model.vmfb", "model.vmfb", says="expected one module, got 2")
    b.refuses("xrun", "model.vmfb", *XY, "--atol=many", says="expected a number")
    b.refuses("xrun", "model.vmfb", *XY, "--output=out.npy", says="expected --output=")
    b.refuses("xrun", "model.vmfb", *XY, "--device=tpu", says="tpu")
    b.refuses("xrun", "model.vmfb", "--function=nope", *XY, says="nope.*main")
    b.refuses("xrun", "model.vmfb", *XY, "--variable=nope=3xf32=1", says="nope.*weight")
    b.refuses("xrun", "model.vmfb", *XY, "--variable=nope=>@w.npy", says="nope.*weight")
    expect(not b.run("xrun", "model.vmfb", *XY, "--variable=nope=>@w.npy").stdout.count("output"), "it ran all the same")
    b.refuses("xrun", "model.vmfb", *XY, "--output=nope=@out.npy", says="no output 'nope'; the function has: .*'sum'")


@test
def refuses_bad_inputs(b):
    b.refuses("xrun", "model.vmfb", "--input=@x.npy", says=r"input 1 \(2x3xf32 y\) is missing")
    b.refuses("xrun", "model.vmfb", *XY, "--input=@x.npy", says="too many inputs")
    b.refuses("xrun", "model.vmfb", *XY, "--input=z=@x.npy", says="no input 'z'; the function has: .*'x'")
    b.refuses("xrun", "model.vmfb", "--input=x=@x.npy", "--input=x=@y.npy", says="given twice")
    b.refuses("xrun", "model.vmfb", "--input=2x3xf64=1", "--input=@y.npy", says="f32.*f64|f64.*f32")
    b.refuses("xrun", "model.vmfb", "--input=2x4xf32=1", "--input=@y.npy", says="3.*4|4.*3")
    b.refuses("xrun", "model.vmfb", "--input=6xf32=1", "--input=@y.npy", says="rank|dimension")
    b.refuses("xrun", "model.vmfb", "--input=2x3xf32=1 2", "--input=@y.npy", says="expected 6 values or one")
    b.refuses("xrun", "model.vmfb", "--input=2x3xquux=1", "--input=@y.npy", says="unknown type 'quux'; known are")
    b.refuses("xrun", "model.vmfb", "--function=scale", "--input=2x3xf32=1", "--input=3x3xf32=1", says="rows|2.*3|3.*2")
    b.refuses("xrun", "model.vmfb", "--input=zeros:9223372036854775807x9xf32", "--input=@y.npy", says="63 bits")
    b.refuses("xrun", "model.vmfb", "--input=zeros:4000000000000xf32", "--input=@y.npy", says="out of .*memory: 16000000000000 bytes")
    b.refuses("xrun", "model.vmfb", "--input=@absent.npy", "--input=@y.npy", says="cannot open 'absent.npy'")


@test
def refuses_lying_npy(b):
    good = (b.folder / "x.npy").read_bytes()
    b.file("short.npy", good[:-4])
    b.refuses("xrun", "model.vmfb", "--input=@short.npy", "--input=@y.npy", says="takes 24 bytes, but 20 bytes follow")
    b.file("long.npy", good + b"1234")
    b.refuses("xrun", "model.vmfb", "--input=@long.npy", "--input=@y.npy", says="takes 24 bytes, but 28 bytes follow")
    b.file("huge.npy", good.replace(b"(2, 3), }     ", b"(2000000, 3)} "))
    b.refuses("xrun", "model.vmfb", "--input=@huge.npy", "--input=@y.npy", says="takes 24000000 bytes, but 24 bytes follow")
    b.file("text.npy", b"1 2 3\n")
    b.refuses("xrun", "model.vmfb", "--input=@text.npy", "--input=@y.npy", says="is not a .npy file")


@test
def says_that_standard_output_is_full(b):
    for command in (["xrun", "model.vmfb", *XY], ["xdump", "model.vmfb"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([b.bin / command[0], *command[1:]], cwd=b.folder, stdout=full, stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 1 and "cannot write to standard output: No space left" in done.stderr, done.stderr)


@test
def refuses_unwritable_output(b):
    b.refuses("xrun", "model.vmfb", *XY, "--output=@absent/out.npy", says="cannot write 'absent/out.npy': No such file")
    b.refuses("xrun", "model.vmfb", *XY, "--output=@.", says="cannot write '.': Is a directory")


@test
def writes_where_a_path_leads(b):
    os.symlink("behind.npy", b.folder / "link.npy")
    os.mkfifo(b.folder / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=b.folder, stdout=subprocess.PIPE)
    for output in ("direct.npy", "link.npy", "pipe", "/dev/null"):
        b.run("xrun", "model.vmfb", *XY, f"--output=@{output}")
    written = (b.folder / "direct.npy").read_bytes()
    expect((b.folder / "link.npy").is_symlink() and (b.folder / "behind.npy").read_bytes() == written, "link.npy is not written through")
    expect(reader.communicate()[0] == written and (b.folder / "pipe").is_fifo(), "the pipe is not written")
    expect(pathlib.Path("/dev/null").is_char_device(), "a file took the place of /dev/null")
    with open(b.folder / "redirected", "wb") as redirected:
        redirected.write(b"before")
        redirected.flush()
        subprocess.run([b.bin / "xrun", "model.vmfb", *XY, "--output=@/dev/stdout"], cwd=b.folder, stdout=redirected, check=True)
    expect((b.folder / "redirected").read_bytes().startswith(b"before" + written), "/dev/stdout is not where standard output was")


@test
def says_that_a_file_may_not_grow(b):
    """Beyond the limit of file sizes a process is ended by a signal, unless it asks for the error."""
    def limited(size, *command, **options):
        return subprocess.run([b.bin / command[0], *command[1:]], cwd=b.folder, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)), **options)
    before = sorted(os.listdir(b.folder))
    # Code is written to a file in memory, which the limit leaves room for.
    done = limited(1 << 16, "xrun", "model.vmfb", "--device=cpu", "--function=scale", "--input=zeros:20000x3xf32",
                   "--input=zeros:20000x3xf32", "--output=@out-of-room.npy", stdout=subprocess.DEVNULL)
    expect(done.returncode == 1 and "cannot write 'out-of-room.npy': File too large" in done.stderr, f"{done.returncode}: {done.stderr}")
    expect(sorted(os.listdir(b.folder)) == before, "left a file behind")
    with tempfile.TemporaryFile() as out:
        done = limited(100, "xdump", "model.vmfb", stdout=out)
    expect(done.returncode == 1 and "cannot write to standard output: File too large" in done.stderr, f"{done.returncode}: {done.stderr}")


@test
def keeps_old_output_when_it_fails(b):
    b.file("old.npy", b"precious")
    b.refuses("xrun", "model.vmfb", "--input=@x.npy", "--input=@absent.npy", "--output=@old.npy", says="absent")
    expect((b.folder / "old.npy").read_bytes() == b"precious", "the old file was touched")


@test
def refuses_bad_modules(b):
    good = (b.folder / "model.vmfb").read_bytes()
    b.refuses("xrun", "absent.vmfb", *XY, says="absent.vmfb")
    b.file("empty.vmfb", b"")
    b.file("text.vmfb", b"module {}\n" * 20)
    b.file("cut.vmfb", good[:len(good) // 2])
    b.file("head.vmfb", good[:40])
    b.file("longer.vmfb", good + b"\0" * 64)
    for name in ("empty", "text", "cut", "head", "longer"):
        b.refuses("xrun", f"{name}.vmfb", *XY, says=f"{name}.vmfb")
    # Every byte counts: flip one in the header, the tables and the code.
    for place in (0, 9, 20, 60, 70, 200, len(good) // 2, len(good) - 70):
        flipped = bytearray(good)
        flipped[place] ^= 0x10
        b.file("flipped.vmfb", bytes(flipped))
        done = b.run("xrun", "flipped.vmfb", *XY, "--expect=@sum.npy")
        expect(done.returncode == 1 and "flipped.vmfb: " in done.stderr, f"byte {place} flipped: {done.stdout}{done.stderr}")


# ---- Probes ------------------------------------------------------------------------------------------------------------

PROBED = """
module {
  func.func @main(%x: tensor<?x8xf32> {array.name = "x"}, %w: tensor<8x8xf32> {array.name = "w"})
      -> (tensor<?x8xf32> {array.name = "y"}) {
    %a = array.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %l = array.log %a : tensor<?x8xf32>
    %p = array.softmax %l axis = 1 : tensor<?x8xf32>
    %y = array.matmul %p, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}
"""


def probe(b):
    """The inputs of PROBED's function, all positive, and what its three kernels compute of them."""
    if not (b.folder / "probed.vmfb").exists():
        (b.folder / "probed.mlir").write_text(PROBED)
        b.tool("xcompile", "probed.mlir", "-o", "probed.vmfb", "--target=cpu,cuda:sm_90a")
    generator = np.random.default_rng(1)
    x, w = generator.uniform(0.1, 1, (3, 8)).astype(np.float32), generator.uniform(0.1, 1, (8, 8)).astype(np.float32)
    np.save(b.folder / "px.npy", x)
    np.save(b.folder / "pw.npy", w)
    a = np.log(x.astype(np.float64) @ w)
    p = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    return x, w, [a, p, p @ w]


PROBE_INPUTS = ("--input=@px.npy", "--input=@pw.npy")


@test
def dumps_every_tensor(b):
    _, _, want = probe(b)
    for device, environment in b.on_both():
        done = b.run("xrun", "probed.vmfb", *PROBE_INPUTS, f"--device={device}", f"--dump-tensors=dump-{device}", **environment)
        expect(done.returncode == 0 and f"3 tensors written to dump-{device}" in done.stdout, done.stdout + done.stderr)
        folder = b.folder / f"dump-{device}"
        files = sorted(folder.glob("*.npy"))
        expect([re.sub("_guarded|_narrow", "", file.name) for file in files] ==
               ["0000-main_k0_matmul-probed.mlir.5.10-2.npy", "0001-main_k1_reduce-probed.mlir.7.10-1.npy",
                "0002-main_k2_matmul-probed.mlir.8.10-2.npy"], f"{device}: {files}")
        for file, values in zip(files, want):
            expect(np.allclose(np.load(file), values, rtol=1e-5, atol=1e-6), f"{device}: {file.name} is wrong")
        expect("arena" in (folder / "index.txt").read_text() and "3x8xf32" in (folder / "index.txt").read_text(), "no index")
    b.refuses("xrun", "probed.vmfb", *PROBE_INPUTS, "--device=cpu", "--dump-tensors=px.npy", says="px.npy")


@test
def finds_where_nan_comes_from(b):
    x, w, _ = probe(b)
    cases = {"nan": (-x, r"first NaN: command 0, kernel main_k0_matmul\w* of probed.mlir:5:10, probed.mlir:6:10, writes it to "
                         r"binding 2 \(3x8xf32 at \[0, 0\]\)\nno command makes an infinity$"),
             "inf": (np.where(np.arange(3)[:, None] == 1, 0, x).astype(np.float32),
                     r"first NaN: command 1, kernel main_k1_reduce\w* of .*\(3x8xf32 at \[1, 0\]\)\n"
                     r"first -infinity: command 0, .*binding 2 \(3x8xf32 at \[1, 0\]\)$"),
             "given": (np.where(x == x[2, 1], np.nan, x).astype(np.float32),
                       r"no command makes a NaN; what the call is given holds some\nno command makes an infinity$"),
             "none": (x, r"no command makes a NaN\nno command makes an infinity$")}
    for device, environment in b.on_both():
        for name, (values, says) in cases.items():
            np.save(b.folder / "bad.npy", values)
            done = b.run("xrun", "probed.vmfb", "--input=@bad.npy", "--input=@pw.npy", f"--device={device}", "--find-nan", **environment)
            expect(done.returncode == (name in ("nan", "inf")) and re.search(says, done.stdout, re.M),
                   f"{device}, {name}: exit code {done.returncode}, {done.stdout}{done.stderr}")


@test
def extracts_a_kernel(b):
    _, _, want = probe(b)
    for device, environment in b.on_both():
        # By the name that --report prints, and by that of the variant, which xbench prints.
        suffix = "_narrow" if device == "cuda" else ""
        for output, kernel in (("k.vmfb", "main_k1_reduce"), (str(b.folder / "k.vmfb"), "main_k1_reduce" + suffix)):
            done = b.run("xrun", "probed.vmfb", *PROBE_INPUTS, f"--device={device}", f"--extract-kernel={kernel}", "-o", output, **environment)
            expect(done.returncode == 0, done.stderr)
        expect(np.allclose(np.load(b.folder / "k-input0.npy"), want[0], rtol=1e-5), "wrong input")
        again = re.search(r"^  xrun (.*)$", done.stdout, re.M)
        expect(again, done.stdout)
        done = b.run("xrun", *again.group(1).split(), "--rtol=0", **environment)
        expect(done.returncode == 0 and "as expected" in done.stdout, f"{device}: {done.stdout}{done.stderr}")
        expect("function main" in b.tool("xdump", "k.vmfb", "--verify"), "cannot be dumped")
    b.refuses("xrun", "probed.vmfb", *PROBE_INPUTS, "--device=cpu", "--extract-kernel=nope", "-o", "n.vmfb",
              says="no command of this call runs a kernel called 'nope'; it runs main_k0_matmul, main_k1_reduce, main_k2_matmul")
    b.refuses("xrun", "probed.vmfb", *PROBE_INPUTS, "--extract-kernel=nope", says="--extract-kernel=NAME and -o FILE.vmfb go together")


@test
def extracts_a_kernel_that_writes_in_place(b):
    (b.folder / "place.mlir").write_text("""
module {
  func.func @main(%x: tensor<16xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<16xf32> {
    %y = array.scatter add, %x[%i] axes = [0] = %u : (tensor<16xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<16xf32>
    return %y : tensor<16xf32>
  }
}
""")
    b.tool("xcompile", "place.mlir", "-o", "place.vmfb", "--target=cpu,cuda:sm_90a")
    inputs = ("--input=16xf32=1", "--input=3x1xi32=2 5 2", "--input=3xf32=10 20 30")
    for device, environment in b.on_both():
        done = b.run("xrun", "place.vmfb", *inputs, f"--device={device}", "--extract-kernel=x", "-o", "s.vmfb", **environment)
        kernel = re.search(r"it runs (?:.*, )?(\w+)$", done.stderr, re.M).group(1)
        done = b.run("xrun", "place.vmfb", *inputs, f"--device={device}", f"--extract-kernel={kernel}", "-o", "s.vmfb", **environment)
        expect(done.returncode == 0, done.stderr)
        # What it read is what was there before, although the result took its place.
        expect(np.load(b.folder / "s-input0.npy").max() <= 30, "the input was saved too late")
        again = re.search(r"^  xrun (.*)$", done.stdout, re.M).group(1).split()
        done = b.run("xrun", *again, "--rtol=0", **environment)
        expect(done.returncode == 0 and "as expected" in done.stdout, f"{device}: {done.stdout}{done.stderr}")


# ---- xbench ------------------------------------------------------------------------------------------------------------

QUICK = ("--warm-up=0.01", "--duration=0.2")


@test
def measures(b):
    out = b.tool("xbench", "model.vmfb", *QUICK, "--device=cpu")
    for word in ("latency", "host", "median", "p99", "throughput", "GB/s", "GFLOP/s", "share"):
        expect(word in out, f"no {word} in {out}")


@test
def measures_as_json(b):
    report = json.loads(b.tool("xbench", "model.vmfb", "--json", *QUICK, "--device=cpu"))
    latency = report["latency_s"]
    expect(0 < latency["min"] <= latency["median"] <= latency["p90"] <= latency["p99"] <= latency["max"], str(latency))
    expect(len(report["kernels"]) == 1 and report["calls_per_s"] > 0 and report["device"] == "cpu", str(report))
    expect(abs(sum(kernel["share"] for kernel in report["kernels"]) - 1) < 1e-6, "shares do not add up")


@test
def needs_symbolic_inputs(b):
    b.refuses("xbench", "model.vmfb", "--function=scale", *QUICK, says="symbolic dimension: give it with --input")
    b.tool("xbench", "model.vmfb", "--function=scale", "--input=random:9x3xf32:1", "--input=random:9x3xf32:2", *QUICK)
    b.refuses("xbench", "model.vmfb", "--duration=-1", says="not negative")


@test
def writes_a_timeline(b):
    b.tool("xbench", "model.vmfb", "--function=scale", "--input=random:9x3xf32:1", "--input=random:9x3xf32:2", "--trace=trace.json", *QUICK)
    trace = json.loads((b.folder / "trace.json").read_text())
    events = trace["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    ranges = [e for e in events if e["ph"] == "X"]
    expect(set(tracks.values()) == {"host", "device"}, str(tracks))
    expect(all(e["dur"] >= 0 and e["ts"] >= 0 and e["tid"] in tracks for e in ranges), str(ranges))
    host = [e for e in ranges if tracks[e["tid"]] == "host"]
    device = [e for e in ranges if tracks[e["tid"]] == "device"]
    expect([e["name"] for e in host] == ["launch scale", "synchronize"] * 3 + ["launch scale, timed", "synchronize"] * 3, str(host))
    expect(device and len(device) % 3 == 0, str(device))
    expect(all(len(e["args"]["grid"]) == 3 and e["args"]["source"] for e in device), str(device))
    # What ran while the host waited ends there, and in order.
    for earlier, later in zip(host, host[1:]):
        expect(earlier["ts"] + earlier["dur"] <= later["ts"] + 1e-3, f"{earlier} {later}")
    last = max(e["ts"] + e["dur"] for e in device)
    expect(abs(last - (host[-1]["ts"] + host[-1]["dur"])) < 0.01, f"{last} {host[-1]}")
    b.refuses("xbench", "model.vmfb", "--trace=no/such/folder/trace.json", *QUICK, says="cannot write")


# ---- xdump -------------------------------------------------------------------------------------------------------------

@test
def dumps_everything(b):
    out = b.tool("xdump", "model.vmfb")
    for text in ("format 1.0", "function main", "input 0: 2x3xf32 x", "output 0: 2x3xf32 sum", "[rows]x3xf32 x", "symbol rows: dim 0 of input 0",
                 "plan for cpu:", "dispatch", "executable 0", "strategy:", "variable", "weight"):
        expect(text in out, f"no '{text}' in {out}")
    expect(re.search(r"plan for cpu:\S+: 1 command \(1 dispatch\), no arena$", out, re.M), out)


@test
def dumps_requirements(b):
    b.file("reshape.mlir", b"""func.func @main(%x: tensor<?x?xf32> {array.name = "x"}) -> tensor<4xf32> {
      %y = array.reshape %x : tensor<?x?xf32> -> tensor<4xf32>
      return %y : tensor<4xf32>
    }""")
    b.tool("xcompile", "reshape.mlir", "-o", "reshape.vmfb")
    out = b.tool("xdump", "reshape.vmfb")
    expect("requires x.0 * x.1 = 4: array.reshape: expected as many elements in tensor<?x?xf32> as in tensor<4xf32> (reshape.mlir:2:12)"
           in out, out)
    expect("required features: requirements" in out, out)
    b.refuses("xrun", "reshape.vmfb", "--input=random:3x3xf32:1",
              says=r"'main' at reshape.mlir:2:12: array.reshape: expected as many elements in .*, got 9 and 4 for x.0 = 3, x.1 = 3")


@test
def dumps_json(b):
    report = json.loads(b.tool("xdump", "model.vmfb", "--json"))
    expect([function["name"] for function in report["functions"]] == ["main", "scale", "store", "half"], "wrong functions")
    expect(report["variables"][0]["name"] == "weight", "no variable")
    expect(report["provenance"]["source_name"].endswith("model.mlir"), "no source")


@test
def disassembles(b):
    out = b.tool("xdump", "model.vmfb", "--asm")
    expect("// executable 0" in out and re.search(r"\bret", out), out[:500])
    empty = b.folder / "no-tools"
    empty.mkdir(exist_ok=True)
    done = subprocess.run([b.bin / "xdump", b.folder / "model.vmfb", "--asm"], capture_output=True, text=True,
                          env={"PATH": str(empty)})
    expect(done.returncode == 1 and "no disassembler works here" in done.stderr, done.stderr)


@test
def shows_ptx(b):
    b.refuses("xdump", "model.vmfb", "--ptx", says="the module holds no PTX")
    b.tool("xcompile", "model.mlir", "-o", "both.vmfb", "--target=cuda:sm_90a,cpu")
    expect(".target sm_90a" in b.tool("xdump", "both.vmfb", "--ptx"), "no PTX")
    expect("cuda:sm_90a" in b.tool("xdump", "both.vmfb"), "no target")


@test
def shows_machine_code(b):
    b.refuses("xdump", "model.vmfb", "--sass", says="the module holds no cubin")
    # What stands in for ptxas, and for nvdisasm after it, writes what it was given.
    fake = b.folder / "fake"
    fake.mkdir(exist_ok=True)
    (fake / "ptxas").write_text("""#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 1.0, V1.0.0"; exit; fi
while [ "$1" != -o ]; do shift; done
printf 'machine code' > "$2"
""")
    (fake / "nvdisasm").write_text("#!/bin/sh\nshift\necho \"// $1\"\necho .text.kernel:\ncat \"$1\"\n")
    for program in fake.iterdir():
        program.chmod(0o755)
    b.tool("xcompile", "model.mlir", "-o", "cubin.vmfb", "--target=cuda:sm_90a", f"--ptxas={fake / 'ptxas'}")
    done = b.run("xdump", "cubin.vmfb", "--sass", PATH=f"{fake}:/usr/bin:/bin")
    expect(done.returncode == 0 and done.stdout.startswith("// executable 1, sm_90a\n.text.kernel:\nmachine code"), done.stdout + done.stderr)
    done = b.run("xdump", "cubin.vmfb", "--sass", PATH=str(b.folder / "absent"))
    expect(done.returncode == 1 and "no disassembler for GPUs (nvdisasm or cuobjdump of the CUDA toolkit) works here" in done.stderr, done.stderr)


@test
def checks_the_machine(b):
    out = b.tool("xdump", "model.vmfb", "--check", "--device=cpu")
    expect("target cpu:" in out and "runs on cpu" in out, out)
    b.tool("xcompile", "model.mlir", "-o", "gpu.vmfb", "--target=cuda:sm_90a")
    b.refuses("xdump", "gpu.vmfb", "--check", "--device=cpu", says=r"does not run on cpu[\s\S]*cuda")
    # The oldest driver of the runtime, also where the code would do with an older one.
    for arch in ("sm_80", "sm_90a"):
        b.tool("xcompile", "model.mlir", "-o", "gpu.vmfb", f"--target=cuda:{arch}")
        out = b.run("xdump", "gpu.vmfb", "--check", "--device=cpu").stdout
        expect(re.search(rf"^target cuda:{arch}, .*, driver 12\.2 or later$", out, re.M), out)
    b.refuses("xrun", "gpu.vmfb", *XY, "--device=cpu", says="cuda")
    # Header and tables are enough: damage in the code is not looked at, and --verify finds it.
    data = bytearray((b.folder / "model.vmfb").read_bytes())
    data[-100] ^= 1
    b.file("damaged.vmfb", bytes(data))
    b.tool("xdump", "damaged.vmfb", "--check", "--device=cpu")


@test
def says_in_one_line_where_a_module_does_not_run(b):
    b.tool("xcompile", "model.mlir", "-o", "gpu.vmfb", "--target=cuda:sm_90a")
    done = b.run("xdump", "gpu.vmfb", "--check", "--device=cpu")
    expect(done.stdout.startswith("target cuda:sm_90a"), done.stdout)
    expect(done.stderr.count("\n") == 1 and done.stderr.startswith("xdump: error: does not run on cpu"), done.stderr)


@test
def refuses_what_xbench_cannot_measure(b):
    b.refuses("xbench", "model.vmfb", "--rotate=0", says="--rotate=N of 1 to 65536, got 0")
    b.refuses("xbench", "model.vmfb", "--rotate=999999999999", says="got 999999999999")


@test
def refuses_bad_dumps(b):
    b.refuses("xdump", "model.vmfb", "--json", "--ptx", says="expected one of")
    b.refuses("xdump", "model.vmfb", "--device=cpu", says="--device goes with --check")
    b.refuses("xdump", "absent.vmfb", says="absent.vmfb")


# ---- xcompile and its file -------------------------------------------------------------------------------------------------

@test
def compiler_keeps_the_old_file_where_there_is_no_room(b):
    """A limit on the size of files stands for a full disk: the write fails half-way."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    b.file("kept.vmfb", b"precious")
    before = sorted(os.listdir(b.folder))
    for output in ("kept.vmfb", "new.vmfb"):
        done = subprocess.run([b.bin / "xcompile", "model.mlir", "-o", output, "--target=cuda:sm_80", "--ptxas=off"], cwd=b.folder,
                              capture_output=True, text=True, preexec_fn=limit)
        expect(done.returncode == 1 and f"cannot write '{output}': File too large" in done.stderr, f"{done.returncode}: {done.stderr}")
    expect((b.folder / "kept.vmfb").read_bytes() == b"precious", "the old module is gone")
    expect(sorted(os.listdir(b.folder)) == before, "left files behind")
    (b.folder / "kept.vmfb").unlink()


@test
def compiler_leaves_no_half_file(b):
    b.file("broken.mlir", b"module { func.func @f( }\n")
    for command, says in ((("broken.mlir", "-o", "broken.vmfb"), "broken.mlir"), (("absent.mlir", "-o", "x.vmfb"), "absent.mlir"),
                          (("model.mlir", "-o", "absent/x.vmfb"), "absent/x.vmfb"),
                          (("model.mlir", "-o", "x.vmfb", "--target=tpu"), "tpu.*cpu"),
                          (("model.mlir", "-o", "x.vmfb", "--target=cuda:sm_1"), "sm_1.*sm_90a"),
                          (("model.mlir", "-o", "x.vmfb", "--compile-to=nowhere"), "nowhere.*array"),
                          (("model.mlir", "-o", "x.vmfb", "--nonsense"), "nonsense")):
        before = sorted(os.listdir(b.folder))
        done = b.run("xcompile", *command)
        expect(done.returncode not in (0, -6, -11), f"{command}: exit code {done.returncode}")
        expect(re.search(says, done.stderr.replace("\n", " ")), f"{command}: {done.stderr.strip()}")
        expect(sorted(os.listdir(b.folder)) == before, f"{command}: left files behind")


@test
def compiles_the_same_bytes(b):
    for jobs in ("1", "2"):
        b.tool("xcompile", "model.mlir", "-o", f"j{jobs}.vmfb", "--target=cpu", f"-j{jobs}")
    expect((b.folder / "j1.vmfb").read_bytes() == (b.folder / "j2.vmfb").read_bytes(), "-j1 and -j2 differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="xc-tools-") as folder:
        try:
            bench = Bench(args.build, pathlib.Path(folder))
        except Failed as failure:
            print(f"FAILED set-up: {failure}")
            print(f"0 passed, {len(TESTS)} failed, 0 skipped")
            return 1
        for function in TESTS:
            if not re.search(args.filter, function.__name__):
                continue
            try:
                function(bench)
                passed += 1
            except (Failed, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as failure:
                print(f"FAILED {function.__name__}: {failure}")
                failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
