"""A small network learns to tell two spirals apart: JAX as anybody writes it, with no word of Seaway.

    ./dev jax                                        # sets everything up and runs it
    JAX_PLATFORMS=seaway python demos/jax/train.py   # on whatever SEAWAY_CLUSTER names
"""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np


def spirals(points, seed=0):
    """Points in the plane, and which of two spirals each is on."""
    random = np.random.default_rng(seed)
    turn = random.uniform(0.5, 3, points)
    side = random.integers(0, 2, points)
    angle = turn * 2 + side * np.pi
    x = np.stack([turn * np.cos(angle), turn * np.sin(angle)], 1)
    return (x + random.normal(0, 0.05, x.shape)).astype(np.float32), side.astype(np.int32)


def initial(key, sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        key, own = jax.random.split(key)
        weights = jax.random.normal(own, (inputs, outputs)) * jnp.sqrt(2 / inputs)
        layers.append((weights, jnp.zeros(outputs)))
    return layers


def logits(layers, x):
    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def loss(layers, x, y):
    chosen = jax.nn.log_softmax(logits(layers, x))[jnp.arange(len(y)), y]
    return -jnp.mean(chosen)


@jax.jit
def step(layers, momentum, x, y):
    value, gradient = jax.value_and_grad(loss)(layers, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    layers = jax.tree.map(lambda p, m: p - 0.1 * m, layers, momentum)
    return layers, momentum, value


@jax.jit
def accuracy(layers, x, y):
    return jnp.mean(jnp.argmax(logits(layers, x), 1) == y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--losses", action="store_true", help="print every loss, bit for bit")
    options = parser.parse_args()

    print(f"JAX {jax.__version__} on {jax.devices()[0]} of {jax.device_count()}")
    x, y = spirals(512)
    layers = initial(jax.random.key(0), [2, 64, 64, 2])
    momentum = jax.tree.map(jnp.zeros_like, layers)
    losses = []
    began = time.perf_counter()
    for _ in range(options.steps):
        layers, momentum, value = step(layers, momentum, x, y)
        losses.append(value)
    losses = [float(value) for value in losses]
    took = time.perf_counter() - began
    if options.losses:
        print("losses", *(value.hex() for value in losses))
    right = float(accuracy(layers, *spirals(512, seed=1)))
    print(f"{options.steps} steps in {took:.2f} s: loss {losses[0]:.3f} -> {losses[-1]:.3f}, "
          f"{right:.1%} of new points right")


if __name__ == "__main__":
    main()
