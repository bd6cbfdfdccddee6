#!/usr/bin/env python3
"""A stranger on the network against a cluster that listens over TLS and TCP: nobody else notices, and nobody grows."""
import os
import random
import re
import resource
import shutil
import ssl
import struct
import subprocess
import tempfile
import threading
import unittest

from attacker_test import (COMMAND, CONNECTIONS, GROWTH_MAX_KB, KB_FACTOR, PATIENCE_S, AttackerTest as Unix, Recorder,
                           dial, end_writing, send_all, until)

peak_kb, find_processes = Unix.peak_kb, Unix.find_processes
del Unix


def ending(line):
    """What the other end says until it hangs up, in whatever way."""
    said = b""
    try:
        while piece := line.recv(65536):
            said += piece
    except TimeoutError:
        raise
    except OSError:
        pass
    return said


class Bystander:
    """Runs programs, one after the other, for as long as somebody else attacks."""

    def __init__(self, words):
        self.words = words
        self.count = 0
        self.failure = None
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over.is_set() and not self.failure:
            done = subprocess.run([COMMAND, "run", "fig2", *self.words], capture_output=True, text=True,
                                  timeout=PATIENCE_S)
            if done.returncode or "f([1, 2]) = ([3, 5], [2, 4])" not in done.stdout:
                self.failure = done.stderr + done.stdout
            self.count += 1
            self.is_over.wait(0.2)

    def stop(self):
        self.is_over.set()
        self.thread.join()


class AttackerOnTheNetworkTest(unittest.TestCase):
    """One cluster for all tests, so that what they take of it adds up."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="seaway")
        cls.up = subprocess.Popen([COMMAND, "up", "--directory", cls.directory, "--silence-ms", "30000", "--islands",
                                   "2", "--devices", "4", "--listen", "tls:127.0.0.1:0,tcp:127.0.0.1:0", "--tls",
                                   "auto"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in cls.up.stdout:
            if line.startswith("from elsewhere: "):
                break
        cls.shown = line.split()[3:]
        cls.processes = find_processes(cls)
        cls.addresses = {role: cls.addresses_of(role) for role in ("controller", "host0", "host1")}
        cls.tls, cls.tcp = (cls.addresses["controller"][kind] for kind in ("tls", "tcp"))
        cls.context = ssl.create_default_context(cafile=cls.directory + "/tls/ca.pem")
        for _ in range(2):  # What the work itself needs is no growth.
            cls.run_fig2(cls.tls)
        cls.before = {name: peak_kb(number) for name, number in cls.processes.items()}

    @classmethod
    def tearDownClass(cls):
        cls.up.terminate()
        cls.up.communicate()
        until(lambda: not find_processes(cls), "all processes of the cluster have ended")
        shutil.rmtree(cls.directory)

    @classmethod
    def addresses_of(cls, role):
        with open(f"{cls.directory}/{role}.address", encoding="utf-8") as file:
            return {address.partition(":")[0]: address for address in file.read().split()}

    @classmethod
    def run_fig2(cls, address):
        shown = [] if address.startswith("unix:") else cls.shown
        done = subprocess.run([COMMAND, "run", "fig2", "--cluster", address, *shown], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        assert done.returncode == 0, done.stderr

    def setUp(self):
        self.bystander = Bystander(["--cluster", self.tls, *self.shown])

    def tearDown(self):
        self.bystander.stop()

    def expect_unharmed(self):
        until(lambda: self.bystander.count or self.bystander.failure, "somebody else has run a program")
        self.bystander.stop()
        self.assertIsNone(self.bystander.failure)
        self.run_fig2(self.tls)
        self.run_fig2(self.tcp)
        self.assertEqual(find_processes(self), self.processes, "somebody died")
        for name, number in self.processes.items():
            grown = peak_kb(number) - self.before[name]
            self.assertLess(grown, GROWTH_MAX_KB * KB_FACTOR, f"{name} has grown by {grown} kB")
            if name == "controller":
                print(f"the controller has grown by {grown} kB; {self.bystander.count} programs ran meanwhile")

    def targets(self, kind):
        return [addresses[kind] for addresses in self.addresses.values()]

    def secured(self, address):
        """A connection over TLS that shows nothing."""
        return self.context.wrap_socket(dial(address), server_hostname="127.0.0.1")

    def opened(self, address):
        return self.secured(address) if address.startswith("tls:") else dial(address)

    def hello(self):
        """What a TLS handshake begins with."""
        heard, said = ssl.MemoryBIO(), ssl.MemoryBIO()
        half = self.context.wrap_bio(heard, said, server_hostname="127.0.0.1")
        with self.assertRaises(ssl.SSLWantReadError):
            half.do_handshake()
        return said.read()

    def accepted(self):
        with open(self.directory + "/audit.log", encoding="utf-8") as file:
            return len(re.findall(r"accepted client \d+", file.read()))

    def test_random_bytes_end_the_connection_and_nothing_else(self):
        numbers = random.Random(7)
        begins = (b"", b"", b"\x16\x03\x01\xff\xff", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x17\x03\x03\x40\x00")
        for round_number in range(300):
            for kind in ("tls", "tcp"):
                for address in self.targets(kind) if round_number % 10 == 0 else [self.addresses["controller"][kind]]:
                    connect = self.secured if kind == "tls" and round_number % 3 == 0 else dial
                    with connect(address) as line:
                        noise = numbers.randbytes(numbers.choice((1, 7, 8, 64, 4096, 70000)))
                        send_all(line, numbers.choice(begins) + noise)
                        if numbers.random() < 0.5:
                            end_writing(line)
        self.expect_unharmed()

    def test_what_is_announced_is_refused_before_there_is_memory_for_it(self):
        announced = [struct.pack("<II", 0, 0x7fffffff),  # One segment of 16 GiB.
                     struct.pack("<II", 0xffffffff, 8),  # 2^32 segments.
                     struct.pack("<IIII", 1, 0x3fffffff, 0x3fffffff, 0),
                     struct.pack("<II", 0, 8193)]  # One word above the limit.
        for address in self.targets("tls") + self.targets("tcp"):
            for begin in announced:
                with self.opened(address) as line:
                    send_all(line, begin)
                    self.assertRegex(ending(line).decode("latin1"), "announced|is no frame|segments")
        self.expect_unharmed()

    def test_who_is_slow_or_says_nothing_waits_alone(self):
        hello = self.hello()
        speaking = [self.opened(address) for address in 8 * [self.tls, self.tcp]]
        silent = [self.secured(self.tls) for _ in range(12)]
        greeting = [dial(self.tls) for _ in range(12)]
        answered = [dial(self.tls) for _ in range(12)]
        for line in answered:
            send_all(line, hello)
            self.assertTrue(line.recv(1), "it goes on with the handshake")
        begun = struct.pack("<II", 0, 400)
        for number in range(24):
            for line in speaking:
                send_all(line, begun[number:number + 1] or b"\0")
            for line in greeting:
                send_all(line, hello[number:number + 1])
            self.run_fig2(self.tls)
        for line in speaking + silent:
            self.assertIn(b"introduced within", ending(line))
        for line in greeting + answered:
            ending(line)
        for line in speaking + silent + greeting + answered:
            line.close()
        self.expect_unharmed()

    def test_who_takes_all_places_takes_none_of_the_owner_on_his_machine(self):
        lines = [dial(address) for address in 64 * [self.tls, self.tcp]]
        unix = self.addresses["controller"]["unix"]

        for _ in range(10):
            done = subprocess.run([COMMAND, "status", "--cluster", unix], capture_output=True, text=True,
                                  timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stderr)

        for line in lines:
            line.close()
        self.expect_unharmed()

    def test_thousands_of_connections_that_say_nothing(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        lines = []
        try:
            while len(lines) < min(CONNECTIONS, 4000, hard - 200):
                lines.append(dial(self.tls))
                lines.append(dial(self.tcp))
            open_files = len(os.listdir(f"/proc/{self.processes['controller']}/fd"))
            self.assertLess(open_files, 5000, "places for strangers are few")
        finally:
            for line in lines:
                line.close()
        self.expect_unharmed()

    def test_half_a_handshake_is_none(self):
        hello = self.hello()
        changed = random.Random(9)
        for address in self.targets("tls"):
            for length in range(0, len(hello), 8):
                with dial(address) as line:
                    send_all(line, hello[:length])
                    if length % 16 == 0:
                        end_writing(line)
            for _ in range(100):
                words = bytearray(hello)
                words[changed.randrange(len(words))] ^= 1 << changed.randrange(8)
                with dial(address) as line:
                    send_all(line, bytes(words))
                    end_writing(line)
                    ending(line)
        self.expect_unharmed()

    def record(self, address):
        """What a client has said on each of its connections with the controller."""
        kind = address.partition(":")[0]
        recorder = Recorder(self.directory + "/recorder.sock", address, is_of_network=kind != "unix")
        self.run_fig2(recorder.address.replace("tcp:", kind + ":"))
        recorder.stop()
        self.assertTrue([words for words in recorder.said if len(words) > 1000], "it has talked over the recorder")
        return recorder.said

    def test_what_a_client_has_said_means_nothing_when_a_stranger_says_it_again(self):
        encrypted, with_token, local = map(self.record, (self.tls, self.tcp, self.addresses["controller"]["unix"]))
        talks = [words for words in with_token + local if len(words) > 1000]
        # A token is bound to its connection; and who needs none on this machine's files needs one here.
        asked = [(words, b"bound to another connection") for words in with_token if len(words) <= 1000]
        asked += [(words, b"nothing was shown") for words in local if len(words) <= 1000]
        self.assertEqual(len({why for _, why in asked}), 2)
        self.bystander.stop()
        accepted = self.accepted()

        for number in range(100):
            with dial(self.tls) as line:
                send_all(line, encrypted[number % len(encrypted)])
                end_writing(line)
                ending(line)
        for words, why in asked:
            with self.secured(self.tls) as line:
                send_all(line, words)
                self.assertIn(why, ending(line))
        for number in range(100):
            for address in (self.tls, self.tcp):
                # Who sends on for more than 4 KiB after the refusal may be cut off before it has read it.
                words = talks[number % len(talks)][:3000 if number % 2 else None]
                with self.opened(address) as line:
                    send_all(line, words)
                    heard = ending(line)
                if heard or len(words) <= 3000:
                    self.assertRegex(heard, b"is not enrolled here")

        self.assertEqual(self.accepted(), accepted, "somebody was let in")
        self.expect_unharmed()


if __name__ == "__main__":
    unittest.main()
