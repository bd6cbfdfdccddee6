#!/usr/bin/env python3
"""`seaway bench jax` prints all its figures, and JAX's losses on Seaway are those of the plugin alone."""
import json
import os
import subprocess
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]

FIGURES = {"enqueue", "enqueue_of_blocked", "blocked", "chain", "program", "perceptron", "transformer"}
METRICS = {f"jax.{name}_us" for name in FIGURES} | {f"jax.{name}" for name in (
    "blocked_over_own", "blocked_over_plugin", "chain_over_own", "chain_over_plugin", "control_round_trip_us",
    "enqueue_over_own", "host_blocked_more_in_round_trips", "host_enqueue_over_embedded",
    "losses_equal_to_plugin", "perceptron_over_own", "perceptron_over_plugin", "program_over_own_chain",
    "shares_error_percent", "transformer_over_own", "transformer_over_plugin")}


class BenchTest(unittest.TestCase):
    def test_it_prints_all_its_metrics_and_no_others(self):
        done = subprocess.run([COMMAND, "bench", "jax", "--json", "--quick"], capture_output=True,
                              text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = [json.loads(line) for line in done.stdout.splitlines()]
        value_of = {figure["metric"]: figure["value"] for figure in figures}

        self.assertEqual(set(value_of), METRICS)
        self.assertEqual(value_of["jax.losses_equal_to_plugin"], 1)
        clients = {figure["params"]["client"] for figure in figures if "client" in figure["params"]}
        self.assertEqual(clients, {"own", "plugin", "seaway", "seaway_host"})


if __name__ == "__main__":
    unittest.main()
