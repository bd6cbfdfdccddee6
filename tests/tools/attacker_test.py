#!/usr/bin/env python3
"""A stranger with a raw socket against a cluster of real processes: nobody else notices, and nobody grows."""
import json
import os
import random
import re
import resource
import selectors
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
PATIENCE_S = 120
# What an attacked process may grow by, whatever strangers do: their places, what they send, and what a
# second run of its own work finds no room for.
GROWTH_MAX_KB = 32 * 1024
CONNECTIONS = int(os.environ.get("SEAWAY_ATTACK_CONNECTIONS", "10000"))
# As it is under the sanitizers, whose shadow memory counts as well.
KB_FACTOR = 8 if os.environ.get("SEAWAY_SANITIZED") else 1


def until(holds, what):
    """Waits for `holds()`, which is not to take long but may."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened: {what}")
        time.sleep(0.01)


def dial(address, wait_s=30):
    """A connection to "unix:PATH", "tcp:HOST:PORT", or, with nothing said yet, "tls:HOST:PORT"."""
    kind, _, where = address.partition(":")
    if kind == "unix":
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(wait_s)
        end = time.monotonic() + wait_s
        while True:
            try:
                line.connect(where)
                return line
            except BlockingIOError:  # So many wait to be accepted that the system takes no more.
                if time.monotonic() > end:
                    line.close()
                    raise
                time.sleep(0.001)
            except OSError:
                line.close()
                raise
    host, _, port = where.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=wait_s)


def send_all(line, data):
    """Whether the other end took all of it: it may hang up first, and has every right to."""
    try:
        line.sendall(data)
        return True
    except OSError:
        return False


def end_writing(line):
    try:
        line.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def ending(line):
    """What the other end says until it hangs up."""
    said = b""
    try:
        while piece := line.recv(65536):
            said += piece
    except ConnectionError:
        pass  # What it said before counts.
    return said


class Recorder:
    """Stands between one client and the cluster, and writes down what the client says on each connection."""

    def __init__(self, path, address, is_of_network=False):
        self.said = []
        self.lines = []
        self.target = address
        if is_of_network:
            self.server = socket.create_server(("127.0.0.1", 0))
            self.address = f"tcp:127.0.0.1:{self.server.getsockname()[1]}"
        else:
            self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.server.bind(path)
            self.server.listen(64)
            self.address = "unix:" + path
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.is_over = threading.Event()
        self.thread.start()

    def run(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.server, selectors.EVENT_READ, None)
            while not self.is_over.is_set():
                for key, _ in selector.select(timeout=0.1):
                    if key.fileobj is self.server:
                        near, _ = self.server.accept()
                        far = dial(self.target)
                        self.said.append(b"")
                        self.lines += [near, far]
                        selector.register(near, selectors.EVENT_READ, (far, len(self.said) - 1))
                        selector.register(far, selectors.EVENT_READ, (near, None))
                        continue
                    other, number = key.data
                    try:
                        piece = key.fileobj.recv(65536)
                    except OSError:
                        piece = b""
                    if number is not None:
                        self.said[number] += piece
                    if not piece or not send_all(other, piece):
                        selector.unregister(key.fileobj)
                        try:
                            other.shutdown(socket.SHUT_WR)
                        except OSError:
                            pass

    def stop(self):
        self.is_over.set()
        self.thread.join()
        for line in [self.server, *self.lines]:
            line.close()


class AttackerTest(unittest.TestCase):
    def setUp(self):
        self.digits = None
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.up = subprocess.Popen([COMMAND, "up", "--directory", self.directory, "--silence-ms", "30000",
                                    "--islands", "2", "--devices", "4"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.up.stdout.readline()
        self.assertRegex(line, r"^ready in ", line or self.up.communicate()[1])
        self.address = self.up.stdout.readline().split("address: ")[1].strip()
        self.processes = self.find_processes()
        # What the workload itself needs is no growth.
        self.start_digits().communicate(timeout=PATIENCE_S)
        self.before = {name: self.peak_kb(number) for name, number in self.processes.items()}

    def tearDown(self):
        if self.digits and self.digits.poll() is None:
            self.digits.kill()
            self.digits.communicate()
        self.up.terminate()
        self.up.communicate()
        until(lambda: not self.find_processes(), "all processes of the cluster have ended")
        shutil.rmtree(self.directory)

    def find_processes(self):
        found = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
            except OSError:
                continue
            if self.directory in words and words[1] != "run":
                role = words[1] + (" " + words[words.index("--island") + 1] if "--island" in words else "")
                found[role] = int(name)
        return found

    @staticmethod
    def peak_kb(process):
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1])

    def targets(self):
        """Of each role one that listens."""
        status = json.loads(self.seaway("status", "--json").stdout)
        addresses = {p["role"]: p["address"] for p in status["processes"] if p["address"]}
        return {"controller": self.address, **addresses}

    def seaway(self, *words):
        return subprocess.run([COMMAND, *words, "--cluster", self.address], capture_output=True, text=True,
                              timeout=PATIENCE_S)

    def clients(self):
        return [p for p in json.loads(self.seaway("status", "--json").stdout)["processes"] if p["role"] == "client"]

    def start_digits(self):
        self.digits = subprocess.Popen([COMMAND, "run", "digits", "--cluster", self.address],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self.digits

    def expect_unharmed(self, digits=None, growth_kb=GROWTH_MAX_KB):
        if digits:
            output, errors = digits.communicate(timeout=PATIENCE_S)
            self.assertEqual(digits.returncode, 0, errors + output)
            self.assertGreaterEqual(float(re.search(r"accuracy  (\S+) %", output)[1]), 96)
        # Those who have said nothing have gone, at the latest when their time is up.
        until(lambda: self.seaway("status").returncode == 0, "the controller answers")
        self.assertEqual(self.find_processes(), self.processes, "somebody died")
        for name, number in self.processes.items():
            grown = self.peak_kb(number) - self.before[name]
            self.assertLess(grown, growth_kb * KB_FACTOR, f"{name} has grown by {grown} kB")

    def test_random_bytes_end_the_connection_and_nothing_else(self):
        digits = self.start_digits()
        numbers = random.Random(7)
        targets = list(self.targets().values())
        for round_number in range(300):
            for address in targets if round_number % 10 == 0 else [self.address]:
                with dial(address) as line:
                    send_all(line, numbers.randbytes(numbers.choice((1, 7, 8, 64, 4096, 70000))))
                    if numbers.random() < 0.5:
                        end_writing(line)
        self.expect_unharmed(digits)

    def test_what_is_announced_is_refused_before_there_is_memory_for_it(self):
        digits = self.start_digits()
        announced = [struct.pack("<II", 0, 0x7fffffff),  # One segment of 16 GiB.
                     struct.pack("<II", 0xffffffff, 8),  # 2^32 segments.
                     struct.pack("<IIII", 1, 0x3fffffff, 0x3fffffff, 0),
                     struct.pack("<II", 63, 1) + struct.pack("<64I", *[0x7fffffff] * 63, 0),
                     struct.pack("<II", 0, 8193)]  # One word above the limit.
        for address in self.targets().values():
            for begin in announced:
                with dial(address) as line:
                    send_all(line, begin)
                    said = ending(line)
                self.assertTrue(said, "it says why")
                self.assertRegex(said.decode("latin1"), "announced|is no frame|segments")
        self.expect_unharmed(digits)

    def test_who_announces_a_frame_and_sends_it_byte_by_byte_waits_alone(self):
        digits = self.start_digits()
        slow = [dial(self.address) for _ in range(60)]
        begun = struct.pack("<II", 0, 400)
        for number in range(24):
            for line in slow:
                send_all(line, begun[number:number + 1] or b"\0")
            self.assertEqual(self.seaway("status").returncode, 0, "there is a place for others")
        said = [ending(line) for line in slow]
        self.assertTrue(all(b"introduced within" in words for words in said), said[0])
        for line in slow:
            line.close()
        self.expect_unharmed(digits)

    def test_thousands_of_connections_that_say_nothing(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        wanted = min(CONNECTIONS, hard - 200)
        digits = self.start_digits()
        lines = []
        try:
            while len(lines) < wanted:
                lines.append(dial(self.address))
            open_files = len(os.listdir(f"/proc/{self.processes['controller']}/fd"))
            self.assertLess(open_files, 5000, "places for strangers are few")
        finally:
            for line in lines:
                line.close()
        self.expect_unharmed(digits)

    def test_half_a_handshake_is_none(self):
        digits = self.start_digits()
        introduction = self.record("status")[0]
        self.assertGreater(len(introduction), 40)
        for address in self.targets().values():
            for length in range(0, len(introduction), 8):
                with dial(address) as line:
                    send_all(line, introduction[:length])
                    if length % 16 == 0:
                        end_writing(line)
            changed = random.Random(9)
            for _ in range(200):
                words = bytearray(introduction)
                words[changed.randrange(len(words))] ^= 1 << changed.randrange(8)
                with dial(address) as line:
                    send_all(line, bytes(words))
                    end_writing(line)
                    ending(line)
        self.expect_unharmed(digits)

    def record(self, *words):
        recorder = Recorder(self.directory + "/recorder.sock", self.address)
        done = subprocess.run([COMMAND, *words, "--cluster", recorder.address], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        recorder.stop()
        os.unlink(self.directory + "/recorder.sock")
        self.assertEqual(done.returncode, 0, done.stderr)
        return recorder.said

    def test_what_a_client_has_said_means_nothing_when_a_stranger_says_it_again(self):
        said = self.record("run", "fig2")
        talks = [words for words in said if len(words) > 1000]
        self.assertTrue(talks, "the client has talked over the recorder")
        until(lambda: not self.clients(), "its client has gone")
        digits = self.start_digits()
        for number in range(200):
            # Who sends on for more than 4 KiB after the refusal may be cut off before it has read it.
            words = talks[number % len(talks)][:3000 if number % 2 else None]
            with dial(self.address) as line:
                send_all(line, words)
                end_writing(line)
                heard = ending(line)
            if heard or len(words) <= 3000:
                self.assertIn(b"is not enrolled here", heard)
        self.expect_unharmed(digits)

    def test_who_has_begun_to_talk_and_then_says_anything_is_lost_and_nobody_else(self):
        """A client that enrols as it should, talks, and then sends packets that are none."""
        said = self.record("run", "fig2")
        talk = max(said, key=len)
        enrolments = [words for words in said if words != talk]
        digits = self.start_digits()
        numbers = random.Random(11)
        for _ in range(40):
            heard = b""
            for words in enrolments[:1]:  # The next number is this one's.
                with dial(self.address) as line:
                    send_all(line, words)
                    heard = ending(line)
            self.assertTrue(heard)
            with dial(self.address) as line:
                length = struct.unpack_from("<I", talk, 4)[0] * 8 + 8
                # Its own introduction, whoever it says it is, and then noise.
                send_all(line, talk[:length] + numbers.randbytes(5000))
                end_writing(line)
                ending(line)
        self.expect_unharmed(digits)

    def test_who_asks_to_be_enrolled_and_never_comes_leaves_room_for_others(self):
        enrolment = self.record("run", "fig2")[0]
        for _ in range(1500):  # More than there may be clients at once.
            with dial(self.address) as line:
                send_all(line, enrolment)
                ending(line)
        until(lambda: self.seaway("run", "fig2").returncode == 0, "somebody else is taken")
        self.expect_unharmed()


if __name__ == "__main__":
    unittest.main()
