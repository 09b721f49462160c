"""Messages that no table of the host has: what a stream is made of, and the conversation."""

from __future__ import annotations

from typing import NamedTuple

CONTENT = """\
// What is said: a text, or content blocks as Claude Code takes them.
message Content {
  // One of the two.
  oneof content {
    // A text.
    string text = 1;
    // A JSON array of content blocks.
    string blocks_json = 2;
  }
}
"""


class _EventHead(NamedTuple):
    head: str
    numbers: dict[str, int]

    def text(self, members: list[str], reserved: str) -> str:
        return self.head.replace("RESERVED", reserved).replace("MEMBERS", "\n".join(members))


EVENT_HEAD = _EventHead(
    """\
// Something that happened in a session.
message Event {
RESERVED  // The session.
  string session_id = 1;
  // The row of the log that says it. Several events may be of one row. Of a preview: the last row before it.
  int64 seq = 2;
  // When, in seconds since 1970.
  double at = 3;
  // It is live only: the finished item of the same `id` comes later and replaces it.
  bool preview = 4;
  // The event as JSON, where the request asked for it: for events that the reader's version of this file does not know.
  string json = 5;

  // What it is.
  oneof event {
    // An event that this version has no message for.
    UnknownEvent unknown = 8;
    // An event that is larger than the request allows.
    OversizedEvent oversized = 9;
MEMBERS
  }
}

// An event without a message of its own, or whose values do not fit it.
message UnknownEvent {
  // Its name.
  string type = 1;
  // All of it.
  string json = 2;
}

// An event that is too large for a message; ask again with a larger `max_event_bytes`.
message OversizedEvent {
  // Its name.
  string type = 1;
  // Its size as a message.
  int64 size_bytes = 2;
}
""",
    {"session_id": 1, "seq": 2, "at": 3, "preview": 4, "json": 5, "unknown": 8, "oversized": 9},
)

EXTRA_FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "WatchSessionRequest": {
        "after_seq": (
            "optional int64",
            "Instead of `after`: a row of the present log. A log that was rebuilt meanwhile is not noticed.",
        ),
        "max_event_bytes": (
            "optional int64",
            "What is larger comes as `OversizedEvent`. By default 3 MiB, which fits what clients take by default.",
        ),
        "with_json": ("bool", "Send each event as JSON, too."),
    },
}

WATCH_RESPONSE = """\
// What happened since the last response: as many events as there were at that moment, oldest first.
message WatchSessionResponse {
  // How the stream begins. Only in the first response.
  Hello hello = 1;
  // What happened.
  repeated Event events = 2;
  // `EPOCH-SEQ`: to go on here later, pass it as `after`. Empty where only previews came.
  string cursor = 3;
}
"""


class _Converse(NamedTuple):
    rpc: str
    messages: str


CONVERSE = _Converse(
    """\
  // A session as a conversation: the first message opens it, the next ones say, decide and interrupt; events come back.
  // Needs the scope of each request. Ends by itself when the client has closed its side and the session is idle.
  rpc Converse(stream ConverseRequest) returns (stream ConverseResponse);
""",
    """\
// One message up. The first is `open`; later ones need no `session_id`.
message ConverseRequest {
  // The client's name for this request; its answer has it, too.
  string ref = 1;
  // The same key again gives the same answer, without doing it again.
  string idempotency_key = 2;

  // What to do.
  oneof request {
    // Begin.
    ConverseOpen open = 3;
    // Say something.
    SendPromptRequest send_prompt = 4;
    // Decide an approval: a permission, the answers to questions, a plan.
    DecideRequest decide = 5;
    // Stop the turn.
    InterruptRequest interrupt = 6;
    // Take back a prompt that waits.
    WithdrawPromptRequest withdraw_prompt = 7;
    // Change name, model, permission mode, budget.
    UpdateSessionRequest update_session = 8;
  }
}

// Which session, and from where on its events are told.
message ConverseOpen {
  // One of the two.
  oneof session {
    // Start a new one.
    CreateSessionRequest create = 1;
    // Go on with one that is there, by any of its ids. One without a process gets it with the next prompt.
    string session_id = 2;
  }
  // `EPOCH-SEQ`. Without a cursor a session is told from its beginning.
  optional string after = 3;
  // Without the pieces of what is being said.
  bool without_previews = 4;
  // As in `WatchSessionRequest`.
  optional int64 max_event_bytes = 5;
  // As in `WatchSessionRequest`.
  bool with_json = 6;
}

// One message down: an answer or events.
message ConverseResponse {
  // Which.
  oneof response {
    // The session is open. The first message.
    ConverseOpened opened = 1;
    // What happened.
    WatchSessionResponse events = 2;
    // What came of a request.
    ConverseAnswer answer = 3;
  }
}

// The session, and how its stream begins.
message ConverseOpened {
  // The `ref` of the request.
  string ref = 1;
  // The session.
  Session session = 2;
  // How the stream begins.
  Hello hello = 3;
}

// What came of a request.
message ConverseAnswer {
  // The `ref` of the request.
  string ref = 1;
  // The first answer to this key, again.
  bool replayed = 2;

  // What the method of the same name returns, or why it was refused.
  oneof answer {
    // It was refused; the conversation goes on.
    ConverseError error = 3;
    // Of `send_prompt`.
    SendPromptResponse send_prompt = 4;
    // Of `decide`.
    DecideResponse decide = 5;
    // Of `interrupt`.
    InterruptResponse interrupt = 6;
    // Of `withdraw_prompt`.
    WithdrawPromptResponse withdraw_prompt = 7;
    // Of `update_session`.
    UpdateSessionResponse update_session = 8;
  }
}

// Why a request was refused: what a status with `google.rpc.ErrorInfo` says elsewhere.
message ConverseError {
  // One of the documented codes, e.g. `already_decided`.
  string code = 1;
  // What happened.
  string message = 2;
  // What to do.
  string hint = 3;
  // What helps a program, e.g. `field` or `decided_by`.
  map<string, string> details = 4;
}
""",
)
