#!/usr/bin/env python3
"""Users' actors on clusters of real processes: the demos check themselves, whoever is killed, and a
program of a user's own is a host."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from processes_test import COMMAND, PATIENCE_S, processes_of, seaway, until
from processes_test import Cluster

APP = os.environ["SEAWAY_APP"]
APP_HOST = os.environ["SEAWAY_APP_HOST"]


class AppsTest(Cluster, unittest.TestCase):
    def run_demo(self, *words):
        return seaway("run", *words, "--cluster", self.address)

    def arrays(self):
        return self.status().get("work", {}).get("arrays", -1)

    def test_each_demo_on_actors_passes_its_own_check(self):
        self.start("--islands", "4", "--devices", "4", "--options", "device_memory=64MiB")
        for words in (["pingpong", "--quick"], ["skynet", "--size", "10000"], ["philosophers"],
                      ["kv", "--quick"], ["parameter_server"], ["pipeline_feed"]):
            with self.subTest(demo=words[0]):
                done = self.run_demo(*words)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_demos_of_several_tenants_pass_their_own_check(self):
        self.start("--islands", "1", "--devices", "2")
        done = self.run_demo("deadlock", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_shares_are_kept_where_the_cluster_was_told_to(self):
        self.start("--islands", "1", "--devices", "1", "--options", "policy=shares")
        done = self.run_demo("two_clients", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_kv_stays_linearizable_while_hosts_and_another_client_are_killed(self):
        self.start("--islands", "4", "--devices", "1", "--options", "device_memory=16MiB")
        other = subprocess.Popen([COMMAND, "run", "kv", "--size", "1000000", "--cluster", self.address],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kv = subprocess.Popen([COMMAND, "run", "kv", "--size", "4000", "--cluster", self.address],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: sum(p["role"] == "client" and p["there"] for p in self.status()["processes"]) == 2,
              "both users are there")
        # A store cannot be opened while a host is away.
        self.assertEqual(kv.stdout.readline(), "the store is open\n")
        other.send_signal(signal.SIGKILL)
        other.wait()
        kills = 0
        # Its users are on host 0.
        while kv.poll() is None and kills < 6:
            name = f"host {1 + kills % 3}"
            os.kill(self.process(name), signal.SIGKILL)
            kills += 1
            until(lambda: self.is_whole(islands=4) or kv.poll() is not None, "it is there again")
        output, errors = kv.communicate(timeout=PATIENCE_S)
        self.assertGreaterEqual(kills, 1)
        self.assertEqual(kv.returncode, 0, errors + output)
        self.assertIn("linearizable", output)
        self.assertEqual(int(re.search(r"^(\d+) operations", output)[1]), 6 * 4000)

    def test_actors_that_share_arrays_end_with_a_word_when_a_host_of_theirs_is_killed(self):
        self.start("--islands", "4", "--devices", "2", "--options", "device_memory=64MiB")
        for name in ("host 1", "host 0"):  # Of a worker; and of the server, with all parameters.
            with self.subTest(killed=name):
                demo = subprocess.Popen([COMMAND, "run", "parameter_server", "--cluster", self.address],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                until(lambda: self.arrays() > 8 or demo.poll() is not None, "it trains")
                os.kill(self.process(name), signal.SIGKILL)
                output, errors = demo.communicate(timeout=PATIENCE_S)
                if demo.returncode != 0:
                    self.assertRegex(errors, r"parameter_server: [A-Z]+_[A-Z_]+: ")
                until(lambda: self.is_whole(islands=4), "it is there again")
                until(lambda: self.arrays() == 0, "nothing is left of it")
        done = self.run_demo("parameter_server")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_a_users_own_program_is_a_host(self):
        self.start("--islands", "2", "--devices", "1", "--host-program", APP_HOST)
        done = subprocess.run([APP, self.address], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("together 26", done.stdout)
        done = self.run_demo("pingpong", "--quick")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"NOT_FOUND: Player\[\d\] on host \d could not be made: the program of this "
                                      r"host knows no actors of class .*Player; it knows: .*Counter")

    def test_a_users_own_program_is_each_host_of_an_island(self):
        self.start("--islands", "1", "--hosts", "2", "--devices", "2", "--host-program", APP_HOST)
        annex = [line for line in processes_of(self.directory).values() if line.endswith("0.1")]
        self.assertEqual(len(annex), 1, processes_of(self.directory))
        done = subprocess.run([APP, self.address], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("together 26", done.stdout)
        self.assertEqual(self.run_demo("fig2").returncode, 0)

    def test_the_commands_own_hosts_do_not_know_a_users_app(self):
        self.start("--islands", "2", "--devices", "1")
        done = subprocess.run([APP, self.address], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("NOT_FOUND", done.stderr)
        self.assertIn("Registry::actor<", done.stderr)

    def test_a_host_program_explains_its_flags(self):
        done = subprocess.run([APP_HOST, "--help"], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--island", done.stdout)
        done = subprocess.run([APP_HOST, "--iland", "1"], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--iland", done.stderr)


if __name__ == "__main__":
    unittest.main()
