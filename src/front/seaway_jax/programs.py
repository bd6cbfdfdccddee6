"""program(): a block of calls of jitted functions, dispatched as one program.

    @seaway_jax.program
    def forward(x, y):
        a = encode(x)                              # on the device of x,
        return decode(jax.device_put(a, there), y) # and on another one, of another island.

A block is traced once for each kind of arguments. Calls that follow one another on the same devices
are compiled together, as `jax.jit` of the block would have it; what is left are a few parts on
devices of their own and the moves between them. All of them leave as one program: hosts know of the
later parts before the earlier ones have run, and values that nobody has kept are nobody's arrays.

On any other platform of JAX a block gives the same, part by part.
"""
import ctypes
import functools
import threading

import jax
from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun
from jax.sharding import Sharding


class _Part:
    """Calls on one set of devices. `devices`: their ids, in order; None: wherever JAX likes."""

    def __init__(self, devices):
        self.devices = devices
        self.equations = []
        self.run = None
        self.takes, self.gives = (), ()  # Variables.


class _Move:
    """A jax.device_put."""

    def __init__(self, equation):
        self.takes, self.gives = tuple(equation.invars), tuple(equation.outvars)
        self.targets = equation.params["devices"]

    def run(self, *values):
        return [jax.device_put(value, target) for value, target in zip(values, self.targets)]


def _ids(where):
    """The devices that a sharding or a device names, in order; None where it names none."""
    if isinstance(where, jax.Device):
        return (where.id,)
    if isinstance(where, Sharding):
        return tuple(device.id for device in where._device_assignment)
    return None


def _is_literal(atom):
    return isinstance(atom, Literal)


def _devices_of(equation, place_of):
    """Where an equation is to run: as its shardings say, or where its operands are."""
    for key in ("in_shardings", "out_shardings"):
        for sharding in equation.params.get(key, ()) or ():
            if (found := _ids(sharding)) is not None:
                return found
    for atom in equation.invars:
        if not _is_literal(atom) and place_of.get(atom) is not None:
            return place_of[atom]
    return None


class _Plan:
    """A traced block, in parts. Not changed once it is made."""

    def __init__(self, closed, places):
        jaxpr = closed.jaxpr
        self.inputs, self.outputs = tuple(jaxpr.invars), tuple(jaxpr.outvars)
        self.constants = list(zip(jaxpr.constvars, closed.consts))
        place_of = dict(zip(jaxpr.invars, places))
        for variable, value in self.constants:
            place_of[variable] = _place_of_value(value)
        self.steps = self._split(jaxpr.eqns, place_of)
        self._find_values()
        for step in self.steps:
            if isinstance(step, _Part):
                step.run = jax.jit(jaxpr_as_fun(ClosedJaxpr(
                    jaxpr.replace(constvars=[], invars=list(step.takes), outvars=list(step.gives),
                                  eqns=step.equations), ())))

    @staticmethod
    def _split(equations, place_of):
        """Steps in an order in which each takes what earlier ones give."""
        steps, open_parts, made_by = [], {}, {}
        for equation in equations:
            # No step may take what a later one gives.
            earliest = max((made_by[atom] for atom in equation.invars
                            if not _is_literal(atom) and atom in made_by), default=-1)
            targets = equation.params.get("devices") if equation.primitive.name == "device_put" else None
            if targets is not None and any(target is not None for target in targets):
                places = [_ids(target) for target in targets]
                number = len(steps)
                steps.append(_Move(equation))
            else:
                devices = _devices_of(equation, place_of)
                places = [devices] * len(equation.outvars)
                number = open_parts.get(devices, -1)
                if number < earliest or number < 0:
                    number = open_parts[devices] = len(steps)
                    steps.append(_Part(devices))
                steps[number].equations.append(equation)
            for variable, place in zip(equation.outvars, places):
                place_of[variable] = place
                made_by[variable] = number
        return steps

    def _find_values(self):
        """What each part takes from others, and gives to them."""
        wanted = {atom for atom in self.outputs if not _is_literal(atom)}
        for step in reversed(self.steps):
            if isinstance(step, _Move):
                wanted.update(atom for atom in step.takes if not _is_literal(atom))
                continue
            made = {variable for equation in step.equations for variable in equation.outvars}
            taken = dict.fromkeys(atom for equation in step.equations for atom in equation.invars
                                  if not _is_literal(atom) and atom not in made)
            step.takes = tuple(taken)
            step.gives = tuple(variable for equation in step.equations
                               for variable in equation.outvars if variable in wanted)
            wanted.update(taken)

    def __call__(self, values):
        environment = dict(self.constants)
        environment.update(zip(self.inputs, values))
        last_use = {}
        for number, step in enumerate(self.steps):
            last_use.update((atom, number) for atom in step.takes if not _is_literal(atom))
        kept = {atom for atom in self.outputs if not _is_literal(atom)}
        for number, step in enumerate(self.steps):
            taken = [_read(environment, atom) for atom in step.takes]
            environment.update(zip(step.gives, step.run(*taken)))
            del taken
            for atom in step.takes:
                if not _is_literal(atom) and last_use[atom] == number and atom not in kept:
                    environment.pop(atom, None)
        return [_read(environment, atom) for atom in self.outputs]


def _read(environment, atom):
    return atom.val if _is_literal(atom) else environment[atom]


def _place_of_value(value):
    return _ids(value.sharding) if isinstance(value, jax.Array) and value.committed else None


def _kind_of(value):
    if isinstance(value, jax.Array):
        return value.aval, value.sharding, value.committed
    return jax.typeof(value), None, False


class _Recorder:
    """Begins and ends a program in the plugin. Where there is none, nothing happens."""

    def __init__(self):
        self._calls = None
        self._lock = threading.Lock()

    def _find(self):
        from seaway_jax import PLATFORM, library_path
        with self._lock:
            if self._calls is None:
                self._calls = ()
                if jax.default_backend() == PLATFORM:
                    library = ctypes.CDLL(str(library_path()))
                    self._calls = library.seaway_program_begin, library.seaway_program_end
        return self._calls

    def __enter__(self):
        calls = self._calls if self._calls is not None else self._find()
        if calls:
            calls[0]()

    def __exit__(self, *_):
        if self._calls:
            self._calls[1]()


_recorder = _Recorder()


def program(function):
    """`function`, whose calls of jitted functions leave as one program each time it is called.

    Its arguments are arrays, or trees of them, and so is what it returns; whatever else it does is
    done when it is traced, once for each kind of arguments (types, shardings, tree). It may not
    look at values: jax.jit has the same rule. Errors: those of its parts, of the arrays that they
    are found in. Threads: any; each call is a program of its own.
    """
    plans = {}
    lock = threading.Lock()

    def trace(structure, values):
        results = []

        def flat(*leaves):
            arguments, keywords = jax.tree.unflatten(structure, leaves)
            leaves, tree = jax.tree.flatten(function(*arguments, **keywords))
            results.append(tree)
            return leaves

        closed = jax.make_jaxpr(flat)(*values)
        return _Plan(closed, [_place_of_value(value) for value in values]), results[-1]

    @functools.wraps(function)
    def call(*arguments, **keywords):
        values, structure = jax.tree.flatten((arguments, keywords))
        kind = structure, tuple(map(_kind_of, values))
        found = plans.get(kind)
        if found is None:
            with lock:
                found = plans.get(kind) or plans.setdefault(kind, trace(structure, values))
        plan, tree = found
        if len(plan.steps) < 2:
            return jax.tree.unflatten(tree, plan(values))
        with _recorder:
            return jax.tree.unflatten(tree, plan(values))

    return call
