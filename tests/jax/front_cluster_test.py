#!/usr/bin/env python3
"""Unmodified JAX on clusters of processes: two tenants on one island, and hosts that are killed."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = os.environ["SEAWAY_COMMAND"]
PLUGIN = os.environ["SEAWAY_REAL_PLUGIN"]
TRAIN = Path(__file__).parents[2] / "demos/jax/train.py"


class Up:
    """`seaway up` for the time of a test."""

    def __init__(self, islands, devices):
        self.directory = tempfile.TemporaryDirectory()
        self.address = f"unix:{self.directory.name}/ctl.sock"
        self.process = subprocess.Popen(
            [COMMAND, "up", "--islands", str(islands), "--devices", str(devices), "--backend",
             f"pjrt:{PLUGIN}", "--directory", self.directory.name],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if self.address in line:
                break

    def environment(self, **more):
        return {**os.environ, "JAX_PLATFORMS": "seaway", "SEAWAY_CLUSTER": self.address, **more}

    def child(self, role, island=None):
        """The process of a role, or of an island's: a child of `seaway up`."""
        for child in map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
                         .read_text().split()):
            words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
            if role in words and (island is None or words[words.index("--island") + 1] == str(island)):
                return child
        raise LookupError(f"there is no {role} {island}")

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=60)
        self.directory.cleanup()


class TenantsTest(unittest.TestCase):
    def test_two_tenants_train_on_one_island_and_get_the_same_as_alone(self):
        up = Up(islands=1, devices=4)
        self.addCleanup(up.end)
        began = [subprocess.Popen([sys.executable, TRAIN, "--steps", "60", "--losses"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=up.environment(SEAWAY_TENANT=tenant, SEAWAY_WEIGHT=weight))
                 for tenant, weight in (("small", "1"), ("large", "3"))]
        losses = set()
        for process in began:
            out, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
            losses.add([line for line in out.splitlines() if line.startswith("losses")][0])

        self.assertEqual(len(losses), 1)


# What a process does while a host dies: it says what it has, is told to look, and goes on.
DYING = """
import jax, jax.numpy as jnp, sys, time
island = {device.island: device for device in reversed(jax.devices())}
step = jax.jit(lambda x: x * 1.0 + 1)
kept = step(jax.device_put(jnp.zeros(4), island[0]))
lost = step(jax.device_put(jnp.zeros(4), island[1]))
jax.block_until_ready((kept, lost))
print("ready", flush=True)
sys.stdin.readline()
try:
    for _ in range(1000):
        lost = step(lost)
    print("error none", lost)
except Exception as error:
    print("error", type(error).__name__, str(error).replace("\\n", " "))
try:
    print("lost", lost)
except Exception as error:
    print("lost", type(error).__name__, str(error).replace("\\n", " "))
print("kept", [float(value) for value in step(kept)], flush=True)
sys.stdin.readline()
for _ in range(600):
    try:
        print("again", [float(value) for value in step(jax.device_put(jnp.ones(4), island[1]))])
        break
    except Exception as error:
        last = error
        time.sleep(0.1)  # Until the host is there again.
else:
    print("again", last)
"""


class DeathTest(unittest.TestCase):
    def test_a_killed_host_takes_its_arrays_with_it_and_nothing_else(self):
        up = Up(islands=2, devices=1)
        self.addCleanup(up.end)
        process = subprocess.Popen([sys.executable, "-c", DYING], env=up.environment(), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n", process.stderr)
        os.kill(up.child("host", 1), signal.SIGKILL)
        out, errors = process.communicate("\n\n", timeout=120)

        said = dict(line.split(" ", 1) for line in out.splitlines())
        self.assertEqual(process.returncode, 0, errors)
        self.assertRegex(said["lost"], r"JaxRuntimeError (DATA_LOSS|UNAVAILABLE): .*host of island 1 "
                                       r"is lost")
        self.assertEqual(said["kept"], "[2.0, 2.0, 2.0, 2.0]")
        self.assertEqual(said["again"], "[2.0, 2.0, 2.0, 2.0]")


# A training that keeps its state in this process, so that it can go on from the last whole step.
TRAINING = """
import jax, jax.numpy as jnp, numpy as np, time
from jax.extend.backend import clear_backends

step = jax.jit(lambda w: (w * 0.9 + 1, jnp.sum(w)))
state, losses, failures, end = np.zeros(4, np.float32), [], [], time.monotonic() + 90
while len(losses) < 300 and time.monotonic() < end:
    try:
        following, loss = step(jax.device_put(state, jax.devices()[1]))
        state, loss = np.asarray(following), float(loss)
    except Exception as error:
        failures.append(f"{type(error).__name__} {error}".replace("\\n", " "))
        if "CONTROLLER_RESTARTED" in str(error):
            jax.clear_caches()
            clear_backends()
        time.sleep(0.2)
        continue
    losses.append(loss.hex())
    if len(losses) == 50:
        print("fifty", flush=True)
    time.sleep(0.005)
print("failures", *failures, sep="|")
print("losses", *losses)
"""


class DeathInTrainingTest(unittest.TestCase):
    def losses(self, kill=None):
        """Of a training whose controller or host is killed after 50 steps, and what failed."""
        up = Up(islands=2, devices=1)
        self.addCleanup(up.end)
        process = subprocess.Popen([sys.executable, "-c", TRAINING], env=up.environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "fifty\n", process.stderr)
        if kill:
            os.kill(up.child(*kill), signal.SIGKILL)
        out, errors = process.communicate(timeout=180)
        self.assertEqual(process.returncode, 0, errors)
        failures, losses = out.splitlines()
        return losses, failures.split("|")[1:]

    def test_it_goes_on_after_a_kill_of_its_host_and_of_the_controller(self):
        whole, none = self.losses()
        self.assertEqual(none, [])
        for kill in (("host", 1), ("controller",)):
            with self.subTest(kill):
                losses, failures = self.losses(kill)
                self.assertEqual(losses, whole)
                for failure in failures:
                    # Nor is there a device to connect to before the host has enrolled anew.
                    # A call of a jitted function raises ValueError for what all else raises JaxRuntimeError for.
                    self.assertRegex(failure, r"(Runtime|Value)Error .*(ABORTED|DATA_LOSS|UNAVAILABLE): ")
                if kill == ("controller",):
                    self.assertIn("CONTROLLER_RESTARTED: client", failures[0])


if __name__ == "__main__":
    unittest.main()
