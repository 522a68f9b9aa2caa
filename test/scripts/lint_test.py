#!/usr/bin/env python3
"""Every check of scripts/lint.py finds what it looks for, and leaves the clean twin alone."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lint.py"
HEAD = ("//===- A.cpp - A file of the test ------------------------------------===//\n//\n// Part of xcompile.\n"
        "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n//\n//===---===//\n")
TD = 'include "mlir/IR/OpBase.td"\ndef D : Dialect { let name = "d"; let cppNamespace = "d"; }\n'
PASS = 'include "mlir/Pass/PassBase.td"\n'

SUBJECT = "a commit's subject"  # in place of a file's name

# check -> [(file, contents with a fault, contents without)]
FAULTS = {
    "dead_check_lines": [
        ("test/a.mlir", "// RUN: xc-opt %s | FileCheck %s\n// CHECK-NEXT foo\n", "// RUN: xc-opt %s | FileCheck %s\n// CHECK-NEXT: foo\n"),
        ("test/a.mlir", "// RUN: xc-opt %s | FileCheck %s\n// CHECK foo\n", "// RUN: xc-opt %s | FileCheck %s\n// CHECK: foo\n"),
        ("test/a.mlir", "// RUN: xc-opt %s | FileCheck %s --check-prefix=A\n// B-LABEL: foo\n",
         "// RUN: xc-opt %s | FileCheck %s --check-prefixes=A,B\n// B-LABEL: foo\n"),
        ("test/a.mlir", "// RUN: xc-opt %s\n// CHECK: foo\n", "// RUN: xc-opt %s \\\n// RUN:   | FileCheck %s\n// CHECK: foo\n"),
    ],
    "scripts_run": [
        ("scripts/a.py", "#!/usr/bin/env python3\n", "print()\n"),
    ],
    "missing_verify_diagnostics": [
        ("test/a.mlir", "// RUN: xc-opt %s\n// expected-error @+1 {{x}}\n", "// RUN: xc-opt %s -verify-diagnostics\n// expected-error @+1 {{x}}\n"),
    ],
    "untested_messages": [
        ("compiler/Dialect/A/IR/A.cpp", 'auto x = op.emitOpError("expected a thing");\n', 'auto x = op.getThing("expected a thing");\n'),
        ("compiler/Input/VerifyA.cpp", 'auto x = op->emitError() << "\'" << "is not known here";\n', "int x;\n"),
    ],
    "uncalled_tests": [
        ("test/a.py", "def shapes():\n    return []\n", "def shapes():\n    return []\n\n\nprint(shapes())\n"),
        ("test/a.py", "def shapes():\n    return []\n\n\ndef cases():\n    return []\n\n\ncases()\n",
         "def shapes():\n    return []\n\n\ndef cases():\n    return shapes()\n\n\ncases()\n"),
    ],
    "undocumented_ops": [
        ("compiler/A.td", TD + 'def AOp : Op<D, "a"> { let summary = "A"; let description = "No example."; }\n',
         TD + 'def AOp : Op<D, "a"> { let summary = "A"; let description = "```mlir\\nd.a\\n```"; }\n'),
    ],
    "undocumented_passes": [
        ("compiler/A.td", PASS + 'def A : Pass<"xc-a"> { let description = "```mlir\\nx\\n```"; }\n',
         PASS + 'def A : Pass<"xc-a"> { let summary = "A"; let description = "```mlir\\nx\\n```"; }\n'),
    ],
    "pass_files": [
        ("compiler/Passes.td", 'def A : Pass<"xc-a"> {}\n', "// def A is no pass\n"),
        ("compiler/Passes.td", 'def FoldA : Pass<"xc-fold-b"> {}\n', "\n"),
    ],
    "target_kinds": [
        ("compiler/Dispatch/A.cpp", "if (target.isCUDA())\n", "if (target.holdsRows())\n"),
    ],
    "unchecked_reads": [
        ("compiler/Input/A.cpp", "auto buffer = llvm::MemoryBuffer::getFile(path);\n",
         "if (!isPipeOrDevice(path))\n  auto buffer = llvm::MemoryBuffer::getFile(path);\n"),
        ("tools/xcompile/A.cpp", "auto buffer = MemoryBuffer::getFileSlice(path, 8, 0);\n", "// MemoryBuffer::getFile\n"),
    ],
    "raw_size_products": [
        ("compiler/Input/A.cpp", "int64_t all = size * count;\n", "int64_t all = *mulSizes(size, count);\n"),
        ("compiler/Input/A.cpp", "total *= shape[dim];\n", "total *= shape[dim]; // in range: a type's\n"),
        ("compiler/Conversion/A.cpp", "return type.getDimSize(dim) * 2;\n", "static void grow(Size *size);\n"),
        # Numbers of attributes, by any name, in their function.
        ("compiler/Input/A.cpp", 'int64_t rank = n.rank(), block = n.integer("blocksize", 0);\nauto all = n.index(block * block);\n',
         'int64_t block = n.integer("blocksize", 0);\n}\nauto all = n.index(block * block);\n'),
        ("compiler/Dispatch/A.cpp", "int64_t run = op.getRun();\nreturn 2 * run;\n", "int64_t run = op.getRun();\nreturn 2 * runs;\n"),
        ("compiler/Dialect/A/IR/A.cpp", "uint64_t run = getRun();\npair *= run;\n", "uint64_t run = getRun();\npair *= runs;\n"),
        ("compiler/Dialect/Plan/A.cpp", "unsigned on = attribute.getInt();\nf(on * all);\n", "AffineExpr all;\nunsigned on = a.getInt();\nf(on * all);\n"),
        # Everywhere; of kernels' code what is a size of a tensor or a loop.
        ("compiler/Target/A.cpp", "bytes = stride * bytes;\n", "AffineExpr stride = f();\nbytes = stride * bytes;\n"),
        ("compiler/Codegen/A.cpp", "count *= ranges[dim];\n", "count *= stages;\n"),
        ("compiler/Codegen/A.cpp", "count *= ShapedType::isDynamic(ranges[dim]) ? 1 : ranges[dim];\n", "bytes = stageCount * stageSize;\n"),
        ("compiler/Codegen/A.cpp", "bytes = bytes * type.getDimSize(dim);\n", "bytes = array::multiplyKnown({bytes, type.getDimSize(dim)});\n"),
    ],
    "words_of_messages": [
        ("compiler/A.cpp", 'emitError("the first factor is empty");\n', 'emitError("operand A is empty"); // the first factor\n'),
    ],
    "words_of_comments": [
        ("compiler/A.cpp", "// The first factor is empty.\n", "// Operand A is empty.\n"),
        ("compiler/Codegen/CUDA/Matmul/A.h", "int64_t k; // of both factors\n", "int64_t k; // of both operands, by a factor of 2\n"),
        ("runtime/A.cpp", "/// Work that is put off.\n", "/// Work that is deferred.\n"),
        ("tools/A.cpp", "// Walks over dims.\n", 'const char *says = "https://walk over"; // Loops over dims.\n'),
    ],
    "words_of_descriptions": [
        ("compiler/A.td", 'let summary = "Walk over dims";\n', 'let summary = "Loop over dims";\n'),
        ("compiler/A.td", "let description = [{\n  It walks over dims.\n}];\n",
         "let description = [{\n  It loops over dims:\n  ```mlir\n  walk\n  ```\n}];\n// It walks.\n"),
    ],
    "commit_subjects": [
        (SUBJECT, "Add a thing", "array: add a thing"),
        (SUBJECT, "array: add a thing.", "array, cuda/matmul: add a thing"),
        (SUBJECT, "array: " + "add a very " * 7 + "long thing", "docs/rooms: say it"),
    ],
    "include_directions": [
        ("compiler/Dialect/A.h", '#include "compiler/Codegen/B.h"\n', '#include "compiler/Dialect/B.h"\n'),
        ("compiler/Target/A.h", '#include "runtime/base/B.h"\n', '#include "schemas/module_header.h"\n'),
        ("runtime/base/A.h", '#include "runtime/hal/B.h"\n', '#include "xcr/xcr.h"\n'),
        ("runtime/hal/A.h", '#include "tools/common/B.h"\n', '#include "runtime/base/B.h"\n'),
        ("tools/ptxsim/driver/A.h", '#include "runtime/hal/B.h"\n', '#include "cuda_abi/cuda_abi.h"\n'),
        ("cuda_abi/include/cuda_abi/A.h", '#include "schemas/module_header.h"\n', '#include "cuda_abi/cuda_abi.h"\n'),
    ],
    "analysis_includes": [
        ("compiler/Codegen/CUDA/A/AStrategy.cpp", '#include "compiler/Codegen/CUDA/Common/PointEmitter.h"\n',
         '#include "compiler/Codegen/CUDA/Common/SizeQueries.h"\n'),
    ],
    "forbidden_calls": [
        ("compiler/A.cpp", "void f() { llvm::errs() << 1; }\n", "void f() { emitError() << 1; } // llvm::errs()\n"),
        ("runtime/A.cpp", "void f() { abort(); }\n", "void f() { job.abort(); }\n"),
        ("compiler/A.cpp", 'void f() { llvm::report_fatal_error("x"); }\n', "void f();\n"),
    ],
    "formatting": [("tools/A.cpp", HEAD + "int  a ;\n", HEAD + "int a;\n")],
    "headings": [("tools/A.cpp", "int a;\n", HEAD + "int a;\n")],
    "machine_paths": [("docs/a.md", "see /home/" + "me/x\n", "see ${HOME}/x and build/home/x\n")],
    "sentences": [
        ("docs/a.md", "# A\n\nIt is " + "very " * 40 + "long.\n", "# A\n\n" + "It is very long. " * 20 + "\n"),
        ("docs/a.md", "".join(f"- It is {'very ' * 30}long.\n" for _ in range(3)), "```\nIt is " + "very " * 40 + "long.\n```\n"),
    ],
    "private_words": [
        ("docs/a.md", "The kernel walks over rows.\n", "The kernel loops over rows, as `walks` says.\n"),
        ("README.md", "Sums are split\nin parts.\n", "Partial sums, and a part.\n"),
    ],
    "links": [
        ("docs/a.md", "[b](b.md)\n", "[b](#b)\n\n## B\n"),
        ("docs/a.md", "[b](#c)\n\n## B\n", "[b](https://c.org/d.md), [a](a.md#b-c)\n\n## `B` c\n"),
    ],
    "pages_in_menu": [
        ("docs/site/mkdocs.yml", "nav:\n  - docs/none.md\n", "nav:\n  - Understand:\n"),
    ],
    "names_on_pages": [
        ("docs/a.md", "`-xc-none` is a pass.\n", "`--target` is none.\n"),
        ("docs/a.md", "See `None.cpp`.\n", "See `a.md` and `int a;`.\n"),
    ],
    "todos": [("tools/A.cpp", "// TO" + "DO: later\n", "// TO" + "DO(#12): later\n")],
}


def load(root):
    spec = importlib.util.spec_from_file_location("lint", SOURCE)
    lint = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lint)
    lint.ROOT = root
    return lint


def complaints(check, name, contents):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        subprocess.run(["git", "init", "-q", root], check=True)
        if name == SUBJECT:
            return complaints_of_commit(root, check, contents)
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(contents)
        subprocess.run(["git", "-C", root, "add", name], check=True)
        return list(getattr(load(root), check)())


def complaints_of_commit(root, check, subject):
    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(["git", "-C", root, *identity, *words], check=True, capture_output=True, text=True).stdout.strip()
    git("commit", "-q", "--allow-empty", "-m", "Anything goes here")
    lint = load(root)
    lint.LAST_FREE_COMMIT = git("rev-parse", "HEAD")
    git("commit", "-q", "--allow-empty", "-m", subject)
    return list(getattr(lint, check)())


def main():
    known = {check.__name__ for check in load(SOURCE.parents[1]).CHECKS}
    failed = [f"{check} has no test" for check in sorted(known - set(FAULTS))]
    for check, faults in FAULTS.items():
        for name, bad, good in faults:
            if not complaints(check, name, bad):
                failed.append(f"{check} misses {bad!r}")
            found = complaints(check, name, good)
            if found:
                failed.append(f"{check} complains of {good!r}: {found[0]}")
    print("\n".join(failed) or "every check finds its fault")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
