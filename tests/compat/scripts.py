"""What the model says to each program in ``programs/``."""

from __future__ import annotations

from collections.abc import Callable

from quarterdeck.testing.model import ApiRequest, Error, ModelServer, Reply, Stall, Text, Thinking, ToolUse

Script = Callable[[ModelServer], None]


def nothing(model: ModelServer) -> None:
    """For programs that never reach the model."""


def quick_start(model: ModelServer) -> None:
    model.reply("2 + 2 is 4.")
    model.reply("Python is a friendly snake that does what you write.")
    model.reply("I write it.", ToolUse("Write", {"file_path": "hello.txt", "content": "Hello!\n"}))
    model.reply("There it is.")


def streaming_mode(model: ModelServer) -> None:
    for said in ("Paris.", "About two million.", "Nearly three.", "Blue.", "Pear.", "One.", "Three."):
        model.reply(said)


def interrupt(model: ModelServer) -> None:
    model.reply("One … two … three … four … five … six …", Stall(after=4), delta_size=6)
    model.reply("Hello.")


def calculator(model: ModelServer) -> None:
    for tool, arguments, said in (
        ("add", {"a": 2, "b": 3}, "It is 5."),
        ("divide", {"a": 1, "b": 0}, "That cannot be."),
        ("fail", {}, "It failed."),
        ("power", {"base": 2, "exponent": 5}, "It is 32."),
    ):
        model.reply(ToolUse(f"mcp__calc__{tool}", arguments))
        model.reply(said)


def session_store(model: ModelServer) -> None:
    for said in ("Still here.", "Here again.", "Stored.", "Resumed.", "Continued.", "Forked."):
        model.reply(said)


def tool_results(model: ModelServer) -> None:
    for tool in ("structured", "unknown", "linked", "optional"):
        model.reply(ToolUse(f"mcp__lab__{tool}", {"a": "x"}))
        model.reply("Seen.")


def permission_callback(model: ModelServer) -> None:
    model.reply(ToolUse("Write", {"file_path": "secret.txt", "content": "hush"}))
    model.reply("Written.")
    model.reply(ToolUse("Bash", {"command": "rm -rf .", "description": "Remove all"}))
    model.reply("I may not.")
    model.reply(ToolUse("Bash", {"command": "mkdir things", "description": "Make a folder"}))
    model.reply("Made.")


def hooks(model: ModelServer) -> None:
    for word in ("forbidden", "good", "halt"):
        model.reply(ToolUse("Bash", {"command": f"echo {word}", "description": "Say a word"}))
        if word != "halt":
            model.reply(f"I tried to say {word}.")
    model.reply_with(lambda request: Reply((Text("Hot pink." if "hot pink" in request.text else "I do not know."),)))


def agents(model: ModelServer) -> None:
    task = {"description": "Review", "prompt": "Review the code.", "subagent_type": "reviewer"}
    model.on(lambda request: request.kind == "subagent", "The code is fine.")
    model.reply(ToolUse("Agent", {**task, "run_in_background": False}))
    model.reply("The reviewer is content.")


def limits(model: ModelServer) -> None:
    model.reply(ToolUse("Bash", {"command": "echo work", "description": "Work"}))
    model.reply(ToolUse("Bash", {"command": "echo work", "description": "Work"}))


def partial_messages(model: ModelServer) -> None:
    model.reply(Thinking("A short one."), "Why did the test fail? Nobody knows.", delta_size=12)


def greeting(model: ModelServer) -> None:
    model.on(lambda request: request.kind == "main", "Hello.")


def stderr_callback(model: ModelServer) -> None:
    model.reply("4")


def system_prompt(model: ModelServer) -> None:
    def answer(request: ApiRequest) -> Reply:
        marks = {
            "pirate": "You are a pirate",
            "parrot": "You are a parrot",
            "joke": "End each answer with a joke",
            "claude code": "interactive",
        }
        found = [name for name, mark in marks.items() if mark in request.system]
        return Reply((Text(f"My prompt is about {found}."),))

    model.on_with(lambda request: request.kind == "main", answer)


def errors(model: ModelServer) -> None:
    model.on(lambda request: request.kind == "main", Error(400, "the model does not want to"))


def structured_output(model: ModelServer) -> None:
    model.reply(ToolUse("StructuredOutput", {"city": "Tokyo", "people": 37_000_000}))
    model.reply("Done.")


def sessions(model: ModelServer) -> None:
    def recall(request: ApiRequest) -> Reply:
        return Reply((Text("It is 7." if "number 7" in request.text else "I do not know."),))

    model.on_with(lambda request: request.kind == "main" and "Which number" in request.last_user_text, recall)
    model.on(lambda request: request.kind in ("main", "helper"), "All right.")


SCRIPTS: dict[str, Script] = {
    "agents": agents,
    "calculator": calculator,
    "custom_transport": nothing,
    "option_objects": nothing,
    "errors": errors,
    "hooks": hooks,
    "interrupt": interrupt,
    "limits": limits,
    "partial_messages": partial_messages,
    "permission_callback": permission_callback,
    "plugins": greeting,
    "quick_start": quick_start,
    "session_store": session_store,
    "sessions": sessions,
    "setting_sources": greeting,
    "stderr_callback": stderr_callback,
    "streaming_mode": streaming_mode,
    "structured_output": structured_output,
    "system_prompt": system_prompt,
    "tool_results": tool_results,
}
