#!/usr/bin/env python3
"""Runs programs that others wrote on JAX's CPU backend and on Seaway, and compares the two.

    programs.py --python VENV/bin/python --backend PLUGIN.so [--sources DIRECTORY] [MODULE...]

programs.toml beside this file lists them: the tests and the examples of packages, and the failures
that are known, each with its reason. What passes on JAX's CPU has to pass on Seaway. What needs
callbacks into Python, which hosts of a cluster do not have, is counted apart and named.

Ends with `N passed, N failed`, where a known failure is neither. The exit status is 0 if nothing
failed that is not known, every module ran, and of what needs no callbacks 99 % passed.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
RATE_MIN = 0.99
TEST_LIMIT_S = 60
# How often a module whose process died goes on behind the test in which it did.
DEATHS_MAX = 3

# What JAX and Seaway say when a program calls Python.
CALLBACK = re.compile(r"`EmitPythonCallback` not supported|`buffer_callback` not supported"
                      r"|xla_(ffi_)?(partitioned_)?python_\w*callback")


class Module(NamedTuple):
    package: str
    kind: str  # "tests" or "examples".
    name: str  # A path in the package's sources, or a name to import.


class Outcome(NamedTuple):
    result: str  # "passed", "failed", "skipped".
    text: str = ""


class Comparison(NamedTuple):
    """Of one module. Names of tests, and for failures what they said."""
    on_cpu: int  # Passed there.
    passed: list
    failed: dict  # Not known.
    known: dict  # Name -> reason.
    callbacks: list
    skipped: list  # Tests that do not run on a platform that is not called so or so.
    mended: list  # Known failures that passed.


def read_list(text):
    """(modules with why, known failures with their reasons, slow modules) of programs.toml."""
    table = tomllib.loads(text)
    modules = {Module(package, kind, name): why
               for package, kinds in table["programs"].items()
               for kind, names in kinds.items() for name, why in names.items()}
    known = {(module, test): group["reason"]
             for group in table.get("known", ()) for module, tests in group["tests"].items()
             for test in tests}
    return modules, known, set(table.get("slow", ()))


def read_report(lines, platform=None):
    """(Name of test -> Outcome, why the module is of no use).

    Of a test in which the process died only the beginning is told.
    """
    outcomes, broken = {}, ""
    for line in map(json.loads, lines):
        if "broken" in line:
            broken += line["broken"]
        elif "platform" in line:
            if platform and line["platform"] != platform:
                broken += f"JAX's default platform was {line['platform']} and not {platform}"
        elif "begun" in line:
            outcomes[line["begun"]] = Outcome("failed", "the process died in it, or it ran for "
                                              f"longer than {TEST_LIMIT_S} s")
        else:
            outcomes[line["test"]] = Outcome(line["outcome"], line["text"])
    return outcomes, broken


def compare(module, cpu, seaway, known):
    """What of `cpu` passed on `seaway`. `known`: (module, test) -> reason."""
    result = Comparison(sum(o.result == "passed" for o in cpu.values()), [], {}, {}, [], [], [])
    for test, outcome in cpu.items():
        if outcome.result != "passed":
            continue
        there = seaway.get(test, Outcome("failed", "it did not run"))
        reason = known.get((module, test))
        if there.result == "passed":
            result.passed.append(test)
            if reason is not None:
                result.mended.append(test)
        elif there.result == "skipped":
            result.skipped.append(test)
        elif CALLBACK.search(there.text):
            result.callbacks.append(test)
        elif reason is not None:
            result.known[test] = reason
        else:
            result.failed[test] = there.text
    return result


def rate_of(comparisons):
    """The share that passed of what passed on the CPU and needs no callbacks."""
    passed = sum(len(c.passed) for c in comparisons)
    ran = passed + sum(len(c.failed) + len(c.known) for c in comparisons)
    return passed / ran if ran else 0.0


def reason_of(text):
    """The one line of a failure that says most: the last error, or what was expected and found."""
    errors = re.findall(r"^(?:E\s+)?((?:[\w.]+)?(?:Error|Exception)\b.*)$", text, re.M)
    if errors:
        return errors[-1][:300]
    if "Expected:\n" in text:
        return " ".join(text.split())[-300:]
    return (text.strip().splitlines() or ["no reason"])[-1][:300]


class Runner:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory

    def environment(self, platform):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("SEAWAY_", "JAX_", "XLA_", "PJRT_", "PYTEST_"))}
        # As beside any accelerator, this machine's CPU is there for those that name it.
        environment["JAX_PLATFORMS"] = {"cpu": "cpu", "seaway": "seaway,cpu"}[platform]
        if platform == "seaway":
            environment["SEAWAY_JAX_BACKEND"] = str(self.options.backend)
            if "SEAWAY_PJRT_LIBRARY" in os.environ:
                environment["SEAWAY_PJRT_LIBRARY"] = os.environ["SEAWAY_PJRT_LIBRARY"]
        return environment

    def path_of(self, module):
        if module.kind == "examples":
            return module.name
        for directory in (self.packages(), self.options.sources):
            if directory and (directory / module.name).exists():
                return str(directory / module.name)
        raise SystemExit(f"{module.name} is in no package: is it still in {module.package}?")

    def packages(self):
        return next((self.options.python.parent.parent / "lib").glob("python3*/site-packages"))

    def run(self, module, platform):
        """(outcomes, why nothing could be run, seconds)."""
        report = self.directory / f"{platform}.{module.kind}.{module.name.replace('/', '.')}.jsonl"
        command = [self.options.python, HERE / "programs_inside.py", report, module.kind,
                   self.path_of(module), str(TEST_LIMIT_S)]
        start, output = time.monotonic(), ""
        for _ in range(DEATHS_MAX + 1):
            with open(report.with_suffix(".log"), "a") as log:
                process = subprocess.Popen(
                    command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                    env=self.environment(platform), cwd=self.directory, start_new_session=True)
                try:
                    status = process.wait(self.options.limit - (time.monotonic() - start))
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    status = process.wait()
                    output = f"it ran for longer than {self.options.limit} s"
            if status == 0 or output:
                break
        lines = report.read_text().splitlines() if report.exists() else []
        outcomes, broken = read_report(lines, platform)
        passed = any(outcome.result == "passed" for outcome in outcomes.values())
        if not broken and not (passed if platform == "cpu" else outcomes):
            broken = output or report.with_suffix(".log").read_text()[-2000:]
        seconds = time.monotonic() - start
        print(f"{module.name} on {platform}: {len(outcomes)} in {seconds:.0f} s", file=sys.stderr)
        return outcomes, broken, seconds


def print_table(rows):
    heads = ("module", "on CPU", "on Seaway", "known", "failed", "callbacks", "skipped", "seconds")
    width = max(len(row[0]) for row in rows + [heads])
    print(f"{heads[0]:<{width}}" + "".join(f"{head:>11}" for head in heads[1:]))
    for row in rows:
        print(f"{row[0]:<{width}}" + "".join(f"{cell:>11}" for cell in row[1:]))


def report(compared, broken):
    """Prints all and returns the exit status. `compared`: (module, Comparison, seconds of both)."""
    rows = [(m.name, c.on_cpu, len(c.passed), len(c.known), len(c.failed), len(c.callbacks),
             len(c.skipped), f"{cpu_s:.0f} + {seaway_s:.0f}") for m, c, cpu_s, seaway_s in compared]
    comparisons = [c for _, c, _, _ in compared]
    sums = [sum(row[column] for row in rows) for column in range(1, 7)]
    seconds = [sum(times[which] for times in compared) for which in (2, 3)]
    print_table(rows + [("all", *sums, f"{seconds[0]:.0f} + {seconds[1]:.0f}")])

    for title, choose in (("needs callbacks into Python", lambda c: dict.fromkeys(c.callbacks, "")),
                          ("known", lambda c: c.known), ("FAILED", lambda c: c.failed)):
        for module, comparison, _, _ in compared:
            for test, text in choose(comparison).items():
                text = reason_of(text) if title == "FAILED" else text
                print(f"{title}: {module.name}::{test}" + (f": {text}" if text else ""))
    for module, comparison, _, _ in compared:
        for test in comparison.mended:
            print(f"passes, though known to fail; take it off programs.toml: {module.name}::{test}")
    for module, platform, text in broken:
        print(f"BROKEN on {platform}: {module.name}: {reason_of(text)}")

    rate = rate_of(comparisons)
    failed = sums[3] + len(broken)
    print(f"\n{100 * rate:.2f} % of what passes on JAX's CPU without callbacks passes on Seaway")
    if rate < RATE_MIN:
        print(f"which is less than {100 * RATE_MIN:.0f} %")
    print(f"{sums[1]} passed, {failed} failed")
    return int(failed > 0 or rate < RATE_MIN)


def main():
    parser = argparse.ArgumentParser(prog="./dev jax programs")
    parser.add_argument("modules", nargs="*", help="parts of names; without any, all but slow ones")
    parser.add_argument("--all", action="store_true", help="slow ones, too")
    parser.add_argument("--python", type=Path, required=True, help="with the packages in it")
    parser.add_argument("--backend", type=Path, required=True, help="the plugin with the devices")
    parser.add_argument("--sources", type=Path, help="where packages lie whose wheels lack tests")
    parser.add_argument("--limit", type=float, default=300, help="seconds a module and platform")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", type=Path, help="a directory for what the processes said")
    options = parser.parse_args()
    # A link to Python is where the environment is; what it leads to is not.
    options.python = options.python.absolute()
    chosen, known, slow = read_list((HERE / "programs.toml").read_text())
    wanted = options.modules or [""]
    leave_out = slow if wanted == [""] and not options.all else set()
    modules = [module for module in chosen if module.name not in leave_out and
               any(part in module.name for part in wanted)]
    if not modules:
        raise SystemExit("no module is called so; programs.toml has them")
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        runner = Runner(options, directory.resolve())
        with ThreadPoolExecutor(options.jobs) as pool:
            runs = {(module, platform): pool.submit(runner.run, module, platform)
                    for module in modules for platform in ("cpu", "seaway")}
            compared, broken = [], []
            for module in modules:
                cpu, cpu_broken, cpu_s = runs[module, "cpu"].result()
                seaway, seaway_broken, seaway_s = runs[module, "seaway"].result()
                broken += [(module, platform, text) for platform, text in
                           (("cpu", cpu_broken), ("seaway", seaway_broken)) if text]
                compared.append((module, compare(module.name, cpu, seaway, known), cpu_s, seaway_s))
    return report(compared, broken)


if __name__ == "__main__":
    sys.exit(main())
