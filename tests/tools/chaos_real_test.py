#!/usr/bin/env python3
"""`seaway chaos real`: what it does to real processes, what it finds, and what it leaves."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
PATIENCE_S = 240
# What a busy machine needs; campaigns of people wait for longer.
SHORT = ["--bound", "6s", "--json"]


def chaos_real(*arguments):
    return subprocess.run([COMMAND, "chaos", "real", *arguments], capture_output=True, text=True,
                          timeout=PATIENCE_S)


def may_make_networks():
    """Containers often may not, root or no root."""
    name = f"seaway{os.getpid()}"
    try:
        made = subprocess.run(["ip", "link", "add", name, "type", "bridge"], capture_output=True)
        space = subprocess.run(["ip", "netns", "add", name], capture_output=True)
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", name], capture_output=True)
    except FileNotFoundError:
        return False
    return made.returncode == 0 and space.returncode == 0


def until(holds, what):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened: {what}")
        time.sleep(0.02)


class Running:
    """A campaign under way, whose processes are found by what it has put in their environment."""

    def __init__(self, *words):
        self.process = subprocess.Popen([COMMAND, "chaos", "real", *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def until(self, holds, what):
        until(lambda: holds() or self.process.poll() is not None, what)
        if self.process.poll() is not None:
            raise AssertionError(f"it ended before: {what}; {self.process.communicate()}")

    def processes(self):
        """By their words, those that are its children."""
        found = {}
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            for number in map(int, file.read().split()):
                try:
                    with open(f"/proc/{number}/cmdline", "rb") as words:
                        found[number] = words.read().decode().replace("\0", " ")
                except OSError:
                    continue
        return found

    def find(self, words):
        """The first process whose command line has these words."""
        self.until(lambda: any(words in line for line in self.processes().values()), words)
        return next(number for number, line in self.processes().items() if words in line)

    def asking_client(self):
        """One that has got values already."""
        number = self.find("real-client")
        path = re.search(r"--history (\S+)", self.processes()[number])[1] + f"-{number}"

        def has_value():
            if not os.path.exists(path):
                return False
            with open(path, encoding="ascii") as file:
                return " right\n" in file.read()

        self.until(has_value, "a value")
        return number

    def end(self):
        output, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, json.loads(output) if output else {}, errors


class ChaosRealTest(unittest.TestCase):
    def expect_clean(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        for word in ("wrong", "twice", "pending", "late", "stalled", "unexplained"):
            self.assertEqual(report[word], 0, done.stdout)
        for word in ("left", "examples", "crashes", "hanging", "grown"):
            self.assertEqual(report[word], [], done.stdout)
        self.assertGreater(report["values"], 0)
        return report

    def expect_kept(self, report, part):
        """The logs are where the report says; they are not kept any longer."""
        self.assertTrue(os.path.isdir(report["kept"]), report)
        self.assertIn(part, os.listdir(report["kept"] + "/logs"))
        shutil.rmtree(report["kept"])

    def test_a_cluster_keeps_its_promises_while_it_is_harmed(self):
        words = ["--duration", "12s", "--kill", "controller,scheduler,host,client", "--stop", "--strangers",
                 "--net", "proxy", "--seed", "42", "--pace", "5", *SHORT]
        # A disk that can be filled is mounted.
        report = self.expect_clean(chaos_real(*words, *(["--enospc"] if os.geteuid() == 0 else [])))
        for kind in ("kill", "stop", "stranger", "delay", "flip", "swizzle"):
            self.assertGreater(report["faults"].get(kind, 0), 0, kind)
        for role in ("controller", "scheduler", "host", "client"):
            self.assertGreater(report["kills"][role], 0, role)
        for word in ("flipped", "ended"):
            self.assertGreater(report["links"][word], 0, word)
        self.assertGreater(report["link_faults"], 0)
        self.assertGreater(report["stops"], 0)

    @unittest.skipUnless(may_make_networks(), "networks are root's to make")
    def test_so_it_does_in_networks_that_fall_apart_and_on_several_hosts(self):
        report = self.expect_clean(chaos_real("--duration", "8s", "--kill", "host,annex,client", "--net", "netns",
                                              "--hosts", "2", "--seed", "6", "--pace", "5", *SHORT))
        self.assertGreater(report["kills"]["annex"], 0)
        for kind in ("isolate", "sever", "swizzle"):
            self.assertGreater(report["faults"].get(kind, 0), 0, kind)
        self.assertNotIn("flip", report["faults"])

    def test_so_do_hosts_that_read_each_others_memory_and_sums_are_kept(self):
        with tempfile.TemporaryDirectory() as directory:
            sums = directory + "/sums"
            words = ["--duration", "4s", "--kill", "host,client", "--seed", "7", "--pace", "5", "--add", sums, *SHORT]
            reports = [self.expect_clean(chaos_real(*words)) for _ in range(2)]
            with open(sums, encoding="ascii") as file:
                totals = dict(line.split() for line in file if not line.startswith("#"))
            with open(sums, "a", encoding="ascii") as file:
                file.write("these are no counts\n")
            done = chaos_real("--duration", "1s", "--kill", "client", "--pace", "20", "--add", sums)
            self.assertEqual(done.returncode, 1)
            self.assertIn("is no name and number", done.stderr)
        self.assertEqual(reports[0]["kills"]["controller"], 0)
        self.assertEqual(reports[0]["links"]["connections"], 0)
        self.assertEqual(totals["runs.clean"], "2")
        self.assertEqual(int(totals["kills.host"]), sum(report["kills"]["host"] for report in reports))
        self.assertGreater(int(totals["kills.host"]), 0)

    def test_a_role_that_crashes_is_named_with_its_signal_and_its_last_words(self):
        running = Running("--duration", "5s", "--kill", "client", "--pace", "4", *SHORT)
        running.asking_client()
        os.kill(running.find("scheduler"), signal.SIGABRT)
        code, report, errors = running.end()
        self.assertEqual(code, 127, errors)
        self.assertEqual(len(report["crashes"]), 1, report)
        self.assertRegex(report["crashes"][0]["what"], r"^scheduler \d \(process \d+\) was killed by signal 6; started")
        self.assertTrue(any("listens at" in line for line in report["crashes"][0]["last_words"]), report)
        # Two that have the same number one after the other do not share a history.
        for name in os.listdir(report["kept"] + "/histories"):
            self.assertRegex(name, r"^\d+-\d+\.\d+$")
        self.expect_kept(report, "scheduler-0.log")

    def test_a_client_that_crashes_is_no_kill_of_the_plan_and_begins_anew(self):
        running = Running("--duration", "5s", "--kill", "scheduler", "--pace", "4", *SHORT)
        os.kill(running.asking_client(), signal.SIGSEGV)
        code, report, errors = running.end()
        self.assertEqual(code, 127, errors)
        self.assertRegex(report["crashes"][0]["what"], r"^client \d \(process \d+\) was killed by signal 11; started")
        self.assertEqual(report["kills"]["client"], 0)
        self.expect_kept(report, "client-0.log")

    def test_a_client_that_hangs_is_found_and_nobody_else_is_killed_for_it(self):
        running = Running("--duration", "4s", "--kill", "scheduler", "--pace", "4", "--bound", "1s", "--json")
        client = running.asking_client()
        os.kill(client, signal.SIGSTOP)
        code, report, errors = running.end()  # This process is of the campaign's group, and lives.
        self.assertEqual(code, 128, errors)
        self.assertEqual(len(report["hanging"]), 1, report)
        self.assertIn(f"process {client}", report["hanging"][0])
        self.assertEqual(report["left"], [])
        self.expect_kept(report, "client-0.log")

    def test_ctrl_c_leaves_nothing_and_a_killed_campaign_leaves_it_to_the_next_one(self):
        networks = ["--net", "netns"] if may_make_networks() else []
        before = set(glob.glob(tempfile.gettempdir() + "/seaway_chaos_*"))

        def traces():
            names = os.listdir("/sys/class/net") + (os.listdir("/run/netns") if os.path.isdir("/run/netns") else [])
            directories = set(glob.glob(tempfile.gettempdir() + "/seaway_chaos_*")) - before
            return [name for name in names if name.startswith(f"sw{running.process.pid}")], directories

        for number in (signal.SIGINT, signal.SIGKILL):
            running = Running("--duration", "40s", "--kill", "client", *networks)
            roles = [running.find("controller"), running.find("host")]
            self.assertNotEqual(traces()[1], set())
            running.process.send_signal(number)
            running.process.communicate(timeout=PATIENCE_S)
            self.assertEqual(running.process.returncode, -number)
            until(lambda: not any(os.path.exists(f"/proc/{role}") for role in roles), "all died with it")
            if number == signal.SIGINT:
                self.assertEqual(traces(), ([], set()))
        self.assertNotEqual(traces()[1], set())
        done = chaos_real("--duration", "1s", "--kill", "client", "--pace", "20", *SHORT)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(traces(), ([], set()))

    def test_a_plan_is_what_its_seed_says(self):
        def plan():
            done = chaos_real("--duration", "2s", "--strangers", "--seed", "5", "--pace", "9")
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
                                (["--kill", "annex"], "needs --hosts 2"),
                                (["--kill", "all", "--duration", "1x"], "unknown unit"),
                                (["--kill", "all", "--round", "0s"], "--round"),
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
