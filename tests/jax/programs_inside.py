#!/usr/bin/env python3
"""Runs one module of tests or examples in this process, and tells of each as it goes.

    programs_inside.py REPORT tests|examples MODULE SECONDS

REPORT gets a line of JSON when a test begins and one when it ends, so that it names the test in
which a process died. A test that runs for longer than SECONDS ends the process. Tests that REPORT
has already are left out: a module whose process died goes on behind the test that it died in.
Tests are pytest's, and MODULE is a path. Examples are those of docstrings, as the package has them,
and MODULE is a name.
"""
import doctest
import faulthandler
import importlib
import json
import re
import sys
import traceback

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?")
# Of numbers that are printed: sums of float32 in another order differ by so much.
RELATIVE, ABSOLUTE = 1e-4, 1e-5


class Report:
    def __init__(self, path, limit_s):
        self.limit_s = limit_s
        try:
            with open(path) as earlier:
                self.known = {line["begun"] for line in map(json.loads, earlier) if "begun" in line}
        except FileNotFoundError:
            self.known = set()
        self.file = open(path, "a", buffering=1)

    def _say(self, **line):
        self.file.write(json.dumps(line) + "\n")

    def begin(self, test):
        self._say(begun=test)
        faulthandler.dump_traceback_later(self.limit_s, exit=True)

    def end(self, test, outcome, text=""):
        faulthandler.cancel_dump_traceback_later()
        self._say(test=test, outcome=outcome, text=text[-20000:])

    def broken(self, text):
        self._say(broken=text[-3000:])

    def platform(self):
        """The one that the tests ran on. Asked last: tests may set JAX up themselves."""
        import jax

        self._say(platform=jax.default_backend())


class Recorder:
    """A plugin of pytest. A test is called by what follows the file in pytest's name of it."""

    def __init__(self, report):
        self.report, self.texts, self.skipped = report, {}, set()

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if name_of(item.nodeid) not in self.report.known]

    def pytest_runtest_logstart(self, nodeid):
        self.report.begin(name_of(nodeid))

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.texts.setdefault(report.nodeid, []).append(str(report.longrepr))
        if report.skipped:
            self.skipped.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid):
        if nodeid in self.texts:
            self.report.end(name_of(nodeid), "failed", "\n".join(self.texts[nodeid]))
        else:
            self.report.end(name_of(nodeid), "skipped" if nodeid in self.skipped else "passed")

    def pytest_collectreport(self, report):
        if report.failed:
            self.report.broken(str(report.longrepr))


def name_of(nodeid):
    return nodeid.split("::", 1)[-1]


def run_tests(path, report):
    import pytest

    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", "/",
                 "--tb=short", "-W", "ignore", path], plugins=[Recorder(report)])


class Checker(doctest.OutputChecker):
    """Takes numbers that are nearly those of the example, if all else is the same."""

    def check_output(self, want, got, flags):
        if super().check_output(want, got, flags):
            return True
        wanted, found = ([float(number) for number in NUMBER.findall(text)] for text in (want, got))
        if len(wanted) != len(found):
            return False
        largest = max(map(abs, wanted), default=0)
        near = all(abs(a - b) <= ABSOLUTE * max(1, largest) + RELATIVE * abs(a)
                   for a, b in zip(wanted, found))
        bare = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (want, got)]
        return near and super().check_output(*bare, flags)


class FirstFailure(doctest.DocTestRunner):
    """Keeps what went wrong in the first example that did: later ones fail for lack of it."""

    text = ""

    def report_failure(self, out, test, example, got):
        self.text = self.text or (f"{example.source}Expected:\n{example.want}Got:\n{got}")

    def report_unexpected_exception(self, out, test, example, exc_info):
        self.text = self.text or example.source + "".join(traceback.format_exception(*exc_info))


def run_examples(name, report):
    import jax
    import numpy

    for flag in ("NUMBER", "FLOAT_CMP"):
        doctest.register_optionflag(flag)
    try:
        module = importlib.import_module(name)
    except Exception:  # noqa: BLE001 - whatever a package does on import.
        report.broken(traceback.format_exc())
        return
    names = {"jax": jax, "jnp": jax.numpy, "lax": jax.lax, "np": numpy}
    for test in sorted(doctest.DocTestFinder().find(module), key=lambda test: test.name):
        if not test.examples or test.name in report.known:
            continue
        test.globs.update(names)
        runner = FirstFailure(checker=Checker(), optionflags=FLAGS, verbose=False)
        report.begin(test.name)
        failed, tried = runner.run(test, out=lambda text: None, clear_globs=False)
        skips = all(example.options.get(doctest.SKIP) for example in test.examples)
        report.end(test.name, "failed" if failed else "skipped" if skips or not tried else "passed",
                   runner.text)


def main():
    path, kind, module, limit_s = sys.argv[1:]
    report = Report(path, float(limit_s))
    {"tests": run_tests, "examples": run_examples}[kind](module, report)
    report.platform()


if __name__ == "__main__":
    main()
