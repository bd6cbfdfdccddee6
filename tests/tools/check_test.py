#!/usr/bin/env python3
"""Each rule of tools/check.py is seen to go red on a tiny tree that breaks it, and green beside it."""
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check  # noqa: E402
import rules  # noqa: E402


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = Path(self.directory.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def errors(self, rule):
        return list(rule(check.Tree(self.root)))

    def expect_red(self, rule, *parts):
        errors = self.errors(rule)
        self.assertEqual(len(errors), 1, errors)
        for part in parts:
            self.assertIn(part, errors[0])

    def expect_green(self, rule):
        self.assertEqual(self.errors(rule), [])

    def test_an_include_of_a_higher_room_is_red(self):
        self.write("src/store/a.cpp", '#include "base/status.hpp"\n#include "island/core.hpp"\n')
        self.expect_red(check.check_layers, "src/store/a.cpp:2: error:", "island/core.hpp")

    def test_rooms_of_one_layer_do_not_include_each_other(self):
        self.write("src/client/a.cpp", '#include "controller/core.hpp"\n')
        self.expect_red(check.check_layers, "client may not include")

    def test_a_public_header_may_not_include_a_room(self):
        self.write("include/seaway/a.hpp", '#include "seaway/b.hpp"\n#include "base/ids.hpp"\n')
        self.expect_red(check.check_layers, "a.hpp:2", "not installed")

    def test_rooms_are_built_in_the_order_of_their_layers(self):
        self.write("src/meson.build", "foreach room : ['base', 'sim', 'wire']\n")
        self.expect_red(check.check_layers, "wire comes after sim")

    def test_a_library_outside_its_door_is_red(self):
        for header, home in (("caf/all.hpp", "src/actor/a.cpp"), ("kj/array.h", "src/wire/a.cpp"),
                             ("seaway.capnp.h", "src/program/codec.cpp"),
                             ("tbb/task_arena.h", "src/function/a.cpp"),
                             ("cblas.h", "src/function/b.cpp"),
                             ("openssl/sha.h", "src/transport/a.cpp"),
                             ("toml++/toml.h", "tools/seaway/config.cpp")):
            with self.subTest(header):
                self.write(home, f"#include <{header}>\n")
                self.expect_green(check.check_fences)
                self.write("src/island/core.cpp", f"#include <{header}>\n")
                self.expect_red(check.check_fences, "src/island/core.cpp:1", header)
                (self.root / "src/island/core.cpp").unlink()

    def test_each_banned_call_is_red_above_the_seams_and_not_at_them(self):
        calls = ["auto t = std::chrono::steady_clock::now();", "auto t = std::time(nullptr);",
                 "std::random_device device;", "std::thread worker(run);", "usleep(10);",
                 'auto v = getenv("HOME");', "std::ifstream in(path);",
                 "int s = ::socket(AF_UNIX, 0, 0);", "std::unordered_map<Node*, int> order;"]
        self.assertEqual(len(calls), len(rules.BANNED), "a banned call has no test")
        for call, rule in zip(calls, rules.BANNED):
            with self.subTest(call):
                self.write("src/island/core.cpp", f"// First.\n{call}\n")
                self.expect_red(check.check_banned_calls, "core.cpp:2", rule.name)
        self.write("src/island/core.cpp", "")
        self.write("src/base/clock.cpp", calls[0] + calls[3] + calls[6])
        self.write("tools/seaway/main.cpp", calls[5])
        self.expect_green(check.check_banned_calls)

    def test_a_banned_word_in_a_comment_or_a_literal_is_no_call(self):
        self.write("src/island/a.cpp", '// sleep(1) is banned\nauto s = "rand()";\nx = 1\'000\'000;')
        self.expect_green(check.check_banned_calls)

    def test_a_test_that_sleeps_is_red(self):
        self.write("tests/unit/island/a_test.cpp", "std::this_thread::sleep_for(1ms);\n")
        self.expect_red(check.check_banned_calls, "a sleep")

    def test_a_method_called_sleep_is_no_sleep(self):
        self.write("src/actor/engine.cpp", "if (!ran) sleep();\nvoid Engine::sleep() {}\n")
        self.expect_green(check.check_banned_calls)
        self.write("src/actor/engine.cpp", "sleep(1);\n")
        self.expect_red(check.check_banned_calls, "a sleep")

    def test_an_allowance_is_kept_only_while_it_is_needed(self):
        allowed = {("src/island/a.cpp", "a sleep"): "the reason"}
        with mock.patch.object(rules, "ALLOWED", allowed):
            self.write("src/island/a.cpp", "usleep(1);\n")
            self.expect_green(check.check_banned_calls)
            self.write("src/island/a.cpp", "int a;\n")
            self.expect_red(check.check_banned_calls, "is not needed")

    def test_a_fault_point_in_a_header_is_red(self):
        self.write("src/island/core.hpp", "// First.\ninline bool f() { return SEAWAY_FAULT(kA); }\n")
        self.expect_red(check.check_fault_points, "src/island/core.hpp:2", "one definition")

    def test_a_file_with_fault_points_is_compiled_with_them(self):
        self.write("src/island/core.cpp", "bool f() { return SEAWAY_FAULT(kA); }\n")
        self.write("src/island/meson.build", "fault_point_sources += files('order.cpp')\n")
        self.expect_red(check.check_fault_points, "core.cpp:1", "fault_point_sources")
        self.write("src/island/meson.build",
                   "fault_point_sources += files('core.cpp', 'order.cpp')\n")
        self.expect_green(check.check_fault_points)

    def test_a_mutant_is_where_fault_points_are(self):
        self.write("src/island/meson.build", "fault_point_sources += files('order.cpp')\n")
        self.write("src/island/core.cpp", "bool f() { return SEAWAY_MUTANT(\"a\"); }\n")
        self.expect_red(check.check_fault_points, "core.cpp:1", "fault_point_sources")
        self.write("src/island/core.cpp", "bool f();\n")
        self.write("src/island/core.hpp", "// A.\ninline bool f() { return SEAWAY_MUTANT(\"a\"); }\n")
        self.expect_red(check.check_fault_points, "src/island/core.hpp:2", "one definition")

    def test_a_probe_is_where_fault_points_are(self):
        self.write("src/island/meson.build", "fault_point_sources += files('order.cpp')\n")
        self.write("src/island/core.cpp", "void f() { SEAWAY_PROBE(\"a\"); }\n")
        self.expect_red(check.check_fault_points, "core.cpp:1", "fault_point_sources")
        self.write("src/island/core.cpp", "void f() { SEAWAY_PROBE_IF(true, \"a\"); }\n")
        self.expect_red(check.check_fault_points, "core.cpp:1", "fault_point_sources")

    def test_a_test_file_outside_the_build_is_red(self):
        self.write("tests/unit/base/meson.build", "executable('x', 'b_test.cpp')  # 'a_test.cpp'\n")
        self.write("tests/unit/base/b_test.cpp", "")
        self.expect_green(check.check_tests_in_build)
        self.write("tests/unit/base/a_test.cpp", "")
        self.expect_red(check.check_tests_in_build, "a_test.cpp:1", "never runs")

    def test_a_room_without_a_readme_is_red(self):
        self.write("src/wire/a.cpp", "")
        self.expect_red(check.check_readmes, "src/wire/README.md")
        self.write("src/wire/README.md", "# wire\n")
        self.expect_green(check.check_readmes)

    def test_a_long_file_is_red(self):
        self.write("src/wire/a.cpp", "\n" * rules.FILE_LINES_MAX)
        self.expect_green(check.check_length)
        self.write("src/wire/a.cpp", "\n" * (rules.FILE_LINES_MAX + 1))
        self.expect_red(check.check_length, "split it")

    def test_a_demo_on_actors_fits_on_a_few_pages(self):
        for demo in rules.APP_DEMOS:
            with self.subTest(demo):
                self.write(f"demos/{demo}.cpp", "\n" * rules.APP_DEMO_LINES_MAX)
                self.expect_green(check.check_length)
                self.write(f"demos/{demo}.cpp", "\n" * (rules.APP_DEMO_LINES_MAX + 1))
                self.expect_red(check.check_length, f"demos/{demo}.cpp", "151 lines")
                self.write(f"demos/{demo}.cpp", "")

    def test_each_demo_on_actors_is_in_this_tree(self):
        for demo in rules.APP_DEMOS:
            self.assertTrue((ROOT / f"demos/{demo}.cpp").exists(), demo)

    def test_too_many_public_headers_are_red(self):
        for number in range(rules.PUBLIC_HEADERS_MAX):
            self.write(f"include/seaway/h{number}.hpp", "")
        self.expect_green(check.check_public_headers)
        self.write("include/seaway/one_more.hpp", "")
        self.expect_red(check.check_public_headers, f"{rules.PUBLIC_HEADERS_MAX + 1} public headers; at most {rules.PUBLIC_HEADERS_MAX}")

    def test_a_library_in_a_public_header_is_red(self):
        self.write("include/seaway/a.hpp", "#include <vector>\n#include <kj/common.h>\n")
        self.expect_red(check.check_public_headers, "a.hpp:2", "users do not need it")

    def test_a_path_of_one_machine_is_red(self):
        self.write("docs/a.md", "see tools/work/x and $HOME/tmp/y\nrun /" + "tmp/build/seaway\n")
        self.expect_red(check.check_paths, "docs/a.md:2", "path of one machine")

    def test_a_code_block_must_equal_its_source(self):
        self.write("demos/a.cpp", "  // [first]\n  int a = 1;\n  // [/first]\n")
        block = "<!-- snippet: demos/a.cpp#first -->\n```cpp\n{}```\n"
        self.write("README.md", block.format("int a = 2;\n"))
        self.expect_red(check.check_snippets, "README.md:1", "differs from demos/a.cpp#first")
        new, _ = check.snippets.renewed(self.root, (self.root / "README.md").read_text())
        self.assertEqual(new, block.format("int a = 1;\n"))
        self.write("README.md", new)
        self.expect_green(check.check_snippets)

    def test_a_code_block_may_come_from_a_schema(self):
        self.write("a.capnp", "# [first]\nstruct A {\n  # [not one]\n}\n# [/first]\n[first]\n")
        block = "<!-- snippet: a.capnp#first -->\n```capnp\n{}```\n"
        self.write("README.md", block.format("struct A {\n  # [not one]\n}\n"))
        self.expect_green(check.check_snippets)
        self.write("README.md", block.format("struct A {}\n"))
        self.expect_red(check.check_snippets, "README.md:1", "differs from a.capnp#first")

    def test_a_snippet_without_source_or_block_is_red(self):
        self.write("README.md", "<!-- snippet: demos/a.cpp#gone -->\n```cpp\n```\n")
        self.expect_red(check.check_snippets, "has no lines `// [gone]`")
        self.write("README.md", "\n<!-- snippet: demos/a.cpp -->\n")
        self.expect_red(check.check_snippets, "README.md:2", "followed by a code block")

    def test_a_long_program_in_the_readme_is_red(self):
        def write(lines):
            program = "int a;\n" * lines
            self.write("demos/a.cpp", f"// [p]\n{program}// [/p]\n")
            self.write("README.md", f"<!-- snippet: demos/a.cpp#p -->\n```cpp\n{program}```\n")
        write(rules.README_PROGRAM_LINES_MAX)
        self.expect_green(check.check_snippets)
        write(rules.README_PROGRAM_LINES_MAX + 1)
        self.expect_red(check.check_snippets, "README.md:1", "a program of 31 lines; at most 30")

    def test_a_promise_names_a_test_that_exists(self):
        def write(row):
            self.write("docs/promises.md", f"| what | test |\n|---|---|\n| {row} |\n")
        self.write("tests/a_test.cpp", "TEST_F(Calls,\n       End) {}\n// TEST(Calls, Begin)\n")
        write("they end | [`Calls.End`](../tests/a_test.cpp)")
        self.expect_green(check.check_promises)
        write("they last | not tested")
        self.expect_green(check.check_promises)
        for test in ("Calls.Begin", "Calls.En", "Streams.End"):
            write(f"they end | [`{test}`](../tests/a_test.cpp)")
            self.expect_red(check.check_promises, "promises.md:3", f"a_test.cpp has no test {test}")
        write("they end | [`Calls.End`](../tests/b_test.cpp)")
        self.expect_red(check.check_promises, "promises.md:3", "b_test.cpp has no test Calls.End")
        write("they end | I am sure")
        self.expect_red(check.check_promises, "promises.md:3", "names no test")
        write("they end | [`Calls.End`](../tests/a_test.cpp), [`Calls`](../tests/a_test.cpp)")
        self.expect_red(check.check_promises, "promises.md:3", "is named as")

    def test_an_unformatted_file_is_red_each_time(self):
        cache = check.Cache(self.root / "build")
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/base/a.cpp", "int  a ;\n")
        for _ in range(2):
            errors = list(check.check_format(check.Tree(self.root), cache))
            self.assertEqual(errors, ["src/base/a.cpp:1: error: not formatted; run ./dev format"])
        self.write("src/base/a.cpp", "int a;\n")
        self.assertEqual(list(check.check_format(check.Tree(self.root), cache)), [])

    def test_a_header_that_needs_another_is_red_until_it_includes_it(self):
        build = self.root / "build"
        self.write("build/compile_commands.json",
                   '[{"command": "g++ -I../src -std=c++20 -c a.cpp", "file": "a.cpp"}]')
        self.write("src/base/a.hpp", "#pragma once\nstruct A {};\n")
        self.write("src/base/b.hpp", "#pragma once\nA make();\n")

        def errors():
            return list(check.check_lone_headers(check.Tree(self.root), build,
                                                 check.Cache(build / "cache")))
        self.assertEqual(len(errors()), 1)
        self.assertIn("src/base/b.hpp:1: error: does not compile alone", errors()[0])
        self.write("src/base/b.hpp", '#pragma once\n#include "base/a.hpp"\nA make();\n')
        self.assertEqual(errors(), [])
        # The verdict on b.hpp is not remembered when what it includes has changed.
        self.write("src/base/a.hpp", "#pragma once\nstruct B {};\n")
        self.assertEqual(len(errors()), 1)

    def test_a_header_that_its_source_includes_first_is_proven_by_the_build(self):
        self.write("src/base/a.cpp", '// First.\n\n#include "base/a.hpp"\n\n#include <vector>\n')
        self.write("src/base/b.cpp", '#include <vector>\n\n#include "base/b.hpp"\n')
        self.write("src/base/c.cpp", '#define C\n#include "base/c.hpp"\n')
        self.write("build/compile_commands.json", json.dumps(
            [{"directory": str(self.root / "build"), "file": f"../src/base/{name}.cpp"}
             for name in "abc"]))
        proven = check.headers_proven_by_build(check.Tree(self.root), self.root / "build")
        self.assertIn("src/base/a.hpp", proven)
        self.assertNotIn("src/base/b.hpp", proven)
        self.assertNotIn("src/base/c.hpp", proven)


if __name__ == "__main__":
    unittest.main()
