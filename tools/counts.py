#!/usr/bin/env python3
"""What operations cost in a simulated world of one thread, and whether it has become more.

    ./dev bench counts                    a table, beside benchmarks/counts.json
    ./dev bench counts --json             one object a line
    ./dev bench counts --write            benchmarks/counts.json is renewed; the commit says why

Instructions are counted by callgrind, all else by the program build/benchmarks/counts itself. Fails when an operation
takes more than 2 % more instructions than benchmarks/counts.json says, keeps more memory by that, or takes more of
anything else at all.
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
# How much more than before is no failure, as a share and a number beside it. The padding of what is kept depends on
# how the heap was cut before. Everything else has to be as it was, or less.
TOLERATED = {"instructions": (0.02, 0), "kept_bytes": (0.02, 1024)}
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


def measure(program, operations):
    if not operations:
        operations = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda operation: measure_one(program, operation), operations))


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
    names = [name for name in counts[0] if name not in ("operation", "times")]
    print(f"{'of one':27}" + "".join(f"{name:>16}" for name in names))
    for one in counts:
        print(f"{one['operation']:27}" + "".join(f"{one[name] / one['times']:16,.2f}" for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="only these, such as run.8_devices")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--program", default=PROGRAM, help=argparse.SUPPRESS)
    parser.add_argument("--kept", default=KEPT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts = measure(options.program, options.operations)
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
