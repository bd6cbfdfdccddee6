#!/usr/bin/env python3
"""`seaway chaos user`: the explorations of a program outside, by its words and its exit codes."""
import json
import os
import re
import subprocess
import tempfile
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
PROGRAM = os.environ["SEAWAY_EXPLORED"]
WRONG = "again and again"


def chaos(*arguments, program=PROGRAM, rest=()):
    return subprocess.run([COMMAND, "chaos", *arguments, "user", program, *rest],
                          capture_output=True, text=True, timeout=60)


def failing_seed():
    done = chaos("--test", WRONG)
    return re.search(r"(?m)^seed (\d+): correctness, ", done.stdout)[1]


class ChaosUserTest(unittest.TestCase):
    def test_a_list_has_the_names_of_all_explorations_and_nothing_else(self):
        done = chaos("--test", "list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["once", WRONG, "drifting"])

    def test_without_a_name_the_first_one_runs_its_own_seeds(self):
        done = chaos()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^50 seeds \(1\.\.50\), \d+ steps, clean\n\d+ seeds/s$")

    def test_seeds_are_those_of_the_command_line(self):
        done = chaos("--seeds", "7..9", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual([line["seed"] for line in lines], [7, 8, 9])

    def test_several_processes_print_what_one_prints(self):
        one = chaos("--seeds", "1..40", "--json")
        several = chaos("--seeds", "1..40", "--json", "--jobs", "3")
        self.assertEqual(several.returncode, 0, several.stderr)
        self.assertEqual(several.stdout, one.stdout)

    def test_a_mistake_ends_with_129_and_a_line_that_replays_it(self):
        done = chaos("--test", WRONG)
        self.assertEqual(done.returncode, 129, done.stdout + done.stderr)
        self.assertIn("count broken: it counted to 11", done.stdout)
        words = re.search(r"replay: seaway (chaos user .*)", done.stdout)[1]
        seed = failing_seed()
        self.assertEqual(words, f"chaos user {PROGRAM} --test '{WRONG}' --replay {seed}")
        again = chaos("--test", WRONG, "--replay", seed)
        self.assertEqual(again.returncode, 129)
        self.assertIn("count broken: it counted to 11", again.stdout)

    def test_a_replay_of_a_clean_seed_is_clean(self):
        done = chaos("--replay", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("seed 3", done.stdout)

    def test_a_shrunk_failure_is_a_file_that_knows_its_exploration(self):
        with tempfile.TemporaryDirectory() as directory:
            done = chaos("--test", WRONG, "--replay", failing_seed(), "--shrink", "--repro-dir",
                         directory)
            self.assertEqual(done.returncode, 129, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"shrunk from \d+ faults, .*\n +to 1 faults, ")
            path = os.path.join(directory, os.listdir(directory)[0])
            with open(path) as file:
                repro = json.load(file)
            self.assertEqual((repro["world"], len(repro["faults"])), (WRONG, 1))
            again = chaos("--replay", path)  # Without --test.
            self.assertEqual(again.returncode, 129, again.stderr)
            self.assertIn("the same as in the file, step by step: count at ", again.stdout)
            other = chaos("--test", "once", "--replay", path)
            self.assertEqual(other.returncode, 1)
            self.assertIn(f'is of "{WRONG}", not of "once"', other.stderr)

    def test_a_replay_of_no_file_says_so(self):
        done = chaos("--replay", "/nowhere/repro.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/repro.json: cannot read it", done.stderr)

    def test_two_processes_agree_on_worlds_of_their_seeds(self):
        done = chaos("--determinism", "1..20")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("20 pairs of processes agree", done.stdout)

    def test_two_processes_that_differ_end_with_130(self):
        done = chaos("--test", "drifting", "--determinism", "1..3")
        self.assertEqual(done.returncode, 130, done.stdout + done.stderr)
        self.assertIn("two processes differ:", done.stdout)

    def test_failures_are_counted_and_grouped(self):
        done = chaos("--test", WRONG, "--failures", "0")
        self.assertEqual(done.returncode, 129)
        self.assertRegex(done.stdout, r"(?m)^\d+ of 500 seeds failed, in 1 groups:$")

    def test_without_faults_nothing_fails(self):
        done = chaos("--test", WRONG, "--profile", "calm")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_an_unknown_exploration_is_bad_usage_and_names_those_there_are(self):
        done = chaos("--test", "twice")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"has no exploration 'twice'; it has: once, {WRONG}, drifting", done.stderr)

    def test_a_program_that_explores_nothing_is_bad_usage(self):
        for words in ([], ["--test", "list"], ["--determinism", "1..2"]):
            done = chaos(*words, rest=["nothing"])
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("has not come by an explore()", done.stderr)

    def test_words_of_the_program_that_begin_with_a_dash_stand_behind_two_of_them(self):
        done = subprocess.run([COMMAND, "chaos", "--test", "list", "--", "user", PROGRAM, "--flag"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(WRONG, done.stdout)

    def test_a_program_that_is_not_there_is_bad_usage(self):
        done = chaos(program="/nowhere/program")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot run /nowhere/program: No such file or directory", done.stderr)

    def test_other_words_are_bad_usage(self):
        done = subprocess.run([COMMAND, "chaos", "usr", PROGRAM], capture_output=True, text=True,
                              timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'usr' is no word of chaos; there is: user PROGRAM", done.stderr)

    def test_a_range_goes_on_where_it_ended_and_is_of_one_exploration(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "clean.txt")
            first = chaos("--range", path, "--seeds", "1..20")
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            self.assertRegex(first.stdout, r"(?m)^clean: 1\.\.20 \(20 seeds, \d+ steps, of kind "
                                           r"user:once, commit \S+, build \S+\)$")
            more = chaos("--range", path, "--seeds", "1..30", "--jobs", "2", "--json")
            lines = [json.loads(line) for line in more.stdout.splitlines() if line[0] == "{"]
            self.assertEqual([line["seed"] for line in lines], list(range(21, 31)))
            self.assertIn("clean: 1..30 (30 seeds,", more.stderr)
            other = chaos("--range", path, "--test", WRONG, "--profile", "calm")
            self.assertIn("leave out --faults and --profile", other.stderr)
            wrong = chaos("--range", path, "--test", WRONG, "--failures", "0")
            self.assertEqual(wrong.returncode, 129)
            last = int(failing_seed()) - 1
            self.assertIn(f"clean: 1..{last} ({last} seeds,", wrong.stdout)
            self.assertIn(f"of kind user:{WRONG.replace(' ', '%20')}, ", wrong.stdout)
            self.assertIn(f"; seed {last + 1} ended with 129", wrong.stdout)
            with open(path) as file:
                self.assertEqual(len(file.readlines()), 3)  # A head, and two counts.

    def test_a_range_of_other_arguments_begins_anew(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "clean.txt")
            chaos("--range", path, "--seeds", "1..5")
            done = chaos("--range", path, "--seeds", "1..3", rest=["more words", "x"])
            self.assertIn("clean: 1..3 (3 seeds,", done.stdout)
            self.assertIn("of kind user:once:'more%20words'%20x, ", done.stdout)



if __name__ == "__main__":
    unittest.main()
