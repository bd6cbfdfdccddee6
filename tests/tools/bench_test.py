#!/usr/bin/env python3
"""Every benchmark runs with small sizes and prints its figures: JSON objects with positive values."""
import json
import os
import subprocess
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]

# What people and scripts look for; a name that goes away breaks them.
METRICS = {
    "arrays": {"array.bytes", "idle.core_percent"},
    "clock": {"clock.ns_per_read"},
    "dispatch": {"dispatch.caf_request_ns", "dispatch.ns_per_node_shard", "dispatch.us_per_run",
                 "dispatch.over_caf_request", "dispatch.parallel_over_sequential",
                 "dispatch.parity_us"},
    "run": {"run.call_to_value_us", "run.condvar_us", "run.over_condvar"},
    "start": {"start.first_result_ms"},
    "uploads": {"upload.gap_us", "upload.gap_ratio"},
}


class BenchTest(unittest.TestCase):
    def test_the_list_names_each_benchmark(self):
        done = subprocess.run([COMMAND, "bench", "list"], capture_output=True, text=True,
                              timeout=30, check=True)
        names = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(names, sorted(METRICS))

    def test_each_benchmark_prints_all_its_metrics_and_no_others(self):
        for name, metrics in METRICS.items():
            with self.subTest(benchmark=name):
                done = subprocess.run([COMMAND, "bench", name, "--json", "--quick"],
                                      capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 0, done.stderr)
                figures = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual({figure["metric"] for figure in figures}, metrics)
                for figure in figures:
                    self.assertEqual(list(figure), ["metric", "value", "unit", "params"])
                    self.assertGreater(figure["value"], 0, figure)


if __name__ == "__main__":
    unittest.main()
