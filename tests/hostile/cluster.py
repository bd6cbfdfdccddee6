"""What the hostile tests share: a cluster of real processes over TLS and TCP, and an honest client of it."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

COMMAND = os.path.abspath(os.environ["SEAWAY_COMMAND"])
HONEST_CLIENT = os.path.abspath(os.environ["SEAWAY_HONEST_CLIENT"])
DEADLINE_S = 120
# Nightly runs take about an hour and compare latencies; those of CI are short and do not.
IS_NIGHTLY = os.environ.get("SEAWAY_HOSTILE", "") == "nightly"


def until(holds, what):
    """Waits for `holds()`, which is not to take long but may."""
    end = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"deadline of {DEADLINE_S} s passed before: {what}")
        time.sleep(0.01)


class Cluster:
    """`seaway up` with two islands, which listens on a Unix socket, over TLS and over TCP, and takes tokens."""

    def __init__(self, *options):
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAWAY_")}
        self.up = subprocess.Popen([COMMAND, "up", "--directory", self.directory, "--islands", "2", "--devices", "2",
                                    "--listen", "tls:127.0.0.1:0,tcp:127.0.0.1:0", "--tls", "auto", *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
        try:
            self.ca_file, self.token_file = self.wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def wait_until_ready(self):
        """What callers from elsewhere show: (ca file, token file)."""
        lines = []
        for line in self.up.stdout:
            lines.append(line)
            if line.startswith("from elsewhere: "):
                break
        else:
            raise AssertionError("seaway up did not start: " + "".join(lines))
        words = line.split()[2:]
        shown = dict(zip(words[1::2], words[2::2]))
        until(lambda: len(self.incarnations()) == 5, "controller, schedulers and hosts have joined")
        return shown["--ca-file"], shown["--token-file"]

    def stop(self):
        self.up.terminate()
        self.up.communicate(timeout=DEADLINE_S)
        shutil.rmtree(self.directory)

    def address(self, role, kind):
        """Where "controller", "host0", "scheduler1" listens by "tls", "tcp" or "unix"."""
        with open(f"{self.directory}/{role}.address", encoding="utf-8") as file:
            for address in file.read().split():
                if address.startswith(kind + ":"):
                    return address
        raise AssertionError(f"{role} does not listen by {kind}")

    def status(self):
        done = subprocess.run([COMMAND, "status", "--json", "--cluster", self.address("controller", "unix")],
                              capture_output=True, text=True, timeout=DEADLINE_S, env=self.environment)
        if done.returncode:
            raise AssertionError("seaway status failed: " + done.stderr)
        return json.loads(done.stdout)

    def incarnations(self):
        """The incarnation of each role that is there, and the controller's."""
        status = self.status()
        roles = {f"{process['role']} {process['index']}": process["life"] for process in status["processes"]
                 if process["there"] and process["role"] != "client"}
        return {"controller": status["life"], **roles}


class HonestClient:
    """A process that calls all the time over TLS, with a token."""

    def __init__(self, cluster):
        shown = {"SEAWAY_CA_FILE": cluster.ca_file, "SEAWAY_TOKEN_FILE": cluster.token_file}
        address = cluster.address("controller", "tls").replace("tls:", "tls://")
        self.process = subprocess.Popen([HONEST_CLIENT, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**cluster.environment, **shown})

    def measure(self, seconds):
        """(calls, median us, maximum us) of the next `seconds`."""
        try:
            self.process.stdin.write(f"{int(seconds * 1000)}\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], seconds + DEADLINE_S)[0]:
                self.process.kill()
            calls, median_us, most_us = self.process.stdout.readline().split()
        except (OSError, ValueError):
            raise AssertionError("the honest client has ended: " + self.process.communicate()[1]) from None
        return int(calls), float(median_us), float(most_us)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=DEADLINE_S)
        self.process.stdout.close()
        self.process.stderr.close()
