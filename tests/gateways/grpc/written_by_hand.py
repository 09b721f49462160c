"""Messages that no table of the host has: what a stream is made of, and the conversation."""

from __future__ import annotations

from typing import NamedTuple

CONTENT = """\
// The content of a prompt: text, or content blocks as Claude Code accepts them.
message Content {
  // One of the two.
  oneof content {
    // Plain text.
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
  // The event's row in the log. A row can have several events. For a preview: the last row before it.
  int64 seq = 2;
  // When, in seconds since 1970.
  double at = 3;
  // Live only: the finished item with the same `id` comes later and replaces it.
  bool preview = 4;
  // The event as JSON, if requested: for events that the client's version of this file does not have.
  string json = 5;

  // What it is.
  oneof event {
    // An event that has no message in this version.
    UnknownEvent unknown = 8;
    // An event larger than the request allows.
    OversizedEvent oversized = 9;
MEMBERS
  }
}

// An event without its own message, or with values that do not fit it.
message UnknownEvent {
  // Its name.
  string type = 1;
  // The whole event.
  string json = 2;
}

// An event that is too large for a message. Repeat the request with a larger `max_event_bytes`.
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
            "Instead of `after`: a row of the current log. This cannot detect that the log was rebuilt in between.",
        ),
        "max_event_bytes": (
            "optional int64",
            "Larger events are sent as `OversizedEvent`. The default, 3 MiB, fits the default limit of clients.",
        ),
        "with_json": ("bool", "Also send each event as JSON."),
    },
}

WATCH_RESPONSE = """\
// A batch of events, oldest first.
message WatchSessionResponse {
  // Where the stream starts. Only in the first response.
  Hello hello = 1;
  // The events.
  repeated Event events = 2;
  // `EPOCH-SEQ`: pass it as `after` to continue from here. Empty if there were only previews.
  string cursor = 3;
}
"""


class _Converse(NamedTuple):
    rpc: str
    messages: str


CONVERSE = _Converse(
    """\
  // A session as one stream: the first message opens it, later ones prompt, decide and interrupt; events come back.
  // Each request requires its own scope. Ends when the client has closed its side and the session is idle.
  rpc Converse(stream ConverseRequest) returns (stream ConverseResponse);
""",
    """\
// A message from the client. The first is `open`; later ones need no `session_id`.
message ConverseRequest {
  // The client's name for this request, repeated in the answer.
  string ref = 1;
  // A repeat with the same key returns the first answer and has no other effect.
  string idempotency_key = 2;

  // The request.
  oneof request {
    // Open the conversation.
    ConverseOpen open = 3;
    // Send a prompt.
    SendPromptRequest send_prompt = 4;
    // Decide an approval: a permission, the answers to questions, a plan.
    DecideRequest decide = 5;
    // Stop the turn.
    InterruptRequest interrupt = 6;
    // Withdraw a queued prompt.
    WithdrawPromptRequest withdraw_prompt = 7;
    // Change name, model, permission mode or budget.
    UpdateSessionRequest update_session = 8;
  }
}

// The session, and where its events start.
message ConverseOpen {
  // One of the two.
  oneof session {
    // Start a new session.
    CreateSessionRequest create = 1;
    // Continue an existing session, by any of its ids. If it has no process, the next prompt starts one.
    string session_id = 2;
  }
  // `EPOCH-SEQ`. Without a cursor, events start at the beginning of the session.
  optional string after = 3;
  // Leave out previews of streaming text.
  bool without_previews = 4;
  // As in `WatchSessionRequest`.
  optional int64 max_event_bytes = 5;
  // As in `WatchSessionRequest`.
  bool with_json = 6;
}

// A message to the client: an answer or events.
message ConverseResponse {
  // The content.
  oneof response {
    // The session is open. Always the first message.
    ConverseOpened opened = 1;
    // Events of the session.
    WatchSessionResponse events = 2;
    // The answer to a request.
    ConverseAnswer answer = 3;
  }
}

// The session, and where its stream starts.
message ConverseOpened {
  // The `ref` of the request.
  string ref = 1;
  // The session.
  Session session = 2;
  // Where the stream starts.
  Hello hello = 3;
}

// The answer to a request.
message ConverseAnswer {
  // The `ref` of the request.
  string ref = 1;
  // This repeats the first answer to the same key.
  bool replayed = 2;

  // The result of the method with the same name, or an error.
  oneof answer {
    // The request was refused. The conversation continues.
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

// Why a request was refused. Other methods return this as a status with `google.rpc.ErrorInfo`.
message ConverseError {
  // One of the documented codes, e.g. `already_decided`.
  string code = 1;
  // What happened.
  string message = 2;
  // What to do.
  string hint = 3;
  // Fields for programs, e.g. `field` or `decided_by`.
  map<string, string> details = 4;
}
""",
)
