#!/usr/bin/env python3
"""Steps on another batch each, enqueued far ahead of their results; prints every sum, bit for bit."""
import jax
import jax.numpy as jnp
import numpy as np

STEPS, ROUNDS = 300, 3

random = np.random.default_rng(0)
batches = [jax.device_put(random.normal(size=(128, 64)).astype(np.float32)) for _ in range(STEPS)]


@jax.jit
def step(weights, batch):
    """Takes long enough for a plugin to be told of the next one while it runs."""
    for _ in range(4):
        weights = jnp.tanh(weights @ (batch.T @ batch) * 0.001 + weights * 0.9)
    return weights, jnp.sum(weights * batch[:64])


weights = jnp.full((64, 64), 0.01, jnp.float32)
sums = []
for number in range(STEPS * ROUNDS):
    weights, value = step(weights, batches[number * 7 % STEPS])
    sums.append(value)
print("sums", *(float(value).hex() for value in sums))
