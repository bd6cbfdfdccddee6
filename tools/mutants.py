"""Small mistakes, made by rule from the syntax tree of a C++ file: where they could be made, and the
file with some of them behind a switch.

libclang reads the tree (Debian: python3-clang-14). Rules:

  relation   a < b becomes a <= b, == becomes !=, and so on
  logic      && becomes ||, and the other way round
  sum        + becomes -, and the other way round
  negation   a condition of `if`, `while` or ?: is negated: its branches are swapped
  return     `if (..) return ..;`, `continue;` or `break;` is skipped
  call       a statement that is a call is removed
  assignment a statement that is an assignment, ++ or -- is removed
  number     a number becomes one more
  truth      true becomes false, and the other way round

Nothing is changed within macros, constant expressions and SEAWAY_MUTANT's conditions.
"""
import bisect
import dataclasses
import os
import re
import sys
from pathlib import Path

try:
    from clang import cindex
except ImportError:
    # Debian's module is for Debian's Python; another one can use it, too.
    sys.path.append("/usr/lib/python3/dist-packages")
    from clang import cindex

from clang.cindex import CursorKind as Kind

SWITCH = "::seaway_mutants::is_on"
# Stands in front of a file: which mutant is on, the environment says.
PRELUDE = """#include <cstdlib>
namespace seaway_mutants {
inline bool is_on(int mutant) {
  static const int active = [] {
    const char* const text = std::getenv("SEAWAY_MUTATE");
    return text ? std::atoi(text) : 0;
  }();
  return mutant == active;
}
}  // namespace seaway_mutants
"""
# Clang 14 cannot read libstdc++'s own.
SHIM = """#pragma once
namespace std {
struct source_location {
  static constexpr source_location current() noexcept { return {}; }
  constexpr const char* file_name() const noexcept { return ""; }
  constexpr const char* function_name() const noexcept { return ""; }
  constexpr unsigned line() const noexcept { return 0; }
  constexpr unsigned column() const noexcept { return 0; }
};
}
"""
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
SUMS = {"+": "-", "-": "+"}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
             Kind.CONVERSION_FUNCTION, Kind.FUNCTION_TEMPLATE}
LEAVING = {Kind.RETURN_STMT, Kind.CONTINUE_STMT, Kind.BREAK_STMT}
PLANTED = re.compile(r"SEAWAY_(MUTANT|FAULT|PROBE|CHECK)")


class Unreadable(Exception):
    """Clang cannot read a file."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One mistake: `pieces` stand instead of the bytes [begin, end) of the file; a piece is text, or
    a (begin, end) of the file."""
    file: str  # From the root of the tree.
    begin: int
    end: int
    line: int
    rule: str
    function: str
    before: str
    after: str
    pieces: tuple

    def key(self):
        """Names it as long as its line and its function stay as they are."""
        return f"{self.file}: {self.function}: {self.before} -> {self.after}"


def compiler_arguments(arguments):
    """Of a compiler's command line, what a reader of the file has to know."""
    kept, is_value = [], False
    for argument in arguments[1:]:
        if is_value or argument.startswith(("-I", "-D", "-std", "-isystem")):
            kept.append(argument)
        is_value = argument in ("-isystem", "-I", "-D")
    return kept


class Reader:
    """Finds all mutants of one file."""

    def __init__(self, root, file, arguments, directory):
        self.file = file
        path = str(Path(root) / file)
        self.source = Path(path).read_bytes()
        self.lines = [0] + [match.end() for match in re.finditer(rb"\n", self.source)]
        self.path = os.path.realpath(path)
        unit = cindex.Index.create().parse(
            path, args=[*compiler_arguments(arguments), "-ferror-limit=0", "-include",
                        "/seaway/source_location.hpp",
                        f"-working-directory={directory}"],
            unsaved_files=[("/seaway/source_location.hpp", SHIM)],
            options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        # Clang 14 does not understand all of libstdc++'s ranges, and reads on behind what it does not.
        errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Fatal]
        if errors:
            raise Unreadable(errors[0])
        self.mutants = {}
        self.macros = []
        self.constants = [match.span() for match in re.finditer(
            rb"static_assert\s*\([^;]*;|if\s+constexpr\s*\([^)]*\)", self.source)]
        for cursor in unit.cursor.get_children():
            if cursor.kind == Kind.MACRO_INSTANTIATION and self.is_here(cursor):
                self.macros.append(self.range_of(cursor))
        self.function = ""
        for cursor in unit.cursor.get_children():
            if self.is_here(cursor):
                self.visit(cursor)

    def found(self):
        """The negation of a comparison is a mutant of that already."""
        equal = {(m.begin, m.end) for m in self.mutants.values()
                 if m.rule == "relation" and m.after == self.opposite(m.before)}
        return sorted((m for m in self.mutants.values()
                       if m.rule != "negation" or (m.begin, m.end) not in equal),
                      key=lambda m: (m.begin, m.end, m.rule))

    @staticmethod
    def opposite(before):
        return re.sub(r" == | != ", lambda sign: RELATIONS[sign[0].strip()].center(4), before,
                      count=1)

    def is_here(self, cursor):
        file = cursor.location.file
        return file is not None and os.path.realpath(file.name) == self.path

    @staticmethod
    def range_of(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text(self, begin, end):
        return self.source[begin:end].decode()

    def add(self, rule, begin, end, after, *pieces):
        before = self.text(begin, end)
        if begin >= end or PLANTED.search(before):
            return
        if any(b < end and begin < e and not (begin <= b and e <= end)
               for b, e in [*self.macros, *self.constants]):
            return  # Within one.
        if (begin, end) in self.macros:
            return
        shorten = lambda text: re.sub(r"\s+", " ", text).strip()
        self.mutants[begin, end, rule] = Mutant(
            self.file, begin, end, bisect.bisect_right(self.lines, begin), rule, self.function,
            shorten(before), shorten(after), pieces)

    def choose(self, rule, cursor, changed, after):
        """`changed`: pieces of an expression instead of `cursor`, which has its type."""
        begin, end = self.range_of(cursor)
        self.add(rule, begin, end, after, f"({SWITCH}(@) ? (", *changed, ") : (", (begin, end), "))")

    def visit(self, cursor, parent=None):
        kind = cursor.kind
        if kind in FUNCTIONS or kind == Kind.LAMBDA_EXPR:
            self.visit_function(cursor)
            return
        if kind in (Kind.ENUM_DECL, Kind.STATIC_ASSERT, Kind.TEMPLATE_NON_TYPE_PARAMETER):
            return
        children = list(cursor.get_children())
        if self.function:
            if kind == Kind.VAR_DECL and self.is_constant(cursor):
                return
            self.look(cursor, children)
            if kind == Kind.CASE_STMT:
                children = children[1:]
            elif kind == Kind.VAR_DECL:  # Its type may have arguments.
                children = children[-1:]
        for child in children:
            self.visit(child, cursor)

    def visit_function(self, cursor):
        children = list(cursor.get_children())
        bodies = [child for child in children if child.kind == Kind.COMPOUND_STMT]
        if not bodies:
            return
        head = self.text(cursor.extent.start.offset, bodies[-1].extent.start.offset)
        if re.search(r"\b(constexpr|consteval)\b", head):
            return
        outer = self.function
        if cursor.kind != Kind.LAMBDA_EXPR:
            of = cursor.semantic_parent
            self.function = (f"{of.spelling}::" if of and of.kind in (
                Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE) else "") + cursor.spelling
        if cursor.kind == Kind.CONSTRUCTOR:
            for child in children:
                if child.kind.is_expression():
                    self.visit(child, cursor)
        if self.function:
            self.visit(bodies[-1], cursor)
        self.function = outer

    def is_constant(self, cursor):
        begin, _ = self.range_of(cursor)
        line = self.source.rfind(b";", 0, begin), self.source.rfind(b"{", 0, begin)
        head = self.text(max(*line, 0), begin) + self.text(*self.range_of(cursor))[:200]
        return re.search(r"\bconstexpr\b", head) is not None

    def look(self, cursor, children):
        kind = cursor.kind
        if kind == Kind.BINARY_OPERATOR and len(children) == 2:
            self.look_at_operator(cursor, *children)
        elif kind == Kind.CALL_EXPR and cursor.spelling.startswith("operator"):
            arguments = list(cursor.get_arguments())
            if len(arguments) == 2:
                self.look_at_operator(cursor, *arguments)
        elif kind == Kind.IF_STMT:
            self.look_at_if(cursor, children)
        elif kind == Kind.WHILE_STMT and len(children) == 2:
            self.negate(children[0])
        elif kind == Kind.CONDITIONAL_OPERATOR and len(children) == 3:
            self.negate(children[0])
        elif kind == Kind.INTEGER_LITERAL:
            self.look_at_number(cursor)
        elif kind == Kind.CXX_BOOL_LITERAL_EXPR:
            self.look_at_truth(cursor)
        for statement in self.statements(cursor, children):
            self.look_at_statement(statement)

    def look_at_operator(self, cursor, left, right):
        (begin, middle), (start, end) = self.range_of(left), self.range_of(right)
        if not begin < middle <= start < end:
            return
        sign = self.text(middle, start).strip()
        for rule, table in (("relation", RELATIONS), ("logic", LOGIC), ("sum", SUMS)):
            if sign not in table:
                continue
            if rule == "sum" and not self.is_integer(cursor.type):
                continue
            other = table[sign]
            after = f"{self.text(begin, middle)} {other} {self.text(start, end)}"
            self.add(rule, begin, end, after, f"({SWITCH}(@) ? ((", (begin, middle), f") {other} (",
                     (start, end), ")) : (", (begin, end), "))")

    @staticmethod
    def is_integer(of):
        kinds = cindex.TypeKind
        return of.get_canonical().kind in (kinds.INT, kinds.UINT, kinds.LONG, kinds.ULONG,
                                           kinds.LONGLONG, kinds.ULONGLONG)

    def look_at_if(self, cursor, children):
        begin, end = self.range_of(cursor)
        if re.match(r"if\s+constexpr\b", self.text(begin, end)):
            return
        conditions = [c for c in children if c.kind.is_expression()]
        if not conditions or any(c.kind == Kind.VAR_DECL for c in children):
            return
        condition = conditions[0]
        position = children.index(condition)
        branches = children[position + 1:]
        self.negate(condition)
        if len(branches) != 1:
            return
        last = branches[0]
        if last.kind == Kind.COMPOUND_STMT:
            inner = list(last.get_children())
            last = inner[-1] if inner else None
        if last is not None and last.kind in LEAVING:
            first, after = self.range_of(condition)
            self.add("return", first, after, f"false && ({self.text(first, after)})",
                     f"(!{SWITCH}(@) && (", (first, after), "))")

    def negate(self, condition):
        begin, end = self.range_of(condition)
        if not condition.kind.is_expression():
            return
        self.add("negation", begin, end, f"!({self.text(begin, end)})",
                 f"(static_cast<bool>(", (begin, end), f") != {SWITCH}(@))")

    def look_at_number(self, cursor):
        begin, end = self.range_of(cursor)
        text = self.text(begin, end)
        if not re.fullmatch(r"[0-9][0-9'xXa-fA-F]*[uUlLzZ]*", text):
            return
        self.add("number", begin, end, f"{text} + 1",
                 f"static_cast<decltype({text})>({text} + {SWITCH}(@))")

    def look_at_truth(self, cursor):
        begin, end = self.range_of(cursor)
        is_true = self.text(begin, end) == "true"
        self.add("truth", begin, end, "false" if is_true else "true",
                 f"({'!' if is_true else ''}{SWITCH}(@))")

    @staticmethod
    def statements(cursor, children):
        """Those of `children` that are statements by themselves."""
        if cursor.kind == Kind.COMPOUND_STMT:
            return children
        if cursor.kind in (Kind.IF_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT, Kind.FOR_STMT,
                           Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT):
            return children[1:] if cursor.kind != Kind.DEFAULT_STMT else children
        return []

    def look_at_statement(self, cursor):
        begin, end = self.range_of(cursor)
        if not self.source[end:end + 20].lstrip().startswith(b";"):
            return  # Part of something else.
        inner = cursor
        while inner.kind == Kind.UNEXPOSED_EXPR:  # Temporaries are destroyed behind it.
            nested = list(inner.get_children())
            if len(nested) != 1:
                break
            inner = nested[0]
        text = self.text(begin, end)
        if inner.kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR or (
                inner.kind == Kind.UNARY_OPERATOR and ("++" in text or "--" in text)):
            rule = "assignment"
        elif inner.kind == Kind.BINARY_OPERATOR or inner.spelling.startswith("operator"):
            sides = list(inner.get_children())
            if len(sides) < 2:
                return
            sign = re.search(r"(?<![=!<>])=(?!=)|\+\+|--", text)
            if not sign:
                return
            rule = "assignment"
        elif inner.kind == Kind.CALL_EXPR:
            rule = "call"
        else:
            return
        self.add(rule, begin, end, "nothing", f"({SWITCH}(@) ? static_cast<void>(0) : static_cast<void>(",
                 (begin, end), "))")


def find(root, file, arguments, directory):
    """All mutants of `file`, which `arguments` compile in `directory`. Raises Unreadable."""
    return Reader(root, file, arguments, directory).found()


def rewrite(source, numbered, name):
    """The bytes of a file with some of its mutants, (number, Mutant) each, behind the switch."""
    inner_first = sorted(numbered, key=lambda one: (one[1].begin, -one[1].end, one[0]))

    def render(begin, end, around):
        """[begin, end) with all mutants in it but those of `around`, which are being written."""
        out, position = [], begin
        for number, mutant in inner_first:
            if number in around or mutant.begin < position or mutant.end > end:
                continue
            out.append(source[position:mutant.begin])
            for piece in mutant.pieces:
                if isinstance(piece, str):
                    out.append(piece.replace("@", str(number)).encode())
                else:
                    out.append(render(*piece, around | {number}))
            position = mutant.end
        out.append(source[position:end])
        return b"".join(out)

    body = render(0, len(source), frozenset())
    return PRELUDE.encode() + f'#line 1 "{name}"\n'.encode() + body
