#!/usr/bin/env python3
"""Clusters of real processes, as people start them: `seaway up`, `down`, `status`, `run --cluster`."""
import itertools
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
RANK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/deploy/rank.sh")
PATIENCE_S = 180


def seaway(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)


def until(holds, what, state=lambda: ""):
    """Waits for `holds()`, which is not to take long but may."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened: {what}; {state()}")
        time.sleep(0.01)


def processes_of(directory):
    """The processes whose command line names `directory`."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().decode().split("\0")
        except OSError:
            continue
        if directory in words and len(words) > 1:
            island = " " + words[words.index("--island") + 1] if "--island" in words else ""
            found[int(name)] = words[1] + island + ("." + words[words.index("--host") + 1] if "--host" in words else "")
    return found


class Cluster:
    """What tests of a cluster of processes have in common."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.address = f"unix:{self.directory}/ctl.sock"
        self.up = None

    def tearDown(self):
        if self.up:
            self.up.kill()
            self.up.communicate()
        until(lambda: not processes_of(self.directory), "all processes of the cluster have ended")
        subprocess.run(["rm", "-rf", self.directory], check=True)

    def start(self, *words):
        # A busy machine is no dead one: who is killed is known by his sockets.
        self.up = subprocess.Popen([COMMAND, "up", "--directory", self.directory, "--silence-ms", "30000",
                                    *(words or ["--islands", "2", "--devices", "4"])],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.up.stdout.readline()
        self.assertRegex(line, r"^ready in [\d.]+ s: ", line or self.up.communicate()[1])
        return line

    def status(self):
        done = seaway("status", "--cluster", self.address, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {"processes": []}

    def process(self, name):
        """Its number. One that has just been killed is soon there again."""
        deadline = time.monotonic() + 20
        while True:
            numbers = [number for number, found in processes_of(self.directory).items() if found == name]
            if numbers:
                return numbers[0]
            self.assertLess(time.monotonic(), deadline, f"there is no {name}")
            time.sleep(0.05)

    def is_whole(self, islands=2):
        there = [p for p in self.status()["processes"] if p["there"] and p["role"] != "client"]
        return len(there) == 2 * islands


class ProcessesTest(Cluster, unittest.TestCase):
    def test_a_cluster_starts_runs_a_program_and_ends_without_a_trace(self):
        self.start()
        self.assertEqual(sorted(processes_of(self.directory).values()),
                         ["controller", "host 0", "host 1", "scheduler 0", "scheduler 1", "up"])
        done = seaway("run", "fig2", "--cluster", self.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("f([1, 2]) = ([3, 5], [2, 4])", done.stdout)
        self.assertEqual(os.stat(self.directory + "/ctl.sock").st_mode & 0o777, 0o600)
        done = seaway("down", "--cluster", self.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.up.wait(PATIENCE_S), 0)
        until(lambda: not processes_of(self.directory), "the cluster has ended")
        self.assertEqual([name for name in os.listdir(self.directory) if name.endswith(".sock")], [])

    def test_ctrl_c_ends_all_of_it(self):
        self.start()
        self.up.send_signal(signal.SIGINT)
        self.assertEqual(self.up.wait(PATIENCE_S), 0)
        self.assertEqual(processes_of(self.directory), {})

    def test_nobody_outlives_a_cluster_that_is_killed(self):
        self.start()
        self.up.kill()
        self.up.wait()
        until(lambda: not processes_of(self.directory), "all died with it")

    def test_digits_are_learnt_over_two_host_processes(self):
        self.start()
        done = seaway("run", "digits", "--cluster", self.address)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertGreaterEqual(float(re.search(r"accuracy  (\S+) %", done.stdout)[1]), 96)

    def test_each_role_comes_back_when_it_is_killed_and_programs_run_again(self):
        self.start()
        ends = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
        for role, end in itertools.product(("host 1", "scheduler 0", "controller"), ends):
            with self.subTest(role=role, signal=end.name):
                before = self.process(role)
                os.kill(before, end)
                until(lambda: before not in processes_of(self.directory), "it is dead")
                until(self.is_whole, "all are there again")
                done = seaway("run", "fig2", "--cluster", self.address)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_starts_a_host_again_that_exits_with_0(self):
        program = self.directory + "/host-program"
        with open(program, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n[ -e {program}.ended ] && exec {COMMAND} host "$@"\ntouch {program}.ended\n')
        os.chmod(program, 0o700)
        self.start("--islands", "1", "--devices", "1", "--host-program", program)
        self.assertTrue(os.path.exists(program + ".ended"))

    def test_a_rank_starts_its_roles_again_until_the_cluster_is_told_to_end(self):
        rank = subprocess.Popen([RANK, self.directory, "--devices", "1", "--silence-ms", "30000"],
                                env={**os.environ, "SEAWAY_COMMAND": COMMAND, "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(rank.wait)
        self.addCleanup(rank.terminate)
        until(lambda: self.is_whole(1), "the cluster is there")
        for role in ("host 0.0", "scheduler 0", "controller"):
            with self.subTest(role=role):
                before = self.process(role)
                os.kill(before, signal.SIGTERM)
                until(lambda: before not in processes_of(self.directory), "the process has ended")
                until(lambda: self.is_whole(1), "the role is there again")
        self.assertEqual(seaway("down", "--cluster", self.address).returncode, 0)
        self.assertEqual(rank.wait(PATIENCE_S), 0)

    def log(self, name):
        with open(f"{self.directory}/{name}.log", encoding="utf-8") as file:
            return file.read()

    def test_logs_say_who_came_who_was_lost_and_who_began_anew(self):
        self.start()
        time_of = r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
        for name in ("the host of island 1", "the scheduler of island 0"):
            self.assertRegex(self.log("controller"), f"{time_of}info: {name}, life \\d+, is there$")
        everybody = ("controller", "scheduler-1", "host-0")
        # Whoever has not met it cannot miss it.
        for name in everybody:
            until(lambda: "info: the host of island 1, life 1, is there" in self.log(name), f"{name} meets the host",
                  lambda: self.log(name))
        os.kill(self.process("host 1"), signal.SIGKILL)
        until(lambda: self.log("controller").count("info: the host of island 1, life ") == 2, "the host is back",
              lambda: self.log("controller"))
        for name in everybody:
            lost = re.compile(f"{time_of}warning: the host of island 1, life \\d+, is lost: .+$")
            until(lambda: lost.search(self.log(name)), f"{name} misses the host", lambda: self.log(name))
        os.kill(self.process("controller"), signal.SIGKILL)
        until(lambda: "begins a new life" in self.log("host-0"), "hosts go with their controller", lambda: self.log("host-0"))
        self.assertRegex(self.log("host-0"), f"{time_of}error: the host of island 0 begins a new life: without the controller ")

    def test_a_log_has_what_its_level_asks_for(self):
        self.start("--islands", "2", "--log-level", "warning")
        os.kill(self.process("host 1"), signal.SIGKILL)
        until(lambda: "warning: the host of island 1, life " in self.log("controller"), "the loss is told",
              lambda: self.log("controller"))
        until(self.is_whole, "the host is back")
        self.assertNotIn("info: ", self.log("controller"))

    def test_status_names_all_processes(self):
        self.start("--devices", "2")
        done = seaway("status", "--cluster", self.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 islands of 2 devices, controller in its life 1", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^  host +0  life 1 +there unix:")

    def test_a_second_cluster_in_the_same_directory_is_refused(self):
        self.start()
        done = seaway("up", "--directory", self.directory)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a cluster runs at " + self.address, done.stderr)

    def test_what_does_not_go_together_is_refused_by_name(self):
        for words, part in ((["--token-file", "absent"], "cannot read absent"),
                            (["--listen", "tls:127.0.0.1:0"], "needs cert_file and key_file"),
                            (["--tls", "auto"], "goes with --listen tls:HOST:PORT"),
                            (["--join", "tcp:127.0.0.1:1"], "leave out join")):
            done = seaway("controller" if part.startswith("cannot") else "up", "--directory", self.directory, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(part, done.stderr)

    def test_plain_tcp_is_of_this_machine_and_takes_a_token(self):
        self.start("--devices", "4", "--listen", "tcp:127.0.0.1:0")
        with open(self.directory + "/controller.address", encoding="utf-8") as file:
            local, address = file.read().split()
        self.assertEqual(local, self.address)
        done = seaway("run", "fig2", "--cluster", address)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing was shown", done.stderr)
        done = seaway("token", "create", "--tenant", "ann", "--role", "client", "--store", self.directory + "/tokens",
                      "--out", self.directory + "/ann.token")
        self.assertEqual(done.returncode, 0, done.stderr)
        until(lambda: seaway("run", "fig2", "--cluster", address, "--token-file",
                             self.directory + "/ann.token").returncode == 0, "the controller knows the token")

    def test_a_directory_that_others_can_write_to_is_refused(self):
        os.chmod(self.directory, 0o777)
        done = seaway("up", "--directory", self.directory)
        self.assertEqual(done.returncode, 2)
        self.assertIn("that nobody else can write to", done.stderr)
        os.chmod(self.directory, 0o700)

    def test_without_a_cluster_all_say_so(self):
        for words in (["status"], ["down"], ["run", "fig2"]):
            done = seaway(*words, "--cluster", self.address)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(self.address[5:], done.stderr, words)

    def test_a_demo_that_cannot_be_elsewhere_says_so(self):
        done = seaway("run", "counted_twice", "--cluster", self.address)
        self.assertEqual(done.returncode, 1)
        self.assertIn("leave out --cluster", done.stderr)


if __name__ == "__main__":
    unittest.main()
