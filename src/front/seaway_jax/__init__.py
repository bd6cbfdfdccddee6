"""Unmodified JAX programs on a Seaway cluster.

JAX finds this package by its entry point (group `jax_plugins`) and calls initialize(), which
registers Seaway's PJRT plugin as platform "seaway":

    JAX_PLATFORMS=seaway SEAWAY_CLUSTER=unix:/run/user/1000/seaway/ctl.sock python train.py

Without a cluster SEAWAY_JAX_BACKEND names a PJRT plugin (XLA's for CPUs, say) whose devices this
process serves itself; SEAWAY_JAX_ISLANDS and SEAWAY_JAX_DEVICES say how many. SEAWAY_TENANT and
SEAWAY_WEIGHT say in whose name, and with which share of the devices' time; SEAWAY_JAX_AHEAD says
with how many runs in flight a call waits.

seaway_jax.program has a block of calls of jitted functions leave as one program.
"""
import os
from pathlib import Path

__version__ = "0.1.0"

PLATFORM = "seaway"

# Whoever sets one of these wants Seaway; for all others the package might as well not be there.
WANTED_BY = ("SEAWAY_CLUSTER", "SEAWAY_JAX_BACKEND")


def library_path():
    """The plugin: the one that SEAWAY_PJRT_LIBRARY names, or the one in this package."""
    named = os.environ.get("SEAWAY_PJRT_LIBRARY")
    return Path(named) if named else Path(__file__).with_name("libseaway_pjrt.so")


def is_wanted():
    """Whether the environment asks for Seaway at all."""
    platforms = os.environ.get("JAX_PLATFORMS", "").split(",")
    return PLATFORM in platforms or any(os.environ.get(name) for name in WANTED_BY)


def initialize():
    """Registers the platform. Called by JAX."""
    if not is_wanted():
        return
    library = library_path()
    if not library.exists():
        raise FileNotFoundError(f"Seaway's plugin is not at {library}: install the wheel that "
                                "`./dev wheel` makes, or set SEAWAY_PJRT_LIBRARY")
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir

    xla_bridge.register_plugin(PLATFORM, priority=500, library_path=str(library))
    # What a program gives up is gone, and its memory becomes the results', as on other platforms.
    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)
    from seaway_jax import lowerings

    lowerings.register(PLATFORM)


def __getattr__(name):
    # JAX imports this package whenever it starts, and then is not there yet itself.
    if name == "program":
        from seaway_jax.programs import program
        return program
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
