#!/usr/bin/env python3
"""`seaway chaos real`: what it does to real processes, and what it finds."""
import json
import os
import subprocess
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
PATIENCE_S = 240


def chaos_real(*arguments):
    return subprocess.run([COMMAND, "chaos", "real", *arguments], capture_output=True, text=True,
                          timeout=PATIENCE_S)


class ChaosRealTest(unittest.TestCase):
    def expect_clean(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        for word in ("wrong", "twice", "pending", "late", "unexplained"):
            self.assertEqual(report[word], 0, done.stdout)
        self.assertEqual(report["left"], [])
        self.assertEqual(report["examples"], [])
        self.assertGreater(report["values"], 0)
        return report

    def test_a_cluster_keeps_its_promises_while_it_is_harmed(self):
        words = ["--duration", "20s", "--kill", "controller,scheduler,host,client", "--stop", "--strangers",
                 "--net", "proxy", "--seed", "42", "--pace", "4", "--json"]
        # A disk that can be filled is mounted.
        report = self.expect_clean(chaos_real(*words, *(["--enospc"] if os.geteuid() == 0 else [])))
        for kind in ("kill", "stop", "straggle", "stranger", "isolate", "delay", "cut", "reset", "lose", "replay",
                     "flip", "swizzle"):
            self.assertGreater(report["faults"].get(kind, 0), 0, kind)
        for role in ("controller", "scheduler", "host", "client"):
            self.assertGreater(report["kills"][role], 0, role)
        for word in ("flipped", "lost", "replayed", "ended"):
            self.assertGreater(report["links"][word], 0, word)

    def test_so_do_hosts_that_read_each_others_memory(self):
        report = self.expect_clean(chaos_real("--duration", "8s", "--kill", "host,client", "--seed", "7", "--pace",
                                              "6", "--json"))
        self.assertEqual(report["kills"]["controller"], 0)
        self.assertGreater(report["kills"]["host"], 0)
        self.assertEqual(report["links"]["connections"], 0)

    def test_a_plan_is_what_its_seed_says(self):
        def plan():
            done = chaos_real("--duration", "3s", "--strangers", "--seed", "5", "--pace", "9")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return [line for line in done.stdout.splitlines() if " s: stranger of " in line]
        first = plan()
        self.assertNotEqual(first, [])
        self.assertEqual(first, plan())

    def test_the_list_says_how_each_fault_is_made(self):
        done = chaos_real("--faults", "list")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 35)
        self.assertRegex(lines[-1], r"^26 of 33 are made with real processes$")
        self.assertIn("SIGKILL of a host", done.stdout)

    def test_what_is_not_understood_is_said(self):
        for words, expected in ((["--kill", "everybody"], "knows controller, scheduler"),
                                ([], "nothing would happen"),
                                (["--kill", "all", "--duration", "1x"], "unknown unit"),
                                (["--kill", "all", "--net", "pigeons"], "pigeons")):
            done = chaos_real(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(expected, done.stderr, words)

    @unittest.skipIf(os.geteuid() == 0, "root may mount")
    def test_a_disk_is_filled_by_root_alone(self):
        done = chaos_real("--enospc", "--duration", "40s")
        self.assertEqual(done.returncode, 1)
        self.assertIn("rights of root", done.stderr)


if __name__ == "__main__":
    unittest.main()
