#!/usr/bin/env python3
"""Random calls of jitted functions, on arrays that are kept, given up, written anew and read; prints a digest of all
that was read.

random_calls.py SEED CALLS"""
import hashlib
import random
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

SIZES = [(16,), (64, 64), (256, 64), (8,), (300, 300), (1,), (1024, 256)]
STEPS_MAX = 30
choose, noise = random.Random(int(sys.argv[1])), np.random.default_rng(int(sys.argv[1]))


def waves(a):
    factors = jnp.arange(1, 40, dtype=jnp.float32).reshape((39,) + (1,) * a.ndim)
    return jnp.sum(jnp.tanh(a)[None] * factors, 0) * 0.01


def step(a, b):
    """Takes long enough for a plugin to be told of the next one while it runs."""
    for _ in range(3):
        a = jnp.tanh(a @ (b.T @ b) * 1e-3 + a * 0.9)
    return a, b + 1e-3


def mix(a, b):
    return a * 0.5 + b * 0.25


def mix_and_keep(a, b):
    return mix(a, b), b * 1.0


def three(a):
    return a + 1, a * 0.5, a


waves, total, same = jax.jit(waves), jax.jit(jnp.sum), jax.jit(lambda a: a)
step, step_in_place = jax.jit(step), jax.jit(step, donate_argnums=0)
mix, mix_in_place = jax.jit(mix), jax.jit(mix, donate_argnums=0)
mix_both_in_place = jax.jit(mix_and_keep, donate_argnums=(0, 1))
three, three_in_place = jax.jit(three), jax.jit(three, donate_argnums=0)

digest = hashlib.sha1()
pools = {size: [jax.device_put(noise.normal(size=size).astype(np.float32)) for _ in range(4)] for size in SIZES}
weights = jnp.full((64, 64), 0.01, jnp.float32)


def read(array):
    value = np.asarray(array)
    digest.update(value.tobytes())
    return value


def call(size, pool):
    global weights
    batches = pools[256, 64]
    one = choose.randrange(len(pool))
    other = (one + 1) % len(pool)
    steps = range(choose.randrange(1, STEPS_MAX))

    def keep(*values):
        for value in values:
            pool[choose.randrange(len(pool))] = value

    match choose.randrange(18):
        case 0 | 1:
            keep(mix(pool[one], choose.choice(pool)))
        case 2:
            pool[one] = mix_in_place(pool[one], pool[other])
        case 3:
            pool[one], pool[other] = mix_both_in_place(pool[one], pool[other])
        case 4:
            keep(waves(pool[one]))
        case 5:
            keep(same(pool[one]))
        case 6:
            keep(*three(pool[one]))
        case 7:
            pool[one], *others = three_in_place(pool[one])
            keep(*others)
        case 8:
            read(total(pool[one]))
        case 9:
            read(pool[one])
        case 10:
            keep(jax.device_put(noise.normal(size=size).astype(np.float32)))
        case 11:
            for _ in steps:
                weights, _ = step(weights, choose.choice(batches))
        case 12:
            for _ in steps:
                at = choose.randrange(len(batches))
                weights, batches[at] = step_in_place(weights, batches[at])
        case 13:
            read(weights)
        case 14:
            jax.block_until_ready(pool[one])
        case 15:
            time.sleep(choose.random() * 1e-3)
        case 16:
            keep(pool[one] + 0)
        case 17:
            keep(jax.device_put(read(pool[one])))


for _ in range(int(sys.argv[2])):
    size = choose.choice(SIZES)
    call(size, pools[size])
for pool in pools.values():
    for array in pool:
        read(array)
print("digest", digest.hexdigest())
