#!/usr/bin/env python3
"""Takes single synchronising instructions out of compiled kernels, shifts single stores by one element, leaves out single rescales, and
expects each of these mistakes to be found.

    run.py --build=build/dev [--target=sm_80] [--filter=REGEX] [--share=N] [--list]

Each model is compiled to PTX only and run as it is, which must give no report. Then, for each barrier, arrival, commit, wait and
fence in its PTX (of mbarriers' initialisation, too), the model runs on the same inputs, and on zeros, with just that one blanked (PTXSIM_PATCH), and must be reported. A wait that
yields a predicate is replaced by one that is always true. models.py says of which instructions the kernels have no
need, and why; of such a one the stand-in must say nothing. For each store to global or shared memory the model runs with that one
writing to the next element, as if an index were off by one. For each constant that is put into a register, the model runs
without that: what a loop begins with, or what one side of a branch leaves, is then whatever the register held. For each
multiplication by which attention rescales what it has of earlier keys, the model runs without that: results must be further from
those of the whole kernel than tests let them be. Every temporary is an allocation of its own (XCR_TEMPORARIES=separate).
The last line is "N passed, N failed, N skipped".
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

sys.path.insert(0, str(HERE.parents[1] / "e2e"))

import models  # noqa: E402
import tolerances  # noqa: E402

# What orders threads, or copies and threads. A kernel without one of these is wrong, or had no need of it.
SYNC = re.compile(r"""(?:^[ \t]*|:[ ])(?:@!?%p\d+\s+)?(?P<op>(?:bar(?:rier)?\.(?:cta\.)?(?:sync|warp\.sync)|barrier\.cluster\.wait
    |cp\.async\.(?:bulk\.)?wait_(?:group|all)|mbarrier\.(?:try|test)_wait|fence\.proxy\.async
    |wgmma\.(?:fence|wait_group)|membar|fence\.acq_rel|fence\.sc
    |mbarrier\.arrive|barrier\.cluster\.arrive|cp\.async\.(?:bulk\.)?commit_group|cp\.async\.mbarrier\.arrive
    |griddepcontrol\.wait)[^;]*;)""", re.X)
STORE = re.compile(r"""(?:^[ \t]*|:[ ])(?:@!?%p\d+\s+)?(?P<op>st\.(?:\w+\.)*?(?:global|shared)(?:::cta)?\.(?:[\w:]+\.)*?
    (?:v(?P<count>[24])\.)?[bfsu](?P<bits>\d+)\s+\[(?P<base>[^\]+]+)(?:\+(?P<offset>-?\d+))?\])""", re.X)
# Numbered by itself: what makes mbarriers visible to copies.
INIT_FENCE = re.compile(r"""(?:^[ \t]*|:[ ])(?:@!?%p\d+\s+)?(?P<op>fence\.mbarrier_init[^;]*;)""")
BEGINNING = re.compile(r"""(?:^[ \t]*|:[ ])(?P<op>mov\.\w+\s+(?P<register>%\w+),\s*-?\d\w*;)""")
# A product, a power of two, and what another thread has; a rescale is a product with such a power.
PRODUCT = re.compile(r"(?:^[ \t]*)(?P<op>mul\.(?:rn\.)?(?:ftz\.)?f32\s+(?P<to>%\w+),\s*(?P<a>%\w+),\s*(?P<b>%\w+);)")
POWER = re.compile(r"^\s*ex2\.approx\.\S+\s+(%\w+),")
SHUFFLE = re.compile(r"^\s*shfl\.sync\.idx\.b32\s+(%\w+),\s*(%\w+),")
REPORTS = ("data race", "async-copy", "missing-proxy-fence", "uninitialised", "asynchronous copy", "proxy",
           "has not been waited for", "deadlock", "mbarrier", "wgmma.fence", "the cluster's barrier",
           "of the cluster, which has exited")
STORE_REPORTS = ("out-of-bounds", "data race", "uninitialised", "async-copy", "mbarrier")


class Mutant:
    """A kernel without one of its synchronising instructions."""
    reports, inputs = REPORTS, (False, True)
    span = "0.5:1.5"  # of random inputs
    compares = False  # with the whole kernel's results
    # What is read too early has often not been written at all: races must be found without that.
    checks = "all,-uninitialised"

    def __init__(self, model, target, number, kernel, line, text, match):
        self.model, self.target, self.number, self.kernel, self.line = model, target, number, kernel, line
        self.text = re.sub(r"\s+", " ", match["op"])
        # Others of a wait's block stay: they branch on the predicate.
        with_predicate = re.match(r"mbarrier\.\w+_wait\S*\s+(%?p\d*)\s*,", match["op"])
        put = f"setp.eq.u32 {with_predicate[1]}, 0, 0;" if with_predicate else ""
        self.patch = text[:match.start("op")] + put + text[match.end("op"):]

    def redundant(self):
        return models.redundant(self.model.name, self.target, self.kernel, self.number, self.text)

    def __str__(self):
        return f"{self.model.name} {self.target} {self.kernel} #{self.number} (PTX line {self.line}) {self.text}"


class StoreMutant(Mutant):
    """A kernel one of whose stores writes to the next element."""
    reports, inputs, checks = STORE_REPORTS, (False,), "all"

    def __init__(self, model, target, number, kernel, line, text, match):
        self.model, self.target, self.number, self.kernel, self.line = model, target, number, kernel, line
        self.text = re.sub(r"\s+", " ", match["op"]) + ", one element on"
        offset = int(match["offset"] or 0) + int(match["count"] or 1) * int(match["bits"]) // 8
        begin = match.start("base")
        self.patch = text[:begin] + f"{match['base']}+{offset}" + text[match.end("op") - 1:]

    def redundant(self):
        return models.harmless(self.model.name, self.target, self.kernel, self.number)


class InitFenceMutant(Mutant):
    """A kernel whose copies need not see the mbarriers."""

    def redundant(self):
        return None


class RegisterMutant(Mutant):
    """A kernel one of whose registers is not given the value that it begins with."""
    inputs, checks = (False,), "all"

    def __init__(self, model, target, number, kernel, line, text, match):
        self.model, self.target, self.number, self.kernel, self.line = model, target, number, kernel, line
        self.text = re.sub(r"\s+", " ", match["op"])
        self.patch = text[:match.start("op")] + text[match.end("op"):]

    def redundant(self):
        return models.unread(self.model.name, self.target, self.kernel, self.number)


class RescaleMutant(Mutant):
    """A kernel that leaves something as it was before a larger score came."""
    # Scores so far apart that those of later keys are the largest of many rows.
    reports, inputs, checks, span, compares = ("are not as expected",), (False,), "all", "-3:3", True

    def __init__(self, model, target, number, kernel, line, text, match, kept):
        self.model, self.target, self.number, self.kernel, self.line = model, target, number, kernel, line
        self.text = re.sub(r"\s+", " ", match["op"])
        self.patch = text[:match.start("op")] + f"mov.b32 {match['to']}, {kept};" + text[match.end("op"):]

    def redundant(self):
        return models.unscaled(self.model.name, self.target, self.kernel, self.number)


# Each kind of mutant, and the instructions that there is one of for each.
KINDS = ((Mutant, SYNC), (InitFenceMutant, INIT_FENCE), (StoreMutant, STORE), (RegisterMutant, BEGINNING))


def compile_model(args, model, target, scratch):
    # Named after the target too: both targets of a model are compiled side by side.
    source, module = scratch / f"{model.name}-{target}.mlir", scratch / f"{model.name}-{target}.vmfb"
    source.write_text(model.text)
    flags = list(model.flags)
    if model.tuning:
        tuning = scratch / f"{model.name}.tuning"
        tuning.write_text(model.tuning + "\n")
        flags.append(f"--tuning={tuning}")
    done = subprocess.run([args.build / "bin" / "xcompile", source, "-o", module, f"--target=cuda:{target}", "--ptxas=off",
                           "--no-reuse", "--report", *flags], check=True, capture_output=True, text=True)
    if model.tuning and "tuned: " not in done.stdout:
        raise SystemExit(f"{model.name} does not take its tuning: {done.stdout}")
    return module.read_bytes()


def rescales_of(model, target, kernel, lines):
    """One per product with a power that depends on a row's largest score; gradients' products are with the weights themselves."""
    if not re.search("attention(?!_gradient)", kernel):
        return []
    powers, found = set(), []
    for _, text in lines:
        if power := POWER.search(text):
            powers.add(power[1])
        elif (moved := SHUFFLE.search(text)) and moved[2] in powers:
            powers.add(moved[1])
    for line, text in lines:
        if (match := PRODUCT.search(text)) and {match["a"], match["b"]} & powers:
            kept = match["b"] if match["a"] in powers else match["a"]
            found.append(RescaleMutant(model, target, len(found) + 1, kernel, line, text, match, kept))
    return found


def mutants_of(model, target, image):
    """One per instruction that there is a kind of mutant for, numbered in each kernel. A module's PTX lies in the file as it is."""
    begin = image.index(b"//\n// Generated by LLVM") if b"//\n// Generated by LLVM" in image else image.index(b".version")
    found, kernel, numbers, lines = [], None, [0] * len(KINDS), {}
    # Zeros follow, unless the file ends with it.
    for line, text in enumerate(image[begin:].split(b"\0", 1)[0].decode().split("\n"), 1):
        if entry := re.search(r"\.entry\s+([\w$]+)", text):
            kernel, numbers = entry[1], [0] * len(KINDS)
        if kernel and not re.search(model.kernels, kernel):
            continue
        lines.setdefault(kernel, []).append((line, text))
        for i, (kind, pattern) in enumerate(KINDS):
            if match := pattern.search(text):
                numbers[i] += 1
                found.append(kind(model, target, numbers[i], kernel, line, text, match))
    found += [mutant for kernel in filter(None, lines) for mutant in rescales_of(model, target, kernel, lines[kernel])]
    return [mutant for mutant in found if not model.kinds or type(mutant).__name__ in model.kinds]


def expectation(model, target, scratch):
    """Where the results of the whole kernel are, of a span of inputs."""
    return scratch / f"{model.name}-{target}-results.npy"


def run(args, model, target, scratch, name, mutant=None, zeros=False, span="0.5:1.5", more=()):
    """What the stand-in, or a comparison, reports of one run, of zeros or of random numbers: "" if nothing."""
    module, report = scratch / f"{model.name}-{target}.vmfb", scratch / f"{name}.report"
    environment = dict(os.environ, XCR_CUDA_LIBRARY=str(args.driver), PTXSIM_ARCH=target, XCR_TEMPORARIES="separate",
                       PTXSIM_REPORT=str(report), PTXSIM_THREADS="1", PTXSIM_INSTRUCTION_LIMIT="100000000")
    if mutant:
        environment["PTXSIM_CHECKS"] = mutant.checks
        environment["PTXSIM_PATCH"] = f"{mutant.line}:{mutant.patch}"
    inputs = [f"--input={value}" for value in model.inputs(zeros, span)]
    done = subprocess.run([args.build / "bin" / "xrun", module, "--device=cuda", *inputs, *more], env=environment,
                          capture_output=True, text=True, timeout=120)
    text = report.read_text() if report.exists() else ""
    if done.returncode and not text:
        text = "xrun failed without a report: " + done.stdout[-400:] + done.stderr[-400:]
    return text


def check(args, mutant, scratch, number):
    """None, or what is wrong."""
    reason, more = mutant.redundant(), []
    if mutant.compares:
        absolute, relative = tolerances.tolerance("sum", mutant.model.types[0].split("x")[-1])
        more = [f"--expect=output0=@{expectation(mutant.model, mutant.target, scratch)}", f"--atol={absolute}", f"--rtol={relative}"]
    for zeros in mutant.inputs:
        of = "of zeros " if zeros else ""
        report = run(args, mutant.model, mutant.target, scratch, f"{number}-{zeros}", mutant, zeros, mutant.span, more)
        first = report.split("\n")[0]
        if args.verbose:
            print(f"{mutant}: {of}{first or 'nothing'}", flush=True)
        if reason and report:
            return f"the list calls it redundant ({reason}), but {of}: {first}"
        if not reason and not report:
            return f"nothing was reported {of}"
        if not reason and not any(word in report for word in mutant.reports):
            return f"{of}reported something else: {first}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--driver", type=pathlib.Path, help="the stand-in, by default the one in the build tree")
    parser.add_argument("--target", action="append")
    parser.add_argument("--filter", default="")
    parser.add_argument("--share", type=int, default=1, help="one in so many mutants, chosen by a hash of what they are")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.driver = (args.driver or args.build / "lib" / "libcuda_sim.so").resolve()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        scratch, work = pathlib.Path(folder), []
        wanted = [(model, target) for model in models.MODELS for target in args.target or ("sm_80", "sm_90a")
                  if target in model.targets and re.search(args.filter, model.name)]
        images = list(pool.map(lambda each: compile_model(args, *each, scratch), wanted))
        reports = pool.map(lambda each: run(args, *each, scratch, f"{each[0].name}-{each[1]}"), wanted)
        for (model, target), image, report in zip(wanted, images, reports):
            mutants = mutants_of(model, target, image)
            if report or not mutants:
                print(f"FAILED {model.name} {target}: {report or 'no instruction to take out'}")
            failed += bool(report or not mutants)
            passed += not (report or not mutants)
            work += [mutant for mutant in mutants if int(hashlib.sha256(str(mutant).encode()).hexdigest(), 16) % args.share == 0]
        if args.list:
            print("\n".join(str(mutant) for mutant in work))
            work = []
        compared = {(mutant.model.name, mutant.target): mutant for mutant in work if mutant.compares}.values()
        for report in pool.map(lambda each: run(args, each.model, each.target, scratch, f"{each.model.name}-{each.target}-whole", span=each.span,
                                                more=[f"--output=output0=@{expectation(each.model, each.target, scratch)}"]), compared):
            if report:
                raise SystemExit(f"a whole kernel is reported: {report}")
        results = pool.map(lambda each: check(args, each[1], scratch, each[0]), enumerate(work))
        for mutant, problem in zip(work, results):
            if problem:
                print(f"FAILED {mutant}: {problem}", flush=True)
            failed += problem is not None
            passed += problem is None
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
