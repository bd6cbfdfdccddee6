#!/usr/bin/env python3
"""What operations cost is compared with what is kept: more of anything fails, and is named."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import counts  # noqa: E402

OPERATION = "actor.one_way"


class CompareTest(unittest.TestCase):
    KEPT = {"operation": "call", "times": 10, "instructions": 1000, "allocations": 50, "frames": 0}

    def compare(self, **changes):
        return counts.compare([self.KEPT], [dict(self.KEPT, **changes)])

    def test_instructions_may_be_two_percent_more(self):
        self.assertEqual(self.compare(instructions=1020), [])
        self.assertEqual(self.compare(instructions=1021), ["call: 1021 instructions for 10 operations, 1000 are kept"])

    def test_memory_may_be_padded_otherwise(self):
        kept = dict(self.KEPT, kept_bytes=100_000)
        self.assertEqual(counts.compare([kept], [dict(kept, kept_bytes=103_024)]), [])
        self.assertEqual(len(counts.compare([kept], [dict(kept, kept_bytes=103_025)])), 1)
        none = dict(self.KEPT, kept_bytes=-240)
        self.assertEqual(counts.compare([none], [dict(none, kept_bytes=0)]), [])

    def test_what_the_system_does_may_be_a_little_more(self):
        kept = {"operation": "message.unix", "times": 500, "system_calls": 1500, "written_bytes": 32000, "wake_ups": 500}
        for name, most in (("system_calls", 1535), ("written_bytes", 32320), ("wake_ups", 535)):
            with self.subTest(name):
                self.assertEqual(counts.compare([kept], [dict(kept, **{name: most})]), [])
                self.assertEqual(counts.compare([kept], [dict(kept, **{name: most + 1})]),
                                 [f"message.unix: {most + 1} {name} for 500 operations, {kept[name]} are kept"])

    def test_nothing_else_may_be_more(self):
        self.assertEqual(self.compare(allocations=49), [])
        self.assertEqual(self.compare(allocations=51), ["call: 51 allocations for 10 operations, 50 are kept"])
        self.assertEqual(self.compare(frames=1), ["call: 1 frames for 10 operations, 0 are kept"])

    def test_what_cannot_be_compared_fails(self):
        self.assertEqual(self.compare(operation="run"), ["run: nothing is kept of it"])
        self.assertEqual(self.compare(times=20), ["call: 20 operations, and 10 are kept"])
        self.assertEqual(self.compare(misses=1), ["call: nothing is kept of its misses"])


class CountsTest(unittest.TestCase):
    def run_counts(self, kept):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "kept.json"
            path.write_text(json.dumps([kept]))
            said = io.StringIO()
            arguments = ["counts", kept["operation"], "--program", os.environ["SEAWAY_COUNTS"],
                         "--system-program", os.environ["SEAWAY_SYSTEM_COUNTS"], "--kept", str(path)]
            with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(io.StringIO()):
                with contextlib.redirect_stderr(said):
                    return counts.main(), said.getvalue()

    def kept(self, operation):
        return next(one for one in json.loads((ROOT / "benchmarks" / "counts.json").read_text())
                    if one["operation"] == operation)

    def test_one_system_call_more_of_a_message_than_is_kept_fails(self):
        kept = self.kept("message.unix")
        self.assertEqual(self.run_counts(kept), (0, ""))
        code, said = self.run_counts(dict(kept, system_calls=kept["system_calls"] - kept["times"]))
        self.assertEqual(code, 1)
        self.assertIn("message.unix: ", said)
        self.assertIn(" system_calls for 500 operations", said)

    def test_one_allocation_more_than_is_kept_fails(self):
        kept = self.kept(OPERATION)
        self.assertEqual(self.run_counts(kept), (0, ""))
        code, said = self.run_counts(dict(kept, allocations=kept["allocations"] - 1))
        self.assertEqual(code, 1)
        self.assertIn(f"{OPERATION}: {kept['allocations']} allocations", said)


if __name__ == "__main__":
    unittest.main()
