#!/usr/bin/env python3
"""What operations cost, and whether it has become more: in a simulated world of one thread, and what the system does
for real processes.

    ./dev bench counts                    a table, beside benchmarks/counts.json
    ./dev bench counts --json             one object a line
    ./dev bench counts --write            benchmarks/counts.json is renewed; the commit says why

In a simulated world instructions are counted by callgrind, all else by the program build/benchmarks/counts itself; what
the system does is counted by build/benchmarks/system_counts. Fails when an operation takes more than
benchmarks/counts.json says, by more than TOLERATED.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(ROOT, "benchmarks", "counts.json")
PROGRAM = os.path.join(ROOT, "build", "benchmarks", "counts")
SYSTEM_PROGRAM = os.path.join(ROOT, "build", "benchmarks", "system_counts")
# How much more than before is no failure, as a share and a number beside it. The padding of what is kept depends on
# how the heap was cut before; of what the system does even the least of 39 batches has something of other programs and
# of heartbeats in it. Everything else has to be as it was, or less.
TOLERATED = {"instructions": (0.02, 0), "kept_bytes": (0.02, 1024), "system_calls": (0.02, 5), "wake_ups": (0.02, 25),
             "written_bytes": (0.01, 0)}
KEPT_RUNS = 8  # Of the system's counts, for --write.
# Kernels and the C library choose their code by what the processor can do.
PLAIN_PROCESSOR = "glibc.cpu.hwcaps=-AVX512F,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS"


def measure_one(program, operation):
    """What benchmarks/counts/main.cpp prints of `operation`, with its instructions. A process of its own each: callgrind
    counts a second part wrongly whose calls it has not seen begin."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--log-file=/dev/null",
             f"--callgrind-out-file={directory}/dump", program, operation],
            capture_output=True, text=True, env=dict(os.environ, GLIBC_TUNABLES=PLAIN_PROCESSOR))
        if done.returncode != 0:
            sys.exit(f"counts: {operation}: {done.stderr.strip() or done.returncode}")
        with open(f"{directory}/dump.1", encoding="utf-8") as dump:
            instructions = int(re.search(r"^totals: (\d+)", dump.read(), re.M).group(1))
    return dict(json.loads(done.stdout), instructions=instructions)


def measure_system(program):
    """What benchmarks/counts/system_main.cpp prints. After the others, which would take its cores."""
    done = subprocess.run([program], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"counts: {done.stderr.strip() or done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure_system_often(program):
    """The largest count of several runs: each has a little of other programs in it."""
    runs = [measure_system(program) for _ in range(KEPT_RUNS)]
    return [{name: one[name] if name == "operation" else max(run[i][name] for run in runs) for name in one}
            for i, one in enumerate(runs[0])]


def measure(program, operations, of_system):
    simulated = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda operation: measure_one(program, operation),
                               [one for one in simulated if not operations or one in operations]))
    if not operations or not set(operations) <= set(simulated):
        counts += [one for one in of_system()
                   if not operations or one["operation"] in operations]
    missing = set(operations) - {one["operation"] for one in counts}
    if missing:
        sys.exit(f"counts: there is no operation {', '.join(sorted(missing))}")
    return counts


def worse(kept, now):
    """What of `now` is more than of `kept`, as lines."""
    lines = []
    for name, count in now.items():
        if name in ("operation", "times"):
            continue
        before = kept.get(name)
        if before is None:
            lines.append(f"{now['operation']}: nothing is kept of its {name}")
            continue
        share, number = TOLERATED.get(name, (0, 0))
        if count > before + max(before, 0) * share + number:
            lines.append(f"{now['operation']}: {count} {name} for {now['times']} operations, {before} are kept")
    return lines


def compare(kept, now):
    kept = {one["operation"]: one for one in kept}
    lines = []
    for one in now:
        if one["operation"] not in kept:
            lines.append(f"{one['operation']}: nothing is kept of it")
        elif one["times"] != kept[one["operation"]]["times"]:
            lines.append(f"{one['operation']}: {one['times']} operations, and {kept[one['operation']]['times']} are kept")
        else:
            lines += worse(kept[one["operation"]], one)
    return lines


def print_table(counts):
    before = None
    for one in counts:
        names = [name for name in one if name not in ("operation", "times")]
        if names != before:
            print(f"{'of one':27}" + "".join(f"{name:>16}" for name in names))
        before = names
        print(f"{one['operation']:27}" + "".join(f"{one[name] / one['times']:16,.2f}" for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="only these, such as run.8_devices")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--program", default=PROGRAM, help=argparse.SUPPRESS)
    parser.add_argument("--system-program", default=SYSTEM_PROGRAM, help=argparse.SUPPRESS)
    parser.add_argument("--kept", default=KEPT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    measure_all_of_system = measure_system_often if options.write else measure_system
    counts = measure(options.program, options.operations, lambda: measure_all_of_system(options.system_program))
    if options.json:
        print("\n".join(json.dumps(one) for one in counts))
    else:
        print_table(counts)
    if options.write:
        with open(options.kept, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(one) for one in counts) + "\n]\n")
        return 0
    with open(options.kept, encoding="utf-8") as file:
        lines = compare(json.load(file), counts)
    for line in lines:
        print(f"counts: more than before: {line}", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
