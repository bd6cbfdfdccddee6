#!/usr/bin/env python3
"""Keeps code blocks of the documentation equal to code that is compiled and run.

In a Markdown file, the code block after a line `<!-- snippet: PATH#MARKER -->` shows the text that
stands in PATH between the lines `// [MARKER]` and `// [/MARKER]`, without their common indentation;
in a file whose comments begin so, `# [MARKER]` and `# [/MARKER]`.
"""
import re
import textwrap
from pathlib import Path

BLOCK = re.compile(
    r"^(?P<mark><!-- snippet: (?P<path>[^#\s]+)#(?P<marker>[\w-]+) -->\n+```[a-z+]*\n)"
    r"(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- snippet:.*$", re.MULTILINE)


def snippet(root: Path, path: str, marker: str):
    """The text between the markers, or None when the file or one of the markers is missing."""
    source = root / path
    if not source.is_file():
        return None
    begin, end, lines, inside = f"[{marker}]", f"[/{marker}]", [], False
    for line in source.read_text().splitlines():
        comment = re.sub(r"^(//|#) ", "", line.strip())
        is_mark = comment != line.strip()
        if inside and is_mark and comment == end:
            return textwrap.dedent("\n".join(lines)).strip("\n") + "\n"
        if inside:
            lines.append(line)
        inside = inside or is_mark and comment == begin
    return None


def renewed(root: Path, text: str):
    """`text` with all its blocks renewed, and (line, message) of each that could not be or was old."""
    problems, known = [], set()

    def replace(match):
        line = text.count("\n", 0, match.start()) + 1
        known.add(line)
        wanted = snippet(root, match["path"], match["marker"])
        if wanted is None:
            problems.append((line, f"{match['path']} has no lines `// [{match['marker']}]` and "
                                   f"`// [/{match['marker']}]`"))
            return match[0]
        if wanted != match["text"]:
            problems.append((line, f"the code block differs from {match['path']}#"
                                   f"{match['marker']}; run ./dev format"))
        return f"{match['mark']}{wanted}```"

    result = BLOCK.sub(replace, text)
    for mark in MARK.finditer(text):
        line = text.count("\n", 0, mark.start()) + 1
        if line not in known:
            problems.append((line, "a snippet line must be `<!-- snippet: PATH#MARKER -->` and be "
                                   "followed by a code block"))
    return result, sorted(problems)
