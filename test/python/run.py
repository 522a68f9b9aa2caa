#!/usr/bin/env python3
"""Tests of the Python package, as it lies in a build tree.

    run.py --build=build/dev [--filter=REGEX]

Needs NumPy. What needs JAX or PyTorch is skipped where they are not installed. The last line is "N passed, N failed, N skipped".
"""
import argparse
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent


def cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    sys.path.insert(0, str(args.build.resolve() / "python"))
    sys.path.insert(0, str(HERE))
    found = unittest.defaultTestLoader.discover(str(HERE), pattern="test_*.py")
    suite = unittest.TestSuite(test for test in cases(found) if re.search(args.filter, test.id()))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
