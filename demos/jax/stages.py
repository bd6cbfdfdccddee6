"""A network whose layers live on two islands, as one program a call.

    JAX_PLATFORMS=seaway SEAWAY_CLUSTER=... python demos/jax/stages.py    # with the wheel of ./dev wheel

The cluster has two islands at least, or SEAWAY_JAX_ISLANDS=2 for one in this process.
"""
import jax
import jax.numpy as jnp
import numpy as np
import seaway_jax

# [program]
first, second = [device for device in jax.devices() if device.index == 0][:2]


@jax.jit
def encode(weights, x):
    return jnp.tanh(x @ weights)


@jax.jit
def decode(weights, hidden):
    return hidden @ weights.T


@seaway_jax.program
def rebuild(here, there, x):
    hidden = encode(here, encode(here, x))           # On the first island, as one part,
    hidden = jax.device_put(hidden, second)          # from host to host,
    return decode(there, hidden)                     # and on the second one.
# [/program]


def main():
    weights = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0].astype(np.float32)
    x = jax.device_put(jnp.eye(8), first)
    result = rebuild(jax.device_put(weights, first), jax.device_put(weights, second), x)
    expected = np.tanh(np.tanh(np.eye(8, dtype=np.float32) @ weights) @ weights) @ weights.T
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    print(f"{result.shape} on {result.device}, as one program from {first}: right")


if __name__ == "__main__":
    main()
