#!/usr/bin/env python3
"""Writes a schema as a later build may have it: later_schema.py BEFORE AFTER adds two fields to each struct."""
import re
import sys


def later(text):
    """Of a file whose structs have no structs or enums within them."""
    def add(struct):
        body = struct[0]
        numbers = [int(n) for n in re.findall(r"@(\d+) :", body)]
        first = max(numbers) + 1
        return f"{body[:-1]}  laterNumber @{first} :UInt64;\n  laterWords @{first + 1} :Text;\n}}"
    return re.sub(r"^struct \w+ \{$.*?^\}", add, text, flags=re.DOTALL | re.MULTILINE)


with open(sys.argv[1], encoding="utf-8") as before, open(sys.argv[2], "w", encoding="utf-8") as after:
    after.write(later(before.read()))
