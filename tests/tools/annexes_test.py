#!/usr/bin/env python3
"""Islands of several hosts: `seaway up --hosts 2`, whoever of them is killed or told to end, and what is refused."""
import os
import re
import signal
import subprocess
import time
import unittest

from processes_test import COMMAND, PATIENCE_S, processes_of, seaway, until
from processes_test import Cluster


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


def open_before(histories, at_ns):
    """Requests of clients of `seaway chaos real` that were made before that, and have no outcome."""
    found = []
    for history in histories:
        words = [line.split() for line in history]
        ended = {one[1] for one in words if one[0] == "outcome"}
        found += [one for one in words if one[0] == "submit" and one[1] not in ended and int(one[2]) < at_ns]
    return found


class AnnexesTest(Cluster, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.others = []

    def tearDown(self):
        for process in self.others:
            process.kill()
            process.communicate()
        super().tearDown()

    def lives(self):
        """By role and number, of those that are there; a host's only when it has joined with its annexes."""
        state = self.status()
        joined = {island["island"] for island in state.get("each_island", []) if island["host"]}
        found = {}
        for process in state["processes"]:
            island = process.get("island", process["index"])
            if not process["there"] or (process["role"] == "host" and island not in joined):
                continue
            name = f"{process['role']} {island}" + (f".{process['host']}" if process["role"] == "annex" else "")
            found[name] = process["life"]
        return found

    def wait_for_lives(self, lives):
        until(lambda: lives.items() <= self.lives().items(), f"{lives}", self.lives)

    def run_demo(self, *words):
        done = seaway("run", *words, "--cluster", self.address)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def popen(self, *words):
        process = subprocess.Popen([COMMAND, *words, "--directory", self.directory],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.others.append(process)
        return process

    def test_two_islands_of_two_hosts_learn_digits_and_end_without_a_trace(self):
        line = self.start("--islands", "2", "--hosts", "2", "--devices", "4")
        self.assertIn("2 islands of 4 devices, each with a scheduler and 2 hosts", line)
        self.assertEqual(sorted(processes_of(self.directory).values()),
                         ["controller", "host 0", "host 0.1", "host 1", "host 1.1", "scheduler 0", "scheduler 1", "up"])
        shown = seaway("status", "--cluster", self.address).stdout
        self.assertIn("2 schedulers, 4 hosts, 0 clients", shown)
        self.assertRegex(shown, r"(?m)^  annex +1\.1  life 1 +there unix:.*/host1\.1\.sock, host 3 of actors$")
        annexes = [p for p in self.status()["processes"] if p["role"] == "annex"]
        self.assertEqual([(p["island"], p["host"]) for p in annexes], [(0, 1), (1, 1)])

        self.run_demo("digits")

        self.assertEqual(seaway("down", "--cluster", self.address).returncode, 0)
        self.assertEqual(self.up.wait(PATIENCE_S), 0)
        until(lambda: not processes_of(self.directory), "the cluster has ended")
        self.assertEqual([name for name in os.listdir(self.directory) if name.endswith(".sock")], [])

    def test_an_island_begins_anew_when_any_of_its_hosts_is_killed(self):
        self.start("--islands", "2", "--hosts", "2", "--devices", "4")
        self.wait_for_lives({"host 1": 1, "annex 1.1": 1})

        os.kill(self.process("host 1.1"), signal.SIGKILL)
        self.wait_for_lives({"host 1": 2, "annex 1.1": 2, "host 0": 1, "annex 0.1": 1, "scheduler 1": 1})
        self.run_demo("digits")

        # An annex serves whoever speaks for its island.
        os.kill(self.process("host 1"), signal.SIGKILL)
        self.wait_for_lives({"host 1": 3, "annex 1.1": 2, "host 0": 1, "annex 0.1": 1})
        self.run_demo("digits")

    def test_whoever_waits_for_an_exchange_hears_that_an_annex_was_killed_in_it(self):
        self.start("--islands", "2", "--hosts", "2", "--devices", "2")
        clients = [subprocess.Popen([COMMAND, "chaos", "real-client", "--address", self.address, "--seed", str(seed),
                                     "--history", f"{self.directory}/history{seed}"]) for seed in range(3)]
        self.others += clients
        histories = [f"{self.directory}/history{seed}-{client.pid}" for seed, client in enumerate(clients)]

        def lines():
            """Each client's requests and outcomes: what its gangs sum over both hosts."""
            return [lines_of(path) for path in histories]

        def right():
            return [sum(line.endswith(" right") for line in history) for history in lines()]

        killed_ns = []
        for name in ("host 1.1", "host 0.1", "host 1.1"):
            before = right()
            until(lambda: all(now > then + 10 for now, then in zip(right(), before)), "all get values", right)
            killed_ns.append(time.monotonic_ns())
            os.kill(self.process(name), signal.SIGKILL)
            # All that was under way ends with a word or a value: P1 of a killed process is 5 s. Two more are for a
            # busy machine.
            while time.monotonic_ns() < killed_ns[-1] + 7e9:
                time.sleep(0.05)
                if not open_before(lines(), killed_ns[-1]):
                    break
            self.assertEqual(open_before(lines(), killed_ns[-1]), [])
        before = right()
        until(lambda: all(now > then + 10 for now, then in zip(right(), before)), "all get values again", right)
        for client in clients:
            client.terminate()
            self.assertEqual(client.wait(PATIENCE_S), 0)

        errors = {}
        for line in sum(lines(), []):
            words = line.split()
            if words[0] == "outcome" and words[4] == "wrong":
                errors[words[3]] = errors.get(words[3], 0) + 1
        self.assertNotIn("OK", errors, "a value is wrong")
        self.assertLessEqual(set(errors), {"HOST_LOST", "INPUT_LOST", "DEVICE_LOST", "ISLAND_UNAVAILABLE"})
        self.assertGreater(sum(errors.values()), 0, "no exchange was under way")

    def test_actors_live_on_each_host_of_an_island(self):
        self.start("--islands", "1", "--hosts", "2", "--devices", "2")
        for words in (["pingpong", "--quick"], ["skynet", "--size", "10000"]):
            self.run_demo(*words)  # The first takes two hosts.
        shown = seaway("status", "--cluster", self.address).stdout
        self.assertRegex(shown, r"(?m)^  annex +0\.1 .*/host0\.1\.sock, host 1 of actors$")

    def test_kv_on_annexes_stays_linearizable_while_an_annex_and_its_host_are_killed(self):
        self.start("--islands", "2", "--hosts", "2", "--devices", "2", "--options", "device_memory=16MiB")
        kv = subprocess.Popen([COMMAND, "run", "kv", "--size", "4000", "--cluster", self.address],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.others.append(kv)
        # A store cannot be opened while a host is away.
        self.assertEqual(kv.stdout.readline(), "the store is open\n")
        kills = 0
        # Its users are on the host of island 0, which would end with its annex.
        while kv.poll() is None and kills < 6:
            before = self.lives()
            os.kill(self.process(("host 1.1", "host 1")[kills % 2]), signal.SIGKILL)
            kills += 1
            def is_new(lives):
                return len(lives) == len(before) and lives.get("host 1", 0) > before["host 1"]

            until(lambda: kv.poll() is not None or
                  is_new(self.lives()),
                  "the island is there again", self.lives)
        output, errors = kv.communicate(timeout=PATIENCE_S)
        self.assertGreaterEqual(kills, 1)
        self.assertEqual(kv.returncode, 0, errors + output)
        self.assertIn("linearizable", output)
        self.assertEqual(int(re.search(r"^(\d+) operations", output)[1]), 6 * 4000)
        self.wait_for_lives({"host 0": 1, "annex 0.1": 1})

    def test_annexes_begin_anew_with_their_controller_and_nobody_outlives_the_cluster(self):
        self.start("--islands", "1", "--hosts", "3", "--devices", "6")
        before = self.lives()

        os.kill(self.process("controller"), signal.SIGKILL)
        until(lambda: set(self.lives()) == set(before) and all(self.lives()[name] > before[name] for name in before),
              "all are there again", self.lives)
        self.run_demo("fig2")
        self.up.kill()
        self.up.wait()

        until(lambda: not processes_of(self.directory), "all died with it")

    def test_an_annex_that_is_told_to_end_drains_its_island_first(self):
        self.popen("controller", "--hosts", "2", "--devices", "2", "--silence-ms", "30000")
        self.popen("scheduler")
        self.popen("host")
        annex = self.popen("host", "--host", "1")
        self.wait_for_lives({"host 0": 1, "annex 0.1": 1, "scheduler 0": 1})

        annex.terminate()
        self.assertEqual(annex.wait(PATIENCE_S), 0)
        with open(self.directory + "/audit.log", encoding="utf-8") as file:
            self.assertIn(" drains island 0\n", file.read())
        self.popen("host", "--host", "1")

        self.wait_for_lives({"host 0": 2, "annex 0.1": 2})
        done = seaway("status", "--cluster", self.address, "--wait", str(PATIENCE_S))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_demo("fig2")
        with open(self.directory + "/host0.1.address", encoding="utf-8") as file:
            self.assertEqual(file.read(), f"unix:{self.directory}/host0.1.sock\n")

    def test_what_hosts_cannot_be_is_refused_by_name(self):
        for words, part in ((["--hosts", "3", "--devices", "4"], "hosts=3 does not divide devices=4"),
                            (["--hosts", "65", "--devices", "65"], "allowed is a number from 1 to 64"),
                            (["--hosts", "2", "--devices", "2", "--options", "shard_checksums=on"],
                             "hosts=2 does not go with shard_checksums=on")):
            for verb in ("up", "controller"):
                done = seaway(verb, "--directory", self.directory, *words)
                self.assertEqual(done.returncode, 2, words)
                self.assertIn(part, done.stderr, words)
        self.start("--islands", "1", "--hosts", "2", "--devices", "2")
        done = seaway("host", "--host", "2", "--directory", self.directory)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no host 2 of island 0; an island of this cluster has 2 hosts, 0 to 1", done.stderr)
        done = seaway("host", "--host", "64", "--directory", self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--host", done.stderr)


if __name__ == "__main__":
    unittest.main()
