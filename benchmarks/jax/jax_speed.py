#!/usr/bin/env python3
"""How fast JAX is on the platform that the environment names.

jax_speed.py speed FILE quick|full    writes medians by name, in microseconds, and losses, as JSON
jax_speed.py share FILE SECONDS       says `ready`, waits for FILE.go, steps for so long, and writes how many
                                      steps there were
Both say `measured` at the end."""
import json
import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

CHAIN = 128
AHEAD = 32


def median_us(call, times):
    samples = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return float(np.median(samples)) * 1e6


def small_calls(times):
    """x + 1 of eight numbers: one of 32 calls ahead of their results, one whose result is waited for before the next
    (and what is enqueued of it, by a core that has waited), and 128 that follow from one another."""
    step = jax.jit(lambda x: x + 1)
    x = jax.device_put(np.zeros(8, np.float32))
    jax.block_until_ready([step(x) for _ in range(500)])
    ahead, enqueued, blocked = [], [], []
    for _ in range(times // AHEAD + 1):
        results = []
        for _ in range(AHEAD):
            begin = time.perf_counter()
            results.append(step(x))
            ahead.append(time.perf_counter() - begin)
        jax.block_until_ready(results)
    for _ in range(times):
        begin = time.perf_counter()
        result = step(x)
        between = time.perf_counter()
        result.block_until_ready()
        blocked.append(time.perf_counter() - begin)
        enqueued.append(between - begin)

    def chain(x):
        for _ in range(CHAIN):
            x = step(x)
        return x

    figures = {name: float(np.median(samples)) * 1e6
               for name, samples in (("enqueue", ahead), ("blocked", blocked), ("enqueue_of_blocked", enqueued))}
    chain(x).block_until_ready()
    figures["chain"] = median_us(lambda: chain(x).block_until_ready(), times // 50 + 3)
    if jax.default_backend() == "seaway":
        import seaway_jax
        program = seaway_jax.program(chain)
        program(x).block_until_ready()
        figures["program"] = median_us(lambda: program(x).block_until_ready(), times // 10 + 3)
    return figures


def adam(parameters, gradients, first, second, time_step, rate=1e-3):
    time_step = time_step + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    scale, square = 1 - 0.9**time_step, 1 - 0.999**time_step
    parameters = jax.tree.map(
        lambda p, m, v: p - rate * (m / scale) / (jnp.sqrt(v / square) + 1e-8), parameters, first, second)
    return parameters, first, second, time_step


def train(loss, parameters, batch, steps):
    """Microseconds a step when all are enqueued ahead, and the losses."""
    zeros = jax.tree.map(jnp.zeros_like, parameters)

    @jax.jit
    def step(state, batch):
        value, gradients = jax.value_and_grad(loss)(state[0], *batch)
        return adam(state[0], gradients, *state[1:]), value

    state = (parameters, zeros, zeros, jnp.float32(0))
    losses = []
    for _ in range(5):
        state, value = step(state, batch)
        losses.append(value)
    jax.block_until_ready(state)
    rounds = []
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(steps):
            state, value = step(state, batch)
            losses.append(value)
        jax.block_until_ready(state)
        rounds.append((time.perf_counter() - begin) / steps * 1e6)
    return min(rounds), [float(value).hex() for value in losses]


def perceptron(steps):
    """64-128-10, batch 128, Adam."""
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    parameters = {"w1": jax.random.normal(keys[0], (64, 128)) * 0.1, "b1": jnp.zeros(128),
                  "w2": jax.random.normal(keys[1], (128, 10)) * 0.1, "b2": jnp.zeros(10)}
    x = jax.random.normal(keys[2], (128, 64))
    y = jax.random.randint(keys[3], (128,), 0, 10)

    def loss(p, x, y):
        hidden = jax.nn.relu(x @ p["w1"] + p["b1"])
        chances = jax.nn.log_softmax(hidden @ p["w2"] + p["b2"])
        return -jnp.take_along_axis(chances, y[:, None], 1).mean()

    return train(loss, parameters, (x, y), steps)


def transformer(steps, batch=16, layers=2, width=128, heads=4, length=128, words=256):
    """Decoder-only, f32, Adam; 475,776 parameters."""
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 40))

    def normal(*sizes):
        return jax.random.normal(next(keys), sizes) * 0.02

    parameters = {"words": normal(words, width), "places": normal(length, width), "norm": jnp.ones(width),
                  "out": normal(width, words),
                  "blocks": [{"norm1": jnp.ones(width), "norm2": jnp.ones(width),
                              "qkv": normal(width, 3 * width), "o": normal(width, width),
                              "in": normal(width, 4 * width), "out": normal(4 * width, width)}
                             for _ in range(layers)]}
    past = jnp.tril(jnp.ones((length, length), bool))

    def norm(x, gain):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain

    def split(x):
        return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

    def loss(p, x, y):
        h = p["words"][x] + p["places"]
        for block in p["blocks"]:
            q, k, v = map(split, jnp.split(norm(h, block["norm1"]) @ block["qkv"], 3, -1))
            scores = jnp.where(past, q @ k.swapaxes(-1, -2) / np.sqrt(width // heads), -1e9)
            mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
            h = h + mixed @ block["o"]
            h = h + jax.nn.gelu(norm(h, block["norm2"]) @ block["in"]) @ block["out"]
        chances = jax.nn.log_softmax(norm(h, p["norm"]) @ p["out"])
        return -jnp.take_along_axis(chances, y[..., None], -1).mean()

    x = jax.random.randint(jax.random.PRNGKey(2), (batch, length), 0, words)
    return train(loss, parameters, (x, jnp.roll(x, -1, 1)), steps)


def measure(is_quick):
    figures = small_calls(200 if is_quick else 3000)
    figures["perceptron"], losses = perceptron(20 if is_quick else 400)
    figures["transformer"], more = transformer(1 if is_quick else 10, **({"batch": 1} if is_quick else {}))
    return figures, losses + more


def share(seconds, go):
    """Steps that were done within the time; always as many ahead as keep the devices busy."""
    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jax.device_put(np.eye(384, dtype=np.float32))
    step(x).block_until_ready()
    print("ready", flush=True)
    while not os.path.exists(go):
        time.sleep(0.002)
    waiting, done, end = [], 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        x = step(x)
        waiting.append(x)
        if len(waiting) > 32:
            waiting.pop(0).block_until_ready()
            done += 1
    return done


def main():
    what, path, how = sys.argv[1:]
    if what == "speed":
        figures, losses = measure(how == "quick")
        found = {"us": figures, "losses": losses}
    else:
        found = {"steps": share(float(how), path + ".go")}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file)
    print("measured", flush=True)


if __name__ == "__main__":
    main()
