#!/usr/bin/env python3
"""Small mistakes are found by rule, stand behind a switch, and change what a program does."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutants  # noqa: E402
import mutate  # noqa: E402

PROGRAM = """\
#include <cstdio>
#define CHECK(condition) ((condition) ? 0 : 1)
bool planted() { return false; }
#define SEAWAY_MUTANT(name) planted()
constexpr int kOne = 1 + 0;
constexpr int twice(int x) { return x + x; }
struct Sums {
  int sum = 0;
  void add(int x) {
    sum += x;
  }
  bool is_full(int limit) const { return sum >= limit; }
};
int name(int x) {
  if (x == 3) return 7;
  return x > 5 && x < 9 ? 1 : x - 1;
}
int main() {
  Sums sums;
  static_assert(twice(2) == 4);
  const int checked = CHECK(sums.sum == 0);
  for (int i = 0; i < 4; ++i) {
    sums.add(i);
  }
  if (SEAWAY_MUTANT("one") && checked > 0) return 1;
  if (sums.is_full(6)) {
    std::puts("full");
  } else {
    std::puts("not full");
  }
  const bool is_known = true;
  std::printf("%d %d %d %d %d\\n", sums.sum, name(3), name(5), name(6), is_known);
}
"""
FOUND = [
    (3, "truth", "planted", "false", "true"),
    (10, "assignment", "Sums::add", "sum += x", "nothing"),
    (12, "relation", "Sums::is_full", "sum >= limit", "sum > limit"),
    (15, "relation", "name", "x == 3", "x != 3"),
    (15, "return", "name", "x == 3", "false && (x == 3)"),
    (15, "number", "name", "3", "3 + 1"),
    (15, "number", "name", "7", "7 + 1"),
    (16, "relation", "name", "x > 5", "x >= 5"),
    (16, "logic", "name", "x > 5 && x < 9", "x > 5 || x < 9"),
    (16, "negation", "name", "x > 5 && x < 9", "!(x > 5 && x < 9)"),
    (16, "number", "name", "5", "5 + 1"),
    (16, "relation", "name", "x < 9", "x <= 9"),
    (16, "number", "name", "9", "9 + 1"),
    (16, "number", "name", "1", "1 + 1"),
    (16, "sum", "name", "x - 1", "x + 1"),
    (16, "number", "name", "1", "1 + 1"),
    (22, "number", "main", "0", "0 + 1"),
    (22, "relation", "main", "i < 4", "i <= 4"),
    (22, "number", "main", "4", "4 + 1"),
    (23, "call", "main", "sums.add(i)", "nothing"),
    (25, "relation", "main", "checked > 0", "checked >= 0"),
    (25, "number", "main", "0", "0 + 1"),
    (25, "number", "main", "1", "1 + 1"),
    (26, "negation", "main", "sums.is_full(6)", "!(sums.is_full(6))"),
    (26, "number", "main", "6", "6 + 1"),
    (27, "call", "main", 'std::puts("full")', "nothing"),
    (29, "call", "main", 'std::puts("not full")', "nothing"),
    (31, "truth", "main", "true", "false"),
    (32, "call", "main",
     'std::printf("%d %d %d %d %d\\n", sums.sum, name(3), name(5), name(6), is_known)', "nothing"),
    (32, "number", "main", "3", "3 + 1"),
    (32, "number", "main", "5", "5 + 1"),
    (32, "number", "main", "6", "6 + 1"),
]
# By line: nobody can see them, as `x < 9` is asked of no 9, and so on.
UNSEEN = {(3, "truth"), (16, "relation", "x < 9"), (16, "number", "9"), (22, "number", "0"), (25, "relation"),
          (25, "number", "0"), (25, "number", "1"), (29, "call"), (32, "number", "6")}


class MutantsTest(unittest.TestCase):
    def setUp(self):
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.directory / "program.cpp").write_text(PROGRAM)
        self.found = mutants.find(self.directory, "program.cpp", ["c++", "-std=c++20"], self.directory)

    def compile(self, chosen):
        source, program = self.directory / "changed.cpp", self.directory / "program"
        source.write_bytes(mutants.rewrite(PROGRAM.encode(), enumerate(chosen, 1), "program.cpp"))
        subprocess.run(["c++", "-std=c++20", "-w", str(source), "-o", str(program)], check=True)
        return lambda number: subprocess.run([str(program)], env=dict(os.environ, SEAWAY_MUTATE=str(number)),
                                             capture_output=True, text=True).stdout

    def test_they_are_made_by_rule_and_not_in_macros_constants_and_what_is_planted(self):
        self.assertEqual([(m.line, m.rule, m.function, m.before, m.after) for m in self.found], FOUND)

    def test_all_stand_in_one_program_and_each_changes_what_it_does(self):
        run = self.compile(self.found)
        plain = run(0)
        self.assertEqual(plain, "full\n6 7 4 1 1\n")
        unseen = {(mutant.line, mutant.rule, mutant.before) for number, mutant in enumerate(self.found, 1)
                  if run(number) == plain}
        self.assertEqual({one for one in unseen if not UNSEEN & {one, one[:2]}}, set())
        self.assertEqual(len(unseen), len(UNSEEN))

    def test_errors_name_the_lines_of_the_file(self):
        changed = mutants.rewrite(b"int main() {\n  return x;\n}\n", [], "program.cpp")
        (self.directory / "wrong.cpp").write_bytes(changed)
        done = subprocess.run(["c++", "-c", "wrong.cpp"], cwd=self.directory, capture_output=True, text=True)
        self.assertIn("program.cpp:2:10: error", done.stderr)

    def test_what_cannot_be_read_is_an_error(self):
        (self.directory / "program.cpp").write_text('#include "nowhere.hpp"\n')
        with self.assertRaisesRegex(mutants.Unreadable, "nowhere.hpp"):
            mutants.find(self.directory, "program.cpp", ["c++"], self.directory)


class MutateTest(unittest.TestCase):
    MUTANT = mutants.Mutant("src/island/order.cpp", 0, 1, 7, "sum", "f", "a + b", "a - b", ())

    def test_those_that_nobody_can_see_have_a_reason_each(self):
        known = mutate.equivalents()
        for key, reason in known.items():
            self.assertRegex(key, r"^src/\w+/\w+\.cpp: .+ -> .+$")
            self.assertGreater(len(reason), 10, key)

    def test_the_table_counts_by_room(self):
        lines = mutate.table([(self.MUTANT, "units", "t"), (self.MUTANT, "seeds", ""), (self.MUTANT, "neither", "")])
        self.assertEqual(lines[2:], ["| island | 3 | 1 | 1 | 1 | 67 % |", "| all | 3 | 1 | 1 | 1 | 67 % |"])

    def test_a_program_that_hangs_or_fails_has_noticed(self):
        self.assertTrue(mutate.run(["true"], 1, 10))
        self.assertFalse(mutate.run(["false"], 1, 10))
        self.assertFalse(mutate.run(["sleep", "60"], 1, 0.1))
        self.assertTrue(mutate.run(["sh", "-c", 'test "$SEAWAY_MUTATE" = 3'], 3, 10))


if __name__ == "__main__":
    unittest.main()
