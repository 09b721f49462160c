"""Parses a shell command: every simple command in it, every redirection, and every reason for doubt.

The grammar (tree-sitter-bash) finds the parts but is not trusted blindly: only node types listed here as harmless leave
no doubt, each word is parsed a second time by ``words``, and only blanks may separate the words of a command. A command
with a doubt is never allowed by a rule with a pattern; a deny rule still sees all its parts.

Commands of plain words need no grammar: splitting at the spaces is exact. That path comes first, and a test checks that
both agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from .programs import words as table
from .words import Word, read_word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LENGTH = 5_000
"""Longer commands are asked about unread."""
MAX_WORK = 250_000
"""Length times operators. The grammar takes that long for some inputs; this keeps it well below 100 ms."""
MAX_COMMANDS = 60

_PLAIN_COMMAND = re.compile(
    r"[A-Za-z0-9_./@%+,][A-Za-z0-9_./:@%+,\-]*"
    r"(?: +[A-Za-z0-9_./:@%+,\-](?:[A-Za-z0-9_./:=@%+,\-]|(?<=[A-Za-z0-9])[~^])*)* *\Z"
)
OPERATORS = re.compile(r"[|&;<>(){}$`\n\[=]")
_STRANGE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\x80-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]"
)
_RESERVED = table(
    """
    if then else elif fi for while until do done case esac in select function time coproc { } ! [[ ]]
    repeat foreach end noglob nocorrect
    """
)
_WRAPPERS = table("time noglob nocorrect repeat [[")
"""Of these the grammar makes commands."""
_RESERVED_PART = re.compile(rf"(?:{'|'.join(sorted(filter(str.isalpha, _RESERVED)))})['\"\\$]")
"""``fi''le`` is ``file`` for the shell; CLI 2.1.325 reads the reserved word."""
_SEPARATION = re.compile(rb"[ \t](?:[ \t]|\\\n)*")
_SEAM = re.compile(rb"(?<![ \t])\\\n")
_UNREAD = re.compile(rb"(?:[ \t\n]|\\\n)*")
_LOOP_VARIABLE = re.compile(
    r"(?:[a-z]|arg|base|branch|case|cmd|col|commit|component|conf|config|count|day|dep|dir|dirname|e|elem|el|entry|env|ext"
    r"|field|file|filename|filepath|files|fn|folder|host|id|idx|img|index|item|key|lang|lib|line|log|mod|module|msg|n"
    r"|name|node|num|number|page|part|pattern|pkg|package|pid|port|pr|proj|project|ref|repo|row|run|script|seed|service|size"
    r"|spec|src|step|svc|tag|target|task|test|testfile|tool|type|url|user|val|value|var|ver|version|word|year)[0-9]?\Z"
)
"""Names without a special meaning. Others change what runs: PATH, but in zsh also path, fpath, argv, status …"""
_NEGATION = re.compile(rb"![ \t]+[^ \t\n\\]")
_REDIRECTION = re.compile(rb"[<>]")
_BRACE = re.compile(r"(?<!\$)\{")
_ODD_TEXTS = (
    (re.compile(r"\\[ \t]"), "a backslash before a space"),
    (re.compile(r"(?:\A|[\s;&|])=[A-Za-z_]"), "=NAME, which zsh expands to a program's path"),
    (re.compile(r"\$\$[{(]"), "a process number before a brace or parenthesis"),
    (re.compile(r"<[0-9]*-[0-9]*>"), "<1-9>, which is a pattern in zsh"),
    (re.compile(r"\\\n\s*\|(?!\|)|\|\s*\\\n"), "a pipe beside a line continuation"),
)
"""CLI 2.1.325 asks about these wherever they stand, in quotes and comments too."""
_EXPANDABLE = re.compile(r"\{\S*(?:,|\.\.)\S*\}")
_PARTLY_QUOTED = "braces in a word that is quoted in part"
_COMMAND_IN_TEXT = re.compile(rb"`|\$\(")
_TORN = re.compile(rb"(?<!\\)[\s;&|<>()]")
"""Would have ended a word for the shell."""
_TEST_WORD = r"""(?:[A-Za-z0-9_./:@%+,][A-Za-z0-9_./:@%+,=-]*|(?!['"]~[^/'"])(?:'[^'$`\[\\\n]*'|"[^"$`\[\\\n]*"))"""
_TEST = (
    rf"(?:! +)?(?:-[bcdefghkLnprsSuwxzGNO] +{_TEST_WORD}|{_TEST_WORD} +(?:==?|!=|-nt|-ot|-ef) +{_TEST_WORD}"
    rf"|[0-9]+ +-(?:eq|ne|lt|le|gt|ge) +[0-9]+|{_TEST_WORD})"
)
_PLAIN_TEST = re.compile(rf"\[ +{_TEST} +\]\Z|\[\[ +{_TEST}(?: +(?:&&|\|\|) +{_TEST})* +\]\]\Z")
_COMPUTED_TEST = re.compile(rb"-(eq|ne|lt|le|gt|ge|v|R|t|o)\b|\(\(|\[[^\[]*\[[^\[ ]|=~|[<>=]\(")
"""Also ``[[ x<(id) == y ]]``, in which the grammar sees a comparison, and the shell a nested command."""
_TORN_TEST = re.compile(rb"(?<!\\)[\n;&|<>()]")
"""In ``[ a > b ]`` and ``[ a | b ]`` the grammar sees comparisons, and the shell a redirection and two programs."""
_QUOTED_OR_NESTED = table(
    """
    string raw_string ansi_c_string translated_string command_substitution process_substitution expansion
    simple_expansion arithmetic_expansion
    """
)
_HERE_DELIMITER = re.compile(r"('?)([A-Za-z_]+)\1\Z")

_TRANSPARENT = table(
    """
    program list pipeline redirected_statement if_statement elif_clause else_clause while_statement for_statement
    do_group negated_command comment file_redirect herestring_redirect heredoc_redirect heredoc_start heredoc_body
    heredoc_content heredoc_end test_command unary_expression binary_expression test_operator word number string
    string_content raw_string concatenation command_name file_descriptor variable_name variable_assignment
    extglob_pattern parenthesized_expression
    """
)
_TOKENS = table(
    """
    ; && || | if then elif else fi while until do done for in ! [ ] [[ ]] " == = != =~ < > << <<- <<< >> >| &> &>>
    >& <& ( )
    """
) | {"\n"}
_WHY = {
    "subshell": "a subshell",
    "compound_statement": "a group in braces or double parentheses",
    "function_definition": "a function definition",
    "case_statement": "a case statement",
    "case_item": "a case statement",
    "command_substitution": "a nested command",
    "process_substitution": "a nested command used as a file",
    "simple_expansion": "a variable",
    "expansion": "a variable",
    "arithmetic_expansion": "arithmetic",
    "ansi_c_string": "text with escape codes",
    "translated_string": "translated text",
    "brace_expression": "a brace expansion",
    "declaration_command": "a declaration",
    "unset_command": "a change of variables",
    "c_style_for_statement": "a counting loop",
    "ERROR": "something that is not valid shell",
    "&": "a command in the background",
    "|&": "a pipe of standard error",
    "subscript": "an array",
    "array": "an array",
    "<>": "a redirection that reads and writes",
    ">&-": "a descriptor that is closed",
    "<&-": "a descriptor that is closed",
}

IN_BACKGROUND = _WHY["&"]

SEEN_THROUGH = frozenset(
    {
        *(_WHY[kind] for kind in ("subshell", "compound_statement", "function_definition", "case_statement", "array")),
        *(_WHY[kind] for kind in ("command_substitution", "process_substitution", "simple_expansion", "ansi_c_string")),
        *(_WHY[kind] for kind in ("arithmetic_expansion", "brace_expression", "declaration_command", "unset_command")),
        *(_WHY[kind] for kind in ("&", "|&", ">&-", "c_style_for_statement", "case_item")),
        *(why for _, why in _ODD_TEXTS),
        "a word whose value is known only at run time",
        "a redirection of a test, a loop or cd",
        "a descriptor of more than one digit",
        "redirections without a space between them",
        "a comment after a redirection",
        "a comment after &&, || or !",
        "quotes and braces in a comment",
        "a test of unknown words",
        "a loop that sets a variable other programs may use",
        "a here-document with more text on its line",
        _PARTLY_QUOTED,
        "a here-string without a space before it",
        "a pipe in a loop or condition",
        "a here-document in which the shell expands variables and commands",
    }
)
"""Doubts despite which every command is visible: deny and ask rules can be trusted. With others they cannot."""


class Assignment(msgspec.Struct, frozen=True):
    name: str
    value: Word


class Redirect(msgspec.Struct, frozen=True):
    """``writes`` is None for what touches no file: ``2>&1``, ``>&-``."""

    operator: str
    target: Word
    writes: bool | None


class Command(msgspec.Struct, frozen=True):
    """One simple command: preceding assignments, then its words."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()


class Script(msgspec.Struct, frozen=True):
    """All of a shell command.

    ``here`` are the texts fed to standard input by ``<<`` and ``<<<``; ``also`` are commands of another possible
    reading, for deny and ask rules only. ``quoted`` are quoted texts with a command in them, which is run if a number
    is computed from the text; ``computes`` says that some construct does so. ``loops`` are the variables of ``for``
    loops with their values.
    """

    text: str
    commands: tuple[Command, ...]
    redirects: tuple[Redirect, ...] = ()
    here: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    also: tuple[Command, ...] = ()
    refused: str | None = None
    quoted: tuple[str, ...] = ()
    computes: bool = False
    loops: tuple[tuple[str, tuple[Word, ...]], ...] = ()


def read_script(text: str) -> Script:
    """Parses ``text``. ``refused`` is set if nothing at all can be said about it."""
    if len(text) > MAX_LENGTH:
        return Script(text, (), refused=f"more than {MAX_LENGTH} characters")
    if _PLAIN_COMMAND.match(text):
        texts = text.split()
        if texts[0] not in _RESERVED:
            return Script(text, (Command(tuple([Word(word, word, word) for word in texts])),))
    return read_with_grammar(text)


def read_with_grammar(text: str) -> Script:
    """The same without the shortcut for plain words."""
    if _STRANGE.search(text):
        return Script(text, (), refused="invisible, control or unusual white-space characters")
    if len(text) * len(OPERATORS.findall(text)) > MAX_WORK:
        return Script(text, (), refused="too many operators for its length")
    try:
        source = text.encode()
    except UnicodeEncodeError:
        return Script(text, (), refused="text that is not valid Unicode")
    walk = _Walk(source)
    also: tuple[Command, ...] = ()
    if "\\\n" in text:
        # The shell joins the lines before it looks for words; the grammar treats the seam as a blank.
        joined = _Walk(source.replace(b"\\\n", b""))
        also = tuple(joined.commands)
        if _SEAM.search(source):
            walk.doubts.append("a line continuation inside a word")
    for comment in walk.comments:
        also += tuple(_Walk(comment.lstrip(b"#")).commands)
    walk.oddities += [why for odd, why in _ODD_TEXTS if odd.search(text)]
    if len(walk.commands) > MAX_COMMANDS:
        return Script(text, (), refused=f"more than {MAX_COMMANDS} commands")
    doubts = tuple(dict.fromkeys(walk.doubts or walk.oddities))
    if walk.skipped:
        doubts = (*doubts, "text that the grammar skipped")
    return Script(
        text,
        tuple(walk.commands),
        tuple(walk.redirects),
        tuple(walk.here),
        doubts,
        also,
        quoted=tuple(walk.quoted),
        computes=walk.computes,
        loops=tuple(walk.loops),
    )


_BEYOND_LATIN = re.compile(rb"[\xc4-\xdf].|[\xe0-\xef]..|[\xf0-\xff]...", re.DOTALL)
_STAND_INS = {2: "é".encode(), 3: "éa".encode(), 4: "éé".encode()}


@cache
def _parser() -> Parser:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError as error:
        raise ImportError("judging shell commands needs the extra: pip install 'quarterdeck[policy]'") from error
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_tree(source: bytes) -> Node:
    """The grammar's tree of UTF-8 text. Raises ``ImportError`` without the extra."""
    if not source.isascii():
        source = _BEYOND_LATIN.sub(_stand_in, source)
    return _parser().parse(source).root_node


def _stand_in(character: re.Match[bytes]) -> bytes:
    """Letters of the same length in bytes. The grammar's scanner indexes a table of 256 entries with any code point
    and does not check: ``{😀`` makes it read out of bounds, which can crash the process."""
    return _STAND_INS[len(character[0])]


def _nests_in_braces(text: str) -> bool:
    """``{'$(id)',x}``: for CLI 2.1.325 the quotes do not count there."""
    return "," in text and ("$(" in text or "`" in text) and _BRACE.search(text) is not None


class _Walk:
    """Visits every node once, with its own stack: nesting costs memory, never Python frames."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.commands: list[Command] = []
        self.redirects: list[Redirect] = []
        self.here: list[str] = []
        self.doubts: list[str] = []
        self.oddities: list[str] = []
        self.quoted: list[str] = []
        self.comments: list[bytes] = []
        self.computes = False
        self.loops: list[tuple[str, tuple[Word, ...]]] = []
        self.skipped = False
        self._read_to = 0
        self._run(parse_tree(source))

    def _run(self, root: Node) -> None:
        todo: list[Node] = [root]
        while todo:
            node = todo.pop()
            children: list[Node] = node.children
            self._judge(node, node.type, children)
            if children:
                todo.extend(reversed(children))
            else:
                self._account_for(node)
        if not _UNREAD.fullmatch(self.source, self._read_to):
            self.skipped = True

    def _account_for(self, leaf: Node) -> None:
        """All of the text must be in some leaf, in order: what the grammar skips could be a command."""
        if leaf.start_byte != self._read_to and not (
            leaf.start_byte > self._read_to and _UNREAD.fullmatch(self.source, self._read_to, leaf.start_byte)
        ):
            self.skipped = True
        self._read_to = max(self._read_to, leaf.end_byte)

    def _judge(self, node: Node, kind: str, children: list[Node]) -> None:
        if kind in _COMPUTING:
            self.computes |= kind != "compound_statement" or self.source.startswith(b"((", node.start_byte)
        elif kind in _QUOTING and _QUOTING[kind].search(self.source, node.start_byte, node.end_byte):
            hint = self._word(node).hint
            if "$(" in hint or "`" in hint:
                self.quoted.append(hint)
        if node.is_missing:
            self.doubts.append(_WHY["ERROR"])  # ``ls >&``
        reader = _READERS.get(kind)
        if reader is not None:
            reader(self, node, children)
        elif node.is_named and kind not in _TRANSPARENT:
            self.doubts.append(_WHY.get(kind, f"an unsupported construct ({kind})"))
        elif kind == ";;" and (node.parent is None or node.parent.type != "case_item"):
            self.doubts.append(_WHY["ERROR"])
        elif not node.is_named and kind not in _TOKENS:
            (self.doubts if kind in _WHY else self.oddities).append(_WHY.get(kind, f"{kind!r}, which is not supported"))

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode(errors="replace")

    def _word(self, node: Node) -> Word:
        return read_word(self._text(node))

    def _command(self, node: Node, children: list[Node]) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        before = -1
        for child in children:
            if before >= 0 and not _SEPARATION.fullmatch(self.source, before, child.start_byte):
                self._unseparated(child)
            before = child.end_byte
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child))
            elif child.type not in _REDIRECTS:
                words.append(self._word(child))
            elif not words:
                self.doubts.append("a redirection before its command")
        if words and (words[0].text in _RESERVED - _WRAPPERS or _RESERVED_PART.match(words[0].text)):
            self.doubts.append("a reserved word in place of a program")
        self.commands.append(Command(tuple(words), tuple(assignments)))
        if any(word.value is None and _nests_in_braces(word.text) for word in words):
            self.doubts.append("a nested command among braces")
        if any(word.value is None for word in words):
            self.oddities.append("a word whose value is known only at run time")

    def _unseparated(self, child: Node) -> None:
        if child.type not in _REDIRECTS:
            self.doubts.append("words that cannot be separated")

    def _assignment(self, node: Node) -> Assignment:
        name, _, value = self._text(node).partition("=")
        return Assignment(name, read_word(value))

    def _bare_assignment(self, node: Node, children: list[Node]) -> None:
        """``A=1`` alone sets a variable of the shell itself; in front of a command, the command already has it."""
        if node.parent is None or node.parent.type != "command":
            self.commands.append(Command((), (self._assignment(node),)))

    def _file_redirect(self, node: Node, children: list[Node]) -> None:
        parts = [child for child in children if child.type != "file_descriptor"]
        operator, *targets = [self._text(part) for part in parts]
        if len(children) > len(parts) and children[0].end_byte - children[0].start_byte > 1:
            self.oddities.append("a descriptor of more than one digit")  # an argument in zsh
        if len(targets) > 1 or (not targets and not operator.endswith("-")):
            self.doubts.append("an unsupported redirection")
        target = read_word(targets[0]) if targets else Word("", "", "")
        writes: bool | None = operator != "<"
        if operator in _DUPLICATING and _DESCRIPTOR.match(target.text):
            writes = None
        odd = operator in _DUPLICATING and writes is not None and not _PLAIN_TARGET.match(target.text)
        if odd or (targets and b"\n" in self.source[parts[0].end_byte : parts[1].start_byte]):
            self.doubts.append("a redirection that is not understood")
        if writes is None and self.source[node.end_byte : node.end_byte + 1] in (b"<", b">"):
            self.oddities.append("redirections without a space between them")  # 2.1.325 asks
        self.redirects.append(Redirect(operator, target, writes))
        self._redirected(node)

    def _redirected(self, node: Node) -> None:
        """What the redirection ``node`` belongs to. CLI 2.1.325 asks about tests, loops and ``cd`` with one."""
        above = node.parent
        if above is None or above.type != "redirected_statement":
            return
        body = above.child_by_field_name("body")
        if body is None:
            self.doubts.append("a redirection without a command")  # zsh runs a pager or cat
        elif body.type in _NOT_REDIRECTED or self.source.startswith(b"cd", body.start_byte):
            self.oddities.append("a redirection of a test, a loop or cd")

    def _herestring(self, node: Node, children: list[Node]) -> None:
        self.here.append(self._word(children[-1]).hint)
        if b"\n" in self.source[children[-2].end_byte : children[-1].start_byte]:
            self.doubts.append("a redirection that is not understood")  # for the shell the line ends there
        if self.source[node.start_byte - 1 : node.start_byte] not in _BLANKS:
            self.oddities.append("a here-string without a space before it")  # 2.1.325 asks about ``tar<<<x``
        self._redirected(node)

    def _heredoc(self, node: Node, children: list[Node]) -> None:
        self._redirected(node)
        self.here.extend(self._text(child) for child in children if child.type == "heredoc_body")
        start = next((child for child in children if child.type == "heredoc_start"), None)
        delimiter = _HERE_DELIMITER.match(self._text(start)) if start else None
        if not start or not delimiter or children[0].type != "<<":
            self.doubts.append("a complex here-document")
            return
        rest_of_line, _, rest = self.source[start.end_byte :].partition(b"\n")
        lines, end = rest.split(b"\n"), delimiter[2].encode()
        body = b"\n".join(lines[: lines.index(end)]) if end in lines else None
        read = b"".join(child.text or b"" for child in children if child.type == "heredoc_body")
        if body is None or read.split() != body.split() or (_COMMAND_IN_TEXT.search(body) and not delimiter[1]):
            self.doubts.append("a complex here-document")
        elif rest_of_line.strip():
            self.doubts.append("a here-document with more text on its line")
        elif not delimiter[1]:
            self.doubts.append("a here-document in which the shell expands variables and commands")

    def _pipeline(self, node: Node, children: list[Node]) -> None:
        above = node.parent
        while above is not None and above.type not in _NOT_REDIRECTED:
            above = above.parent
        if above is not None:
            self.oddities.append("a pipe in a loop or condition")  # 2.1.325 asks

    def _negated(self, node: Node, children: list[Node]) -> None:
        """``!''a`` is the program ``!a``; the grammar sees a ``!`` and an ``a``."""
        if not _NEGATION.match(self.source, node.start_byte):
            self.doubts.append("words that cannot be separated")

    def _comment(self, node: Node, children: list[Node]) -> None:
        if _REDIRECTION.search(self.source[: node.start_byte].rpartition(b"\n")[2]):
            self.oddities.append("a comment after a redirection")  # 2.1.325 asks, and finds denied commands in it
            self.comments.append(self.source[node.start_byte + 1 : node.end_byte])
        if node.prev_sibling is not None and node.prev_sibling.type in ("&&", "||", "!"):
            self.oddities.append("a comment after &&, || or !")  # 2.1.325 asks
        text = self._text(node)
        if "{" in text and ("'" in text or '"' in text):
            self.oddities.append("quotes and braces in a comment")  # 2.1.325 asks
        if node.start_byte and self.source[node.start_byte - 1 : node.start_byte] not in (b" ", b"\t", b"\n", b";"):
            self.doubts.append("a # that may not start a comment")

    def _string(self, node: Node, children: list[Node]) -> None:
        if self.source[node.start_byte : node.start_byte + 1] != b'"':
            self.doubts.append("translated text")

    def _loop(self, node: Node, children: list[Node]) -> None:
        """``for PATH in …`` would change what every later command means."""
        name = node.child_by_field_name("variable")
        if children[0].type != "for" or name is None or not _LOOP_VARIABLE.match(self._text(name)):
            self.doubts.append("a loop that sets a variable other programs may use")
        if any(
            child.type == "in" and self.source[child.end_byte : child.end_byte + 1] not in _BLANKS for child in children
        ):
            self.doubts.append(_WHY["ERROR"])  # ``for i in* a``
        if name is not None:
            values = node.children_by_field_name("value")
            self.loops.append((self._text(name), tuple(self._word(value) for value in values)))

    def _test(self, node: Node, children: list[Node]) -> None:
        """``[[ 'a[$(id)]' -eq 1 ]]`` runs ``id``: a number is computed from text, also from quoted text.

        The grammar also takes ``[-f x ]`` for a test, where the shell looks for a program called ``[-f``.
        """
        before = self.source[node.start_byte - 1 : node.start_byte] if node.start_byte else b" "
        if before not in (b" ", b"\t", b"\n", b";", b"&", b"|") or not _PLAIN_TEST.match(self._text(node)):
            computed = _COMPUTED_TEST.search(self.source, node.start_byte, node.end_byte)
            self.doubts.append("a test that may compute" if computed else "a test of unknown words")
            if children[0].type == "[" and _TORN_TEST.search(self._outside_quotes(node)):
                self.doubts.append("a test that is more than one command")

    def _outside_quotes(self, node: Node) -> bytes:
        """Its text without what is quoted or nested in it."""
        text, at, todo = b"", node.start_byte, [node]
        while todo:
            inner = todo.pop()
            if inner.type in _QUOTED_OR_NESTED:
                text, at = text + self.source[at : inner.start_byte], inner.end_byte
            else:
                todo.extend(reversed(inner.children))
        return text + self.source[at : node.end_byte]

    def _leaf_word(self, node: Node, children: list[Node]) -> None:
        if _TORN.search(self.source, node.start_byte, node.end_byte):
            self.doubts.append("words that cannot be separated")
        self._partly_quoted(node, children)

    def _partly_quoted(self, node: Node, children: list[Node]) -> None:
        """``--x='{a,b}'``: for CLI 2.1.325 the quotes do not count in a word that is quoted only in part."""
        if self.source.find(b"{", node.start_byte, node.end_byte) >= 0 and _EXPANDABLE.search(self._word(node).hint):
            self.oddities.append(_PARTLY_QUOTED)
        if children and self._word(node).hint.startswith("="):
            self.oddities.append("=NAME, which zsh takes for the path of a program")  # ``'='ls``


_NOT_REDIRECTED = table("test_command if_statement for_statement while_statement")
_BLANKS = (b" ", b"\t", b"\n", b"\\", b";")
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_DUPLICATING = frozenset({">&", "<&", ">&-", "<&-"})
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9_./-]+\Z")
_DESCRIPTOR = re.compile(r"([0-9]+|-)?\Z")
"""``>&1-`` moves a descriptor in bash, and writes the file ``1-`` in zsh."""
_QUOTING = {
    **dict.fromkeys(("raw_string", "ansi_c_string"), _COMMAND_IN_TEXT),
    **dict.fromkeys(("string", "word"), re.compile(rb"\\[$`]")),
    "concatenation": re.compile(rb"['\\]"),
}
_COMPUTING = table(
    """
    test_command arithmetic_expansion subscript c_style_for_statement expansion declaration_command unset_command
    compound_statement
    """
)
"""Constructs in which text can become a number."""
_READERS: dict[str, Callable[[_Walk, Node, list[Node]], None]] = {
    "command": _Walk._command,
    "variable_assignment": _Walk._bare_assignment,
    "file_redirect": _Walk._file_redirect,
    "herestring_redirect": _Walk._herestring,
    "heredoc_redirect": _Walk._heredoc,
    "comment": _Walk._comment,
    "pipeline": _Walk._pipeline,
    "negated_command": _Walk._negated,
    "string": _Walk._string,
    "for_statement": _Walk._loop,
    "test_command": _Walk._test,
    "word": _Walk._leaf_word,
    "concatenation": _Walk._partly_quoted,
}
