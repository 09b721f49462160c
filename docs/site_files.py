"""For the site: what the documents link to outside of this folder, as pages; state diagrams as tables.

On disk the documents link to ``../examples/hooks.py`` or ``../ARCHITECTURE.md``, and whoever reads them there gets the
file. The site has only this folder, so each such file becomes a page of it (files of the project as they are, all
others as source), and a link that leads nowhere stays one, which ends a strict build. Material draws Mermaid diagrams
with a script from the net; ours are lists of transitions, so they are shown as such.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PROJECT = {
    f"{name}.md": f"project/{name.lower()}.md" for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY")
}
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
DIAGRAM = re.compile(r"```mermaid\nstateDiagram-v2\n(.*?)\n```", re.DOTALL)
LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".sh": "sh", ".md": "markdown"}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for everything outside that a document, or such a page, leads to."""
    for name, page in PROJECT.items():
        _add(files, config, page, _moved(name, (ROOT / name).read_text("utf-8")))
    documents = {file.src_uri: file.content_string for file in files.documentation_pages()}
    outside = {path for uri, text in documents.items() for path in _outside(f"docs/{uri}", text)}
    outside |= {path for name in PROJECT for path in _outside(name, (ROOT / name).read_text("utf-8"))}
    for source in sorted({part for path in outside for part in _with_children(path)}):
        _add(files, config, _page_of(source), _shown(source))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The links to what is outside lead to its page."""
    text = markdown if page.file.generated_by else _moved(f"docs/{page.file.src_uri}", markdown)
    return DIAGRAM.sub(_table, "\n".join(_unlinked(line) for line in text.split("\n")))


def _add(files: Files, config: MkDocsConfig, uri: str, content: str) -> None:
    files.append(File.generated(config, uri, content=content))


def _outside(document: str, text: str) -> Iterator[str]:
    """The paths in the project, but not in docs, that a document links to."""
    for target in LINK.findall(text):
        path = _path(document, target)
        if not path.startswith("docs/") and path not in PROJECT and (ROOT / path).exists():
            yield path


def _with_children(path: str) -> Iterator[str]:
    yield path
    if (ROOT / path).is_dir():
        yield from (f"{path}/{child.name}" for child in _children(path))


def _children(folder: str) -> list[Path]:
    return sorted(child for child in (ROOT / folder).iterdir() if child.suffix in LANGUAGES)


def _path(document: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), target))


def _page_of(path: str) -> str:
    return PROJECT.get(path) or f"source/{path}.md"


def _moved(document: str, text: str) -> str:
    """The text of a document of the project, with its links as they are in the site."""
    here = posixpath.dirname(PROJECT[document] if document in PROJECT else document.removeprefix("docs/"))

    def lead(link: re.Match[str]) -> str:
        path = _path(document, link[1])
        if path.startswith("docs/"):
            uri = path.removeprefix("docs/")
        elif (ROOT / path).exists():
            uri = _page_of(path)
        else:
            return link[0]
        return f"]({posixpath.relpath(uri, here or '.')}"

    return LINK.sub(lead, text)


def _shown(path: str) -> str:
    place = ROOT / path
    if place.is_dir():
        rows = [f"- [`{child.name}`]({place.name}/{child.name}.md)" for child in _children(path)]
        return f"# {path}\n\n" + "\n".join(rows) + "\n"
    text = place.read_text("utf-8")
    return (
        f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n``````{LANGUAGES.get(place.suffix, 'text')}\n{text}``````\n"
    )


def _unlinked(line: str) -> str:
    """``event["delta"]["text"]`` outside of code is prose, not a link by reference to "text" (docs/benchmarks.md)."""
    if '"]["' not in line:
        return line
    parts = line.split("`")
    return "`".join(part.replace('"]["', '"]\\["') if i % 2 == 0 else part for i, part in enumerate(parts))


def _table(diagram: re.Match[str]) -> str:
    rows = ["| from | by | to |", "|---|---|---|"]
    for line in diagram[1].splitlines():
        start, _, rest = line.strip().partition(" --> ")
        end, _, by = rest.partition(": ")
        rows.append(f"| {_state(start, 'start')} | {by} | {_state(end, 'end')} |")
    return "\n".join(rows)


def _state(name: str, otherwise: str) -> str:
    return f"*{otherwise}*" if name == "[*]" else f"`{name}`"
