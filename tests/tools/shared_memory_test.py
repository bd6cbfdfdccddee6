#!/usr/bin/env python3
"""Memory that hosts of one machine share is gone when any of its owners has died, however that was."""
import os
import re
import signal
import subprocess
import unittest

from processes_test import COMMAND, PATIENCE_S, processes_of, until
from processes_test import Cluster


def shared_memory():
    """Which processes have which memory of Seaway's: who writes it, who reads it."""
    writers, readers = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
                lines = [line.split() for line in file if "/memfd:seaway" in line]
        except OSError:
            continue
        for words in lines:
            (writers if "w" in words[1] else readers).setdefault(int(words[4]), set()).add(int(process))
    return writers, readers


class SharedMemoryTest(Cluster, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.start("--islands", "2", "--devices", "2")
        self.client = subprocess.Popen([COMMAND, "chaos", "real-client", "--address", self.address, "--seed", "1",
                                        "--history", self.directory + "/history"])

    def tearDown(self):
        self.client.kill()
        self.client.wait()
        super().tearDown()

    def values(self):
        path = f"{self.directory}/history-{self.client.pid}"
        if not os.path.exists(path):
            return 0
        with open(path, encoding="ascii") as file:
            return len(re.findall(r"^outcome \d+ \d+ \S+ right$", file.read(), re.MULTILINE))

    def read_memory(self):
        """What host 1 reads of host 0, as soon as there is some."""
        owner, reader = self.process("host 0"), self.process("host 1")
        found = set()

        def is_read():
            writers, readers = shared_memory()
            found.update(memory for memory, who in readers.items()
                         if reader in who and owner in writers.get(memory, ()))
            return found

        until(is_read, "a host reads what another one has made")
        return owner, reader, found

    def expect_gone(self, memory):
        until(lambda: not memory & set().union(*shared_memory()), "nobody has it any more", shared_memory)

    def test_it_is_gone_when_its_maker_is_killed_and_its_readers_are_done(self):
        owner, reader, memory = self.read_memory()

        os.kill(owner, signal.SIGKILL)

        self.expect_gone(memory)
        self.assertIn(reader, processes_of(self.directory), "the reader lives on")
        before = self.values()
        until(lambda: self.values() > before + 5, "values come again")

    def test_it_is_used_again_when_a_reader_is_killed(self):
        owner, reader, memory = self.read_memory()

        os.kill(reader, signal.SIGKILL)

        before = self.values()
        until(lambda: self.values() > before + 5, "values come again")
        # Of the dead nothing is left that somebody else has made. (Other clusters of this machine are not asked.)
        writers, readers = shared_memory()
        living = set(processes_of(self.directory))
        self.assertIn(owner, living)
        for known, who in readers.items():
            if who & living:
                self.assertTrue(writers.get(known, set()) & living, (known, writers, readers))

    def test_nothing_of_it_outlives_the_cluster(self):
        _, _, memory = self.read_memory()

        self.up.kill()
        self.up.wait()

        self.expect_gone(memory)


if __name__ == "__main__":
    unittest.main()
