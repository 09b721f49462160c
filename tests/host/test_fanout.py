"""What a session's watchers share: kept for whoever has not seen it, and for nobody else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from inside import recent_frames
from quarterdeck.host.fanout import RECENT, TAIL, TOGETHER, Fanout
from quarterdeck.host.folding import Preview
from quarterdeck.host.resources import Frame


def _frame(seq: int) -> Frame:
    return Frame(session="s", seq=seq, at=0.0, events=[])


class Log:
    """The rows that were published, as a store reads them."""

    def __init__(self) -> None:
        self.fanout = Fanout(0)
        self.reads: list[int] = []

    def publish(self, count: int) -> None:
        first = self.fanout.last_seq + 1
        self.fanout.publish([_frame(seq) for seq in range(first, first + count)])

    async def read(self, after: int, limit: int) -> list[Frame]:
        self.reads.append(after)
        return [_frame(seq) for seq in range(after + 1, min(after + limit, self.fanout.last_seq) + 1)]

    def watch(self, after: int) -> AsyncGenerator[Sequence[Frame | Preview], None]:
        return self.fanout.watch(after, self.read, previews=False)


async def _seqs(watch: AsyncGenerator[Sequence[Frame | Preview], None], last: int) -> list[int]:
    found: list[int] = []
    while not found or found[-1] < last:
        found += [one.seq for one in await anext(watch) if isinstance(one, Frame)]
    return found


async def test_what_every_watcher_has_seen_is_not_kept() -> None:
    log = Log()
    watch = log.watch(0)
    log.publish(1)
    assert await _seqs(watch, 1) == [1]
    for number in range(20):
        log.publish(TAIL)
        last = log.fanout.last_seq
        assert await _seqs(watch, last) == list(range(2 + number * TAIL, last + 1))
    assert recent_frames(log.fanout) <= 3 * TAIL
    assert log.reads == [0], "only what was there before it came"


async def test_what_one_watcher_has_not_seen_is_kept_for_it() -> None:
    log = Log()
    quick, slow = log.watch(0), log.watch(0)
    log.publish(1)
    assert await _seqs(quick, 1) == await _seqs(slow, 1) == [1]
    for _ in range(10):
        log.publish(TAIL)
        await _seqs(quick, log.fanout.last_seq)
    last, reads = log.fanout.last_seq, len(log.reads)
    assert await _seqs(slow, last) == list(range(2, last + 1))
    assert len(log.reads) == reads, "it was late, and needed no store"


async def test_a_watcher_that_is_too_late_and_one_that_comes_read_the_store() -> None:
    log = Log()
    quick, slow = log.watch(0), log.watch(0)
    log.publish(1)
    assert await _seqs(quick, 1) == await _seqs(slow, 1) == [1]
    while log.fanout.last_seq < RECENT + 2 * TAIL:
        log.publish(TAIL)
        await _seqs(quick, log.fanout.last_seq)
    assert recent_frames(log.fanout) == RECENT
    last = log.fanout.last_seq
    assert await _seqs(slow, last) == list(range(2, last + 1))
    assert 1 in log.reads
    assert await _seqs(log.watch(last - TAIL // 2), last) == list(range(last - TAIL // 2 + 1, last + 1))
    assert await _seqs(log.watch(5), last) == list(range(6, last + 1))
    assert 5 in log.reads


async def test_what_arrives_together_comes_together_and_much_of_it_in_the_same_blocks() -> None:
    log = Log()
    quick, slow = log.watch(0), log.watch(0)
    log.publish(1)
    assert await _seqs(quick, 1) == await _seqs(slow, 1) == [1]
    log.publish(TOGETHER - 4)
    assert len(await anext(quick)) == TOGETHER - 4
    log.publish(20)
    assert len(await anext(quick)) == 20
    log.publish(2 * TOGETHER)
    blocks = [[await anext(watch) for _ in range(3)] for watch in (quick, slow)]
    assert [len(one) for one in blocks[1]][1:] == [TOGETHER, TOGETHER]
    assert blocks[0][1] is blocks[1][2], "whoever writes it down does so once"
