"""Metrics in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from quarterdeck._histograms import Histogram

Labels: TypeAlias = tuple[tuple[str, str], ...]


def _head(kind: str, name: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def metric(kind: str, name: str, about: str, value: float) -> Iterator[str]:
    yield from labelled(kind, name, about, {(): value})


def histograms(name: str, about: str, found: dict[Labels, Histogram]) -> Iterator[str]:
    yield from _head("histogram", name, about)
    for labels, histogram in found.items():
        for bound, count in histogram.buckets():
            shown = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f"{name}_bucket{_labels((*labels, ('le', shown)))} {count}"
        yield f"{name}_sum{_labels(labels)} {histogram.sum:.6f}"
        yield f"{name}_count{_labels(labels)} {histogram.count}"


def labelled(kind: str, name: str, about: str, values: dict[Labels, float]) -> Iterator[str]:
    yield from _head(kind, name, about)
    for labels, value in values.items():
        yield f"{name}{_labels(labels)} {value}"


def _labels(labels: Labels) -> str:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{quoted(value)}"' for name, value in labels) + "}" if labels else ""
