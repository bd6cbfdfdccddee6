#!/usr/bin/env python3
"""The command line as people meet it: exit codes and messages of `seaway`."""
import json
import os
import subprocess
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]


def seaway(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=30)


class CommandTest(unittest.TestCase):
    def test_version_is_one_line_and_exits_0(self):
        done = seaway("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^seaway \d+\.\d+\.\d+\n$")

    def test_help_has_examples_and_exit_codes(self):
        done = seaway("--help")
        self.assertEqual(done.returncode, 0)
        for part in ("demo", "bench", "examples:", "exit codes:"):
            self.assertIn(part, done.stdout)

    def test_no_verb_prints_what_is_accepted_and_exits_1(self):
        done = seaway()
        self.assertEqual(done.returncode, 1)
        self.assertIn("demo", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_an_unknown_verb_names_the_close_one(self):
        done = seaway("dmeo")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no verb 'dmeo'; did you mean demo?", done.stderr)

    def test_an_unknown_option_prints_the_options_of_the_verb(self):
        done = seaway("bench", "clock", "--jsn")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--jsn", done.stderr)
        self.assertIn("--json", done.stderr)

    def test_a_verb_without_its_name_is_bad_usage(self):
        for verb in ("demo", "bench"):
            self.assertEqual(seaway(verb).returncode, 1)

    def test_an_unknown_benchmark_names_the_close_one(self):
        done = seaway("bench", "clok")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no bench 'clok'; did you mean clock?", done.stderr)
        self.assertIn("seaway bench list", done.stderr)

    def test_an_unknown_demo_says_what_there_is(self):
        done = seaway("demo", "nothing_like_it")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no demo 'nothing_like_it'; there are:", done.stderr)

    def test_list_exits_0(self):
        self.assertEqual(seaway("demo", "list").returncode, 0)
        done = seaway("bench", "list")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^clock +\w")

    def test_a_benchmark_prints_one_json_object_a_line(self):
        done = seaway("bench", "clock", "--json", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["params"]["clock"] for line in lines], ["real", "standard"])
        for line in lines:
            self.assertEqual(list(line), ["metric", "value", "unit", "params"])
            self.assertGreater(line["value"], 0)


if __name__ == "__main__":
    unittest.main()
