#!/usr/bin/env python3
"""The checks of the style guide that a program can make, over the files that git tracks.

    lint.py [NAME...]     all checks, or those named; the last line is "N passed, N failed, N skipped"

A check is a generator of complaints ("file:line: what is wrong"); it passes when it has none.
"""
import ast
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".cpp", ".h", ".c", ".inl")


class Skipped(Exception):
    """The tool that a check needs is not there."""


def tracked(suffixes=None, under=("",)):
    """Tracked files with one of the suffixes below one of the folders."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (suffixes is None or name.endswith(suffixes)) and name.startswith(under) and (ROOT / name).is_file():
            yield name


def lines(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()


def tool(*names):
    for name in names:
        found = shutil.which(name) or shutil.which(name, path="/usr/lib/llvm-22/bin")
        if found:
            return found
    raise Skipped(f"none of {', '.join(names)} is installed")


# ---- Tests that test nothing -------------------------------------------------------------------------------------

SUFFIXES = ("NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY")
LIT_FILES = (".mlir", ".test")


def check_prefixes(text):
    prefixes = set()
    for found in re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", text):
        prefixes.update(found.split(","))
    # A FileCheck without the option looks for CHECK.
    if re.search(r"RUN:.*FileCheck(?!.*check-prefix)", text):
        prefixes.add("CHECK")
    return prefixes


def dead_check_lines():
    """FileCheck ignores a directive without a colon, and one whose prefix no RUN line names."""
    for name in tracked(LIT_FILES, ("test/",)):
        content = lines(name)
        run_lines = "\n".join(line for line in content if "RUN:" in line).replace("\\\n", " ")
        joined = re.sub(r"\\\s*\n\s*(//|#)\s*RUN:", " ", run_lines)
        prefixes = check_prefixes(joined)
        for number, line in enumerate(content, 1):
            match = re.match(r"\s*(?://|#|;)\s*([A-Z][A-Z0-9_]*)(?:-([A-Z]+|COUNT-\d+))?(.?)", line)
            if not match:
                continue
            word, suffix, after = match.groups()
            # Prefixes may themselves hold a dash: CHECK-SM90.
            whole = f"{word}-{suffix}" if suffix else word
            looks_like_one = suffix in SUFFIXES or (suffix or "").startswith("COUNT-") or word == "CHECK"
            if not looks_like_one or word in ("RUN", "COM", "REQUIRES", "UNSUPPORTED"):
                continue
            if whole not in prefixes and word not in prefixes and not any(p.startswith(whole) for p in prefixes):
                yield f"{name}:{number}: no RUN line lets FileCheck look for {word}"
            elif after != ":" and not re.match(r"\s*(?://|#|;)\s*[A-Z0-9_-]+(\{LITERAL\})?:", line):
                yield f"{name}:{number}: FileCheck ignores '{whole}' without a colon"


def missing_verify_diagnostics():
    """`expected-error` and the like do nothing without -verify-diagnostics."""
    for name in tracked(LIT_FILES, ("test/",)):
        text = (ROOT / name).read_text()
        if re.search(r"expected-(error|warning|note|remark)", text) and "-verify-diagnostics" not in text:
            yield f"{name}:1: has expected-* but no RUN line has -verify-diagnostics"


VERIFIERS = re.compile(r"compiler/(Dialect/\w+/IR/|Input/Verify)")
SHORTEST_MESSAGE = 6


def untested_messages():
    """Every message of a verifier, or of the check of the input, is expected by a test."""
    expected, texts = [], []
    for name in tracked(LIT_FILES + (".py",), ("test/",)):
        text = (ROOT / name).read_text(errors="replace")
        texts.append(text)
        expected += re.findall(r"expected-error[^{]*\{\{(.*?)\}\}\s*$", text, re.M)
    everything = "\n".join(texts)
    for name in tracked((".cpp",), ("compiler/",)):
        if not VERIFIERS.match(name):
            continue
        text = (ROOT / name).read_text()
        for match in re.finditer(r"\b(?:emitOpError|emitError|report|error)\s*\(", text):
            statement = re.sub(r'"\s*\n\s*"', "", text[match.start():text.find(";", match.end())])
            parts = [part.replace('\\"', '"').strip() for part in re.findall(r'"((?:[^"\\]|\\.)*)"', statement)]
            parts = [part for part in parts if len(part) >= SHORTEST_MESSAGE]
            if any("did not converge" in part for part in parts):
                continue  # nothing is known that provokes it
            # What a test expects may end before the message does.
            if parts and not any(part in everything or any(len(text) >= SHORTEST_MESSAGE and text in part for text in expected)
                                 for part in parts):
                number = text[:match.start()].count("\n") + 1
                yield f"{name}:{number}: no test expects '{parts[0]}'"


def uncalled_tests():
    """Every function of a test that is written in Python is called, or named by another file: cases that nobody lists do not run."""
    files = {name: ast.parse((ROOT / name).read_text()) for name in tracked((".py",), ("test/",))}
    others = {alias.name for tree in files.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    others |= {node.attr for tree in files.values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for name, tree in files.items():
        own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list and node.name not in own | others:
                yield f"{name}:{node.lineno}: nothing calls '{node.name}'"


# ---- Documentation ---------------------------------------------------------------------------------------------------

def records(name):
    """The records that a .td file defines itself, by class."""
    config = tool("llvm-config-22")
    include = subprocess.run([config, "--includedir"], check=True, capture_output=True, text=True).stdout.strip()
    done = subprocess.run([tool("llvm-tblgen-22", "llvm-tblgen"), "--dump-json", f"-I{ROOT}", f"-I{include}", ROOT / name],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr else "llvm-tblgen failed")
    return json.loads(done.stdout)


def missing_docs(kind, base, name_field):
    for name in tracked((".td",), ("compiler/",)):
        text = (ROOT / name).read_text()
        if not re.search(r"^def ", text, re.M):
            continue
        try:
            found = records(name)
        except RuntimeError as error:
            yield f"{name}:1: {error}"
            continue
        for record in found.get("!instanceof", {}).get(base, []):
            fields = found[record]
            place = next((l for l in fields.get("!locs", []) if str(l).startswith((str(ROOT), name))), "")
            if not re.search(rf"^def {record}\b", text, re.M):
                continue  # of a file that this one includes
            missing = [what for what, has in (
                ("a summary", fields.get("summary")),
                ("a description", fields.get("description")),
                ("an example (```mlir)", "```" in (fields.get("description") or "")),
            ) if not has]
            if missing:
                yield f"{place or name}: {kind} '{fields.get(name_field)}' lacks {' and '.join(missing)}"


def undocumented_ops():
    """Every op has a summary, a description and an example."""
    yield from missing_docs("op", "Op", "opName")


def undocumented_passes():
    """Every pass has a summary, a description and an example."""
    yield from missing_docs("pass", "PassBase", "argument")


# ---- Passes -------------------------------------------------------------------------------------------------------------

def kebab(name):
    """`fold-product-unit-dims` of FoldProductUnitDims, `lower-to-nvvm` of LowerToNVVM."""
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1-\2", re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name)).lower()


def has_story(text):
    """Whether a source says in its header more than what the first line has room for."""
    header = itertools.takewhile(lambda line: line.startswith("//"), text.splitlines()[1:])
    return any(re.search(r"\w", line) for line in header if "Part of xcompile" not in line and "SPDX" not in line)


def pass_files():
    """A pass has a file and a test of its own name, and the file's header says what it does and what it leaves alone."""
    tests = {pathlib.Path(name).stem for name in tracked(LIT_FILES, ("test/",))}
    for td in tracked(("Passes.td",), ("compiler/",)):
        folder = td.rsplit("/", 1)[0] + "/"
        sources = {name: (ROOT / name).read_text() for name in tracked((".cpp",), (folder,))}
        for number, line in enumerate(lines(td), 1):
            match = re.match(r'def (\w+) : (?:Emit)?Pass<"xc-([\w-]+)"', line)
            if not match:
                continue
            name, argument = match.groups()
            place = f"{td}:{number}"
            # A pass that is only for tests may have those of what it shows.
            names = {words.replace("-", "") for words in (kebab(name), kebab(name).removeprefix("test-"))}
            if not argument.replace("-", "").endswith(name.lower()):
                yield f"{place}: expected {name} to be called -xc-...{kebab(name)}, got -xc-{argument}"
            homes = [source for source, text in sources.items() if f"impl::{name}Base<" in text]
            if [pathlib.Path(home).stem.startswith(name) for home in homes] != [True]:
                yield f"{place}: expected the pass in {name}.cpp, got {', '.join(homes) or 'no file'}"
            elif not has_story(sources[homes[0]]):
                yield f"{homes[0]}:1: lacks a header that says what the pass does, how, and what it leaves alone"
            if not any(test.replace("-", "").startswith(tuple(names)) for test in tests):
                yield f"{place}: no test is called {kebab(name)}.mlir"


# ---- Layers --------------------------------------------------------------------------------------------------------------

# A part may include itself and what has a lower rank in its own tree; tools see everything below them.
RANKS = {
    "compiler/Pipeline": 6, "compiler/Target": 5, "compiler/Codegen": 4, "compiler/Conversion": 3, "compiler/Input": 3,
    "compiler/Dispatch": 2, "compiler/Dialect": 1, "runtime/module": 3, "runtime/hal": 2, "runtime/base": 1, "runtime/include": 0, "schemas": 0,
    "cuda_abi": 0, "tools/ptxsim": 1,
}
# What two trees share, so that neither reaches into the other.
SHARED = {"schemas": ("compiler/", "runtime/"), "cuda_abi": ("runtime/", "tools/ptxsim/")}


def part_of(path):
    return next((part for part in RANKS if path.startswith(part + "/")), None)


def include_directions():
    """Includes go down the layers; compiler and runtime meet in schemas/ only, runtime and stand-in in cuda_abi/ only."""
    for name in tracked(CODE, ("compiler/", "runtime/", "schemas/", "cuda_abi/", "tools/ptxsim/")):
        part = part_of(name)
        for number, line in enumerate(lines(name), 1):
            match = re.match(r'\s*#\s*include\s+[<"]([^">]+)[">]', line)
            if not match:
                continue
            included = match.group(1)
            target = "runtime/include" if included.startswith("xcr/") else part_of(included)
            if included.startswith(("tools/", "test/")):
                yield f"{name}:{number}: {part or name} may not include {included}"
            if target is None or target == part or part is None or name.startswith(SHARED.get(target, "/")):
                continue
            if target.split("/")[0] != part.split("/")[0]:
                yield f"{name}:{number}: {' and '.join(SHARED)} are all that two trees share, got {included}"
            elif RANKS[target] >= RANKS[part]:
                yield f"{name}:{number}: {part} may not include {included}: includes go down the layers"


# Files of a strategy that come before emission, and the headers that emission begins with.
ANALYSES = re.compile(r"compiler/Codegen/CUDA/(\w+/)?(\w*(Strategy|Strategies|Model|Problems?|Chooser|Access|Contraction|Kernel|Group)\.(h|cpp))$")
EMISSION = re.compile(r"compiler/Codegen/CUDA/Common/(IndexBuilder|LaneOps|PointEmitter|KernelFrame)\.h$")
ASKS_EMISSION = "compiler/Codegen/CUDA/SelectStrategy.cpp"  # which ops it knows


def headers_of(name, seen):
    """The headers of code generation that a file includes, itself or through others."""
    for line in lines(name):
        match = re.match(r'#include "(compiler/Codegen/CUDA/[^"]+\.h)"', line)
        if match and match.group(1) not in seen:
            seen.add(match.group(1))
            if (ROOT / match.group(1)).is_file():
                headers_of(match.group(1), seen)
    return seen


def analysis_includes():
    """What matches, models and chooses CUDA kernels includes nothing of what emits them."""
    for name in tracked((".cpp", ".h"), ("compiler/Codegen/CUDA/",)):
        if ANALYSES.match(name) and name != ASKS_EMISSION:
            for header in sorted(filter(EMISSION.match, headers_of(name, set()))):
                yield f"{name}:1: an analysis may not include {header}, not even through another header"


def target_kinds():
    """Fusion asks for a property of a target (DispatchTarget), not for its kind."""
    for name in tracked(CODE, ("compiler/Dispatch/",)):
        for number, line in enumerate(lines(name), 1):
            if re.search(r"\bis(For)?(CUDA|CPU)\(", line) and not name.endswith("/DispatchTarget.cpp"):
                yield f"{name}:{number}: ask a DispatchTarget for what differs between targets"


def forbidden_calls():
    """A user's mistake is a diagnostic or a status; nothing ends the process or prints past the caller."""
    forbidden = re.compile(r"\b(report_fatal_error|report_fatal_usage_error|llvm::errs|llvm::outs|std::abort)\b|(?<![\w:.>])abort\(")
    for name in tracked(CODE, ("compiler/", "runtime/")):
        for number, line in enumerate(lines(name), 1):
            code = line.split("//")[0]
            match = forbidden.search(code)
            if match:
                yield f"{name}:{number}: {match.group(0).rstrip('(')} is not allowed here"


def unchecked_reads():
    """The compiler asks whether a file that a user has named is a pipe or a device before it opens it (RegularFile.h)."""
    # compiler/Target reads what assemblers and linkers wrote for it.
    for name in tracked(CODE, ("compiler/", "tools/xcompile/", "tools/xc-opt/")):
        text = "\n".join(line.split("//")[0] for line in lines(name))
        if "MemoryBuffer::getFile" in text and "isPipeOrDevice(" not in text and not name.startswith("compiler/Target/"):
            yield f"{name}: opens a file without isPipeOrDevice"


# What holds a number of a program by its name; a size of a tensor or a loop; a number out of an attribute.
SIZE_NAME = r"\b\w*(?:[sS]ize|[sS]hape|[eE]xtent|[sS]tride|[dD]ilation|[pP]ad|[gG]roups|[cC]ount|[rR]epeats)\w*(?:\[[^\]]*\])?"
TENSOR_SIZE = r"[\w.>-]*getDimSize\([^()]*\)|\b[rR]anges?\[[^\]]*\]|\(?[\w:]*isDynamic\([^()]*(?:\[[^\]]*\])?\) \? \w+ : \w+(?:\[[^\]]*\])?\)?"
ATTRIBUTE_READ = re.compile(r"\bn\.integer\(|\.getInt\(\)|\bget[SZ]ExtValue\(\)|\b(?:op|adaptor|attention|conv)\.get[A-Z]\w*\(\)|= \*?get[A-Z]\w*\(\)$")


def attribute_numbers(code):
    """The integers that a line declares with a number of an attribute."""
    declaration = re.search(r"\b(?:u?int64_t|unsigned|int) (\w+ = .*?);?$", code)
    for part in re.split(r", (?=\w+ = )", declaration.group(1)) if declaration else ():
        name, value = part.split(" = ", 1)
        if ATTRIBUTE_READ.search("= " + value.rstrip(";")):
            yield name


def raw_size_products():
    """Products of sizes, pads, strides, counts and attributes of a program are checked (IR/Sizes.h), or say why they stay `in range`."""
    # Formulas (AffineExpr, FormulaAttr) check themselves. Tiles and other numbers of kernels are ours: of Codegen, only sizes of tensors and loops count.
    declared = re.compile(r"^(?:const )?[\w:<>]+ \*\w+|\w\(.*\b[A-Z]\w* \*")
    for file in tracked((".cpp", ".h"), ("compiler/",)):
        sizes = TENSOR_SIZE if file.startswith("compiler/Codegen/") else f"{TENSOR_SIZE}|{SIZE_NAME}"
        numbers, formulas = set(), set()
        for number, line in enumerate(lines(file), 1):
            if line.startswith("}"):
                numbers, formulas = set(), set()
            code, _, comment = line.partition("//")
            code = code.strip()
            if not file.startswith("compiler/Codegen/"):
                numbers.update(attribute_numbers(code))
            formulas.update(re.findall(r"\b(?:AffineExpr|FormulaAttr)>? &?(\w+)", code))
            operand = "(?:" + "|".join([sizes, *(rf"(?<![\w.])\*?{name}\b(?![(\w])" for name in sorted(numbers))]) + ")"
            product = re.search(rf"\w*(?:{operand}) \* [(*]?\w[\w.]*|\w+[)\]]? \* \(?{operand}|\w+ \*= {operand}", code)
            if (product and "in range" not in comment and not declared.search(code)
                    and not formulas & set(re.findall(r"\w+", product.group(0)))):
                yield f"{file}:{number}: a product of sizes that is not checked: {code}"


# ---- Text ------------------------------------------------------------------------------------------------------------------

def formatting():
    """clang-format 22 leaves every tracked source as it is."""
    names = list(tracked((".cpp", ".h", ".hpp", ".c")))
    done = subprocess.run([tool("clang-format-22"), "--dry-run", *(ROOT / name for name in names)],
                          capture_output=True, text=True)
    seen = set()
    for line in done.stderr.splitlines():
        match = re.match(r"(.+?):(\d+):\d+: (?:warning|error): code should be clang-formatted", line)
        if match and match.group(1) not in seen:
            seen.add(match.group(1))
            yield f"{pathlib.Path(match.group(1)).relative_to(ROOT)}:{match.group(2)}: not as clang-format-22 has it"


def headings():
    """Every source says in its first line what it is, and which licence it has."""
    for name in tracked((".cpp", ".h", ".hpp", ".c", ".td"), ("compiler/", "runtime/", "cuda_abi/", "tools/", "test/", "schemas/", "samples/", "python/")):
        head = lines(name)[:8]
        if not head or not re.match(r"(//|/\*)===- \S+.* -", head[0]):
            yield f"{name}:1: expected a first line such as '//===- Foo.cpp - What it is ---===//'"
        if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in "\n".join(head) and not name.endswith(".td"):
            yield f"{name}:1: lacks its SPDX line"


def machine_paths():
    """No path of somebody's machine."""
    path = re.compile(r"(?<![\w.$}{])/(?:home|root|work|Users)/\w+")
    for name in tracked():
        if name.endswith((".npy", ".vmfb", ".csv")) or name == "scripts/lint.py":
            continue
        for number, line in enumerate(lines(name), 1):
            if path.search(line):
                yield f"{name}:{number}: a path of one machine: {path.search(line).group(0)}"


def todos():
    """A TODO names its issue: TODO(#123)."""
    for name in tracked():
        if name == "scripts/lint.py" or name.endswith((".npy", ".vmfb", ".csv")):
            continue
        for number, line in enumerate(lines(name), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line):
                yield f"{name}:{number}: a TODO without its issue"


# ---- Pages --------------------------------------------------------------------------------------------------------------

# Pages of mlir-tblgen and of scripts say in their first lines that they are generated; their prose is that of their sources.
def written_pages():
    """Pages for readers that somebody wrote by hand."""
    for name in tracked((".md",), ("docs/", "benchmarks/results/", "README.md")):
        if "Generated" not in "\n".join(lines(name)[:2]):
            yield name


def paragraphs(name):
    """The prose of a page: (line, text) of each paragraph and list item."""
    current, is_code = [], False
    for number, line in enumerate([*lines(name), ""], 1):
        fence = re.match(r"\s*(```|~~~)", line)
        is_code ^= bool(fence)
        item = re.match(r"\s*(?:[-*]|\d+\.)\s+(.*)", line)
        is_prose = not (is_code or fence or not line.strip() or re.match(r"\s*[#|<!]", line)
                        or (line.startswith("    ") and not current))
        if current and (not is_prose or item):
            yield current[0], " ".join(current[1:])
            current = []
        if is_prose:
            current = current or [number]
            current.append(item.group(1) if item else line.strip())


def plain(text):
    """Prose without what is code, and with the texts of links only."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "code", text)


MOST_WORDS, MOST_WORDS_ON_AVERAGE = 40, 25


def sentences():
    """Sentences of pages have 40 words at most, and 25 at most on average of each page."""
    for name in written_pages():
        counts = []
        for number, text in paragraphs(name):
            for sentence in re.split(r"(?<=[.!?])[)*_\"]*\s+(?=[A-Z(*\"_]|code\b)", plain(text)):
                words = len(re.findall(r"\S*\w\S*", sentence))
                counts.append(words)
                if words > MOST_WORDS:
                    yield f"{name}:{number}: a sentence of {words} words: '{' '.join(sentence.split()[:8])} ...'"
        if counts and sum(counts) > MOST_WORDS_ON_AVERAGE * len(counts):
            yield f"{name}:1: sentences have {sum(counts) / len(counts):.1f} words on average"


# Words of our own for which the field has a word: docs/glossary.md.
PRIVATE_WORDS = (
    (r"factors?\b(?! of)(?<!by a factor)", "operand, A, B"),
    (r"(long|short|longer|shorter|split) lines", "rows, segments"),
    (r"places of (a |the )?windows?|as many places", "output positions"),
    (r"(each|every|another|no|most|many|second|of) rounds?(?! to)", "iterations, waves"),
    (r"turned", "transposed"),
    (r"(take|takes|taking) turns|turns of|team", "ping-pong, consumer warpgroup"),
    (r"walk(s|ed|ing)?", "loop over, direct convolution"),
    (r"in parts|parts of a sum|split k", "split-K, partial sums, splits"),
    (r"(?<!tensor map )(?<!TMA )boxes", "TMA boxes"),
    (r"(begins?|launched|launches) early", "PDL"),
    (r"rasters?", "tile rasterization"),
    (r"demand(s|ed|ing)?", "precondition, requirement"),
    (r"device-bounded", "bounded dynamic dim"),
    (r"oddit(y|ies)", "why it is not a canonical operand"),
    (r"reads? (it |them )?again", "re-read, recompute"),
    (r"fallbacks?", "generic kernel"),
    (r"(puts?|putting) off|works? off", "defer, drain"),
    (r"(along|on|of) the way", "path"),
    (r"clamp of a size", "max(e, 0)"),
    (r"layouts of (a |the )?(matrix )?products?", "tile configuration"),
    (r"(takes?|taken|took) (it |them )?for(?= (a|one|the)\b)", "treat as"),
)


def private_words():
    """Pages use the words of docs/glossary.md."""
    words = [(re.compile(rf"\b(?:{pattern})\b", re.I), instead) for pattern, instead in PRIVATE_WORDS]
    for name in written_pages():
        for number, text in paragraphs(name):
            for word, instead in words:
                match = word.search(plain(text))
                if match:
                    yield f"{name}:{number}: '{match.group(0)}': say {instead}"


def words_of_descriptions():
    """Descriptions of ops and passes use the words of docs/glossary.md, as the pages do that are made of them."""
    words = [(re.compile(rf"\b(?:{pattern})\b", re.I), instead) for pattern, instead in PRIVATE_WORDS]
    for name in tracked((".td",), ("compiler/",)):
        is_text = is_code = False
        for number, line in enumerate(lines(name), 1):
            is_code ^= "```" in line
            summary = re.search(r'let summary = "(.*)"', line)
            text = summary.group(1) if summary else line if is_text and not is_code else ""
            for word, instead in words if text else ():
                match = word.search(plain(text))
                if match:
                    yield f"{name}:{number}: '{match.group(0)}': say {instead}"
            is_text = "let description = [{" in line or (is_text and "}];" not in line)


MENU = "docs/site/mkdocs.yml"


def anchors(name):
    """The anchors of a page as GitHub makes them of headings."""
    seen, is_code = {}, False
    for line in lines(name):
        is_code ^= bool(re.match(r"\s*(```|~~~)", line))
        heading = None if is_code else re.match(r"#+\s+(.*)", line)
        if not heading:
            continue
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "").strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug


def links():
    """Links within the repository lead to a file, and to a heading of it."""
    known = set(tracked())
    folders = {str(parent) for name in known for parent in pathlib.PurePosixPath(name).parents}
    pages = [name for name in known if name.endswith(".md")]
    found = {name: set(anchors(name)) for name in pages}
    for name in sorted(pages):
        is_code = False
        for number, line in enumerate(lines(name), 1):
            is_code ^= bool(re.match(r"\s*(```|~~~)", line))
            for target in [] if is_code else re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = str(pathlib.PurePosixPath(name).parent / path) if path else name
                file = str((ROOT / file).resolve().relative_to(ROOT)) if path else name
                if file not in known and file not in folders:
                    yield f"{name}:{number}: there is no '{target}'"
                elif anchor and file in found and anchor not in found[file]:
                    yield f"{name}:{number}: '{file}' has no heading '#{anchor}'"


def pages_in_menu():
    """The site's menu, docs/site/mkdocs.yml, has every page."""
    if not (ROOT / MENU).is_file():
        raise Skipped(f"there is no {MENU}")
    menu = set(re.findall(r"^\s*- (\S+\.md)$", (ROOT / MENU).read_text(), re.M))
    pages = set(tracked((".md",), ("docs/", "benchmarks/results/", "README.md")))
    yield from (f"{name}:1: {MENU} does not have this page" for name in sorted(pages - menu))
    yield from (f"{MENU}:1: there is no '{name}'" for name in sorted(menu - set(tracked())))


def names_on_pages():
    """Passes and sources that pages name are there."""
    known = list(tracked())
    text = "\n".join("\n".join(lines(name)) for name in known if name.endswith(("Passes.td", "Passes.cpp")))
    passes = set(re.findall(r'"(xc-[\w-]+)"', text))
    for name in written_pages():
        # A page may make files itself: see scripts/walkthroughs.py.
        made = re.findall(r"^<!-- file (\S+) -->$", (ROOT / name).read_text(), re.M)
        is_code = False
        for number, line in enumerate(lines(name), 1):
            is_code ^= bool(re.match(r"\s*(```|~~~)", line))
            for code in [] if is_code else re.findall(r"`([^`]+)`", line):
                for argument in re.findall(r"(?<![\w-])-(xc-[\w-]+)", code):
                    if argument not in passes:
                        yield f"{name}:{number}: there is no pass '-{argument}'"
                if re.fullmatch(r"[\w./-]+\.(cpp|h|td|inl|fbs|py|sh|c|mlir)", code) and code not in made:
                    if not any(file == code or file.endswith("/" + code) for file in known):
                        yield f"{name}:{number}: there is no file '{code}'"


# Words of our own for what the field has a word for, in what users read: messages, reasons in reports, summaries of options.
MESSAGE_WORDS = {
    r"\b(first|second) factors?\b": "operand A, operand B",
    r"\bfactors?\b": "operands",
    r"\bwalk(s|ed|ing)?\b": "loop over",
    r"\b(threads|cannot) turn\b|\bturned around\b": "transpose",
    r"\bin turns\b": "ping-pong",
    r"\bplaces of (the window|shared|the tile)\b": "elements, positions",
    r"\boddity\b": "why it is not a canonical operand",
    r"\bputs? off\b": "defer",
    r"\b(a|each|every) round\b": "iteration, wave",
}


def words_of_messages():
    """Messages and reports use the words of the field."""
    for name in tracked(CODE, ("compiler/", "runtime/", "tools/")):
        for number, line in enumerate(lines(name), 1):
            if re.match(r"\s*(//|#)", line):
                continue
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line.split(" // ")[0]):
                for word, better in MESSAGE_WORDS.items():
                    match = re.search(word, text) if " " in text else None
                    if match:
                        yield f"{name}:{number}: '{match.group(0)}': say {better}"


# Those that comments do without: what is said there, where (a pattern of names of files), and what to say.
COMMENT_WORDS = (
    (r"(first|second) factors?", "", "operand A, operand B"),
    (r"(?<!`)factors?(?! of)|turned", r"compiler/Codegen/CUDA/(Matmul|Tile)/", "operands; transposed"),
    (r"oddit(y|ies)", "", "why it is not a canonical operand"),
    (r"fallbacks?", "", "generic kernel"),
    (r"device-bounded", "", "bounded dynamic dim"),
    (r"works? off|(is|are|was|were|has|have) put off|puts? work off", "", "runs; defers"),
    (r"(short|shorter|long|longer) lines", "compiler/", "rows, segments"),
    (r"walk(s|ed|ing)? (over|down|windows|a window|the windows)", "", "loop over"),
    (r"turned around", "", "transposed, flipped"),
    (r"(a|each|every|another|one|no|all|second|next|last) rounds?(?! (of a random|to))", r"compiler/(?!Input/StableHLO/Eigenvalues)", "iterations, waves"),
    (r"(?<!`)(demands?|demanded)(?!\(|`)", "compiler/", "require, requirement"),
    (r"teams?", "compiler/Codegen/CUDA/", "thread group, consumer warpgroups"),
    (r"(begins?|launched|launches) early", "", "PDL"),
)


def words_of_comments():
    """Comments use the words of the field: those of docs/glossary.md."""
    words = [(re.compile(rf"\b(?:{pattern})\b", re.I), re.compile(where), instead) for pattern, where, instead in COMMENT_WORDS]
    for name in tracked(CODE, ("compiler/", "runtime/", "tools/", "cuda_abi/")):
        here = [(word, instead) for word, where, instead in words if where.search(name)]
        for number, line in enumerate(lines(name), 1):
            comment = re.search(r"(?:^|[\s;{}])//(.*)", line)
            for word, instead in here if comment else ():
                match = word.search(comment.group(1))
                if match:
                    yield f"{name}:{number}: '{match.group(0)}': say {instead}"


# Subjects of the commits up to this one have no form in common.
LAST_FREE_COMMIT = "c0415bfbbc8d32ea5db7408f4bbcba96993dbd0b"
LONGEST_SUBJECT = 72


def commit_subjects():
    """A commit's subject is `component: imperative`, of at most 72 characters and without a full stop."""
    command = ["git", "-C", ROOT, "log", "--no-merges", "--format=%h %s", f"{LAST_FREE_COMMIT}..HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Skipped("a clone without its history")
    for line in done.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > LONGEST_SUBJECT:
            yield f"{commit}: expected a subject of at most {LONGEST_SUBJECT} characters, got {len(subject)}: {subject}"
        elif not re.match(r"[\w./+-]+(, [\w./+-]+)*: [^A-Z].*[^.]$", subject):
            yield f"{commit}: expected 'component: imperative', got '{subject}'"


# ---- Files that are called -----------------------------------------------------------------------------------------


def scripts_run():
    """A file that begins with #! can be run by its name, as pages show it."""
    for name in tracked():
        with (ROOT / name).open("rb") as file:
            if file.read(2) == b"#!" and not (ROOT / name).stat().st_mode & 0o100:
                yield f"{name}:1: begins with #! and is not executable: git update-index --chmod=+x"


CHECKS = (dead_check_lines, missing_verify_diagnostics, untested_messages, uncalled_tests, undocumented_ops, undocumented_passes, pass_files,
          include_directions, analysis_includes, target_kinds, forbidden_calls, unchecked_reads, raw_size_products, formatting, headings,
          machine_paths, todos,
          words_of_messages, words_of_comments, words_of_descriptions, commit_subjects, sentences, private_words, links, pages_in_menu, names_on_pages,
          scripts_run)


def main():
    names = {check.__name__.replace("_", "-"): check for check in CHECKS}
    wanted = sys.argv[1:] or list(names)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f"lint.py: unknown check '{unknown[0]}'; known are {', '.join(names)}")
    passed = failed = skipped = 0
    for name in wanted:
        try:
            complaints = list(names[name]())
        except Skipped as reason:
            print(f"skipped: {name}: {reason}")
            skipped += 1
            continue
        for complaint in complaints:
            print(complaint)
        print(f"{'failed' if complaints else 'passed'}: {name}: {names[name].__doc__}")
        passed, failed = passed + (not complaints), failed + bool(complaints)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
