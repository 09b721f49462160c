"""Forwards the session's requests to the user of the editor: permissions, plans, questions, forms of MCP servers.

A request is written in the same call that drew what precedes it, so it never overtakes that. When Claude Code withdraws
it, the editor is notified.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from quarterdeck.client.serving import LATER
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.timeline.items import Request as Asked
from quarterdeck.wire.permissions import PermissionMode, PermissionResultAllow, PermissionResultDeny, PermissionUpdate

from . import question_forms, schema, tool_calls
from .jsonrpc import RpcError
from .peer import Peer, PendingCall, decoded
from .permission_options import OfferedOption, Refusals, permission_choices
from .schema import CreateElicitationResponse, RequestPermissionResponse

Answer = Callable[[str, Any], None]
"""Request id, and the answer for the CLI."""
Answers = dict[str, str | list[str]]
Judge = Callable[[str, Mapping[str, Any]], Any]
DISMISSED = "The user dismissed this without an answer."
KEEP_PLANNING = "The user wants to keep planning. Do not start yet; improve the plan or ask what is missing."


class Asking:
    """The open requests of one session."""

    def __init__(
        self,
        peer: Peer,
        session_id: str,
        *,
        cwd: str,
        forms: bool,
        urls: bool,
        answer: Answer,
        questions: Answer,
        judge: Judge = lambda tool, tool_input: LATER,
        hosted: bool = False,
    ) -> None:
        """``answer`` takes a permission or an elicitation's answer, ``questions`` the answers by question, or None.

        ``judge`` answers for what no person needs to be asked, and says ``LATER`` for the rest. ``hosted``: the
        session lives in a host, which remembers the rules.
        """
        self._peer = peer
        self.session_id = session_id
        self._cwd = cwd
        self._forms, self._urls = forms, urls
        self._answer, self._answer_questions = answer, questions
        self._judge = judge
        self._hosted = hosted
        self._refusals = Refusals()
        self._open: dict[str, asyncio.Task[None]] = {}

    def ask(self, request: Asked) -> None:
        """Asks once. What is answered without asking has been (``decide``, ``can_elicit``)."""
        if request.id in self._open:
            return
        match request:
            case Permission() if self.decide(request.tool_name, request.input) is LATER:
                choices = permission_choices(request, self._cwd, hosted=self._hosted)
                self._choose(request, choices, _call_of(request, self._cwd))
            case PlanReview():
                self._choose(request, _plan_choices(), _plan_call(request))
            case Questions() if self._forms:
                self._run(request, self._form(request, self._elicit(question_forms.form(request), request)))
            case Questions():
                self._run(request, self._one_by_one(request))
            case Elicitation() if (form := self._elicitation(request)) is not None:
                self._run(request, self._served(request, self._elicit(form, request)))

    def decide(self, tool: str, tool_input: Mapping[str, Any]) -> Any:
        """The answer to a permission request that needs no person; ``LATER`` for the others."""
        why = self._refusals.reason(tool, tool_input)
        return self._judge(tool, tool_input) if why is None else PermissionResultDeny(message=why)

    def can_elicit(self, *, url: bool) -> bool:
        """Whether the editor can show a page, or a form."""
        return self._urls if url else self._forms

    def withdraw(self, request_id: str) -> None:
        """The answer is no longer needed. The editor is notified."""
        task = self._open.pop(request_id, None)
        if task is not None:  # later: one that has not begun would leave the editor's prompt open
            asyncio.get_running_loop().call_soon(task.cancel)

    def withdraw_all(self) -> None:
        for request_id in tuple(self._open):
            self.withdraw(request_id)

    # One of several choices

    def _choose(
        self, request: Permission | PlanReview, choices: list[OfferedOption], call: schema.ToolCallUpdate
    ) -> None:
        self._run(request, self._chosen(request, choices, self._request(call, choices)))

    def _request(self, call: schema.ToolCallUpdate, choices: list[OfferedOption]) -> PendingCall:
        options = [one.option for one in choices]
        asked = schema.RequestPermissionRequest(session_id=self.session_id, tool_call=call, options=options)
        return self._peer.call("session/request_permission", asked)

    async def _chosen(self, request: Permission | PlanReview, choices: list[OfferedOption], call: PendingCall) -> None:
        chosen = _selected(await call)
        found = next((one for one in choices if one.option.option_id == chosen), None)
        if found is None:
            self._done(request.id, PermissionResultDeny(message=DISMISSED))
            return
        if found.refuses_always and isinstance(request, Permission):
            self._refusals.add(request.tool_name, request.input)
        self._done(request.id, found.answer)

    # Questions

    async def _form(self, request: Questions, call: PendingCall) -> None:
        self._done_questions(
            request.id, question_forms.answers(request, decoded(await call, CreateElicitationResponse))
        )

    async def _one_by_one(self, request: Questions) -> None:
        """For an editor without forms: each question is a choice; several answers are chosen until "Done"."""
        answers: Answers = {}
        for index, question in enumerate(request.questions):
            chosen: list[str] = []
            while True:
                choices = question_forms.choices(question, chosen)
                call = schema.ToolCallUpdate(
                    tool_call_id=request.tool_id or request.id,
                    title=question.text,
                    kind="other",
                    status="pending",
                    content=[tool_calls.text(line) for line in question_forms.described(question)] or None,
                    meta={"quarterdeck": {"question": index}},
                )
                picked = _selected(await self._request(call, choices))
                label = next((one.label for one in choices if one.option.option_id == picked), "")
                if not label:  # skipped, or dismissed
                    self._done_questions(request.id, answers or None)
                    return
                if not question.several:
                    answers[question.text] = label
                    break
                if label == question_forms.DONE:
                    answers[question.text] = chosen
                    break
                chosen = [one for one in chosen if one != label] if label in chosen else [*chosen, label]
        self._done_questions(request.id, answers)

    # Elicitations of MCP servers

    def _elicitation(self, request: Elicitation) -> Any:
        """The request for the editor; None if it cannot show this kind."""
        message = f"{request.server}: {request.message}"
        if not self.can_elicit(url=request.url is not None):
            return None
        if request.url is not None:
            made = request.elicitation_id or request.id
            return schema.CreateElicitationRequestUrl(message=message, elicitation_id=made, url=request.url)
        wanted: Any = request.form or {"type": "object", "properties": {}}  # the server's own schema, as it is
        return schema.CreateElicitationRequestForm(message=message, requested_schema=wanted)

    def _elicit(self, form: Any, request: Questions | Elicitation) -> PendingCall:
        form.session_id, form.tool_call_id = self.session_id, request.tool_id
        return self._peer.call("elicitation/create", form)

    async def _served(self, request: Elicitation, call: PendingCall) -> None:
        given = decoded(await call, CreateElicitationResponse)
        action = given.action if given.action in ("accept", "decline", "cancel") else "cancel"
        self._done(request.id, {"action": action, **({"content": given.content or {}} if action == "accept" else {})})

    # Answering

    def _run(self, request: Asked, asking: Coroutine[Any, Any, None]) -> None:
        self._open[request.id] = asyncio.get_running_loop().create_task(self._guarded(request, asking))

    async def _guarded(self, request: Asked, asking: Coroutine[Any, Any, None]) -> None:
        """Whatever goes wrong at the editor, the CLI gets an answer, and it is no."""
        try:
            await asking
        except RpcError as error:
            why = PermissionResultDeny(message=f"The editor could not ask the user: {error}")
            self._done(request.id, {"action": "cancel"} if isinstance(request, Elicitation) else why)

    def _done(self, request_id: str, answer: Any) -> None:
        if self._open.pop(request_id, None) is not None:
            self._answer(request_id, answer)

    def _done_questions(self, request_id: str, answers: Answers | None) -> None:
        if self._open.pop(request_id, None) is not None:
            self._answer_questions(request_id, answers)


def _selected(data: bytes) -> str | None:
    outcome = decoded(data, RequestPermissionResponse).outcome
    return outcome.option_id if isinstance(outcome, schema.RequestPermissionOutcomeSelected) else None


def _call_of(request: Permission, cwd: str) -> schema.ToolCallUpdate:
    title = tool_calls.title_of(request.tool_name, request.label, request.about, request.input, cwd)
    content = tool_calls.input_content(request.tool_name, request.input, request.diffs, cwd)
    if request.reason:
        content = [*content, tool_calls.text(request.reason)]
    return schema.ToolCallUpdate(
        tool_call_id=request.tool_id or request.id,
        title=title,
        kind=tool_calls.kind_of(request.tool_name),
        status="pending",
        content=content or None,
        locations=tool_calls.locations_of(request.input, request.diffs, cwd) or None,
        raw_input=request.input,
        meta={"claudeCode": {"toolName": request.tool_name}},
    )


def _plan_call(request: PlanReview) -> schema.ToolCallUpdate:
    plan = request.plan or (f"The plan is in {request.path}." if request.path else None)
    return schema.ToolCallUpdate(
        tool_call_id=request.tool_id or request.id,
        title="Ready to code?",
        kind="switch_mode",
        status="pending",
        content=[tool_calls.text(plan)] if plan else None,
        meta={"claudeCode": {"toolName": "ExitPlanMode"}},
    )


def _plan_choices() -> list[OfferedOption]:
    def approve(mode: PermissionMode) -> PermissionResultAllow:
        return PermissionResultAllow(
            updated_permissions=[PermissionUpdate(type="setMode", mode=mode, destination="session")]
        )

    return [
        OfferedOption.of("acceptEdits", "Yes, and accept edits without asking", "allow_always", approve("acceptEdits")),
        OfferedOption.of("default", "Yes, and ask before each edit", "allow_once", approve("default")),
        OfferedOption.of("plan", "No, keep planning", "reject_once", PermissionResultDeny(message=KEEP_PLANNING)),
    ]
