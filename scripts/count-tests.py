#!/usr/bin/env python3
"""Counts what CTest or lit did and prints "N passed, N failed, N skipped" as the last line.

    count-tests.py ctest RESULTS.xml GTEST_DIR    cases of GoogleTest programs count one by one, other tests as one
    count-tests.py lit RESULTS.json
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as xml


def count_program(result):
    """(passed, failed, skipped) of one GoogleTest program's own report."""
    passed = failed = skipped = 0
    for suite in result.get("testsuites", []):
        for case in suite.get("testsuite", []):
            if case.get("failures"):
                failed += 1
                print(f"FAILED: {suite['name']}.{case['name']}")
            elif case.get("result") == "SKIPPED" or case.get("status") == "NOTRUN":
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def count_ctest(results, programs):
    total = [0, 0, 0]
    for case in xml.parse(results).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        report = pathlib.Path(programs) / f"{name}.json"
        if report.exists():
            counts = list(count_program(json.loads(report.read_text())))
            # A program that crashed after its report, or whose sanitizer complained at the end.
            if status == "fail" and counts[1] == 0:
                counts[1] = 1
                print(f"FAILED: {name}")
        elif status == "run":
            counts = [1, 0, 0]
        elif status in ("disabled", "notrun") and case.find("skipped") is not None:
            counts = [0, 0, 1]
        else:
            counts = [0, 1, 0]
            print(f"FAILED: {name}")
        total = [a + b for a, b in zip(total, counts)]
    return total


def count_lit(results):
    total = [0, 0, 0]
    for test in json.loads(pathlib.Path(results).read_text())["tests"]:
        place = {"PASS": 0, "FLAKYPASS": 0, "XFAIL": 0, "UNSUPPORTED": 2, "SKIPPED": 2}.get(test["code"], 1)
        total[place] += 1
        if place == 1:
            print(f"{test['code']}: {test['name']}")
    return total


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "lit":
        counts = count_lit(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "ctest":
        counts = count_ctest(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
    if sum(counts) == 0:
        print("no tests were run")
        counts[1] = 1
    print("{} passed, {} failed, {} skipped".format(*counts))
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main())
