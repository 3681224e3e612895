"""Finds the places of a C++ source that a mutant can change, and puts mutants into the source.

A mutant is a pair of texts around a range of the source: `(mutation::is(7) ? !(a) : (a))`. So one build has any number
of mutants, and the environment selects the active one. clang-format puts a space on both sides of a binary
operator and on neither side of a template's bracket: the space tells one from the other.
"""

import collections
import re

# height: the lines after the first
# variants: (description, text before, text after); in the text before, ACTIVE stands for the condition
# constant: the offset of a `constexpr` that has to become `const`, and its replacement; or None
Place = collections.namedtuple("Place", "file line height kind begin end variants constant")
ACTIVE = "\0"

TOKEN = re.compile(r"[\w']+|::|->|<=>|<<=|>>=|[-+*/%&|^!=<>]=|&&|\|\||<<|\+\+|--|[^\w\s]")
OPPOSITE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CLOSING = {"(": ")", "[": "]", "{": "}"}
LOOSEST = {";", ",", "?", ":", "=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=",
           "return", "co_return", "co_yield", "throw", "case"}
LOOSER = {"||": LOOSEST, "&&": LOOSEST | {"||"}, "comparison": LOOSEST | {"||", "&&"}}
BITWISE = {"&", "|", "^"}

LITERAL = re.compile(r"(?<![\w.'<])(\d[\d']*)((?!e)[a-zA-Z]*)(?![\w.'>])")
LIMIT = re.compile(r"(?i)limit|max|most|capacity|size|count|options|window|threshold|allowed")
LOG = re.compile(r"\b(?:log\w*|assert|static_assert|BOOST_ASSERT)\(")
LABEL = re.compile(r"\s*(?:(?:case\b(?:[^:;{}]|::)*|default):(?!:)\s*)*")
NOTHING = re.compile(r"[\s}]*(?:default:\s*break;\s*)?")
DECLARES = re.compile(r"(?:const\s+)?[\w:<>]+(?:[&*\s]|const\b)+\w+\s*=[^=]")
SCOPE = re.compile(r"(?:template\s*<.*?>\s*)?(?:inline\s+)?(namespace|class|struct|union|enum|extern)\b", re.S)
STATEMENT = re.compile(r"""
      (?:return|co_return|break|continue)\s*; | (?:throw|co_await|delete)\b | (?:\+\+|--|\*)\s*[\w(]
    | (?!static_cast<void>|if\b|for\b|while\b|switch\b|return\b|co_return\b|assert\b|static_assert\b|catch\b)
      [\w:]+ (?:<[\w:<>, *&]*>)? (?:\(|\.|->|\[|\+\+|--|\s*[-+*/%|&^]?=(?!=))""", re.X)


class Source:
    """The tokens, brackets and statements of one file. Comments are blank in `code`, and strings as well in `mask`."""

    def __init__(self, code, mask):
        self.code = code
        self.mask = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m[0]), mask, flags=re.M)
        self.tokens = list(TOKEN.finditer(self.mask))
        self.index = {token.start(): i for i, token in enumerate(self.tokens)}
        self.partner = {}     # of a bracket: index by index
        self.statements = []  # (begin, end, kind of the braces around it)
        self.braces = []      # (begin, end, kind)
        self.read_structure()

    def read_structure(self):
        levels = [["", "namespace", 0, -1]]  # bracket, kind, where the statement begins, index
        for i, token in enumerate(self.tokens):
            text, level = token[0], levels[-1]
            if text in CLOSING:
                kind = self.kind_of_braces(self.mask[level[2]:token.start()], level[1]) if text == "{" else text
                levels.append([text, kind, token.end(), i])
            elif text in CLOSING.values() and len(levels) > 1:
                bracket, kind, _, begin = levels.pop()
                assert CLOSING[bracket] == text, f"unbalanced {bracket} at line {self.line_of(token.start())}"
                self.partner[i], self.partner[begin] = begin, i
                if text == "}":
                    self.braces.append((self.tokens[begin].start(), token.end(), kind))
                    if kind not in ("list", "lambda"):
                        levels[-1][2] = token.end()
            elif text == ";":
                self.statements.append((level[2], token.end(), level[1]))
                level[2] = token.end()

    @staticmethod
    def kind_of_braces(head, around):
        """Tells block, lambda, type, enum, namespace and list (of initialisers) apart by the text before the brace."""
        head = head.strip()
        word = SCOPE.match(head)
        if word and around not in "([":
            return {"namespace": "namespace", "extern": "namespace", "enum": "enum"}.get(word[1], "type")
        if head == "":
            return "block" if around in ("block", "lambda") else "list"
        tail = re.sub(r"->[\w:<>,\s*&]+$|(?:\s*\b(?:const|noexcept|override|final|mutable))+$", "", head).strip()
        if re.search(r"\](?:\s*\([^{}]*\))?$", tail) and not re.search(r"\w\](?:\s*\([^{}]*\))?$", tail):
            return "lambda"
        if re.search(r"\)$|\b(?:else|do|try)$|[^:]:$", tail) or re.search(r"\)\s*(?:noexcept\s*)?:.*\}$", tail, re.S):
            return "block"
        return "list"

    def line_of(self, offset):
        return self.code.count("\n", 0, offset) + 1

    def braces_around(self, offset):
        return min((each for each in self.braces if each[0] < offset < each[1]), key=lambda each: each[1] - each[0],
                   default=(-1, len(self.code) + 1, "namespace"))

    def kind_around(self, offset):
        return self.braces_around(offset)[2]

    def ends_function(self, offset):
        """Whether nothing but the closing brace of a function follows."""
        begin, end, _ = self.braces_around(offset)
        is_last = not self.mask[offset:end - 1].strip()
        return is_last and self.kind_around(begin) in ("namespace", "type")

    def ends_switch(self, offset):
        """Whether nothing but braces and a `default: break;` follow until the switch is over."""
        begin, end, kind = self.braces_around(offset)
        while kind == "block" and NOTHING.fullmatch(self.mask, offset, end - 1):
            closing = self.index[begin] - 1
            if self.tokens[closing][0] == ")":
                return self.tokens[self.partner[closing] - 1][0] == "switch"
            begin, end, kind = self.braces_around(begin)
        return False

    def statement_around(self, offset):
        return min(((end - begin, begin) for begin, end, _ in self.statements if begin <= offset < end),
                   default=(0, offset))[1]

    def reach(self, i, step, stops):
        """The offset to which the operand of token i extends, to the left (step -1) or to the right (1)."""
        last = self.tokens[i].start() if step < 0 else self.tokens[i].end()
        i += step
        while 0 <= i < len(self.tokens):
            token = self.tokens[i]
            is_bitwise = token[0] in BITWISE and self.mask[token.start() - 1] == " " and self.mask[token.end()] == " "
            if token[0] in stops or (is_bitwise and "&&" in stops):
                break
            if token[0] in "([{" if step < 0 else token[0] in ")]}":
                break
            if i in self.partner:
                i = self.partner[i]
                token = self.tokens[i]
            last = token.start() if step < 0 else token.end()
            i += step
        return last

    def copy(self, begin, end):
        return re.sub(r"\s*\n\s*", " ", self.code[begin:end])


def around(changed):
    return f"({ACTIVE} ? static_cast<bool>({changed}) : static_cast<bool>(", "))"


def comparisons(source, token, i):
    begin, end = (source.reach(i, step, LOOSER["comparison"]) for step in (-1, 1))
    left, right = source.copy(begin, token.start()), source.copy(token.end(), end)
    operator = token[0]
    other = OPPOSITE[operator]
    yield "comparison", begin, end, [(f"{operator} to {other}", *around(left + other + right))]
    if operator not in ("==", "!=") and LIMIT.search(right) and not LITERAL.fullmatch(right.strip()):
        shift = "- 1" if operator in ("<", ">=") else "+ 1"
        yield "limit", begin, end, [(f"{right.strip()} {shift}", *around(f"{left}{operator} ({right}) {shift}"))]


def conjunctions(source, token, i):
    operator, other = token[0], {"&&": "||", "||": "&&"}[token[0]]
    begin, end = (source.reach(i, step, LOOSER[operator]) for step in (-1, 1))
    first, second = (source.reach(i, step, LOOSER[operator] | {operator}) for step in (-1, 1))
    head, left = source.copy(begin, first), source.copy(first, token.start()).strip()
    right, tail = source.copy(token.end(), second).strip(), source.copy(second, end)
    yield "condition", begin, end, [
        (f"{operator} to {other}", *around(f"{head}{left} {other} {right}{tail}")),
        (f"without {left} {operator}", *around(f"{head}{right}{tail}")),
        (f"without {operator} {right}", *around(f"{head}{left}{tail}"))]


def negations(source):
    for match in re.finditer(r"\b(?:if|while) \(", source.mask):
        i = source.index[match.end() - 1]
        begin, end = match.end(), source.tokens[source.partner[i]].start()
        if not DECLARES.match(source.mask, begin, end):
            yield "condition", begin, end, [("negated", f"{ACTIVE} != static_cast<bool>(", ")")]


def literals(source):
    for match in LITERAL.finditer(source.mask):
        number, suffix = match.groups()
        is_pure = re.search(r"\)[\w\s]*=\s*$", source.mask[:match.start()]) and source.mask[match.end()] == ";"
        if is_pure or (number != "0" and number[0] == "0") or source.kind_around(match.start()) == "enum":
            continue
        value = int(number.replace("'", ""))
        yield "literal", match.start(), match.end(), [
            (f"{match[0]} to {value + by}{suffix}", f"({ACTIVE} ? {value + by}{suffix} : ", ")")
            for by in (1, -1) if value + by >= 0]


def statements(source):
    for begin, end, kind in source.statements:
        begin = LABEL.match(source.mask, begin).end()
        is_idle = ((re.match("(?:co_)?return;", source.mask[begin:end]) and source.ends_function(end))
                   or (re.match("break;", source.mask[begin:end]) and source.ends_switch(end)))
        if kind in ("block", "lambda") and STATEMENT.match(source.mask, begin, end) and not is_idle:
            yield "statement", begin, end, [("dropped", f"if (!{ACTIVE}) ", "")]


def operators(source):
    for match in re.finditer(r"(?<= )(?:&&|\|\||[<>]=?|[=!]=)(?=\s)", source.mask):
        i = source.index.get(match.start())
        if i is not None and source.tokens[i][0] == match[0]:
            yield from (comparisons if match[0] in OPPOSITE else conjunctions)(source, source.tokens[i], i)


def constant_at(source, offset):
    """What a compile-time constant has to become: its value is known at run time only."""
    begin = source.statement_around(offset)
    match = re.compile(r"\s*((?:static |inline )*)constexpr ").match(source.mask, begin)
    if not match:
        return None
    word = match.end() - len("constexpr ")
    is_member = source.kind_around(word) == "type"
    return word, "inline const" if is_member else "const"


def find(file, code, mask):
    """All places of the file. Those in asserts and in what is logged are left out, and those that await something."""
    source = Source(code, mask)
    silent = [(match.start(), source.tokens[source.partner[source.index[match.end() - 1]]].end())
              for match in LOG.finditer(source.mask)]
    for search in (operators, negations, literals, statements):
        for kind, begin, end, variants in search(source):
            if any(first <= begin < last for first, last in silent):
                continue
            if kind != "statement" and re.search(r"\bco_await\b|^\s*#", source.code[begin:end], re.M):
                continue
            yield Place(file, source.line_of(begin), code.count("\n", begin, end), kind, begin, end, tuple(variants),
                        constant_at(source, begin))


def apply(code, chosen):
    """The code with mutants in it: (number, place, variant) each. Lines keep their numbers."""
    pieces = []
    for number, place, (_, before, after) in chosen:
        pieces.append((place.begin, 1, -place.end, number, before.replace(ACTIVE, f"::mutation::is({number})"), 0))
        pieces.append((place.end, 0, -place.begin, -number, after, 0))
    for offset, text in {place.constant for _, place, _ in chosen if place.constant}:
        pieces.append((offset, 2, 0, 0, text, len("constexpr")))
    result, done = "", 0
    for offset, *_, text, replaced in sorted(pieces):
        result += code[done:offset] + text
        done = offset + replaced
    return result + code[done:]
