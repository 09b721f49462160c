"""Lines to typed messages: ours against the official SDK's framing, ``json.loads`` and parser.

``python -m benchmarks.wire`` prints the tables (``--json`` for a program). Both sides decode the same bytes in the same
64 KiB chunks, each in an interpreter of its own, on the same core, in turns of a few milliseconds; what counts is
CPU time per message, and how it compares turn by turn.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from . import _lines
from ._arguments import Size, parse
from ._environments import own_python, peer_python
from ._table import OURS, PEER, Row, Section, say, show

CHILD = Path(__file__).parent / "_children" / "decode.py"
ROUNDS = Size(full=150, quick=20)
MESSAGES = 4_000
END_S = 10.0

FLOOR_SHARE = 0.5
FACTOR = 4.0
"""What half of the floor's speed comes to: see the note on the targets."""
FEW_PIECES = 30

_OFFICIAL_HAS = frozenset({"each", "kept", "text by key", "said"})
_DELTA_WAYS = (
    *("each", "kept", "text by key", "text by attribute", "raw"),
    *("floor each", "floor kept"),
)
_MIXED_WAYS = ("said", "each", "kept", "raw", "floor each", "floor kept")

Samples = dict[tuple[str, str], list[float]]
"""(side, way) → microseconds per message, one per round."""


class Worker:
    """A process that has the input in memory and decodes it when told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def time(self, way: str, expected: int) -> float:
        """Microseconds of CPU time per message."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{way}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if len(answer) != 3 or int(answer[1]) != expected:
            raise SystemExit(f"decoding ({way}) went wrong: {answer} instead of {expected} messages")
        return float(answer[0]) / expected * 1e6


@contextmanager
def worker(python: Path, package: str, data: Path) -> Iterator[Worker]:
    command = [str(python), "-P", str(CHILD), package, str(data)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Worker(process)
    finally:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        process.wait(END_S)


def measure(data: bytes, ways: tuple[str, ...], rounds: int) -> Samples:
    """Every way on either side, round by round in turns, so that noise falls on all alike."""
    expected = data.count(b"\n")
    samples: Samples = defaultdict(list)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quarterdeck-bench-")))
        path = folder / "lines.ndjson"
        path.write_bytes(data)
        workers = {
            OURS: stack.enter_context(worker(own_python(), "quarterdeck", path)),
            PEER: stack.enter_context(worker(peer_python(), "claude_agent_sdk", path)),
        }
        for number in range(rounds):
            if not number % 10:
                say(f"decoding {expected:,} messages, round {number + 1} of {rounds}")
            for way in ways:
                for side, process in workers.items():
                    if side == OURS or way in _OFFICIAL_HAS:
                        samples[side, way].append(process.time(way, expected))
    return samples


def compare(samples: Samples, name: str, way: str, *, peer_way: str = "", target: float | None = None) -> Row:
    peer = samples[PEER, peer_way or way]
    return Row(name, "µs", samples[OURS, way], peer, target=target)


def floor(samples: Samples, name: str, way: str, floor_way: str, target: float | None = FLOOR_SHARE) -> Row:
    return Row(name, "µs", samples[OURS, way], samples[OURS, floor_way], target=target, against="msgspec")


def delta_section(count: int, rounds: int) -> Section:
    samples = measure(_lines.repeat(_lines.text_deltas(), count), _DELTA_WAYS, rounds)
    rows = [
        compare(samples, 'decode, read `event["delta"]["text"]`', "text by key", target=FACTOR),
        compare(samples, "decode", "each"),
        compare(samples, "decode, messages kept", "kept"),
        compare(samples, "decode, read `typed_event.delta.text`", "text by attribute", peer_way="text by key"),
        compare(samples, "decode, read .raw (official: decode only)", "raw", peer_way="each"),
        floor(samples, "decode, against the floor", "each", "floor each"),
        floor(samples, "decode, messages kept, against the floor", "kept", "floor kept"),
    ]
    return Section(f"Text deltas: {count:,} recorded lines, CPU time per message", rows, [NOTE, TARGETS])


def mixed_section(count: int, rounds: int) -> Section:
    turn = _lines.mixed_turn()
    samples = measure(_many_turns(turn, count), _MIXED_WAYS, rounds)
    rows = [
        compare(samples, "decode, each message's text read", "said", target=FACTOR),
        compare(samples, "decode", "each", target=FACTOR),
        compare(samples, "decode, messages kept", "kept"),
        compare(samples, "decode, read .raw (official: decode only)", "raw", peer_way="each"),
        floor(samples, "decode, against the floor", "each", "floor each"),
        floor(samples, "decode, messages kept, against the floor", "kept", "floor kept"),
    ]
    return Section(f"A realistic turn: {_sizes(turn)}, CPU time per message", rows, [MIXED_NOTE])


def heavy_section(count: int, rounds: int) -> Section:
    turn = _lines.mixed_turn(FEW_PIECES)
    samples = measure(_many_turns(turn, count), ("each", "kept"), rounds)
    rows = [compare(samples, "decode", "each"), compare(samples, "decode, messages kept", "kept")]
    return Section(f"A turn with less streaming: {_sizes(turn)}, CPU time per message", rows, [HEAVY_NOTE])


def _many_turns(turn: tuple[bytes, ...], count: int) -> bytes:
    return _lines.repeat(turn, count // 2 // len(turn) * len(turn))


def _sizes(turn: tuple[bytes, ...]) -> str:
    return f"{len(turn)} messages of {sum(map(len, turn)) / len(turn):.0f} bytes on average"


NOTE = (
    "Every Quarterdeck message keeps its original bytes. The official SDK reads from memory through its transport's "
    "`read_messages`, then `parse_message`; neither side uses a process, a queue or an event loop. The floor is "
    "`msgspec`'s `decode_lines` alone, into the same classes: no framing, no raw bytes. The table shows medians of "
    f"{ROUNDS.full} rounds; “better by” is the median ratio of all rounds, with its interquartile range in brackets."
)
TARGETS = (
    "An event is a dict in both SDKs. Quarterdeck decodes it with its line, whether or not the program reads it, so "
    "look at the row that reads the text. Creating these dicts is most of the work, and both sides do it in C, so "
    "there is less to gain here than in the client, where everything around the decoder counts, too. The floor, the "
    "most that `msgspec` can achieve, is seven to eight times as fast as the official SDK. The target is half the "
    "floor's speed, including framing and raw bytes: four times the official SDK."
)
MIXED_NOTE = (
    f"Init, status, then {_lines.ROUNDS_PER_TURN} rounds of streamed text, its completed message of "
    f"{_lines.ANSWER_BYTES // 1024} KB, a streamed tool call, and a tool result of "
    f"{_lines.TOOL_RESULT_BYTES // 1024} KB. Deltas are taken from recordings, enough of them to make up the message."
)
HEAVY_NOTE = (
    f"The same, with {FEW_PIECES} pieces of text per message, a third of its text. The more bytes are in large "
    "messages, the less there is to gain, because both sides read long strings at about the same speed."
)


def run(*, quick: bool) -> list[Section]:
    rounds = ROUNDS.of(quick)
    return [delta_section(MESSAGES, rounds), mixed_section(MESSAGES, rounds), heavy_section(MESSAGES, rounds)]


if __name__ == "__main__":
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
