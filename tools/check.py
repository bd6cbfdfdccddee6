#!/usr/bin/env python3
"""Checks what the compiler does not: layers, fences, banned calls, formatting, lone headers, tests
left out of the build, long files, documentation. `./dev check` runs it; `--format` repairs what can
be repaired. One line per error: `path:line: error: what and what to do`.

The rules about single lines are the tables in rules.py; tests/tools/check_test.py sees each go red.
"""
import argparse
import hashlib
import json
import os
import posixpath
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import rules  # noqa: E402
import snippets  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
CPP = (".cpp", ".hpp")


class Tree:
    """The files of a checkout, read once. Git decides what belongs to it; without git, the disk."""

    def __init__(self, root: Path):
        self.root = root = root.resolve()
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"],
            capture_output=True, check=False) if (root / ".git").exists() else None
        if listed is not None and listed.returncode == 0:
            names = listed.stdout.decode().split("\0")
        else:
            names = [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]
            names = [n for n in names if not re.match(r"build|\.git/|(.*/)?__pycache__/", n)]
        self.names = sorted(n for n in set(names) if n and (root / n).is_file())
        self.texts = {}
        for name in self.names:
            data = (root / name).read_bytes()
            if b"\0" not in data and not name.endswith(".gz"):
                self.texts[name] = data.decode(errors="replace")

    def sources(self, *tops):
        return [n for n in self.texts
                if n.endswith(CPP) and (not tops or n.split("/")[0] in tops)]


class Cache:
    """Remembers, by the hash of all that a verdict depends on, what was found to be good."""

    def __init__(self, directory):
        self.directory = directory
        if directory:
            directory.mkdir(parents=True, exist_ok=True)

    def has(self, key):
        return bool(self.directory) and (self.directory / key).exists()

    def add(self, key):
        if self.directory:
            (self.directory / key).touch()


def digest(*parts):
    value = hashlib.sha256()
    for part in parts:
        value.update(part.encode() if isinstance(part, str) else part)
        value.update(b"\0")
    return value.hexdigest()[:32]


def error(name, line, message):
    return f"{name}:{line}: error: {message}"


def without_comments_and_strings(text):
    """`text` with comments and literals blanked, so that words in them are no code; lines stay."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                       r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.DOTALL)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


# --- One function a rule: each yields error lines. -------------------------------------------

def check_layers(tree):
    level = {room: number for number, line in enumerate(rules.LAYERS) for room in line}
    for name in tree.sources("src", "include"):
        room = name.split("/")[1] if name.startswith("src/") else None
        for number, line in enumerate(tree.texts[name].splitlines(), start=1):
            if not (match := INCLUDE.match(line)):
                continue
            target = match[1].split("/")[0]
            if target not in level or "/" not in match[1] or target == room:
                continue
            if room is None:
                yield error(name, number, f"a public header may not include {match[1]}, which is "
                                          "not installed")
            elif room in level and level[target] >= level[room]:
                yield error(name, number, f"{room} may not include {match[1]}: {target} is not a "
                                          "lower layer (tools/rules.py)")
    build = tree.texts.get("src/meson.build", "")
    rooms = [room for room in re.findall(r"'(\w+)'", build) if room in level]
    for lower, upper in zip(rooms, rooms[1:]):
        if level[lower] > level[upper]:
            yield error("src/meson.build", 1, f"{upper} comes after {lower}, but lies below it")


def check_fences(tree):
    for name in tree.sources():
        for number, line in enumerate(tree.texts[name].splitlines(), start=1):
            if not (match := INCLUDE.match(line)):
                continue
            for fence in rules.FENCES:
                if re.fullmatch(fence.header, match[1]) and not re.fullmatch(fence.inside, name):
                    yield error(name, number, f"{match[1]} belongs behind its door: {fence.why}")


def check_banned_calls(tree):
    used = set()
    for name in tree.sources():
        code = None
        for call in rules.BANNED:
            if not re.fullmatch(call.where, name):
                continue
            code = code or without_comments_and_strings(tree.texts[name]).splitlines()
            for number, line in enumerate(code, start=1):
                if not re.search(call.pattern, line):
                    continue
                if (name, call.name) in rules.ALLOWED:
                    used.add((name, call.name))
                else:
                    yield error(name, number, f"{call.name} is banned here: {call.instead}")
    for name, call in sorted(set(rules.ALLOWED) - used):
        if name in tree.texts:
            yield error("tools/rules.py", 1, f"the allowance of {call} in {name} is not needed")


def check_fault_points(tree):
    """A point, a mutant or a probe is in a source file, which its room's meson.build has compiled a second
    time."""
    for name in tree.sources():
        if re.fullmatch(rules.FAULT_POINTS_DEFINED, name):
            continue
        code = without_comments_and_strings(tree.texts[name])
        lines = [number for number, line in enumerate(code.splitlines(), start=1)
                 if re.search(r"SEAWAY_(FAULT|FAULT_IF|MUTANT|PROBE|PROBE_IF)\(", line)]
        if not lines:
            continue
        if not re.fullmatch(rules.FAULT_POINTS_INSIDE, name):
            yield error(name, lines[0], "a fault point, mutant or probe outside of a .cpp file of a "
                                        "room: what is compiled in two ways may have one definition "
                                        "only")
            continue
        room = Path(name).parent.as_posix()
        build = tree.texts.get(f"{room}/meson.build", "")
        listed = re.search(r"fault_point_sources \+= files\(([^)]*)\)", build)
        if not listed or f"'{Path(name).name}'" not in listed[1]:
            yield error(name, lines[0], f"its fault points never fire, nor do its mutants or "
                                        f"probes: add it to "
                                        f"fault_point_sources in {room}/meson.build")


def check_tests_in_build(tree):
    for name in tree.texts:
        if not re.fullmatch(r"tests/.*_test\.(cpp|py)", name):
            continue
        # The room's own meson.build, or one above it, must name the file.
        parents = [f"{p}/meson.build" for p in map(str, Path(name).parents) if p != "."]
        text = "\n".join(re.sub(r"#.*", "", tree.texts.get(parent, "")) for parent in parents)
        if not re.search(rf"['/]{re.escape(Path(name).name)}'", text):
            yield error(name, 1, "this test is in no meson.build, so it never runs")


def check_readmes(tree):
    rooms = {name.split("/")[1] for name in tree.sources("src") if name.count("/") >= 2}
    for room in sorted(rooms):
        if f"src/{room}/README.md" not in tree.texts:
            yield error(f"src/{room}/README.md", 1, "missing: what enters the room, what leaves "
                                                    "it, its limits and numbered invariants")


def check_length(tree):
    for name, text in tree.texts.items():
        lines = text.count("\n")
        if name.endswith((*CPP, ".py", ".capnp")) and lines > rules.FILE_LINES_MAX:
            yield error(name, rules.FILE_LINES_MAX, f"{lines} lines; at most "
                        f"{rules.FILE_LINES_MAX}: split it by decision")
    for demo in rules.APP_DEMOS:
        name = f"demos/{demo}.cpp"
        lines = tree.texts.get(name, "").count("\n")
        if lines > rules.APP_DEMO_LINES_MAX:
            yield error(name, rules.APP_DEMO_LINES_MAX, f"{lines} lines; at most "
                        f"{rules.APP_DEMO_LINES_MAX} of an app: what only checks, draws or makes "
                        "load belongs in demos/support")


def check_public_headers(tree):
    headers = [n for n in tree.texts if n.startswith("include/seaway/") and n.endswith(".hpp")]
    of_apps = [n for n in headers if n.startswith("include/seaway/app/")]
    of_programs = [n for n in headers if n not in of_apps]
    for some, most in ((of_programs, rules.PUBLIC_HEADERS_MAX), (of_apps, rules.APP_HEADERS_MAX)):
        if len(some) > most:
            yield error(some[-1], 1, f"{len(some)} public headers; at most {most}: people learn "
                                     "them by heart")
    for name in headers:
        # Whoever defines messages includes what the schema's compiler has made of them anyway.
        if name == "include/seaway/app/message.hpp":
            continue
        for number, line in enumerate(tree.texts[name].splitlines(), start=1):
            match = INCLUDE.match(line)
            if match and re.match(r"(caf|capnp|kj|tbb|oneapi|openssl)/|cblas", match[1]):
                yield error(name, number, f"{match[1]} in a public header: users do not need it")


def check_paths(tree):
    # A path of one machine works on that machine only; the directories that people work in.
    path = re.compile(r"(?<![\w.$}{*])/(?:" + "|".join(rules.MACHINE_DIRECTORIES) + r")/\w")
    for name, text in tree.texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if match := path.search(line):
                yield error(name, number, f"'{line[match.start():match.end() + 12].strip()}' is a "
                                          "path of one machine; make it relative")


def check_snippets(tree):
    for name, text in tree.texts.items():
        if name.endswith(".md"):
            for line, message in snippets.renewed(tree.root, text)[1]:
                yield error(name, line, message)
    for match in snippets.BLOCK.finditer(tree.texts.get("README.md", "")):
        lines = match["text"].count("\n")
        if lines > rules.README_PROGRAM_LINES_MAX:
            line = tree.texts["README.md"].count("\n", 0, match.start()) + 1
            yield error("README.md", line, f"a program of {lines} lines; at most "
                        f"{rules.README_PROGRAM_LINES_MAX} are a first program")


def check_promises(tree):
    """What is promised is held by tests: each row names some that exist, or says that none does."""
    page = "docs/promises.md"
    table = False
    for number, line in enumerate(tree.texts.get(page, "").splitlines(), start=1):
        in_table, table = table, line.startswith("|")
        if not table or not in_table or re.fullmatch(r"[|\s:-]+", line):
            continue
        tests = rules.PROMISE_TEST.findall(line)
        if not tests and "not tested" not in line:
            yield error(page, number, "this promise names no test: write [`Suite.Name`](FILE), or "
                                      "that it is not tested")
        if line.count("`](") != len(tests):
            yield error(page, number, "a test is named as [`Suite.Name`](../FILE)")
        for suite, test, path in tests:
            code = tree.texts.get(posixpath.normpath(f"docs/{path}"), "")
            if not re.search(rf"^TEST(_F|_P)?\(\s*{suite},\s*{test}\s*\)", code, re.MULTILINE):
                yield error(page, number, f"{path} has no test {suite}.{test}; who holds this "
                                          "promise now?")


def check_format(tree, cache):
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    style = tree.texts.get(".clang-format", "")
    keys = {name: "format-" + digest(version, style, tree.texts[name]) for name in tree.sources()}
    stale = [name for name, key in keys.items() if not cache.has(key)]

    def run(names):
        """One start of clang-format for many files; a file each only where something is wrong."""
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *names], cwd=tree.root,
                              capture_output=True, text=True)
        if done.returncode == 0:
            for name in names:
                cache.add(keys[name])
            return []
        if len(names) > 1:
            return [found for name in names for found in run([name])]
        match = re.search(r":(\d+):\d+: error", done.stderr)
        return [error(names[0], match[1] if match else 1, "not formatted; run ./dev format")]

    batches = [stale[i:i + 16] for i in range(0, len(stale), 16)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run, batches):
            yield from found


def compiler_flags(build):
    """The flags that say where headers are and what language this is, over all of the build."""
    path = build / "compile_commands.json"
    if not path.exists():
        return None
    flags = {}
    for entry in json.loads(path.read_text()):
        words = iter(shlex.split(entry["command"]))
        for word in words:
            if word == "-isystem":
                flags[(word, next(words))] = True
            elif re.match(r"-(I|isystem|std=|pthread)", word):
                # Private directories of targets hold nothing that another target includes.
                if not word.endswith(".p"):
                    flags[(word,)] = True
    return [word for flag in flags for word in flag]


def headers_proven_by_build(tree, build):
    """Headers that a compiled source includes before anything else: the build has shown that they
    compile alone, so that only the others cost a run of the compiler here."""
    proven = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry.get("directory", "."), entry["file"]).resolve()
        if not path.is_relative_to(tree.root):
            continue
        name = path.relative_to(tree.root).as_posix()
        code = re.sub(r"^\s*(//.*)?\n", "", tree.texts.get(name, ""), flags=re.MULTILINE)
        if match := INCLUDE.match(code):
            places = ("src", "include", ".", Path(name).parent)
            proven |= {(Path(place) / match[1]).as_posix() for place in places}
    return proven


def check_lone_headers(tree, build, cache):
    flags = compiler_flags(build)
    if flags is None:
        yield error("tools/check.py", 1, f"no compile_commands.json in {build.name}/: build first")
        return
    known = {re.sub(r"^(src|include)/", "", n): n for n in tree.texts if n.endswith(".hpp")}
    schemas = [t for n, t in sorted(tree.texts.items()) if n.endswith(".capnp")]

    def closure(name, seen):
        if name not in seen:
            seen.add(name)
            for header in INCLUDE.findall(tree.texts[name]):
                if header in known:
                    closure(known[header], seen)
        return seen

    def run(name):
        texts = [tree.texts[n] for n in sorted(closure(name, set()))]
        key = "header-" + digest(" ".join(flags), name, *texts, *schemas)
        if cache.has(key):
            return []
        done = subprocess.run(
            ["g++", *flags, "-Wall", "-Wextra", "-fsyntax-only", "-x", "c++", "-"],
            input=f'#include "{tree.root / name}"\n', cwd=build, capture_output=True, text=True)
        if done.returncode == 0:
            cache.add(key)
            return []
        first = next((l for l in done.stderr.splitlines() if " error: " in l), done.stderr[:200])
        return [error(name, 1, f"does not compile alone: {first.split(' error: ')[-1]}")]

    headers = [n for n in tree.sources("src", "include", "demos", "benchmarks", "tools",
                                      "tests")
               if n.endswith(".hpp")]
    proven = headers_proven_by_build(tree, build)
    headers = [n for n in headers if n not in proven]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run, headers):
            yield from found


LINE_RULES = [check_layers, check_fences, check_banned_calls, check_fault_points, check_tests_in_build, check_readmes,
              check_length, check_public_headers, check_paths, check_snippets, check_promises]


def check(root, build=None):
    """All errors of the tree at `root`; headers are compiled only when `build` is given."""
    tree = Tree(root)
    cache = Cache(build / ".check-cache" if build else None)
    steps = [(rule.__name__, rule, (tree,)) for rule in LINE_RULES]
    steps.append(("check_format", check_format, (tree, cache)))
    if build:
        steps.append(("check_lone_headers", check_lone_headers, (tree, build, cache)))
    errors, times = [], []
    for name, rule, arguments in steps:
        started = time.monotonic()
        errors += list(rule(*arguments))
        times.append((name.removeprefix("check_"), time.monotonic() - started))
    return errors, times, len(tree.names)


def repair(root):
    tree = Tree(root)
    sources = tree.sources()
    for start in range(0, len(sources), 40):
        subprocess.run(["clang-format", "-i", *sources[start:start + 40]], cwd=root, check=True)
    for name, text in tree.texts.items():
        if name.endswith(".md"):
            new, _ = snippets.renewed(root, text)
            if new != text:
                (root / name).write_text(new)
                print(f"check: renewed the code blocks of {name}")
    print(f"check: formatted {len(sources)} files")


def main():
    parser = argparse.ArgumentParser(prog="./dev check")
    parser.add_argument("--build", type=Path, help="a configured and built directory")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--format", action="store_true", help="repair instead of checking")
    options = parser.parse_args()
    if options.format:
        repair(options.root)
        return 0
    started = time.monotonic()
    build = options.build.resolve() if options.build else None
    errors, times, files = check(options.root, build)
    for line in errors:
        print(line)
    slow = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times if seconds >= 0.5)
    print(f"check: {len(errors)} errors in {files} files, {len(times)} rules, "
          f"{time.monotonic() - started:.1f} s{' (' + slow + ')' if slow else ''}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
