#!/usr/bin/env python3
"""Demos check themselves on the XLA CPU plugin: in one process, and on hosts that are processes."""
import os
import re
import subprocess
import tempfile
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
BACKEND = "pjrt:" + os.environ["SEAWAY_REAL_PLUGIN"]


def run(*words, **options):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=300, **options)


class DemosTest(unittest.TestCase):
    def check(self, demo, cluster):
        with tempfile.TemporaryDirectory() as directory:
            done = run("demo", demo, "--quick", "--cluster", cluster, "--trace",
                       os.path.join(directory, "trace.json"))
        self.assertEqual(done.returncode, 0, f"{demo}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_demos_that_compute_give_what_they_check_in_one_process(self):
        for demo, cluster in (("fig2", "islands=2,devices=4"), ("digits", "islands=2,devices=4"),
                              ("deadlock", "islands=1,devices=2")):
            with self.subTest(demo):
                self.check(demo, f"embedded:{cluster},backend={BACKEND}")

    def test_a_second_process_finds_what_the_first_one_compiled(self):
        with tempfile.TemporaryDirectory() as cache:
            cluster = f"embedded:islands=2,devices=4,executable_cache={cache},backend={BACKEND}"
            self.check("digits", cluster)
            kept = sorted(os.listdir(cache))
            self.check("digits", cluster)

            self.assertGreater(len(kept), 2)
            self.assertTrue(all(re.fullmatch(r"[0-9a-f]{32}\.pjrt", name) for name in kept), kept)
            self.assertEqual(sorted(os.listdir(cache)), kept)

    def test_a_demo_runs_on_hosts_that_are_processes(self):
        with tempfile.TemporaryDirectory() as directory:
            up = subprocess.Popen(
                [COMMAND, "up", "--islands", "2", "--devices", "4", "--backend", BACKEND,
                 "--directory", directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True)
            try:
                address = f"unix:{directory}/ctl.sock"
                for line in up.stdout:
                    if address in line:
                        break
                self.check("digits", address)
            finally:
                up.terminate()
                up.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main()
