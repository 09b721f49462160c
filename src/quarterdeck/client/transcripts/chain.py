"""The conversation in a transcript.

A transcript is a tree: each record names its parent, and going back to an earlier message starts a new branch in the
same file. The conversation is the path from the last leaf to its root. A turn that runs tools in parallel is written as
several records whose results are attached to different ones of them; the path to the root contains only one of these,
so the others are added back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from .links import RecordLink

_SPOKEN = ("user", "assistant")


def conversation(links: Sequence[RecordLink]) -> list[RecordLink]:
    """The links of the current branch, from the root, parallel tool calls complete."""
    by_uuid = {link.uuid: link for link in links}
    leaf = _last_leaf(links, by_uuid)
    if leaf is None:
        return []
    way = _way_to_root(leaf, by_uuid)
    return _Siblings(by_uuid, way).put_back()


def agent_conversation(links: Sequence[RecordLink]) -> list[RecordLink]:
    """The same for a sub-agent, which has one branch."""
    leaf = next((link for link in reversed(links) if link.type in _SPOKEN), None)
    return [] if leaf is None else _way_to_root(leaf, {link.uuid: link for link in links})


def shown_in(links: Sequence[RecordLink], *, include_system: bool = False) -> list[RecordLink]:
    """The prompts, answers and results of the current branch that a person would see: a summary after compacting is
    one. With ``include_system`` also the CLI's notices."""
    kinds = (*_SPOKEN, "system") if include_system else _SPOKEN
    return [link for link in conversation(links) if link.type in kinds and _is_visible(link)]


def _is_visible(link: RecordLink) -> bool:
    return not (link.is_meta or link.is_sidechain or link.of_team)


def _last_leaf(links: Sequence[RecordLink], by_uuid: dict[str, RecordLink]) -> RecordLink | None:
    parents = {link.parent for link in links if link.parent}
    place = {link.uuid: index for index, link in enumerate(links)}
    leaves: list[RecordLink] = []
    for end in links:
        if end.uuid in parents:
            continue
        spoken = next((link for link in _upwards(end, by_uuid) if link.type in _SPOKEN), None)
        if spoken is not None:
            leaves.append(spoken)
    main = [link for link in leaves if _is_visible(link)]
    return max(main or leaves, key=lambda link: place[link.uuid], default=None)


def _upwards(link: RecordLink | None, by_uuid: dict[str, RecordLink]) -> Iterable[RecordLink]:
    seen: set[str] = set()
    while link is not None and link.uuid not in seen:
        seen.add(link.uuid)
        yield link
        link = by_uuid.get(link.parent) if link.parent else None


def _way_to_root(leaf: RecordLink, by_uuid: dict[str, RecordLink]) -> list[RecordLink]:
    way = list(_upwards(leaf, by_uuid))
    way.reverse()
    return way


def _same_writer(one: RecordLink, other: RecordLink) -> bool:
    return one.is_sidechain == other.is_sidechain and one.agent_id == other.agent_id


class _Siblings:
    """Finds what the way to the root has missed of its answers, and where it belongs."""

    def __init__(self, by_uuid: dict[str, RecordLink], way: list[RecordLink]) -> None:
        self._by_uuid = by_uuid
        self._way = way
        self._seen = {link.uuid for link in way}
        self._answers: defaultdict[str, list[RecordLink]] = defaultdict(list)
        self._owner: dict[str, RecordLink | None] = {}
        self._results: defaultdict[str, list[RecordLink]] = defaultdict(list)

    def put_back(self) -> list[RecordLink]:
        last_of = {link.message_id: link for link in self._way if link.message_id}
        if not last_of:
            return self._way
        self._index()
        missed = {last_of[message_id].uuid: self._missed(message_id) for message_id in self._in_order()}
        return [part for link in self._way for part in (link, *missed.get(link.uuid, ()))]

    def _in_order(self) -> Iterable[str]:
        return dict.fromkeys(link.message_id for link in self._way if link.message_id)

    def _index(self) -> None:
        results: list[RecordLink] = []
        for link in self._by_uuid.values():
            if link.message_id:
                self._answers[link.message_id].append(link)
                for call in link.calls:
                    self._claim(call, link)
            elif link.holds_result and link.parent:
                results.append(link)
        for result in results:
            for uuid in self._callers(result):
                self._results[uuid].append(result)

    def _claim(self, call: str, link: RecordLink) -> None:
        """A call claimed by two answers belongs to neither: it cannot say where a result belongs."""
        owner = self._owner.setdefault(call, link)
        if owner is not link:
            self._owner[call] = link if owner is not None and owner.message_id == link.message_id else None

    def _callers(self, result: RecordLink) -> Iterable[str]:
        """The records that a result may belong to, the surest first."""
        if result.parent:
            yield result.parent
        source = self._by_uuid.get(result.caller) if result.caller else None
        if source is not None and _same_writer(result, source):
            yield source.uuid
        for call in result.answers:
            owner = self._owner.get(call)
            if owner is not None and _same_writer(result, owner):
                yield owner.uuid

    def _missed(self, message_id: str) -> list[RecordLink]:
        members = self._answers[message_id]
        uuids = {member.uuid for member in members}
        candidates = {
            result.uuid: result
            for member in members
            for result in self._results.get(member.uuid, ())
            if result.uuid not in self._seen
        }
        results = [result for result in candidates.values() if result.parent in uuids]
        strays = [result for result in candidates.values() if result.parent not in uuids]
        if strays:
            results += self._that_answer(strays, uuids, results)
        found = sorted((member for member in members if member.uuid not in self._seen), key=lambda one: one.timestamp)
        found += sorted(results, key=lambda one: one.timestamp)
        self._seen.update(link.uuid for link in found)
        return found

    def _that_answer(self, strays: list[RecordLink], uuids: set[str], results: list[RecordLink]) -> list[RecordLink]:
        """Results written under another record: taken if they answer a call of this answer that nothing else does."""
        answered = {call for link in (*self._way, *results) for call in link.answers}
        place = {uuid: index for index, uuid in enumerate(self._by_uuid)}
        taken: list[RecordLink] = []
        for stray in sorted(strays, key=lambda one: place[one.uuid]):
            owners = (self._owner.get(call) for call in stray.answers if call not in answered)
            if any(owner is not None and owner.uuid in uuids for owner in owners):
                answered.update(stray.answers)
                taken.append(stray)
        return taken
