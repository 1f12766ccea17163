# SPDX-License-Identifier: Apache-2.0
"""
mutants.py generate: draws single mechanical mistakes in C files of the driver.

A file is read as functions, and a function as statements; clang-format's layout makes both easy to find.
Each operator gives the mistakes that it can make of a function, and one is drawn from all of them.
The same files, count and seed give the same mistakes.
"""
import random
import re

CALL = re.compile(r"^[a-z_]\w*\(.*\);$", re.S)
ASSIGNMENT = re.compile(r"^(?!return\b|case\b)[^=;{}\"?]*[\w\])]\s*(?:[-+|&^]?=[^=]|\+\+;|--;).*;$|^(?:\+\+|--)[^;]*;$", re.S)
DECLARATION = re.compile(r"^(?:const |static |struct |enum |unsigned |int |bool |u?int\d+_t |size_t |void |char )")
CONDITION = re.compile(r"\b(?:if|while) \(")
SETTER = re.compile(r"\w+_set_\w+\(")
EFFECT = re.compile(r"(?!\w+_get_\w+\(|be\d+_load\()\b\w+\(|\+\+|--")  # a call that may change something
TRACED = re.compile(r"DRV_(?:ENTER|CALL)\(")  # tells only the log
NOT_NAMES = set("if while for switch return sizeof case const struct static enum unsigned int bool void goto else do break default".split())


class Statement:
    """Lines first..last of the file, without the indent of the first in `text`."""

    def __init__(self, first, lines):
        self.first, self.lines = first, lines
        self.indent = re.match(r"\t*", lines[0]).group()
        self.text = "\n".join(line.strip() for line in lines)

    def plain(self):
        """A call or an assignment, which can go without the statements around it losing their form."""
        return not DECLARATION.match(self.text) and bool(CALL.match(self.text) or ASSIGNMENT.match(self.text))


def functions_of(text):
    """(name, first line, last line) of each function: from the line of its name to its closing brace."""
    lines = text.splitlines()
    for begin in (n for n, line in enumerate(lines) if line == "{"):
        head = begin - 1
        while head and not re.match(r"\w", lines[head]):
            head -= 1
        name = re.search(r"(\w+)\(", " ".join(lines[head:begin]))
        if name:
            yield name[1], head, lines.index("}", begin)


def statements_of(lines, begin, end):
    """Statements between two lines; comments, labels and braces stand alone."""
    found, part, comment = [], [], False
    for n in range(begin, end):
        text = lines[n].strip()
        comment = comment or text.startswith("/*")
        if comment or not text or text.startswith(("#", "//")):
            comment = comment and not text.endswith("*/")
            continue
        part.append(n)
        if text.endswith((";", "{", "}", ":")) or re.match(r"(?:if|while|for|else|\} else).*\)$|else$", " ".join(lines[m].strip() for m in part)):
            found.append(Statement(part[0], lines[part[0] : n + 1]))
            part = []
    return [s for s in found if not TRACED.match(s.text)]


# --- operators: each gives (what it does, {line: new text or None}) for one function


def edit(statement, old_text, new_text):
    """The statement with one place changed; the place is given by its offsets in the joined lines."""
    at, length = old_text
    joined = "\n".join(statement.lines)
    changed = (joined[:at] + new_text + joined[at + length :]).split("\n")
    return {statement.first + n: line for n, line in enumerate(changed)}


def masked(statement):
    """The statement with blanks for what stands in strings, and for {0}, which means all."""
    return re.sub(r'"[^"]*"|\{+0\}+', lambda m: " " * len(m[0]), "\n".join(statement.lines))


def under_head(statements, n):
    """Whether the statement is the only one of an if, else or loop without braces."""
    before = statements[n - 1].text if n else ""
    return bool(re.match(r"(?:if|while|for|else|\} else)\b", before)) and not before.endswith(("{", ";"))


def deleted(statements, labels):
    for n, s in enumerate(statements):
        if s.plain():
            new = {s.first + m: None for m in range(len(s.lines))}
            if under_head(statements, n):
                new[s.first] = s.indent + "(void)0;"
            yield f"deletes '{s.text}'", new


def independent(a, b):
    """Whether the order of two statements means nothing: both set fields of a structure, or assign what the other one does not use."""
    if SETTER.match(a.text) and SETTER.match(b.text):
        return True
    targets = [re.match(r"[^=;]*?[\w\])](?= [-+|&^]?= )", s.text) for s in (a, b)]
    if not all(targets) or any(EFFECT.search(s.text) for s in (a, b)):
        return False
    uses = [set(re.findall(r"\w+", s.text)) for s in (a, b)]
    last = [re.findall(r"\w+", t[0])[-1] for t in targets]
    return last[0] not in uses[1] and last[1] not in uses[0]


def swapped(statements, labels):
    """Only those whose order may mean something."""
    for n, (a, b) in enumerate(zip(statements, statements[1:])):
        if independent(a, b):
            continue
        if a.plain() and b.plain() and a.indent == b.indent and not under_head(statements, n) and a.text != b.text and a.first + len(a.lines) == b.first:
            yield f"swaps '{a.text}' and '{b.text}'", {a.first + m: line for m, line in enumerate(b.lines + a.lines)}


def closing(text, at):
    depth = 0
    for n in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if not depth:
            return n
    return at


def conditions(statements, labels):
    for s in statements:
        joined = "\n".join(s.lines)
        for found in CONDITION.finditer(joined):
            begin = found.end()
            end = closing(joined, begin - 1)
            inner = joined[begin:end]
            if found.group().startswith("if"):
                yield f"negates 'if ({inner})'", edit(s, (begin, len(inner)), f"!({inner})")
                for fixed in ("0", "1"):
                    yield f"makes 'if ({inner})' always {fixed}", edit(s, (begin, len(inner)), fixed)
            depth = 0
            for m in range(begin, end):
                depth += {"(": 1, ")": -1}.get(joined[m], 0)
                if depth == 0 and joined[m : m + 2] in ("&&", "||"):
                    yield f"drops the part before '{joined[m:end]}'", edit(s, (begin, m + 2 - begin), "")
                    yield f"drops '{joined[m:end]}'", edit(s, (m, end - m), "")


def boundaries(statements, labels):
    for s in statements:
        joined = "\n".join(s.lines)
        for found in re.finditer(r" (<=|>=|<|>) ", joined):
            old = found[1]
            new = old[0] if len(old) == 2 else old + "="
            yield f"'{old}' becomes '{new}' in '{s.text}'", edit(s, (found.start(1), len(old)), new)


def off_by_one(statements, labels):
    for s in statements:
        joined = masked(s)
        for found in re.finditer(r"(?<![\w.])(\d{1,4})(?![\w.x])", joined):
            for step in (1, -1):
                if int(found[1]) + step >= 0:
                    yield f"{found[1]} becomes {int(found[1]) + step} in '{s.text}'", edit(s, (found.start(1), len(found[1])), str(int(found[1]) + step))
        for found in re.finditer(r"\[(\w+)\]", joined):
            if not found[1].isdigit() and not s.text.startswith(("struct", "uint", "static", "char")):
                yield f"[{found[1]}] becomes [{found[1]} + 1] in '{s.text}'", edit(s, (found.start(1), len(found[1])), found[1] + " + 1")


def neighbours(statements, labels):
    """A name takes the place of another one that the function uses in the same way: a member of the same object, or an argument."""
    texts = [masked(s) for s in statements]
    members, names = {}, set()
    for text in texts:
        for found in re.finditer(r"(\w+)(->|\.)(\w+)\b(?!\()", text):
            members.setdefault(found[1], set()).add(found[3])
        names.update(n for n in re.findall(r"(?<![\w.>])([a-zA-Z_]\w*)\b(?!\()", text) if n not in NOT_NAMES)
    for s, text in zip(statements, texts):
        for found in re.finditer(r"(\w+)(->|\.)(\w+)\b(?!\()", text):
            for other in sorted(members[found[1]] - {found[3]}):
                yield f"{found[3]} becomes {other} in '{s.text}'", edit(s, (found.start(3), len(found[3])), other)
        for found in re.finditer(r"(?<=[(, ])([a-zA-Z_]\w*)(?=[,)])", text):
            for other in sorted(names - {found[1]}):
                if (other.isupper() == found[1].isupper()) and found[1] not in NOT_NAMES:
                    yield f"{found[1]} becomes {other} in '{s.text}'", edit(s, (found.start(1), len(found[1])), other)


def byte_order(statements, labels):
    for s in statements:
        joined = "\n".join(s.lines)
        for found in re.finditer(r"\bbe(16|32|64)_load\(", joined):
            end = closing(joined, found.end() - 1) + 1
            old = joined[found.start() : end]
            yield f"takes '{old}' without its conversion", edit(s, (found.start(), len(old)), f"__builtin_bswap{found[1]}({old})")
        for found in re.finditer(r"\bbe(16|32|64)_store\(", joined):
            end = closing(joined, found.end() - 1)
            comma = joined.index(", ", found.end()) + 2
            old = joined[comma:end]
            yield f"stores '{old}' without its conversion", edit(s, (comma, len(old)), f"__builtin_bswap{found[1]}({old})")
        for found in re.finditer(r"\b\w+_set_\w+\(", joined):
            end = closing(joined, found.end() - 1)
            comma = joined.find(", ", found.end(), end)
            if comma > 0 and s.plain():
                old = joined[comma + 2 : end]
                yield f"sets '{old}' in the other byte order", edit(s, (comma + 2, len(old)), f"__builtin_bswap32({old})")


def wrong_label(statements, labels):
    for s in statements:
        found = re.search(r"goto (\w+);", s.text)
        if found and found[1] in labels[:-1]:
            after = labels[labels.index(found[1]) + 1]
            joined = "\n".join(s.lines)
            yield f"goes to {after} and not to {found[1]}", edit(s, (joined.index(found[0]), len(found[0])), f"goto {after};")


def unchecked(statements, labels):
    """The result of a call is dropped, or not looked at."""
    for a, b, c in zip(statements, statements[1:], statements[2:] + [None]):
        if re.match(r"(?:int )?rc = \w+\(", a.text) and b.text == "if (rc)" and c:
            yield f"does not look at the result of '{a.text}'", {n: None for n in range(b.first, c.first + len(c.lines))}
    for s in statements:
        found = re.match(r"rc = (?=\w+\()", s.text)
        if found:
            yield f"drops the result of '{s.text}'", edit(s, (len(s.indent), found.end()), "")
        found = re.match(r"return (?=\w+\(.*\);$)", s.text, re.S)
        if found and not s.text.startswith("return DRV_LEAVE"):
            joined = "\n".join(s.lines)
            yield f"returns 0 for '{s.text}'", edit(s, (len(joined) - 1, 1), ", 0;")


OPERATORS = {
    "delete": deleted,
    "swap": swapped,
    "condition": conditions,
    "boundary": boundaries,
    "by_one": off_by_one,
    "neighbour": neighbours,
    "order": byte_order,
    "label": wrong_label,
    "unchecked": unchecked,
}


def mistakes_of(text):
    """{operator: [(function, what, {line: new text or None})]} of a file."""
    lines = text.splitlines()
    found = {name: [] for name in OPERATORS}
    for function, head, end in functions_of(text):
        statements = statements_of(lines, lines.index("{", head) + 1, end)
        labels = [s.text[:-1] for s in statements if re.fullmatch(r"[a-z]\w*:", s.text) and s.text != "default:"]
        for name, operator in OPERATORS.items():
            found[name] += [(function, what, new, head) for what, new in operator(statements, labels)]
    return found


def hunk_of(text, head, new):
    """The lines of a row's hunk: the changed ones, with as many before them as make them unique in the file."""
    lines = text.splitlines()
    first, last = min(new), max(new)
    for begin in range(first, -1, -1):
        old = "".join(line + "\n" for line in lines[begin : last + 1])
        if ("\n" + text).count("\n" + old) == 1:
            break
    changed = [new.get(n, lines[n]) for n in range(first, last + 1)]
    return [" " + line for line in lines[begin:first]] + ["-" + line for line in lines[first : last + 1]] + ["+" + line for line in changed if line is not None]


def draw(paths, seed):
    """Endless: (file, operator, function, what, hunk). Operators are drawn first, so rare ones come as often as others; none comes twice."""
    random_of = random.Random(seed)
    texts = {str(path): path.read_text() for path in paths}
    found = {name: [] for name in OPERATORS}
    for path, text in texts.items():
        for name, mistakes in mistakes_of(text).items():
            found[name] += [(path, *mistake) for mistake in mistakes]
    while any(found.values()):
        name = random_of.choice([n for n in OPERATORS if found[n]])
        path, function, what, new, head = found[name].pop(random_of.randrange(len(found[name])))
        yield path, name, function, re.sub(r"\s+", " ", what), hunk_of(texts[path], head, new)
