"""Programs that run on one device, whichever it is: cases of front_test.py and one_device_test.py."""
import jax
import jax.numpy as jnp
import numpy as np


class OneDevicePrograms:
    """A base of unittest.TestCase classes."""

    def test_jit_dot_and_grad(self):
        x = jnp.arange(4.0)

        np.testing.assert_array_equal(jax.jit(lambda x: x * 2 + 1)(x), [1, 3, 5, 7])
        np.testing.assert_array_equal(jnp.dot(jnp.ones((4, 4)), x), [6] * 4)
        np.testing.assert_array_equal(jax.grad(lambda x: jnp.sum(x**3))(x), [0, 3, 12, 27])

    def test_loops_scans_and_sorts(self):
        loop = jax.jit(lambda x: jax.lax.fori_loop(0, 100, lambda i, v: v + i, x))
        scan = jax.jit(lambda x: jax.lax.scan(lambda c, a: (c + a, c * a), 0.0, x)[1])

        self.assertEqual(float(loop(jnp.float32(1))), 4951)
        np.testing.assert_array_equal(scan(jnp.arange(5.0)), [0, 0, 2, 9, 24])
        np.testing.assert_array_equal(jnp.sort(jnp.array([3, 1, 2])), [1, 2, 3])

    def test_random_numbers_linear_algebra_and_fourier(self):
        normal = np.asarray(jax.random.normal(jax.random.key(0), (1000,)))

        self.assertLess(abs(normal.mean()), 0.1)
        np.testing.assert_allclose(jnp.linalg.solve(jnp.eye(3) * 2, jnp.ones(3)), [0.5] * 3)
        np.testing.assert_allclose(jnp.fft.fft(jnp.arange(4.0)), np.fft.fft(np.arange(4)),
                                   rtol=1e-6, atol=1e-6)
