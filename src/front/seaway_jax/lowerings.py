"""How operations become programs that JAX lowers differently for each platform.

For most of them JAX has a rule for every platform. Eigenvalues of symmetric matrices it lowers to
LAPACK on CPUs and to a solver on GPUs, which are functions of jaxlib's process and not of a host of
the cluster. On TPUs it lowers them to StableHLO and one custom call, "Eigh", which XLA's compiler
expands on any device: that is the rule for Seaway. Singular values, least squares, pseudo-inverses
and norms follow from it.
"""


def register(platform):
    """Gives `platform` the rules that it lacks. Called once, before anything is compiled."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg
    from jax._src.tpu.linalg import eigh

    mlir.register_lowering(linalg.eigh_p, eigh._eigh_tpu_lowering, platform=platform)
