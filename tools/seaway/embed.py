#!/usr/bin/env python3
"""Writes files into a C++ source, as strings of a function that its header declares:
embed.py OUTPUT HEADER NAMESPACE TYPE FUNCTION FILE..."""
import sys
from pathlib import Path

DELIMITER = "embedded"

output, header, namespace, kind, function, *names = sys.argv[1:]
lines = ["// Written by embed.py.", f'#include "{header}"', f"namespace {namespace} {{",
         f"std::span<const {kind}> {function}() {{", f"  static constexpr {kind} kFiles[] = {{"]
for name in names:
    text = Path(name).read_text()
    if f"){DELIMITER}\"" in text:
        sys.exit(f"{name} contains the end of a raw string, ){DELIMITER}\"")
    lines.append(f'    {{"{Path(name).name}", R"{DELIMITER}({text}){DELIMITER}"}},')
lines += ["  };", "  return kFiles;", "}", f"}}  // namespace {namespace}", ""]
Path(output).write_text("\n".join(lines))
