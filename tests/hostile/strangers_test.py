#!/usr/bin/env python3
"""Strangers who disturb a cluster for as long as they can: no role restarts, and an honest client goes on.

1, 4 and 16 of them over TLS and TCP, in five ways. SEAWAY_HOSTILE=nightly takes 60 s for each and also bounds the
median of the honest client's calls: at most twice that beside the same processes without connections.
"""
import os
import statistics
import subprocess
import sys
import unittest

from cluster import IS_NIGHTLY, Cluster, HonestClient
from strangers import BEHAVIOURS

STRANGERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "strangers.py")
PAIRS, WINDOW_S, BESIDE_S = (6, 10, 10) if IS_NIGHTLY else (1, 1.2, 0.3)
RATIO_MAX = 2


class Strangers:
    """Some processes with one behaviour, each from an address of its own, shared out over the roles."""

    def __init__(self, cluster, kind, count, behaviour):
        self.processes = []
        for number in range(count):
            role = ("controller", "host0", "controller", "host1")[number % 4]
            self.processes.append(subprocess.Popen(
                [sys.executable, STRANGERS, behaviour, cluster.address(role, kind), cluster.ca_file,
                 f"127.0.0.{2 + number}"], stdout=subprocess.PIPE, text=True))

    def __enter__(self):
        for process in self.processes:
            assert process.stdout.readline() == "ready\n", "a stranger did not start"

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
            process.stdout.close()


class StrangersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.client = HonestClient(cls.cluster)
        cls.client.measure(0.2)
        cls.before = cls.cluster.incarnations()

    @classmethod
    def tearDownClass(cls):
        cls.client.stop()
        cls.cluster.stop()

    def disturb(self, kind, count, behaviour):
        beside, attacked, most_us = [], [], 0
        for _ in range(PAIRS):
            for name, medians, seconds in ((BEHAVIOURS[behaviour], beside, BESIDE_S),
                                           (behaviour, attacked, WINDOW_S)):
                with Strangers(self.cluster, kind, count, name):
                    _, median_us, most = self.client.measure(seconds)
                medians.append(median_us)
            most_us = max(most_us, most)
        ratio = statistics.median(after / before for before, after in zip(beside, attacked))
        print(f"{kind} {count:2} {behaviour:10} calls {statistics.median(attacked):7.0f} us (most {most_us:8.0f}), "
              f"{ratio:.2f} of those beside them", flush=True)
        self.assertEqual(self.cluster.incarnations(), self.before, "a role has restarted")
        if IS_NIGHTLY:
            self.assertLessEqual(ratio, RATIO_MAX)

    def disturb_all(self, behaviour):
        for kind in ("tls", "tcp"):
            for count in (1, 4, 16):
                with self.subTest(kind=kind, count=count):
                    self.disturb(kind, count, behaviour)

    def test_refused_callers_that_send_on(self):
        self.disturb_all("refused")

    def test_a_flood_of_handshakes(self):
        self.disturb_all("handshakes")

    def test_resets(self):
        self.disturb_all("resets")

    def test_slow_callers(self):
        self.disturb_all("slow")

    def test_half_open_connections(self):
        self.disturb_all("half_open")


if __name__ == "__main__":
    unittest.main()
