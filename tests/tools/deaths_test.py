#!/usr/bin/env python3
"""Real deaths: each role is killed, or stopped and let go on, under a workload that checks itself.

SEAWAY_DEATHS_WORKLOADS: the demos that are run, with their arguments, between commas."""
import json
import os
import re
import signal
import shutil
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
WORKLOADS = os.environ.get("SEAWAY_DEATHS_WORKLOADS", "digits,kv --size 2000").split(",")
PATIENCE_S = 90
ROLES = ("controller", "scheduler 0", "scheduler 1", "host 0", "host 1")
# What a future may end with when somebody has died; anything else is a mistake.
TYPED = ("HOST_LOST|INPUT_LOST|MAYBE_EXECUTED|CONTROLLER_RESTARTED|ISLAND_UNAVAILABLE|DEVICE_LOST|"
         "DEADLINE_EXCEEDED|CANCELLED|ACTOR_LOST")


def seaway(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)


def until(holds, what, state=lambda: ""):
    """Waits for `holds()`, which is not to take long but may."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened: {what}; {state()}")
        time.sleep(0.01)


def state_of(process):
    """As the kernel says: R, S, T (stopped), Z; "" when it is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def files_of(process):
    """That it has open: no sockets, and nothing else without a path."""
    targets = []
    for number in os.listdir(f"/proc/{process}/fd"):
        try:
            targets.append(os.readlink(f"/proc/{process}/fd/{number}"))
        except OSError:
            continue  # It has been closed meanwhile.
    return [target for target in targets if target.startswith("/")]


class Cluster:
    """`seaway up`, and what the kernel and the cluster itself say of it."""

    def __init__(self, silence_ms):
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.address = f"unix:{self.directory}/ctl.sock"
        self.up = subprocess.Popen([COMMAND, "up", "--directory", self.directory, "--silence-ms", str(silence_ms),
                                    "--islands", "2", "--devices", "4"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.up.stdout.readline()
        if not line.startswith("ready in "):
            raise AssertionError(line or self.up.communicate()[1])

    def processes(self):
        found = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
            except OSError:
                continue
            if self.directory not in words or words[1] in ("run", "status"):
                continue
            role = words[1] + (" " + words[words.index("--island") + 1] if "--island" in words else "")
            found[role] = int(name)
        return found

    def status(self):
        done = seaway("status", "--cluster", self.address, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {"processes": [], "life": 0}

    def life_of(self, role):
        status = self.status()
        name, _, island = role.partition(" ")
        if name == "controller":
            return status["life"]
        lives = [p["life"] for p in status["processes"]
                 if p["role"] == name and p["index"] == int(island) and p["there"]]
        return lives[0] if lives else 0

    def is_whole(self):
        return len([p for p in self.status()["processes"] if p["there"] and p["role"] != "client"]) == 4

    def has_client(self):
        return any(p["role"] == "client" and p["there"] for p in self.status()["processes"])

    def start(self, workload):
        return subprocess.Popen([COMMAND, "run", *workload.split(), "--cluster", self.address], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self):
        self.up.terminate()
        self.up.communicate(timeout=PATIENCE_S)
        until(lambda: not self.processes(), "nobody outlives the cluster")
        # Sockets are files of who listens; what else is there is kept on purpose.
        left = [name for name in os.listdir(self.directory) if not re.search(r"\.(log|life|lock|address)$", name)]
        shutil.rmtree(self.directory)
        return left


class DeathsTest(unittest.TestCase):
    def open(self, silence_ms):
        self.cluster = Cluster(silence_ms)
        self.addCleanup(self.close)
        return self.cluster

    def close(self):
        cluster, self.cluster = self.cluster, None
        if cluster:
            self.assertEqual(cluster.end(), [], "files are left behind")

    def begin(self, workload):
        """A workload that has begun; the client is there, or it is over already."""
        running = self.cluster.start(workload)
        until(lambda: self.cluster.has_client() or running.poll() is not None, "it has begun")
        return running

    def expect_outcome(self, running, workload):
        output, errors = running.communicate(timeout=PATIENCE_S)
        if running.returncode == 0:
            return  # It has checked its values against its reference.
        self.assertGreater(running.returncode, 0, f"{workload} died: {errors}")
        self.assertRegex(errors + output, TYPED)

    def expect_whole_again(self, workload):
        until(self.cluster.is_whole, "all are there again")
        done = seaway("run", *workload.split(), "--cluster", self.cluster.address)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_whoever_is_killed_all_futures_end_and_the_values_are_right(self):
        cluster = self.open(silence_ms=30000)  # A busy machine is no dead one.
        for workload in WORKLOADS:
            for role in ROLES:
                with self.subTest(workload=workload, role=role):
                    running = self.begin(workload)
                    before = cluster.processes()[role]
                    os.kill(before, signal.SIGKILL)
                    until(lambda: before not in cluster.processes().values(), "it is dead")
                    self.expect_outcome(running, workload)
                    self.expect_whole_again("fig2")

    def test_who_begins_anew_with_the_next_controller_has_no_file_open_of_the_life_before(self):
        cluster = self.open(silence_ms=30000)
        roles = [role for role in ROLES if role != "controller"]
        before = {role: cluster.processes()[role] for role in roles}
        files = {role: files_of(before[role]) for role in roles}
        lives = {role: cluster.life_of(role) for role in roles}

        os.kill(cluster.processes()["controller"], signal.SIGKILL)
        until(lambda: all(cluster.life_of(role) > lives[role] for role in roles), "all have begun anew")

        for role in roles:
            self.assertEqual(cluster.processes()[role], before[role], f"{role} is the same process")
            until(lambda: set(files_of(before[role])) <= set(files[role]), "it has closed all others",
                  lambda: (role, files[role], files_of(before[role])))

    def test_a_client_that_is_killed_leaves_nothing(self):
        cluster = self.open(silence_ms=30000)
        for workload in WORKLOADS:
            for _ in range(3):
                running = self.begin(workload)
                running.kill()
                running.communicate()
                until(lambda: not cluster.has_client(), "the cluster knows that it is gone", cluster.status)
            self.expect_whole_again(workload)

    def test_who_was_stopped_and_given_up_begins_anew_when_he_goes_on(self):
        cluster = self.open(silence_ms=1500)
        for workload in WORKLOADS:
            for role in ROLES:
                with self.subTest(workload=workload, role=role):
                    self.stop(cluster, workload, role)

    def stop(self, cluster, workload, role):
        life = cluster.life_of(role)
        self.assertGreater(life, 0)
        running = self.begin(workload)
        process = cluster.processes()[role]
        os.kill(process, signal.SIGSTOP)
        until(lambda: state_of(process) == "T", "it stands still")
        try:
            if role == "controller":
                # Nobody can be asked; all who depend on it say so by ending.
                self.expect_outcome(running, workload)
            else:
                until(lambda: cluster.life_of(role) == 0, "the controller has given it up")
        finally:
            os.kill(process, signal.SIGCONT)
        if role != "controller":
            until(lambda: cluster.life_of(role) > life, "it is fenced, and has begun a new life")
            self.expect_outcome(running, workload)
        self.expect_whole_again("fig2")

    def test_a_client_that_was_stopped_and_given_up_is_told_so(self):
        cluster = self.open(silence_ms=1500)
        for workload in WORKLOADS:
            running = self.begin(workload)
            running.send_signal(signal.SIGSTOP)
            until(lambda: state_of(running.pid) == "T", "it stands still")
            until(lambda: not cluster.has_client(), "it was given up")
            running.send_signal(signal.SIGCONT)
            self.expect_outcome(running, workload)
            self.expect_whole_again("fig2")

    def test_when_up_is_killed_everybody_ends_and_so_does_what_waits(self):
        cluster = self.open(silence_ms=30000)
        running = self.begin(WORKLOADS[0])
        cluster.up.kill()
        cluster.up.wait()
        until(lambda: not cluster.processes(), "all died with it")
        cluster.up.communicate()
        self.expect_outcome(running, WORKLOADS[0])
        # What is left of it is no obstacle to the next one.
        again = subprocess.Popen([COMMAND, "up", "--directory", cluster.directory, "--islands", "2"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        cluster.up = again
        self.assertRegex(again.stdout.readline(), "^ready in ")

    def test_when_up_stands_still_its_cluster_goes_on(self):
        cluster = self.open(silence_ms=30000)
        cluster.up.send_signal(signal.SIGSTOP)
        until(lambda: state_of(cluster.up.pid) == "T", "it stands still")
        try:
            self.assertEqual(seaway("run", "fig2", "--cluster", cluster.address).returncode, 0)
            host = cluster.processes()["host 1"]
            os.kill(host, signal.SIGKILL)
            until(lambda: cluster.life_of("host 1") == 0, "its loss is known")
        finally:
            cluster.up.send_signal(signal.SIGCONT)
        self.expect_whole_again("fig2")


if __name__ == "__main__":
    unittest.main()
