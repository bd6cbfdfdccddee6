#!/usr/bin/env python3
"""Every benchmark runs with small sizes and prints its figures: JSON objects with positive values."""
import json
import math
import os
import subprocess
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]

# What people and scripts look for; a name that goes away breaks them.
METRICS = {
    "actors": {"actors." + name for name in (
        "broadcast_ns_per_member", "broadcast_over_raw_caf_broadcast",
        "broadcast_over_raw_caf_oneway", "call_ns", "call_over_raw_caf", "chain_hop_ns",
        "chain_hop_over_oneway", "deadline_ns", "member_bytes", "oneway_ns",
        "oneway_over_raw_caf", "raw_caf_call_ns", "raw_caf_oneway_ns",
        "raw_caf_skynet_ns_per_leaf", "skynet_ns_per_leaf", "skynet_over_raw_caf", "sleep_ns",
        "spawn_us")},
    "arrays": {"array.bytes", "idle.core_percent"},
    "bulk": {"bulk." + name for name in (
        "control_busy_gb_per_s", "control_busy_p99_us", "control_idle_p50_us", "control_p99_over_idle",
        "control_round_trip_us", "fetch_gb_per_s", "hand_over_in_round_trips", "hand_over_us", "over_raw_tcp",
        "resharding_extra", "resharding_gb_per_s")},
    "clock": {"clock.ns_per_read"},
    # Others are measured where they are installed.
    "collectives": {"collectives." + name for name in (
        "all_reduce", "digits_embedded", "digits_over_embedded", "digits_two_by_two", "layer",
        "overlap")},
    "deaths": {"deaths." + name for name in (
        "again_ms", "elsewhere_ms", "kill_known_ms", "kill_outcome_ms", "raw_socket_end_ms",
        "seconds_of_load", "stop_known_ms")},
    "dispatch": {"dispatch.caf_request_ns", "dispatch.ns_per_node_shard", "dispatch.us_per_run",
                 "dispatch.over_caf_request", "dispatch.parallel_over_sequential",
                 "dispatch.parity_us"},
    "run": {"run.call_to_value_us", "run.condvar_us", "run.over_condvar"},
    "stages": {"stages.chain_us", "stages.hops", "stages.link_delays",
               "stages.parallel_over_sequential", "stages.wakes_per_stage"},
    "start": {"start.first_result_ms"},
    "up": {"up.first_result_ms", "up.idle_core_percent", "up.memory_mb"},
    "uploads": {"upload.gap_us", "upload.gap_ratio", "upload.round_trip_us_per_mib"},
    "wire": {"wire." + name for name in (
        "message_ns", "messages_over_writev", "over_raw_socket", "peer_round_trip_us",
        "raw_socket_us", "round_trip_us", "writev_message_ns")},
}

# Differences of two measured times, and ratios of them: on a busy machine the shorter program may
# take longer than the longer one, so that their sign says nothing.
DIFFERENCES = {"collectives." + name for name in ("all_reduce", "layer", "overlap")}


# Of figures that were measured in turns; each is printed with its interval.
RATIOS_OF_PAIRS = {"actors.broadcast_over_raw_caf_broadcast", "actors.broadcast_over_raw_caf_oneway",
                   "actors.call_over_raw_caf", "actors.oneway_over_raw_caf", "bulk.hand_over_in_round_trips",
                   "bulk.over_raw_tcp", "collectives.digits_over_embedded", "dispatch.over_caf_request", "dispatch.parallel_over_sequential", "run.over_condvar",
                   "stages.parallel_over_sequential", "upload.gap_ratio", "wire.messages_over_writev", "wire.over_raw_socket"}


class BenchTest(unittest.TestCase):
    def test_the_list_names_each_benchmark(self):
        done = subprocess.run([COMMAND, "bench", "list"], capture_output=True, text=True,
                              timeout=30, check=True)
        names = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(names, sorted([*METRICS, "jax"]))

    def test_what_needs_jax_says_how_to_get_it(self):
        done = subprocess.run([COMMAND, "bench", "jax"], capture_output=True, text=True, timeout=30,
                              env={**os.environ, "SEAWAY_JAX_DIRECTORY": "/nowhere"}, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no JAX in /nowhere: run `./dev jax` first", done.stderr)

    def check_interval(self, figure):
        interval = figure.pop("interval", None)
        if figure["metric"] in RATIOS_OF_PAIRS:
            self.assertLessEqual(interval[0], figure["value"])
            self.assertGreaterEqual(interval[1], figure["value"])

    def test_each_benchmark_prints_all_its_metrics_and_no_others(self):
        for name, metrics in METRICS.items():
            with self.subTest(benchmark=name):
                done = subprocess.run([COMMAND, "bench", name, "--json", "--quick"],
                                      capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 0, done.stderr)
                figures = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual({figure["metric"] for figure in figures}, metrics)
                for figure in figures:
                    self.check_interval(figure)
                    self.assertEqual(list(figure), ["metric", "value", "unit", "params"])
                    if "not_resolved" in figure["params"]:
                        self.assertIsNone(figure["value"])
                    elif figure["metric"] in DIFFERENCES:
                        self.assertTrue(math.isfinite(figure["value"]), figure)
                    else:
                        self.assertGreater(figure["value"], 0, figure)


if __name__ == "__main__":
    unittest.main()
