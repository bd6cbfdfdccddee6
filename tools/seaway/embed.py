#!/usr/bin/env python3
"""Writes files into a C++ source, as strings: embed.py OUTPUT FILE..."""
import sys
from pathlib import Path

DELIMITER = "embedded"

output, *names = sys.argv[1:]
lines = ['// Written by embed.py.', '#include "templates.hpp"', "namespace seaway::tools {",
         "std::span<const Template> app_templates() {",
         "  static constexpr Template kTemplates[] = {"]
for name in names:
    text = Path(name).read_text()
    if f"){DELIMITER}\"" in text:
        sys.exit(f"{name} contains the end of a raw string, ){DELIMITER}\"")
    lines.append(f'    {{"{Path(name).name}", R"{DELIMITER}({text}){DELIMITER}"}},')
lines += ["  };", "  return kTemplates;", "}", "}  // namespace seaway::tools", ""]
Path(output).write_text("\n".join(lines))
