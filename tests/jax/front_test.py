#!/usr/bin/env python3
"""Unmodified JAX on Seaway, in one process: two islands of four devices, which are XLA's CPU plugin."""
import os
import subprocess
import sys
import unittest
from functools import partial
from pathlib import Path

PLUGIN = os.environ["SEAWAY_REAL_PLUGIN"]
os.environ.update(JAX_PLATFORMS="seaway", SEAWAY_JAX_BACKEND=PLUGIN, SEAWAY_JAX_ISLANDS="2",
                  SEAWAY_JAX_DEVICES="4")
os.environ.pop("SEAWAY_CLUSTER", None)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import seaway_jax  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from one_device_programs import OneDevicePrograms  # noqa: E402

DEVICES = jax.devices()
TRAIN = Path(__file__).parents[2] / "demos/jax/train.py"


def on(devices, spec=P("x")):
    """A sharding over `devices`: of the first dimension, unless `spec` says otherwise."""
    return NamedSharding(Mesh(np.array(devices), ("x",)), spec)


class DevicesTest(unittest.TestCase):
    def test_each_device_of_the_cluster_is_one_of_jax(self):
        self.assertEqual(jax.default_backend(), "seaway")
        self.assertEqual([device.id for device in DEVICES], list(range(8)))
        self.assertEqual([device.island for device in DEVICES], [0, 0, 0, 0, 1, 1, 1, 1])
        self.assertEqual(str(DEVICES[5]), "SeawayDevice(id=5, island=1, index=1)")
        self.assertEqual({device.device_kind for device in DEVICES}, {"Seaway device"})


class ArraysTest(unittest.TestCase):
    def check(self, value, device=None):
        back = np.asarray(jax.device_put(value, device))
        self.assertEqual(back.dtype, value.dtype)
        np.testing.assert_array_equal(back, value)

    def test_values_of_all_types_come_back_as_they_were(self):
        names = ("bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64 int64 "
                 "uint64 float64 complex128")
        with jax.enable_x64(True):
            for name in names.split():
                with self.subTest(name):
                    self.check(np.array([[0, 1, 2], [3, 4, 5]]).astype(jnp.dtype(name)))

    def test_values_come_back_however_they_lay(self):
        whole = np.arange(24, dtype=np.float32).reshape(4, 6)
        for value in (whole.T, whole[::2, ::-3], whole[:0], np.broadcast_to(whole[0], (3, 6)),
                      np.float32(7), np.zeros((3, 0, 2), np.int32)):
            self.check(value, DEVICES[3])

    def test_arrays_move_between_devices_and_islands(self):
        there = jax.device_put(jax.device_put(jnp.arange(4.0), DEVICES[1]), DEVICES[6])
        back = jax.device_put(there, DEVICES[2])
        result = jax.jit(lambda x: x + 1)(there)

        self.assertEqual(there.devices(), {DEVICES[6]})
        self.assertEqual(result.devices(), {DEVICES[6]})
        np.testing.assert_array_equal(back, np.arange(4))
        np.testing.assert_array_equal(result, np.arange(4) + 1)

    def test_a_deleted_array_is_gone(self):
        array = jnp.arange(4.0)
        array.delete()

        self.assertTrue(array.is_deleted())
        with self.assertRaises(RuntimeError):
            np.asarray(array)


class ProgramsTest(OneDevicePrograms, unittest.TestCase):
    def test_eigenvalues_and_what_follows_from_them(self):
        half = np.random.default_rng(7).normal(size=(6, 6)).astype(np.float32)
        whole = half + half.T

        values, vectors = jnp.linalg.eigh(whole)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(whole), atol=1e-5)
        np.testing.assert_allclose(whole @ vectors, vectors * values, atol=1e-5)
        np.testing.assert_allclose(jnp.linalg.lstsq(jnp.eye(3, 2), jnp.ones(3))[0], [1, 1], atol=1e-5)

    def test_calls_run_ahead_of_the_devices(self):
        step = jax.jit(lambda x: x + 1)
        x = jnp.float32(0)
        for _ in range(2000):
            x = step(x)

        self.assertEqual(float(x), 2000)

    def test_what_a_program_is_given_up_is_gone(self):
        step = jax.jit(lambda state, x: (state + x, x * 2), donate_argnums=0)
        state = jnp.arange(4.0)
        following, doubled = step(state, jnp.ones(4))

        self.assertTrue(state.is_deleted())
        np.testing.assert_array_equal(following, [1, 2, 3, 4])
        np.testing.assert_array_equal(doubled, [2] * 4)
        with self.assertRaises((RuntimeError, ValueError)) as gone:
            step(state, jnp.ones(4))
        # JAX 0.12 finds it itself, and older ones hear it from the plugin.
        self.assertRegex(str(gone.exception), "has been deleted (or donated|with shape)")

    def test_a_program_that_was_compiled_runs_on_the_next_device_without_a_compiler(self):
        step = jax.jit(lambda x: jnp.tanh(x) @ x.T)
        results = [np.asarray(step(jax.device_put(np.eye(3), device))) for device in DEVICES]

        for result in results[1:]:
            np.testing.assert_array_equal(result, results[0])


class ShardedTest(unittest.TestCase):
    def test_one_program_runs_over_two_and_four_devices_of_an_island(self):
        for devices in (DEVICES[:2], DEVICES[:4], DEVICES[4:], [DEVICES[3], DEVICES[1]]):
            with self.subTest(str(devices)):
                rows, everywhere = on(devices), on(devices, P())
                both = jax.jit(lambda x: (x * 2, jnp.sum(x)), out_shardings=(rows, everywhere))
                doubled, total = both(jax.device_put(jnp.arange(8.0), rows))
                np.testing.assert_array_equal(doubled, np.arange(8) * 2)
                self.assertEqual(float(total), 28)
                self.assertEqual(doubled.devices(), set(devices))

    def test_results_stay_where_the_compiler_leaves_them(self):
        mesh = Mesh(np.array(DEVICES[:4]).reshape(2, 2), ("x", "y"))
        square = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("x", "y")))
        product = jax.jit(lambda x: x @ x)(square)

        self.assertEqual(len(product.devices()), 4)
        np.testing.assert_array_equal(product, np.full((8, 8), 8))

    def test_shards_add_up_in_shard_map(self):
        mesh = Mesh(np.array(DEVICES[:4]), ("x",))
        total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"),
                                      out_specs=P()))

        np.testing.assert_array_equal(total(jnp.arange(8.0)), [12, 16])

    def test_many_sharded_calls_run_ahead(self):
        mesh = Mesh(np.array(DEVICES[:4]), ("x",))
        step = jax.jit(jax.shard_map(lambda x: x + jax.lax.pmean(x, "x"), mesh=mesh,
                                     in_specs=P("x"), out_specs=P("x")))
        x = jax.device_put(jnp.zeros(4), on(DEVICES[:4])) + 1
        for _ in range(200):
            x = step(x) / 2

        np.testing.assert_array_equal(x, np.ones(4))

    def test_sharded_states_may_be_given_up(self):
        rows = on(DEVICES[:4])
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        state = jax.device_put(jnp.arange(8.0), rows)
        following = step(state)

        self.assertTrue(state.is_deleted())
        np.testing.assert_array_equal(following, np.arange(8) + 1)

    def test_a_program_over_two_islands_is_refused_with_what_to_do_instead(self):
        x = jax.device_put(jnp.arange(8.0), on(DEVICES))
        with self.assertRaises(RuntimeError) as refused:
            jax.jit(lambda x: x * 2)(x)

        self.assertIn("UNIMPLEMENTED: one sharded program is to run on devices 0 1 2 3 of island 0 "
                      "and 4 5 6 7 of island 1", str(refused.exception))
        self.assertIn("move arrays between them by jax.device_put", str(refused.exception))


class ProgramTest(unittest.TestCase):
    """Blocks that leave as one program give what their calls give."""

    def setUp(self):
        self.more = jax.jit(lambda x: x + 1)
        self.both = jax.jit(lambda x, y: (x * 2, x @ y))

    def check(self, block, *arguments):
        whole = seaway_jax.program(block)
        expected = jax.tree.map(np.asarray, block(*arguments))
        for _ in range(2):
            got = whole(*arguments)
            jax.tree.map(np.testing.assert_array_equal, jax.tree.map(np.asarray, got), expected)
        return got

    def test_calls_on_one_device_become_one_part(self):
        def chain(x):
            for _ in range(128):
                x = self.more(x)
            return {"last": x, "first": self.more(x - x)}

        got = self.check(chain, jax.device_put(jnp.arange(4.0), DEVICES[3]))

        self.assertEqual(got["last"].devices(), {DEVICES[3]})

    def test_values_move_between_islands_inside_it(self):
        def block(x, y):
            moved = jax.device_put(self.more(x), DEVICES[6])
            doubled, product = self.both(moved, moved)
            back = jax.device_put(product, DEVICES[1])
            return doubled, back + self.more(y), x, jnp.zeros(3)

        x = jax.device_put(jnp.ones((4, 4)), DEVICES[0])
        got = self.check(block, x, jax.device_put(jnp.ones((4, 4)), DEVICES[1]))

        self.assertEqual([value.devices() for value in got[:2]], [{DEVICES[6]}, {DEVICES[1]}])

    def test_shards_of_two_islands_work_on_their_own_parts(self):
        here, there = on(DEVICES[:4]), on(DEVICES[4:])
        step = jax.jit(lambda x: x * 2 + jnp.sum(x))

        def block(x):
            return step(jax.device_put(step(x), there))

        got = self.check(block, jax.device_put(jnp.arange(8.0), here))

        self.assertEqual(got.devices(), set(DEVICES[4:]))

    def test_constants_literals_and_scalars_come_along(self):
        table = np.arange(6.0, dtype=np.float32)

        def block(x, scale):
            y = jax.device_put(self.more(x) * scale, DEVICES[5])
            return y + table, 7, scale

        self.check(block, jax.device_put(jnp.zeros(6), DEVICES[2]), 3.0)

    def test_what_it_is_traced_for_is_traced_once(self):
        traced = []

        @seaway_jax.program
        def block(x):
            traced.append(x.shape)
            return jax.device_put(self.more(x), DEVICES[4])

        for size in (2, 3, 2, 3, 2):
            np.testing.assert_array_equal(block(jnp.zeros(size)), np.ones(size))

        self.assertEqual(traced, [(2,), (3,)])

    def test_values_may_not_be_looked_at(self):
        @seaway_jax.program
        def block(x):
            return self.more(x) if float(x) > 0 else x

        with self.assertRaises(jax.errors.ConcretizationTypeError):
            block(jnp.float32(1))

    def test_what_fails_in_it_is_found_in_what_follows(self):
        large = jax.jit(lambda x: jnp.zeros((1 << 30,)) + x)

        @seaway_jax.program
        def block(x):
            return jax.device_put(large(x), DEVICES[4]), self.more(x)

        with self.assertRaises(RuntimeError) as refused:
            jax.block_until_ready(block(jnp.float32(1)))

        self.assertIn("bytes", str(refused.exception))
        self.assertEqual(float(self.more(jnp.float32(1))), 2)


class StagesDemoTest(unittest.TestCase):
    def test_it_computes_what_one_device_would(self):
        done = subprocess.run([sys.executable, TRAIN.with_name("stages.py")], text=True,
                              env=os.environ, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("island=1, index=0), as one program from SeawayDevice(id=0", done.stdout)


class ErrorsTest(unittest.TestCase):
    def test_what_a_device_cannot_hold_is_refused_with_the_numbers(self):
        with self.assertRaises(RuntimeError) as refused:
            jax.jit(lambda: jnp.zeros((1 << 30,)))().block_until_ready()

        self.assertIn("RESOURCE_EXHAUSTED", str(refused.exception))
        self.assertIn("bytes at once on device 0", str(refused.exception))
        self.assertEqual(float(jnp.float32(1) + 1), 2)

    def test_types_that_no_array_has_are_refused_by_name(self):
        with self.assertRaises(RuntimeError) as refused:
            jax.jit(lambda x: x.astype(jnp.int4))(jnp.arange(4)).block_until_ready()

        self.assertIn("UNIMPLEMENTED", str(refused.exception))


class TrainingTest(unittest.TestCase):
    def line(self, start, command, **environment):
        """What `command` prints behind `start`."""
        for name in ("SEAWAY_JAX_ISLANDS", "SEAWAY_JAX_DEVICES", "SEAWAY_JAX_BACKEND",
                     "PJRT_NAMES_AND_LIBRARY_PATHS"):
            environment.setdefault(name, "")
        done = subprocess.run([sys.executable, *command], text=True, env={**os.environ, **environment},
                              capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stdout.splitlines() if line.startswith(start)][0]

    def check_that_it_is_the_plugins(self, start, *command):
        # Its sums depend on how many devices it has.
        here = self.line(start, command, SEAWAY_JAX_BACKEND=PLUGIN)
        there = self.line(start, command, JAX_PLATFORMS="xcpu",
                          PJRT_NAMES_AND_LIBRARY_PATHS=f"xcpu:{PLUGIN}")
        self.assertEqual(here, there)

    def test_losses_are_those_of_the_plugin_itself_bit_by_bit(self):
        self.check_that_it_is_the_plugins("losses", TRAIN, "--steps", "60", "--losses")

    def test_steps_on_another_batch_each_are_those_of_the_plugin_itself_bit_by_bit(self):
        self.check_that_it_is_the_plugins("sums", Path(__file__).with_name("batches.py"))

    def test_short_programs_on_one_core_are_the_plugins_on_all_bit_by_bit(self):
        self.check_that_it_is_the_plugins("digest", Path(__file__).with_name("networks.py"), "24")

    def test_random_calls_read_what_they_do_on_the_plugin_itself_bit_by_bit(self):
        for seed in ("1", "2"):
            with self.subTest(seed=seed):
                self.check_that_it_is_the_plugins("digest", Path(__file__).with_name("random_calls.py"), seed, "1000")


if __name__ == "__main__":
    unittest.main()
