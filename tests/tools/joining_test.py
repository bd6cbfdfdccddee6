#!/usr/bin/env python3
"""Hosts that join a cluster while it works, and leave it: by `seaway drain`, and when they are told to end."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
PATIENCE_S = 180


def until(holds, what, state=lambda: ""):
    """Waits for `holds()`, which is not to take long but may."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened: {what}; {state()}")
        time.sleep(0.02)


class JoiningTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.address = f"unix:{self.directory}/ctl.sock"
        self.all = []
        self.roles = {}
        self.addCleanup(self.end)
        # A busy machine is no dead one.
        self.start("controller", "--islands", "2", "--devices", "4", "--silence-ms", "30000")
        until(lambda: self.status()["islands"] == 2, "the controller answers")

    def end(self):
        for process in self.all:
            process.kill()
        for process in self.all:
            process.communicate()
        shutil.rmtree(self.directory)

    def popen(self, *words):
        process = subprocess.Popen([COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.all.append(process)
        return process

    def start(self, role, *words):
        name = " ".join([role, *words[1:2]]) if role != "controller" else role
        self.roles[name] = self.popen(role, *words, "--directory", self.directory)

    def join(self, island):
        self.start("scheduler", "--island", str(island))
        self.start("host", "--island", str(island))
        until(lambda: self.island(island)["host"] and self.island(island)["scheduler"], "it has joined", self.status)

    def seaway(self, *words):
        return subprocess.run([COMMAND, *words, "--cluster", self.address], capture_output=True, text=True,
                              timeout=PATIENCE_S)

    def status(self):
        done = self.seaway("status", "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {"islands": 0, "each_island": []}

    def island(self, number):
        all_of_them = self.status()["each_island"]
        return all_of_them[number] if number < len(all_of_them) else {"host": False, "scheduler": False, "slices": 0}

    def begin(self):
        """A workload that lets the cluster choose its devices, and has them on island 0."""
        running = self.popen("run", "two_clients", "--quick", "--cluster", self.address)
        until(lambda: self.island(0)["slices"] > 0 or running.poll() is not None, "it has its devices", self.status)
        self.assertIsNone(running.poll(), "it was over too soon to be seen")
        return running

    def expect_right(self, running):
        output, errors = running.communicate(timeout=PATIENCE_S)
        self.assertEqual(running.returncode, 0, errors + output)  # It has checked its values.

    def test_who_joins_takes_over_from_who_is_drained_and_values_are_right(self):
        self.join(0)
        running = self.begin()
        alone = self.seaway("drain", "0", "--wait", "0.2")
        self.assertEqual(alone.returncode, 2, alone.stdout)
        self.assertRegex(alone.stderr, r"island 0 still has \d+ slices?, \d+ arrays?, \d+ parts? of runs")
        refused = self.seaway("run", "fig2")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("nothing new goes to island 0", refused.stderr + refused.stdout)

        self.join(1)
        drained = self.seaway("drain", "0", "--wait", str(PATIENCE_S))
        self.assertEqual(drained.stdout, "island 0 is empty: its host and its scheduler may end\n", drained.stderr)
        self.assertIsNone(running.poll(), "it was over too soon to be moved")
        self.assertEqual(self.island(0)["slices"], 0)
        self.assertGreater(self.island(1)["slices"], 0)
        for role in ("host", "scheduler"):
            self.roles[f"{role} 0"].terminate()
            self.assertEqual(self.roles[f"{role} 0"].wait(PATIENCE_S), 0)
        until(lambda: not self.island(0)["host"], "it has left")
        self.expect_right(running)

        # Whoever comes in its place is for use when the drain is over.
        self.join(0)
        self.assertTrue(self.island(0)["draining"])
        self.assertEqual(self.seaway("drain", "0", "--end").returncode, 0)
        self.assertFalse(self.island(0)["draining"])
        self.assertEqual(self.seaway("run", "digits").returncode, 0)

    def test_a_host_that_is_told_to_end_leaves_when_all_else_has_left(self):
        self.join(0)
        running = self.begin()
        self.join(1)
        self.roles["host 0"].terminate()
        self.assertEqual(self.roles["host 0"].wait(PATIENCE_S), 0)
        self.assertIsNone(running.poll(), "it was over too soon to be moved")
        self.expect_right(running)

        self.start("host", "--island", "0")
        until(lambda: self.island(0)["host"], "its next life joins")
        self.assertFalse(self.island(0)["draining"])

    def test_a_host_ends_all_the_same_when_nothing_can_leave_or_it_is_told_again(self):
        self.join(0)
        self.begin()
        self.roles["host 0"].terminate()
        until(lambda: self.island(0)["draining"], "it drains")
        self.assertIsNone(self.roles["host 0"].poll())
        self.roles["host 0"].terminate()
        self.assertEqual(self.roles["host 0"].wait(PATIENCE_S), 0)

    def test_what_cannot_be_drained_is_said(self):
        done = self.seaway("drain", "7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no island 7; the cluster has islands 0 to 1", done.stderr)


if __name__ == "__main__":
    unittest.main()
