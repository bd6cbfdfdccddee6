#!/usr/bin/env python3
"""Unmodified JAX on one device of a plugin, in one process and on a cluster: what a GPU must give."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLUGIN = os.environ["SEAWAY_REAL_PLUGIN"]
COMMAND = os.environ["SEAWAY_COMMAND"]
TRAIN = Path(__file__).parents[2] / "demos/jax/train.py"
NAMES = ("SEAWAY_CLUSTER", "SEAWAY_JAX_ISLANDS", "SEAWAY_JAX_DEVICES", "SEAWAY_JAX_BACKEND")
PLAIN = {name: value for name, value in os.environ.items() if name not in NAMES}
EMBEDDED = {**PLAIN, "JAX_PLATFORMS": "seaway", "SEAWAY_JAX_BACKEND": PLUGIN, "SEAWAY_JAX_ISLANDS": "1",
            "SEAWAY_JAX_DEVICES": "1"}
os.environ.clear()
os.environ.update(EMBEDDED)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import seaway_jax  # noqa: E402
from one_device_programs import OneDevicePrograms  # noqa: E402


class ArraysTest(unittest.TestCase):
    def check(self, value):
        back = np.asarray(jax.device_put(value))
        self.assertEqual(back.dtype, value.dtype)
        np.testing.assert_array_equal(back, value)

    def test_there_is_one_device(self):
        self.assertEqual(str(jax.devices()), "[SeawayDevice(id=0, island=0, index=0)]")

    def test_values_of_all_types_come_back_as_they_were(self):
        names = ("bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64 int64 "
                 "uint64 float64 complex128")
        with jax.enable_x64(True):
            for name in names.split():
                with self.subTest(name):
                    self.check(np.array([[0, 1, 2], [3, 4, 5]]).astype(jnp.dtype(name)))

    def test_results_of_all_types_come_back_as_they_were(self):
        names = "int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64 int64 float64"
        with jax.enable_x64(True):
            for name in names.split():
                with self.subTest(name):
                    value = np.array([[0, 1, 2], [3, 4, 5]]).astype(jnp.dtype(name))
                    got = np.asarray(jax.jit(lambda x: (x + x).T)(value))
                    np.testing.assert_array_equal(got, (value + value).T)

    def test_values_come_back_however_they_lay(self):
        whole = np.arange(24, dtype=np.float32).reshape(4, 6)
        for value in (whole.T, whole[::2, ::-3], whole[:0], np.broadcast_to(whole[0], (3, 6)),
                      np.float32(7), np.zeros((3, 0, 2), np.int32)):
            self.check(value)

    def test_16_mib_come_back_as_they_were(self):
        self.check(np.random.default_rng(3).integers(0, 1 << 30, 1 << 22).astype(np.int32))


class ProgramsTest(OneDevicePrograms, unittest.TestCase):
    def test_products_of_matrices_that_lie_in_any_order(self):
        # Small integers: exact in whatever format a device multiplies in.
        a, b = (np.random.default_rng(seed).integers(-4, 5, (64, 64)).astype(np.float32)
                for seed in (1, 2))
        product = jax.jit(lambda x, y: (x @ y, x.T @ y, (x @ y.T).T))(a, b)

        for got, expected in zip(product, (a @ b, a.T @ b, (a @ b.T).T)):
            np.testing.assert_array_equal(got, expected)

    def test_convolutions(self):
        image = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6) % 5
        kernel = np.ones((1, 1, 3, 3), np.float32)
        got = jax.jit(lambda x, k: jax.lax.conv(x, k, (1, 1), "VALID"))(image, kernel)
        windows = np.lib.stride_tricks.sliding_window_view(image[0, 0], (3, 3))

        np.testing.assert_allclose(got[0, 0], windows.sum((2, 3)), rtol=1e-5)

    def test_calls_run_ahead_of_the_device(self):
        step = jax.jit(lambda x: x + 1)
        x = jnp.float32(0)
        for _ in range(500):
            x = step(x)

        self.assertEqual(float(x), 500)

    def test_what_a_program_is_given_up_is_gone(self):
        step = jax.jit(lambda state, x: (state + x, x * 2), donate_argnums=0)
        state = jnp.arange(4.0)
        following, doubled = step(state, jnp.ones(4))

        self.assertTrue(state.is_deleted())
        np.testing.assert_array_equal(following, [1, 2, 3, 4])
        np.testing.assert_array_equal(doubled, [2] * 4)

    def test_a_block_of_calls_is_one_program(self):
        more = jax.jit(lambda x: x + 1)

        @seaway_jax.program
        def chain(x):
            for _ in range(32):
                x = more(x)
            return x

        np.testing.assert_array_equal(chain(jnp.arange(4.0)), np.arange(4) + 32)

    def test_what_does_not_fit_is_refused_and_the_device_goes_on(self):
        with self.assertRaises(RuntimeError) as refused:
            jax.jit(lambda: jnp.zeros((1 << 40,), jnp.int8))().block_until_ready()

        self.assertIn("RESOURCE_EXHAUSTED", str(refused.exception))
        self.assertEqual(float(jnp.float32(1) + 1), 2)


class TrainingTest(unittest.TestCase):
    def losses(self, **environment):
        done = subprocess.run([sys.executable, TRAIN, "--steps", "60", "--losses"], text=True,
                              env={**PLAIN, **environment}, capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("losses")]
        return np.array([float.fromhex(word) for word in line.split()[1:]])

    def plugin_alone(self):
        return self.losses(JAX_PLATFORMS="alone", PJRT_NAMES_AND_LIBRARY_PATHS=f"alone:{PLUGIN}")

    def test_losses_are_those_of_the_plugin_without_seaway(self):
        # Compilers that measure may choose other products of matrices each time.
        here = self.losses(**EMBEDDED)
        np.testing.assert_allclose(here, self.plugin_alone(), rtol=0.02, atol=0.002)
        self.assertEqual(len(here), 60)

    def test_a_cluster_of_processes_trains_the_same(self):
        with tempfile.TemporaryDirectory() as directory:
            address = f"unix:{directory}/ctl.sock"
            up = subprocess.Popen([COMMAND, "up", "--islands", "1", "--devices", "1", "--backend",
                                   f"pjrt:{PLUGIN}", "--directory", directory],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                for line in up.stdout:
                    if address in line:
                        break
                there = self.losses(JAX_PLATFORMS="seaway", SEAWAY_CLUSTER=address)
            finally:
                up.terminate()
                up.communicate(timeout=60)
        np.testing.assert_allclose(there, self.plugin_alone(), rtol=0.02, atol=0.002)


if __name__ == "__main__":
    unittest.main()
