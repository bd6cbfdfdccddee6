#!/usr/bin/env python3
"""Runs the tests of a build directory and ends with one line: `N passed, N failed`.

A case is one GoogleTest case or one Python test method; any other test counts as one case. A test
that dies before it reports counts as one failed case.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

DEFAULT_SUITES = {"unit", "tools", "system", "demos"}


def arguments():
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("build", type=Path)
    parser.add_argument("patterns", nargs="*", help="parts of a test's or of a case's name")
    parser.add_argument("--suite", action="append", help="run this suite only")
    parser.add_argument("--not-run", metavar="WHY", help="a line that says what is left out")
    parser.add_argument("--verbose", action="store_true", help="show what the tests print")
    return parser.parse_args()


def suites_of(test):
    return {suite.split(":")[-1] for suite in test["suite"]}


def select(tests, options):
    """The names of the tests to run, and the GoogleTest filter for the cases inside them."""
    wanted = set(options.suite or DEFAULT_SUITES)
    tests = [test for test in tests if suites_of(test) & wanted]
    if not options.patterns:
        return [test["name"] for test in tests], None
    named = [t["name"] for t in tests if any(p in t["name"] for p in options.patterns)]
    if named:
        return named, None
    # No test is called so: the pattern means cases, which only the GoogleTest programs have.
    cases = ":".join(f"*{pattern}*" for pattern in options.patterns)
    programs = [t["name"] for t in tests if t["protocol"] == "gtest" or "unit" in suites_of(t)]
    return programs, cases


def count_gtest(reports, program):
    """(cases, failed, names of the failed) over all reports that `program` has written."""
    cases, failed = 0, []
    for path in reports.glob(f"{program}*.xml"):
        if not re.fullmatch(rf"{re.escape(program)}(_\d+)?\.xml", path.name):
            continue
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            if case.get("status") == "run" and case.get("result") != "skipped":
                cases += 1
                if case.find("failure") is not None:
                    failed.append(f"{case.get('classname')}.{case.get('name')}")
    return cases, failed


def count(log, reports, filtered):
    """Total cases that passed, and (test, case) of each one that failed."""
    passed, failures, seen = 0, [], set()
    for line in log.read_text().splitlines():
        test = json.loads(line)
        good = test["result"] in ("OK", "EXPECTEDFAIL", "SKIP")
        program = Path(test["command"][0]).name
        python = re.search(r"^Ran (\d+) tests?", test.get("stderr", "") or "", re.MULTILINE)
        if (reports / f"{program}.xml").exists():
            cases, failed = (0, []) if program in seen else count_gtest(reports, program)
            seen.add(program)
        elif python:
            failed = re.findall(r"^(?:FAIL|ERROR): (\S+)", test["stderr"], re.MULTILINE)
            cases = max(int(python[1]), len(failed))
        else:
            cases, failed = int(not filtered and test["result"] != "SKIP"), []
        if not good and not failed:
            failed = [f"({test['result'].lower()}, return code {test['returncode']})"]
            cases = max(cases, 1)
        passed += cases - len(failed)
        failures += [(test["name"].split(" / ")[-1], case) for case in failed]
    return passed, failures


def environment(reports, cases):
    result = dict(os.environ, GTEST_OUTPUT=f"xml:{reports}/", GTEST_COLOR="no")
    result.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    result.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1")
    result["PYTHONDONTWRITEBYTECODE"] = "1"
    if cases:
        result["GTEST_FILTER"] = cases
    return result


def main():
    options = arguments()
    started = time.monotonic()
    build = options.build.resolve()
    tests = json.loads((build / "meson-info" / "intro-tests.json").read_text())
    names, cases = select(tests, options)
    if not names:
        print(f"run_tests: no test matches {' '.join(options.patterns)}; there are:")
        print("  " + " ".join(sorted(test["name"] for test in tests)))
        print("0 passed, 1 failed")
        return 1
    reports = build / "test-reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs", *names]
    settings = json.loads((build / "meson-info" / "intro-buildoptions.json").read_text())
    if any(s["name"] == "b_sanitize" and s["value"] != "none" for s in settings):
        # Instrumented code is several times slower, and a time-out is there to catch a hang.
        command += ["--timeout-multiplier", "5"]
    command += ["--verbose"] if options.verbose else []
    status = subprocess.run(command, env=environment(reports, cases)).returncode
    if not log.exists():
        print("run_tests: meson test stopped before it ran anything\n0 passed, 1 failed")
        return 1
    passed, failures = count(log, reports, cases is not None)
    if status and not failures:
        failures = [("meson test", f"(return code {status})")]
    if cases and passed + len(failures) == 0:
        print(f"run_tests: no case matches {cases}")
        failures = [("run_tests", cases)]
    print(f"\n{len(names)} test programs in {time.monotonic() - started:.1f} s")
    for test, case in failures:
        print(f"  failed: {test}: {case}")
    if options.not_run:
        print(options.not_run)
    print(f"{passed} passed, {len(failures)} failed", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
