#!/usr/bin/env python3
"""Makes small mistakes in the code, one at a time, and says which of them the tests notice.

A sample of mutants (tools/mutants.py) is drawn over the rooms. Each file that has some is compiled
once, with all of them behind a switch, and linked into the unit tests of its room and into
`seaway chaos`. Of each mutant it is then asked whether a unit test fails, or a seed does within a
number of seconds. Ends with `killed K of N`.

Mutants that change nothing anybody could see are listed in tools/mutants_equivalent.txt, each with a
reason, and do not count.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mutants  # noqa: E402

ROOMS = ("island", "controller", "device", "client", "app", "transport", "transfer", "collective",
         "store", "resources", "cluster", "program")
ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"
SEEDS = "tools/seaway/seaway-chaos"
# What a test program may take, in terms of what it takes without a mistake.
SLOWNESS_MAX, SLOWNESS_MIN_S = 4, 20


def say(text):
    print(f"mutate: {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--sample", type=int, default=20, help="how many mutants; default 20")
    parser.add_argument("--seed", help="what the sample is drawn from; default: the tree's hash")
    parser.add_argument("--room", action="append", choices=ROOMS, help="only of this one")
    parser.add_argument("--file", action="append", help="only of this one, from the tree's root")
    parser.add_argument("--seeds-seconds", type=float, default=20, metavar="S",
                        help="of seeds for a mutant that no unit test notices; default 20")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT",
                        help="exit with 1 if fewer are killed")
    parser.add_argument("--report", type=Path, help="write a table and the survivors there")
    parser.add_argument("--list", action="store_true", help="print the sample, and run nothing")
    return parser.parse_args()


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True,
                          text=True).stdout.strip()


@dataclasses.dataclass
class Program:
    """A test program, as the build has it."""
    name: str                # Of the ninja target.
    command: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    seconds: float = 0       # Without a mistake.


class Build:
    """What the configured build knows of files and programs."""

    def __init__(self, directory):
        self.directory = directory.resolve()
        self.compilations = collections.defaultdict(list)
        for entry in json.loads((self.directory / "compile_commands.json").read_text()):
            file = (self.directory / entry["file"]).resolve()
            if file.is_relative_to(ROOT / "src"):
                self.compilations[str(file.relative_to(ROOT))].append(entry)
        self.tests = json.loads((self.directory / "meson-info" / "intro-tests.json").read_text())

    def files(self, rooms):
        return sorted(file for file in self.compilations if Path(file).parts[1] in rooms)

    def programs(self, room):
        found = {}
        for test in self.tests:
            target = os.path.relpath(test["cmd"][0], self.directory)
            if target.startswith(f"tests/unit/{room}/"):
                found[target] = Program(target, test["cmd"][1:], test["env"])
        return list(found.values())

    @functools.lru_cache(maxsize=None)
    def link(self, target):
        """The command that links `target`."""
        lines = subprocess.run(["ninja", "-C", str(self.directory), "-t", "commands", target],
                               check=True, capture_output=True, text=True).stdout.splitlines()
        return shlex.split(lines[-1])


class Sampler:
    """Draws mutants: a file by its size, and one of that file's mutants that was not drawn yet."""

    def __init__(self, build, files, seed):
        self.build, self.files = build, files
        self.random = random.Random(hashlib.sha256(seed.encode()).digest())
        self.sizes = [self.size(ROOT / file) for file in files]
        self.drawn = set()

    @staticmethod
    def size(path):
        return sum(len(line) for line in path.read_text().splitlines()
                   if not re.match(r"\s*(//|#)", line))

    def read(self, files, jobs):
        """The mutants of each of `files`, read in several processes."""
        files = list(dict.fromkeys(files))
        with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
            entries = [self.build.compilations[file][0] for file in files]
            found = pool.map(mutants.find, [ROOT] * len(files), files,
                             [shlex.split(e["command"]) for e in entries],
                             [e["directory"] for e in entries])
            return dict(zip(files, found))

    def draw(self, number, jobs):
        files = self.random.choices(self.files, self.sizes, k=number)
        of_files = self.read(files, jobs)
        drawn = []
        for file in files:
            left = [m for m in of_files[file] if m not in self.drawn]
            if left:
                drawn.append(self.random.choice(left))
                self.drawn.add(drawn[-1])
        return drawn


class Workshop:
    """Compiles and links files with mutants, in a directory of its own."""

    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self.numbered = collections.defaultdict(dict)  # By file: number to mutant.
        self.last = 0  # Number.
        # By directory and file: what the build calls its object, and what stands for it.
        self.objects = collections.defaultdict(dict)

    def add(self, drawn, jobs):
        """Compiles them. Returns how many do not compile."""
        for mutant in drawn:
            self.last += 1
            self.numbered[mutant.file][self.last] = mutant
        files = dict.fromkeys(mutant.file for mutant in drawn)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return sum(pool.map(self.compile, files))

    def compile(self, file):
        """Drops mutants of `file` that do not compile, and returns how many."""
        refused = 0
        while True:
            of_file = self.numbered[file]
            errors = self.try_to_compile(file, of_file)
            if errors is None:
                return refused
            lines = {int(line) for line in re.findall(
                rf"{re.escape(file)}:(\d+):\d+: (?:fatal )?error", errors)}
            wrong = [n for n, m in of_file.items() if m.line in lines] or [
                n for n, m in of_file.items() if self.try_to_compile(file, {n: m}) is not None]
            if not wrong:
                raise SystemExit(f"mutate: {file} with its mutants does not compile:\n{errors}")
            for number in wrong:
                del of_file[number]
            refused += len(wrong)

    def try_to_compile(self, file, numbered):
        """None, or what the compiler says."""
        source = self.directory / "src" / file
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(mutants.rewrite((ROOT / file).read_bytes(), numbered.items(), file))
        for entry in self.build.compilations[file]:
            words, output = [], self.directory / entry["output"]
            output.parent.mkdir(parents=True, exist_ok=True)
            skip = False
            for word in shlex.split(entry["command"])[:-1]:
                if not skip and word not in ("ccache", "-MD", "-MQ", "-MF", "-o", "-c"):
                    words.append(word)
                skip = word in ("-MQ", "-MF", "-o")
            command = [*words, "-w", "-O1", "-g0", "-iquote", str((ROOT / file).parent), "-c", str(source), "-o",
                       str(output)]
            done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
            if done.returncode != 0:
                return done.stderr
            self.objects[str(Path(entry["output"]).parent)][file] = entry["output"], output
        return None

    def link(self, program):
        """Links `program` with what was compiled here, if it has a part in it; else None.

        Of archives the linker takes what is missing yet, so that what stands before them counts. One
        that is linked as a whole is given object by object.
        """
        out, is_whole, whole, others = [], False, {}, {}
        for word in self.build.link(program.name):
            is_whole = (is_whole or "-whole-archive" in word) and "--no-whole" not in word
            own = self.objects.get(word + ".p", {}) if word.endswith(".a") else {}
            if not own:
                out.append(word)
            elif is_whole:
                members = subprocess.run(["ar", "t", word], cwd=self.build.directory, check=True,
                                         capture_output=True, text=True).stdout.split()
                paths = {output: path for output, path in own.values()}
                out += [str(paths.get(member, member)) for member in members]
                whole.update(own)
            else:
                out.append(word)
                others.update(own)
        first = [str(path) for file, (_, path) in others.items() if file not in whole]
        if not first and not whole:
            return None
        target = self.directory / program.name
        target.parent.mkdir(parents=True, exist_ok=True)
        at = out.index("-o")
        out[at + 1:at + 2] = [str(target), *first]
        subprocess.run(out, cwd=self.build.directory, check=True)
        return target


def limit():
    """In a process that may do anything: where memory ends, it is the first one to go."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def run(command, number, seconds, environment=None):
    """Whether it ends well in time."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=limit, start_new_session=True,
                               env=dict(os.environ, **(environment or {}), GTEST_FAIL_FAST="1",
                                        SEAWAY_MUTATE=str(number)))
    try:
        return process.wait(timeout=seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


class Trial:
    """Runs the tests on one mutant after the other."""

    def __init__(self, workshop, options):
        self.workshop, self.options = workshop, options
        self.units = {}  # By room: (program, path), the fast ones first.
        self.seeds = None

    def link(self):
        rooms = {Path(file).parts[1] for file in self.workshop.numbered}
        programs = [(room, p) for room in sorted(rooms) for p in self.workshop.build.programs(room)]
        for room, program in programs:
            path = self.workshop.link(program)
            if path is None:
                continue
            started = time.monotonic()
            if not run([str(path), *program.command], 0, 600, program.environment):
                raise SystemExit(f"mutate: {program.name} fails without any mistake")
            program.seconds = time.monotonic() - started
            self.units.setdefault(room, []).append((program, path))
        for of_room in self.units.values():
            of_room.sort(key=lambda one: one[0].seconds)
        self.seeds = self.workshop.link(Program(SEEDS))

    def try_one(self, number, mutant):
        """What notices it: a unit test, a seed, or nothing."""
        for program, path in self.units.get(Path(mutant.file).parts[1], ()):
            seconds = SLOWNESS_MIN_S + SLOWNESS_MAX * program.seconds
            if not run([str(path), *program.command], number, seconds, program.environment):
                return "units", Path(program.name).name
        budget = self.options.seeds_seconds
        if self.seeds is None or budget <= 0:
            return "neither", ""
        first = 1 + number * 1_000_000
        command = [str(self.seeds), "chaos", "--mixed", "--seeds", f"{first}..{first + 999_999}",
                   "--time-budget", str(budget)]
        if not run(command, number, 60 + 2 * budget):
            return "seeds", ""
        return "neither", ""


def equivalents():
    """key to reason."""
    found = {}
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text().splitlines():
            if line and not line.startswith("#"):
                key, _, reason = line.rpartition(" # ")
                found[key] = reason
    return found


def describe(mutant):
    return f"{mutant.file}:{mutant.line}: {mutant.function}: {mutant.rule}: {mutant.before} -> {mutant.after}"


def table(results):
    """Lines of a Markdown table by room."""
    rows = collections.defaultdict(collections.Counter)
    for mutant, outcome, _ in results:
        rows[Path(mutant.file).parts[1]][outcome] += 1
    lines = ["| room | mutants | by units | by seeds | by neither | killed |", "|---|---|---|---|---|---|"]
    for room, counts in [*sorted(rows.items()), ("all", sum(rows.values(), collections.Counter()))]:
        of = counts["units"] + counts["seeds"] + counts["neither"]
        killed = counts["units"] + counts["seeds"]
        share = f"{100 * killed / of:.0f} %" if of else "-"
        lines.append(f"| {room} | {of} | {counts['units']} | {counts['seeds']} | "
                     f"{counts['neither']} | {share} |")
    return lines


def main():
    options = arguments()
    seed = options.seed or git("rev-parse", "--short=12", "HEAD^{tree}")
    build = Build(options.build)
    files = options.file or build.files(options.room or ROOMS)
    sampler = Sampler(build, files, seed)
    known = equivalents()
    if options.list:
        for mutant in sampler.draw(options.sample, options.jobs):
            print(describe(mutant))
        return 0
    workshop = Workshop(build, build.directory / "mutants")
    refused, excluded = 0, []
    wanted = options.sample
    while wanted > 0:
        drawn = sampler.draw(wanted, options.jobs)
        if not drawn:
            break
        excluded += [m for m in drawn if m.key() in known]
        drawn = [m for m in drawn if m.key() not in known]
        say(f"compiling {len({m.file for m in drawn})} files with {len(drawn)} mutants, seed {seed}")
        lost = workshop.add(drawn, options.jobs)
        refused += lost
        wanted -= len(drawn) - lost
    trial = Trial(workshop, options)
    say("linking the tests, and running them without a mistake")
    trial.link()
    numbered = sorted((n, m) for of_file in workshop.numbered.values() for n, m in of_file.items())
    say(f"trying {len(numbered)} mutants, {options.jobs} at a time")
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tried = pool.map(lambda one: trial.try_one(*one), numbered)
        for (number, mutant), (outcome, by) in zip(numbered, tried):
            results.append((mutant, outcome, by))
            print(f"{outcome + (' ' + by if by else ''):30} {describe(mutant)}", flush=True)
    lines = table(results)
    survivors = [describe(m) for m, outcome, _ in results if outcome == "neither"]
    print("\n".join(["", *lines, ""]))
    print(f"seed {seed}; {refused} more did not compile, {len(excluded)} more change nothing")
    if options.report:
        options.report.write_text("\n".join([*lines, "", *(f"- `{s}`" for s in survivors), ""]))
    killed = len(results) - len(survivors)
    print(f"killed {killed} of {len(results)}")
    return 1 if 100 * killed < options.at_least * len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
