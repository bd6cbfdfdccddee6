#!/usr/bin/env python3
"""How tests/jax/programs.py compares two platforms, without JAX and without a plugin."""
import io
import sys
import unittest
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "jax"))
import programs  # noqa: E402
import programs_inside  # noqa: E402
from programs import Module, Outcome  # noqa: E402

PASSED, SKIPPED = Outcome("passed"), Outcome("skipped")
FAILED = Outcome("failed", "E   ValueError: no such thing\n")
CALLS_PYTHON = Outcome("failed", "`EmitPythonCallback` not supported on seaway backend.")


def compare(cpu, seaway, known=()):
    return programs.compare("m", cpu, seaway, dict(known))


def report(comparison, broken=()):
    """(exit status, what is printed)"""
    out = io.StringIO()
    with redirect_stdout(out):
        status = programs.report([(Module("p", "tests", "m"), comparison, 1.0, 2.0)], broken)
    return status, out.getvalue()


class ComparisonTest(unittest.TestCase):
    def test_only_what_passes_on_the_cpu_counts(self):
        result = compare({"a": PASSED, "b": FAILED, "c": SKIPPED}, {"a": PASSED, "b": PASSED})

        self.assertEqual((result.on_cpu, result.passed, result.failed), (1, ["a"], {}))

    def test_what_fails_on_seaway_alone_is_a_failure_with_its_text(self):
        result = compare({"a": PASSED}, {"a": FAILED})

        self.assertEqual(result.failed, {"a": FAILED.text})

    def test_what_does_not_run_on_seaway_is_a_failure(self):
        self.assertEqual(compare({"a": PASSED}, {}).failed, {"a": "it did not run"})

    def test_what_needs_callbacks_is_counted_apart(self):
        result = compare({"a": PASSED, "b": PASSED}, {"a": CALLS_PYTHON, "b": PASSED})

        self.assertEqual((result.callbacks, result.failed), (["a"], {}))
        self.assertEqual(programs.rate_of([result]), 1)

    def test_a_known_failure_is_no_failure_and_lowers_the_rate(self):
        result = compare({"a": PASSED, "b": PASSED}, {"a": FAILED, "b": PASSED},
                         {("m", "a"): "why"})

        self.assertEqual((result.known, result.failed), ({"a": "why"}, {}))
        self.assertEqual(programs.rate_of([result]), 0.5)

    def test_a_known_failure_of_another_module_excuses_nothing(self):
        self.assertIn("a", compare({"a": PASSED}, {"a": FAILED}, {("other", "a"): "why"}).failed)

    def test_a_known_failure_that_passes_is_told(self):
        result = compare({"a": PASSED}, {"a": PASSED}, {("m", "a"): "why"})

        self.assertEqual((result.passed, result.mended), (["a"], ["a"]))
        self.assertIn("take it off programs.toml: m::a", report(result)[1])


class ReportTest(unittest.TestCase):
    many = {str(number): PASSED for number in range(200)}

    def test_a_failure_is_named_with_its_reason_and_is_the_exit_status(self):
        status, text = report(compare(self.many, {**self.many, "7": FAILED}))

        self.assertEqual(status, 1)
        self.assertIn("FAILED: m::7: ValueError: no such thing\n", text)
        self.assertTrue(text.endswith("\n199 passed, 1 failed\n"))

    def test_known_failures_pass_until_they_are_too_many(self):
        few = compare(self.many, {**self.many, "7": FAILED}, {("m", "7"): "why"})
        known = {("m", str(number)): "why" for number in range(3)}
        too_many = compare(self.many, {**self.many, "0": FAILED, "1": FAILED, "2": FAILED}, known)

        self.assertEqual(report(few)[0], 0)
        self.assertIn("known: m::7: why", report(few)[1])
        self.assertEqual(report(too_many)[0], 1)
        self.assertIn("98.50 %", report(too_many)[1])

    def test_a_module_that_does_not_run_is_a_failure(self):
        status, text = report(compare(self.many, self.many),
                              [(Module("p", "tests", "n"), "cpu", "ImportError: no module n")])

        self.assertEqual(status, 1)
        self.assertIn("BROKEN on cpu: n: ImportError: no module n", text)


class ProcessTest(unittest.TestCase):
    def test_a_test_in_which_the_process_died_has_failed(self):
        outcomes, broken = programs.read_report(
            ['{"begun": "a"}', '{"test": "a", "outcome": "passed", "text": ""}', '{"begun": "b"}'])

        self.assertEqual((outcomes["a"], outcomes["b"].result, broken), (PASSED, "failed", ""))

    def test_tests_of_another_platform_are_of_no_use(self):
        lines = ['{"test": "a", "outcome": "passed", "text": ""}', '{"platform": "cpu"}']

        self.assertEqual(programs.read_report(lines, "cpu")[1], "")
        self.assertIn("was cpu and not seaway", programs.read_report(lines, "seaway")[1])

    def test_the_list_names_modules_and_known_failures(self):
        text = ('slow = ["a/b_test.py"]\n[programs.p.tests]\n"a/b_test.py" = "because"\n'
                '[[known]]\nreason = "why"\ntests."a/b_test.py" = ["T::t"]\n')

        self.assertEqual(programs.read_list(text), (
            {Module("p", "tests", "a/b_test.py"): "because"}, {("a/b_test.py", "T::t"): "why"},
            {"a/b_test.py"}))

    def test_the_committed_list_has_a_reason_for_all(self):
        modules, known, slow = programs.read_list((programs.HERE / "programs.toml").read_text())

        self.assertTrue(all(modules.values()) and all(known.values()))
        names = {module.name for module in modules}
        self.assertLessEqual({module for module, _ in known} | slow, names)


class ExamplesTest(unittest.TestCase):
    def is_taken(self, want, got):
        return programs_inside.Checker().check_output(want, got, programs_inside.FLAGS)

    def test_last_digits_may_differ_and_nothing_else(self):
        self.assertTrue(self.is_taken("Array([1., 2.], dtype=float32)\n",
                                      "Array([0.99999994, 2.0000002 ], dtype=float32)\n"))
        self.assertTrue(self.is_taken("[ 0. , 1.25]\n", "[-1.9e-08, 1.25]\n"))
        self.assertFalse(self.is_taken("[1., 2.]\n", "[1., 2.01]\n"))
        self.assertFalse(self.is_taken("[1., 2.]\n", "[1., 2., 3.]\n"))
        self.assertFalse(self.is_taken("Array([1.])\n", "Other([1.])\n"))


if __name__ == "__main__":
    unittest.main()
