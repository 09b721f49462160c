"""Tools on files: read, write, edit, find, search, notebooks, language servers."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput


class FileReadInput(ToolInput, kw_only=True):
    file_path: str
    offset: Number | None = None
    limit: Number | None = None
    pages: str | None = None
    allow_large: bool | None = None


class FileWriteInput(ToolInput, kw_only=True):
    file_path: str
    content: str


class FileEditInput(ToolInput, kw_only=True):
    file_path: str
    old_string: str
    new_string: str
    replace_all: bool | None = None


class NotebookEditInput(ToolInput, kw_only=True):
    notebook_path: str
    new_source: str
    cell_id: str | None = None
    cell_type: str | None = None  # code, markdown
    edit_mode: str | None = None  # replace, insert, delete


class GlobInput(ToolInput, kw_only=True):
    pattern: str
    path: str | None = None


class GrepInput(ToolInput, kw_only=True):
    """The short options of ripgrep are keys on the wire; here they have names."""

    pattern: str
    path: str | None = None
    glob: str | None = None
    output_mode: str | None = None  # content, files_with_matches, count
    before_context: Number | None = msgspec.field(default=None, name="-B")
    after_context: Number | None = msgspec.field(default=None, name="-A")
    around_context: Number | None = msgspec.field(default=None, name="-C")
    context: Number | None = None
    line_numbers: bool | None = msgspec.field(default=None, name="-n")
    ignore_case: bool | None = msgspec.field(default=None, name="-i")
    only_matching: bool | None = msgspec.field(default=None, name="-o")
    type: str | None = None
    head_limit: Number | None = None
    offset: Number | None = None
    multiline: bool | None = None


class LSPInput(ToolInput, kw_only=True, rename="camel"):
    operation: str
    file_path: str
    line: Number | None = None
    character: Number | None = None
    query: str | None = None


class ArtifactRead(ToolOutput, kw_only=True):
    slug: str | None = None
    ver: str | None = None
    seeded: bool | None = None


class ReadText(ToolOutput, kw_only=True):
    file_path: str
    content: str
    num_lines: int | None = None
    start_line: int | None = None
    total_lines: int | None = None
    truncated_by_token_cap: bool | None = None


class ImageDimensions(ToolOutput, kw_only=True):
    original_width: Number | None = None
    original_height: Number | None = None
    display_width: Number | None = None
    display_height: Number | None = None


class ReadImage(ToolOutput, kw_only=True):
    base64: str
    type: str | None = None  # the media type
    original_size: int | None = None
    dimensions: ImageDimensions | None = None


class ReadNotebook(ToolOutput, kw_only=True):
    file_path: str
    cells: list[Any]


class ReadPdf(ToolOutput, kw_only=True):
    file_path: str
    base64: str
    original_size: int | None = None


class ReadParts(ToolOutput, kw_only=True):
    file_path: str
    original_size: int | None = None
    count: int | None = None
    output_dir: str | None = None


class ReadPage(ToolOutput, kw_only=True):
    base64: str
    media_type: str | None = None
    error: str | None = None


class FileReadTextOutput(ToolOutput, kw_only=True, tag_field="type", tag="text"):
    file: ReadText
    artifact_read: ArtifactRead | None = None


class FileReadImageOutput(ToolOutput, kw_only=True, tag_field="type", tag="image"):
    file: ReadImage


class FileReadNotebookOutput(ToolOutput, kw_only=True, tag_field="type", tag="notebook"):
    file: ReadNotebook


class FileReadPdfOutput(ToolOutput, kw_only=True, tag_field="type", tag="pdf"):
    file: ReadPdf


class FileReadPartsOutput(ToolOutput, kw_only=True, tag_field="type", tag="parts"):
    file: ReadParts
    first_page: int | None = None
    pages: list[ReadPage] | None = None


FileReadOutput: TypeAlias = (
    FileReadTextOutput | FileReadImageOutput | FileReadNotebookOutput | FileReadPdfOutput | FileReadPartsOutput
)


class PatchHunk(View, kw_only=True, rename="camel"):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


class GitDiff(View, kw_only=True):
    filename: str
    status: str | None = None  # modified, added
    additions: int | None = None
    deletions: int | None = None
    changes: int | None = None
    patch: str | None = None
    repository: str | None = None


class FileEditOutput(ToolOutput, kw_only=True):
    file_path: str
    old_string: str
    new_string: str
    original_file: str | None = None
    structured_patch: list[PatchHunk] | None = None
    user_modified: bool | None = None
    replace_all: bool | None = None
    git_diff: GitDiff | None = None
    staged: bool | None = None


class FileWriteOutput(ToolOutput, kw_only=True):
    file_path: str
    content: str
    type: str | None = None  # create, update
    structured_patch: list[PatchHunk] | None = None
    original_file: str | None = None  # None: the file is new
    git_diff: GitDiff | None = None
    user_modified: bool | None = None
    staged: bool | None = None


class GlobOutput(ToolOutput, kw_only=True):
    filenames: list[str]
    num_files: int | None = None
    duration_ms: Number | None = None
    truncated: bool | None = None
    total_matches: int | None = None
    count_is_complete: bool | None = None
    timed_out: bool | None = None


class GrepOutput(ToolOutput, kw_only=True):
    filenames: list[str]
    num_files: int | None = None
    mode: str | None = None
    content: str | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    total_files: int | None = None
    total_lines: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None
    timed_out: bool | None = None


class NotebookEditOutput(View, kw_only=True):
    """The one result spelled in snake_case."""

    notebook_path: str
    new_source: str
    old_source: str | None = None
    cell_id: str | None = None
    cell_type: str | None = None
    language: str | None = None
    edit_mode: str | None = None
    error: str | None = None
    original_file: str | None = None
    updated_file: str | None = None
