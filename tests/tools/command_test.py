#!/usr/bin/env python3
"""The command line as people meet it: exit codes and messages of `seaway`."""
import gzip
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
README = os.path.join(os.path.dirname(__file__), "../../src/sim/README.md")
DATA = os.path.join(os.path.dirname(__file__), "../../demos/data/digits.csv.gz")


def seaway(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=30)


class CommandTest(unittest.TestCase):
    def test_version_is_one_line_and_exits_0(self):
        done = seaway("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^seaway \d+\.\d+\.\d+\n$")

    def test_help_has_examples_and_exit_codes(self):
        done = seaway("--help")
        self.assertEqual(done.returncode, 0)
        for part in ("demo", "bench", "examples:", "exit codes:"):
            self.assertIn(part, done.stdout)

    def test_help_of_each_verb_has_an_example(self):
        for verb in ("demo", "bench", "chaos", "new", "config", "token", "cert", "up", "down", "status",
                     "controller", "scheduler", "host"):
            done = seaway(verb, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, rf"example: seaway {verb} [\w-]")

    def test_no_verb_prints_what_is_accepted_and_exits_1(self):
        done = seaway()
        self.assertEqual(done.returncode, 1)
        self.assertIn("demo", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_an_unknown_verb_names_the_close_one(self):
        done = seaway("dmeo")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no verb 'dmeo'; did you mean demo?", done.stderr)

    def test_an_unknown_option_prints_the_options_of_the_verb(self):
        done = seaway("bench", "clock", "--jsn")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--jsn", done.stderr)
        self.assertIn("--json", done.stderr)

    def test_a_verb_without_its_name_is_bad_usage(self):
        for verb in ("demo", "bench"):
            self.assertEqual(seaway(verb).returncode, 1)

    def test_a_new_app_is_written_once(self):
        with tempfile.TemporaryDirectory() as scratch:
            place = os.path.join(scratch, "there")
            done = seaway("new", "app", "word_count", "--directory", place)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"cd {place}", done.stdout)
            self.assertIn("word_count.capnp", os.listdir(place))
            again = seaway("new", "app", "word_count", "--directory", place)
            self.assertEqual(again.returncode, 1)
            self.assertIn("INVALID_ARGUMENT: there is a directory", again.stderr)

    def test_a_new_app_lies_in_a_directory_of_its_name(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([os.path.abspath(COMMAND), "new", "app", "hello"], cwd=scratch,
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(scratch), ["hello"])

    def test_a_bad_name_of_an_app_writes_nothing_and_exits_1(self):
        with tempfile.TemporaryDirectory() as scratch:
            place = os.path.join(scratch, "there")
            done = seaway("new", "app", "Word-Count", "--directory", place)
            self.assertEqual(done.returncode, 1)
            self.assertIn("INVALID_ARGUMENT: an app cannot be called 'Word-Count'", done.stderr)
            self.assertEqual(os.listdir(scratch), [])

    def test_each_schema_of_a_new_app_has_an_id_of_its_own(self):
        with tempfile.TemporaryDirectory() as scratch:
            ids = set()
            for name in ("one", "two"):
                place = os.path.join(scratch, name)
                self.assertEqual(seaway("new", "app", name, "--directory", place).returncode, 0)
                with open(os.path.join(place, name + ".capnp")) as schema:
                    ids.add(schema.readline())
            self.assertEqual(len(ids), 2)

    def test_an_unknown_benchmark_names_the_close_one(self):
        done = seaway("bench", "clok")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no bench 'clok'; did you mean clock?", done.stderr)
        self.assertIn("seaway bench list", done.stderr)

    def test_an_unknown_demo_says_what_there_is(self):
        done = seaway("demo", "nothing_like_it")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no demo 'nothing_like_it'; there are:", done.stderr)

    def test_list_exits_0(self):
        self.assertEqual(seaway("demo", "list").returncode, 0)
        done = seaway("bench", "list")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^clock +\w")

    def test_a_benchmark_prints_one_json_object_a_line(self):
        done = seaway("bench", "clock", "--json", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["params"]["clock"] for line in lines], ["real", "standard"])
        for line in lines:
            self.assertEqual(list(line), ["metric", "value", "unit", "params"])
            self.assertGreater(line["value"], 0)


def elsewhere(directory, data):
    """The command as it would be installed in `directory`, with `data` for its digits."""
    os.makedirs(os.path.join(directory, "bin"))
    os.makedirs(os.path.join(directory, "share/seaway"))
    shutil.copy(COMMAND, os.path.join(directory, "bin/seaway"))
    with open(os.path.join(directory, "share/seaway/digits.csv.gz"), "wb") as file:
        file.write(data)
    return os.path.join(directory, "bin/seaway")


class DemoTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def test_digits_tells_how_it_went(self):
        trace = os.path.join(self.directory, "digits.json")
        done = seaway("demo", "digits", "--quick", "--trace", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        number = r"\d[\d.]*[kMG]?"
        for line in (r"training \[#{20}\] \d+/\d+  .*steps/s .* loss 0\.\d+ \S+",  # The sparkline.
                     rf"accuracy  {number} % of 360 test images",
                     rf"speed     {number} steps/s, {number} images/s, .* in all",
                     rf"devices   worked {number} % of the time \(8 devices on 2 islands\)",
                     rf"messages  {number} a step: {number} to the controller, {number} to islands, "
                     rf"{number} to hosts, {number} to the client",
                     rf"memory    peak {number}B of {number}B on a device",
                     rf"trace +{re.escape(trace)} \(open it in https://ui.perfetto.dev\)"):
            self.assertRegex(done.stdout + done.stderr, f"(?m)^{line}$")
        accuracy = float(re.search(r"accuracy  (\S+) %", done.stdout)[1])
        self.assertGreaterEqual(accuracy, 96)
        with open(trace) as file:
            self.assertGreater(len(json.load(file)["traceEvents"]), 1000)

    def test_digits_that_are_not_learnt_exit_2(self):
        with gzip.open(DATA, "rt") as file:
            lines = file.read().splitlines()
        # Each image gets the label of the one seven lines on: there is nothing to learn.
        rows = [line.rsplit(",", 1) for line in lines]
        labels = [label for _, label in rows[7:] + rows[:7]]
        wrong = "".join(f"{row[0]},{label}\n" for row, label in zip(rows, labels))
        command = elsewhere(self.directory, gzip.compress(wrong.encode()))
        done = subprocess.run([command, "demo", "digits", "--quick", "--trace", "/dev/null"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, r"the model reads 0\.\d+ of the test images rightly, and 0\.96")

    def test_digits_that_are_damaged_exit_2(self):
        command = elsewhere(self.directory, b"0,1,many\n")
        done = subprocess.run([command, "demo", "digits"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("digits, line 1: ", done.stderr)

    def test_a_demo_that_ends_with_an_error_exits_2_and_says_so(self):
        for name in ("deadlock", "two_clients"):
            done = seaway("demo", name, "--quick", "--trace", "/nowhere/trace.json")
            self.assertEqual(done.returncode, 2)
            self.assertIn(name, done.stderr)
            self.assertIn("/nowhere/trace.json", done.stderr)

    def test_a_size_says_how_much_a_demo_does(self):
        done = seaway("demo", "skynet", "--size", "100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("110 actors", done.stdout)
        done = seaway("demo", "skynet", "--size", "50")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--size has to be a power of ten", done.stderr)

    def test_a_demo_on_actors_repeats_itself_in_the_simulator(self):
        def hash_of(seed):
            done = seaway("demo", "kv", "--size", "50", "--simulate", seed)
            self.assertEqual(done.returncode, 0, done.stderr)
            return re.search(r"seed \d+: OK .*hash (\w+)", done.stdout).group(1)
        self.assertEqual(hash_of("7"), hash_of("7"))
        self.assertNotEqual(hash_of("7"), hash_of("8"))

    def test_a_demo_that_cannot_be_simulated_says_so(self):
        done = seaway("demo", "fig2", "--simulate", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("demo fig2 needs a real cluster", done.stderr)


def without_rates(text):
    """The lines of `chaos`, but for the last: rates are all that differs from run to run."""
    lines = text.splitlines()
    assert lines[-1].startswith("0 ") or "seeds/s" in lines[-1], text
    return lines[:-1]


class ChaosTest(unittest.TestCase):
    def test_several_processes_print_what_one_prints(self):
        one = seaway("chaos", "--seeds", "1..40")
        for jobs in ("2", "3", "64"):
            several = seaway("chaos", "--seeds", "1..40", "--jobs", jobs)
            self.assertEqual(several.returncode, 0, several.stderr)
            self.assertEqual(without_rates(several.stdout), without_rates(one.stdout))

    def test_several_processes_print_the_same_json_in_the_order_of_the_seeds(self):
        one = seaway("chaos", "--seeds", "5..25", "--json")
        several = seaway("chaos", "--seeds", "5..25", "--json", "--jobs", "4")
        self.assertEqual(several.stdout, one.stdout)
        seeds = [json.loads(line)["seed"] for line in one.stdout.splitlines()]
        self.assertEqual(seeds, list(range(5, 26)))

    def test_a_process_that_is_killed_is_the_verdict_of_its_seed(self):
        chaos = subprocess.Popen([COMMAND, "chaos", "--seeds", "1..1000000", "--json", "--jobs", "2"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        first = json.loads(chaos.stdout.readline())  # And not a byte more.
        with open(f"/proc/{chaos.pid}/task/{chaos.pid}/children") as file:
            children = [int(word) for word in file.read().split()]
        os.kill(children[1], signal.SIGKILL)
        output, errors = (text.decode() for text in chaos.communicate(timeout=60))
        self.assertEqual(first["seed"], 1)
        self.assertEqual(len(children), 2)
        self.assertEqual(chaos.returncode, 127)
        last = json.loads(output.splitlines()[-1])["seed"] if output else 1
        self.assertEqual(last % 2, 1)  # The second process has the even ones.
        self.assertEqual(errors, f"seed {last + 1}: crash\n"
                                 f"  replay: seaway chaos --replay {last + 1}\n")

    def test_a_replay_writes_the_trace_of_its_seed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "seed.json")
            done = seaway("chaos", "--replay", "5", "--trace", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path) as file:
                entries = json.load(file)["traceEvents"]
        gangs = [entry for entry in entries if entry["name"].startswith("function")]
        self.assertGreater(len(gangs), 0)

    def test_a_trace_that_cannot_be_written_is_an_error_that_says_where(self):
        done = seaway("chaos", "--replay", "5", "--trace", "/nowhere/seed.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot write the trace to /nowhere/seed.json", done.stderr)

    def test_a_trace_is_of_a_replay(self):
        done = seaway("chaos", "--seeds", "1..2", "--trace", "seed.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--trace requires --replay", done.stderr)

    def test_a_replay_in_another_process_has_the_same_hash(self):
        hashes = {re.search("hash ([0-9a-f]{16})", seaway("chaos", "--replay", "9").stdout)[1]
                  for _ in range(3)}
        self.assertEqual(len(hashes), 1)

    def test_worlds_of_actors_are_clean_repeat_and_tell_their_story(self):
        many = seaway("chaos", "--apps", "--seeds", "1..50")
        self.assertEqual(many.returncode, 0, many.stdout + many.stderr)
        self.assertRegex(many.stdout, r"50 seeds \(1\.\.50\), \d+ steps, \d+ calls .* clean\n")
        several = seaway("chaos", "--apps", "--seeds", "1..50", "--jobs", "3", "--json")
        self.assertEqual(several.stdout.splitlines()[:50],
                         seaway("chaos", "--apps", "--seeds", "1..50", "--json").stdout.splitlines()[:50])
        one = seaway("chaos", "--apps", "--replay", "7")
        self.assertEqual(one.returncode, 0)
        self.assertIn("replay: seaway chaos --apps --replay 7", one.stdout)
        self.assertIn("last events:", one.stdout)
        self.assertEqual(one.stdout.splitlines()[0].split("hash")[1],
                         seaway("chaos", "--apps", "--replay", "7").stdout.splitlines()[0].split("hash")[1])

    def test_traces_have_machines_tracks_faults_and_messages(self):
        for kind, seed, machine in (("--apps", "7", "host 0"), ("--processes", "9", "island 0")):
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "seed.json")
                done = seaway("chaos", kind, "--replay", seed, "--trace", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, encoding="utf-8") as file:
                    entries = json.load(file)["traceEvents"]
            names = {entry["args"]["name"] for entry in entries if entry["ph"] == "M"}
            self.assertIn(machine, names, kind)
            self.assertIn("faults", names, kind)
            arrows = [entry["id"] for entry in entries if entry["ph"] == "s"]
            self.assertGreater(len(arrows), 10, kind)
            self.assertEqual(sorted(arrows),
                             sorted(entry["id"] for entry in entries if entry["ph"] == "f"), kind)
            marks = [entry for entry in entries if entry["ph"] == "i" and entry["s"] == "g"]
            self.assertTrue(marks and all(mark["name"].startswith("fault: ") for mark in marks), kind)

    def test_what_fails_is_shrunk_to_a_file_that_replays(self):
        mutant = "an array goes before its readers"
        with tempfile.TemporaryDirectory() as directory:
            shrunk = seaway("chaos", "--mixed", "--mutants", mutant, "--replay", "1", "--shrink",
                            "--repro-dir", directory)
            self.assertEqual(shrunk.returncode, 127, shrunk.stdout + shrunk.stderr)
            self.assertRegex(shrunk.stdout, r"shrunk from \d+ faults")
            (name,) = os.listdir(directory)
            self.assertRegex(name, r"^repro-[0-9a-f]{8}\.json$")
            path = os.path.join(directory, name)
            self.assertEqual(seaway("chaos", "--replay", path).returncode, 127)
            with open(path, encoding="utf-8") as file:
                repro = json.load(file)
            repro["build"] = "0123456789abcdef"
            with open(path, "w", encoding="utf-8") as file:
                json.dump(repro, file)
            self.assertIn("was written by another build: 0123456789abcdef",
                          seaway("chaos", "--replay", path).stderr)
            with open(path, "w", encoding="utf-8") as file:
                file.write("{}")
            broken = seaway("chaos", "--replay", path)
            self.assertEqual(broken.returncode, 1)
            self.assertIn("seaway_repro", broken.stderr)

    def test_nothing_is_shrunk_that_does_not_fail(self):
        done = seaway("chaos", "--replay", "7", "--shrink")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing to shrink", done.stdout)

    def test_seeds_are_the_same_in_two_processes(self):
        done = seaway("chaos", "--mixed", "--determinism", "1..40", "--jobs", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("40 pairs of processes agree", done.stdout)

    def test_faults_can_be_chosen(self):
        def families(*words):
            done = seaway("chaos", "--mixed", "--seeds", "1..40", "--json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = set()
            for line in done.stdout.splitlines():
                found |= set(json.loads(line)["faults"])
            return found
        self.assertEqual(families("--profile", "calm"), set())
        self.assertEqual(families("--faults", "kill,wire"), {"kill", "wire"})
        self.assertEqual(families("--profile", "wild"),
                         {"kill", "pause", "partition", "drain", "clock", "wire", "device", "hbm", "sdc",
                          "actor", "point"})
        self.assertEqual(seaway("chaos", "--faults", "kill,fire").returncode, 1)

    def test_a_replay_stops_at_an_event(self):
        done = seaway("chaos", "--replay", "7", "--until-event", "40")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"it was stopped at event 4\d")
        self.assertIn("who waits for what", done.stdout)

    def test_a_range_goes_on_where_it_ended_and_runs_no_seed_twice(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "clean.txt")
            first = seaway("chaos", "--range", path, "--seeds", "1..20")
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertRegex(first.stdout, r"(?m)^20 seeds \(1\.\.20\), .* clean$")
            self.assertRegex(first.stdout, r"(?m)^clean: 1\.\.20 \(20 seeds, \d+ steps, of kind "
                                           r"programs, commit \S+, build [0-9a-f]{16}\)$")
            more = seaway("chaos", "--range", path, "--seeds", "1..30", "--jobs", "2")
            self.assertRegex(more.stdout, r"(?m)^10 seeds \(21\.\.30\), ")
            self.assertRegex(more.stdout, r"(?m)^clean: 1\.\.30 \(30 seeds, ")
            done = seaway("chaos", "--range", path, "--seeds", "1..30")
            self.assertEqual(done.stdout, more.stdout.splitlines()[-1] + "\n")
            self.assertEqual(seaway("chaos", "--range", path, "--seeds", "40..50").returncode, 1)
            apps = seaway("chaos", "--range", path, "--apps", "--seeds", "1..5")
            self.assertRegex(apps.stdout, r"(?m)^clean: 1\.\.5 \(5 seeds, .* of kind apps,")
            self.assertEqual(os.listdir(directory), ["clean.txt"])

    def test_a_range_counts_no_seeds_with_chosen_faults(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "clean.txt")
            for words in (["--faults", "kill"], ["--profile", "calm"], ["--profile", "wild"]):
                done = seaway("chaos", "--range", path, "--seeds", "1..5", *words)
                self.assertEqual((done.returncode, done.stdout), (1, ""), words)
                self.assertIn("leave out --faults and --profile", done.stderr)
            self.assertEqual(os.listdir(directory), [])

    def test_a_seed_that_fails_ends_its_range_and_is_in_the_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "clean.txt")
            printed = os.path.join(directory, "printed")
            with open(printed, "wb") as file:
                chaos = subprocess.Popen([COMMAND, "chaos", "--range", path, "--seeds", "1..1000000", "--json"],
                                         stdout=file, stderr=subprocess.PIPE, text=True)
            while os.path.getsize(printed) == 0:
                time.sleep(0.01)
            with open(f"/proc/{chaos.pid}/task/{chaos.pid}/children") as file:
                os.kill(int(file.read().split()[0]), signal.SIGKILL)
            errors = chaos.communicate(timeout=60)[1]
            self.assertEqual(chaos.returncode, 127)
            with open(printed, encoding="utf-8") as file:
                last = len(file.readlines())
            self.assertRegex(errors, rf"(?m)^clean: 1\.\.{last} .*; seed {last + 1} ended with 127$")
            with open(path) as file:
                self.assertRegex(file.read(), rf"(?m) first=1 seeds={last} steps=\d+ failed=127$")

    def test_a_file_that_is_no_range_or_cannot_be_written_is_refused_before_any_seed_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "clean.txt")
            with open(path, "w") as file:
                file.write("all of them\n")
            done = seaway("chaos", "--range", path, "--seeds", "1..5")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("line 1 is no count of clean seeds: 'all of them'", done.stderr)
        done = seaway("chaos", "--range", "/nowhere/clean.txt", "--seeds", "1..5")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("seeds/s", done.stdout)
        self.assertIn("/nowhere/clean.txt: cannot write it", done.stderr)

    def test_figures_of_a_bare_scheduler_stand_beside_those_of_the_seeds(self):
        lines = seaway("chaos", "--seeds", "1..3", "--bare").stdout.splitlines()
        self.assertRegex(lines[-2], r"^\d+ steps/s of a bare scheduler .*: \d+\.\d times$")
        self.assertRegex(lines[-1], r"^\d+ seeds/s, \d+ steps/s with all checks, "
                                    r"virtual : wall = \d+\.\d : 1$")
        self.assertNotIn("bare", seaway("chaos", "--seeds", "1..3").stdout)

    def test_the_list_of_faults_has_each_of_them_and_runs_no_seed(self):
        done = seaway("chaos", "--faults", "list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"(?m)^F(\d+) ", done.stdout), [str(i) for i in range(1, 34)])
        self.assertNotIn("seeds", done.stdout)
        self.assertEqual(seaway("chaos", "--faults", "some").returncode, 1)
        self.assertEqual(seaway("chaos", "--faults", "list", "--seeds", "1..2").returncode, 1)

    def test_the_table_of_fault_points_is_that_of_the_readme(self):
        points = seaway("chaos", "--faults", "points").stdout.splitlines()
        rows = [re.split(r"  +", line) for line in points]
        with open(README) as file:
            text = file.read().split("| point | file | worlds | what it does |")[1].split("\n\n")[0]
        told = [[cell.strip(" `") for cell in line.strip("|").split("|")]
                for line in text.splitlines()[2:]]
        self.assertEqual(told, rows)
        self.assertGreaterEqual(len(rows), 14)

    def test_probes_are_those_of_the_sources(self):
        rooms = os.path.dirname(os.path.dirname(README))
        written = []
        for directory, _, names in os.walk(rooms):
            for name in names:
                if not name.endswith(".cpp"):
                    continue
                with open(os.path.join(directory, name)) as file:
                    written += re.findall(r'SEAWAY_PROBE(?:_IF)?\([^;]*?"([^"]+)"\);', file.read())
        listed = [re.split(r"  +", line)[0]
                  for line in seaway("chaos", "--probes", "list").stdout.splitlines()]
        self.assertEqual(sorted(listed), sorted(written))

    def test_fault_points_are_in_the_program_for_chaos_alone(self):
        with open(COMMAND + "-chaos", "rb") as file:
            chaos = file.read()
        effects = [re.split(r"  +", line)[-1].encode()
                   for line in seaway("chaos", "--faults", "points").stdout.splitlines()]
        probes = [re.split(r"  +", line)[0].encode()
                  for line in seaway("chaos", "--probes", "list").stdout.splitlines()]
        self.assertGreaterEqual(len(probes), 120)
        traces = [b"SeededFaultChooser", b"fault_fires", *effects, *probes]
        for other in (COMMAND, os.environ["SEAWAY_LIBRARY"]):
            with open(other, "rb") as file:
                code = file.read()
            for trace in traces:
                self.assertTrue(trace in chaos, trace)
                self.assertFalse(trace in code, f"{trace} in {other}")

    def test_mutants_are_in_the_program_for_chaos_alone(self):
        rows = [re.split(r"  +", line.strip())
                for line in seaway("chaos", "--mutants", "list").stdout.splitlines()]
        self.assertTrue(20 <= len(rows) <= 40, len(rows))
        self.assertTrue(all(re.fullmatch(r"src/\w+/\w+\.cpp:\d+", place) for _, place in rows), rows)
        with open(COMMAND + "-chaos", "rb") as file:
            chaos = file.read()
        traces = [b"seaway_mutants", b"switch_mutant", *(name.encode() for name, _ in rows)]
        for other in (COMMAND, os.environ["SEAWAY_LIBRARY"]):
            with open(other, "rb") as file:
                code = file.read()
            for trace in traces:
                self.assertTrue(trace in chaos, trace)
                self.assertFalse(trace in code, f"{trace} in {other}")

    def test_a_mutant_is_found_and_replayed(self):
        name = "an array that goes stays on its island"
        table = seaway("chaos", "--mutants", name, "--seeds", "1..100")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertRegex(table.stdout, "(?m)^found: 1 of 1, in [0-9]+ worlds")
        self.assertRegex(table.stdout, "(?m)^replayed: 1 of 1 came to the same in a new process$")
        words = shlex.split(re.search("(?m)^replay: seaway (.*)$", table.stdout)[1])
        again = seaway(*words)
        self.assertEqual(again.returncode, 129, again.stdout)
        self.assertIn("I9 broken", again.stdout)
        without = [word for word in words if word not in ("--mutants", name)]
        self.assertEqual(seaway(*without).returncode, 0)

    def test_a_mutant_that_no_seed_finds_is_named(self):
        name = "a handler begins while another waits"
        done = seaway("chaos", "--mutants", name, "--seeds", "1..2")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stderr, f"seaway: never found: {name}\n")
        self.assertEqual(seaway("chaos", "--mutants", "nothing").returncode, 1)
        self.assertEqual(seaway("chaos", "--mutants", "nothing", "--replay", "1").returncode, 1)

    def test_a_crash_of_a_mutant_is_the_seed_that_found_it(self):
        name = "an array goes before its readers"
        rows = seaway("chaos", "--mutants", name, "--seeds", "1..100", "--json").stdout.splitlines()
        self.assertEqual(len(rows), 1)
        row = json.loads(rows[0])
        self.assertEqual((row["mutant"], row["found"], row["exit_code"]), (name, True, 127))
        self.assertIn("bug in Seaway", row["broken"])

    def test_chaos_without_its_program_says_where_that_belongs(self):
        with tempfile.TemporaryDirectory() as directory:
            alone = shutil.copy(COMMAND, directory)
            done = subprocess.run([alone, "chaos"], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^seaway: cannot run .*/seaway-chaos: No such file or "
                                          "directory; it belongs beside this program: build or "
                                          "install both\n$")

    def test_processes_count_fault_points_as_one_process_does(self):
        for kind in ([], ["--apps"], ["--processes"]):
            one = seaway("chaos", *kind, "--seeds", "1..30")
            several = seaway("chaos", *kind, "--seeds", "1..30", "--jobs", "3")
            points = re.findall("(?m)^fault points: .*$", one.stdout)
            self.assertEqual(len(points), 1, one.stdout)
            self.assertRegex(points[0], "[1-9]")
            self.assertEqual(re.findall("(?m)^fault points: .*$", several.stdout), points)

    def test_few_seeds_do_not_cover_everything_and_that_can_be_an_error(self):
        done = seaway("chaos", "--seeds", "1..2", "--must-cover")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^not covered: .*weighted shares")
        self.assertRegex(done.stdout, "(?m)^covered: several clients [0-9]+, ")

    def test_progress_is_drawn_on_terminals_alone(self):
        piped = seaway("chaos", "--seeds", "1..3")
        self.assertNotIn("\r", piped.stdout + piped.stderr)
        ours, theirs = pty.openpty()
        subprocess.run([COMMAND, "chaos", "--seeds", "1..3"], stdout=theirs, stderr=theirs, timeout=30)
        os.close(theirs)
        shown = b""
        while chunk := read_terminal(ours):
            shown += chunk
        os.close(ours)
        self.assertRegex(shown, rb"\r\x1b\[K\[#+\.*\] +\d+ %, seed 1, \d+ seeds/s, \d+ s left")


def read_terminal(file):
    try:
        return os.read(file, 1 << 16)
    except OSError:  # What a terminal says at its end.
        return b""


if __name__ == "__main__":
    unittest.main()
