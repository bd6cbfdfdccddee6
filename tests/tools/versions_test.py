#!/usr/bin/env python3
"""Two builds meet: of different protocols, and of one protocol with messages that have got more fields."""
import os
import re
import signal
import subprocess
import tempfile
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
NEXT = os.environ["SEAWAY_NEXT"]
LATER = os.environ["SEAWAY_LATER"]

from attacker_test import Recorder  # noqa: E402
from processes_test import PATIENCE_S, processes_of, until  # noqa: E402


class Cluster:
    """`up` of one build, or its roles one by one."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.far = tempfile.mkdtemp(prefix="seaway")
        self.address = f"unix:{self.directory}/ctl.sock"
        self.started = []

    def tearDown(self):
        for process in reversed(self.started):
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)
        for directory in (self.directory, self.far):
            until(lambda: not processes_of(directory), "all processes of the cluster have ended")
            subprocess.run(["rm", "-rf", directory], check=True)

    def start(self, build, *words):
        process = subprocess.Popen([build, *words, "--directory", self.directory], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.started.append(process)
        # Before it listens it may have heard of others, which it logs.
        line = next((line for line in process.stdout if ": " not in line or " is there" not in line), "")
        self.assertRegex(line, "^ready in |listens at", line)

    def up(self, build):
        self.start(build, "up", "--islands", "2", "--devices", "4", "--silence-ms", "30000")

    def controller(self, build):
        self.start(build, "controller", "--islands", "2", "--devices", "4", "--silence-ms", "30000")

    def member(self, build, role, island):
        self.start(build, role, "--island", str(island), "--join", self.address)

    def seaway(self, build, *words):
        return subprocess.run([build, *words], capture_output=True, text=True, timeout=PATIENCE_S)

    def ask(self, build, *words):
        return self.seaway(build, *words, "--cluster", self.address)

    def expect_runs(self, build, demo="fig2"):
        done = self.ask(build, "run", demo)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        if demo == "digits":
            self.assertGreaterEqual(float(re.search(r"accuracy  (\S+) %", done.stdout)[1]), 96)
        else:
            self.assertIn("f([1, 2]) = ([3, 5], [2, 4])", done.stdout)


class OtherProtocolTest(Cluster, unittest.TestCase):
    def expect_refused(self, done, theirs, ours):
        self.assertEqual(done.returncode, 2, done.stderr + done.stdout)
        self.assertRegex(done.stderr, f"of protocol {theirs} where protocol {ours} is talked: "
                                      "run one version of Seaway at both ends")

    def expect_strangers(self, build, other, theirs, ours):
        """`build` is a cluster, which `other` does not get into."""
        self.up(build)
        before = processes_of(self.directory)
        for verb in (["status"], ["why"], ["run", "fig2"], ["down"]):
            with self.subTest(verb=verb[0]):
                self.expect_refused(self.ask(other, *verb), theirs, ours)
        for role in ("host", "scheduler"):
            with self.subTest(verb=role):
                # Whoever waits as long as this has not understood that it is refused.
                refused = self.seaway(other, role, "--island", "0", "--directory", self.far, "--join", self.address,
                                      "--join-timeout", str(10 * PATIENCE_S))
                self.expect_refused(refused, theirs, ours)
        self.assertIn("PROTOCOL_ERROR", self.ask(other, "run", "fig2").stderr)
        self.expect_runs(build)
        self.assertEqual(processes_of(self.directory), before)
        with open(self.directory + "/audit.log", encoding="utf-8") as file:
            self.assertRegex(file.read(), rf"refused user \d+, process \d+: an introduction of protocol {theirs}")

    def test_the_next_build_is_told_so_by_a_cluster_of_this_one(self):
        self.expect_strangers(COMMAND, NEXT, 7, 6)

    def test_this_build_is_told_so_by_a_cluster_of_the_next_one(self):
        self.expect_strangers(NEXT, COMMAND, 6, 7)

    def test_a_place_that_the_next_build_did_not_get_is_free(self):
        self.controller(COMMAND)
        for role in ("scheduler", "host"):
            for island in (0, 1):
                refused = self.seaway(NEXT, role, "--island", str(island), "--directory", self.far, "--join",
                                      self.address)
                self.expect_refused(refused, 7, 6)
                self.member(COMMAND, role, island)
        self.expect_runs(COMMAND)


class MoreFieldsTest(Cluster, unittest.TestCase):
    """Of one protocol: what a build does not know it does not read, and what is not said has its default."""

    def introduction(self, build):
        recorder = Recorder(self.far + "/recorder.sock", self.address)
        done = self.seaway(build, "status", "--cluster", recorder.address)
        recorder.stop()
        os.unlink(self.far + "/recorder.sock")
        self.assertEqual(done.returncode, 0, done.stderr)
        return recorder.said[0]

    def test_the_later_build_says_more(self):
        self.up(COMMAND)
        # Two words in the introduction, and two in the question within it.
        self.assertEqual(len(self.introduction(LATER)), len(self.introduction(COMMAND)) + 4 * 8)

    def test_a_later_client_works_with_a_cluster_of_this_build(self):
        self.up(COMMAND)
        self.expect_runs(LATER, "digits")

    def test_a_client_of_this_build_works_with_a_later_cluster(self):
        self.up(LATER)
        self.expect_runs(COMMAND, "digits")

    def test_a_cluster_may_be_of_both(self):
        self.controller(COMMAND)
        for role, island, build in (("scheduler", 0, LATER), ("host", 0, COMMAND), ("scheduler", 1, COMMAND),
                                    ("host", 1, LATER)):
            self.member(build, role, island)
        for client in (COMMAND, LATER):
            self.expect_runs(client, "digits")


if __name__ == "__main__":
    unittest.main()
