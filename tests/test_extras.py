"""The built wheel, with each extra alone and with none: what is there works, what is missing says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

from terminal.kit import LIMIT_S, Term

ROOT = Path(__file__).parents[1]


def _example(name: str) -> str:
    """Alone: it takes no ``--host`` here."""
    return (ROOT / "examples" / f"{name}.py").read_text().replace("from _where import HOST\n", "HOST = None\n")


HOSTED = _example("host")
SCENARIO = ROOT / "examples" / "scenarios" / "permission.yaml"
CALLED = """
import asyncio, grpc
from quarterdeck.gateways.grpc import Server
from quarterdeck.gateways.grpc.v1 import host_service_pb2, host_service_pb2_grpc
from quarterdeck.host import Host

async def main():
    async with Host("state", keeper=False) as host, Server(host) as server:
        address = server.listen("127.0.0.1:0")
        await server.start()
        async with grpc.aio.insecure_channel(address) as channel:
            try:
                await host_service_pb2_grpc.HostServiceStub(channel).GetHost(host_service_pb2.GetHostRequest())
            except grpc.aio.AioRpcError as error:
                print(error.code().name)

asyncio.run(main())
"""
REMOTE = "import asyncio, quarterdeck; print(asyncio.run(quarterdeck.prompt('hello', host={url!r})).result)"
TRACED = "import asyncio, quarterdeck; asyncio.run(quarterdeck.prompt('hello', tracing=True))"
SPANS = f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
{TRACED}
print(*sorted({{span.name for span in exporter.get_finished_spans()}}), sep="\\n")
"""
"""The extra has the API alone; the SDK is what a program brings that wants its spans."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    return Path(built)


class Installed:
    """An environment that has the wheel, and of our own packages only those that it asks for."""

    def __init__(self, folder: Path, wheel: Path, extra: str, *, beside: Sequence[str] = ()) -> None:
        """``beside``: packages that the program needs itself."""
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True, timeout=LIMIT_S
        )
        self.python = folder / "venv" / "bin" / "python"
        (packages,) = (folder / "venv").glob("lib/*/site-packages")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(packages)
            (metadata,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
            wanted = re.findall(r"^Requires-Dist: (.+)$", archive.read(metadata).decode(), re.MULTILINE)
        self.names = sorted(_needed([Requirement(one) for one in wanted], extra))
        for name in [*self.names, *_needed([Requirement(one) for one in beside], "")]:
            _copy(name, packages)
        self.folder = folder / "work"
        self.folder.mkdir()
        (folder / "home").mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }

    def python_code(self, code: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self._run([str(self.python), "-c", code], env)

    def quarterdeck(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self._run([str(self.python), "-m", "quarterdeck", *words], env)

    def _run(self, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.env | env,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    @property
    def simulator(self) -> str:
        code = "from quarterdeck.testing.sim import executable; print(executable(folder='sim'))"
        return str(self.folder / self.python_code(code).stdout.strip())


def _needed(requirements: list[Requirement], extra: str) -> Iterator[str]:
    """The names of what has to be installed, with all it needs itself."""
    for one in requirements:
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            yield one.name
            below = [Requirement(text) for text in distribution(one.name).requires or ()]
            for chosen in one.extras or {""}:
                yield from _needed(below, chosen)


def _copy(name: str, packages: Path) -> None:
    for file in distribution(name).files or ():
        target = packages / file
        if ".." not in file.parts and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), target)


@pytest.fixture
def bare(wheel: Path, tmp_path: Path) -> Installed:
    return Installed(tmp_path, wheel, "")


def test_without_an_extra_only_msgspec_is_needed_and_programs_work(bare: Installed) -> None:
    assert bare.names == ["msgspec"]
    program = "import asyncio, quarterdeck; print(asyncio.run(quarterdeck.prompt('hello')).result)"
    done = bare.python_code(program, CLAUDE_BIN=bare.simulator)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Hello!")
    for words in (
        ["--help"],
        ["run", "--agent", "sim", "hello"],
        ["run", "--agent", "sim", "--json", "hello"],
        ["sessions"],
    ):
        done = bare.quarterdeck(*words)
        assert (done.returncode, done.stderr) == (0, ""), words


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["chat"], "terminal"),
        (["policy", "explain", "Bash(ls)"], "policy"),
        (["sim", "--scenario", str(SCENARIO), "-p", "hello"], "testing"),
    ],
)
def test_what_needs_an_extra_says_which_to_install(bare: Installed, words: list[str], extra: str) -> None:
    done = bare.quarterdeck(*words)
    assert done.returncode in (2, 3)
    assert f"pip install 'quarterdeck[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_on_a_terminal_says_what_to_install(bare: Installed) -> None:
    command = [str(bare.python), "-m", "quarterdeck", "run", "--agent", "sim", "hello"]
    term = Term(command, bare.folder, bare.env, 100, 20)
    try:
        assert term.exit() == 3
        assert "rich and prompt_toolkit are not installed" in term.text
        assert "Run pip install 'quarterdeck[terminal]', or use --output text." in term.text
    finally:
        term.close()


def test_tracing_without_its_extra_says_what_to_install(bare: Installed) -> None:
    done = bare.python_code(TRACED, CLAUDE_BIN=bare.simulator)
    assert done.returncode == 1
    assert "pip install 'quarterdeck[otel]'" in done.stderr


def test_terminal_alone_draws_a_conversation(wheel: Path, tmp_path: Path) -> None:
    there = Installed(tmp_path, wheel, "terminal")
    term = Term([str(there.python), "-m", "quarterdeck", "chat", "--agent", "sim"], there.folder, there.env, 100, 30)
    try:
        term.until("/help for commands")
        term.press("hello", "\r")
        term.until("Hello! I am the simulator")
        term.until("✔ done")
        term.press("\x04")
        assert term.exit() == 0
    finally:
        term.close()


def test_policy_alone_explains_a_command(wheel: Path, tmp_path: Path) -> None:
    done = Installed(tmp_path, wheel, "policy").quarterdeck("policy", "explain", "Bash(rm -rf build)")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("ASK")


def test_host_alone_runs_sessions_and_judges_their_calls(wheel: Path, tmp_path: Path) -> None:
    there = Installed(tmp_path, wheel, "host")
    done = there.python_code(HOSTED, CLAUDE_BIN=there.simulator)
    assert (done.returncode, done.stderr) == (0, "")
    assert "said:" in done.stdout


def test_grpc_alone_serves_calls_and_without_it_serve_says_what_to_install(wheel: Path, tmp_path: Path) -> None:
    there = Installed(tmp_path, wheel, "grpc")
    done = there.python_code(CALLED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "UNAUTHENTICATED\n"
    (tmp_path / "other").mkdir()
    done = Installed(tmp_path / "other", wheel, "host").quarterdeck("serve", "--grpc", "127.0.0.1:0")
    assert done.returncode == 2
    assert "pip install 'quarterdeck[grpc]'" in done.stderr


def test_a_host_without_its_extra_says_what_to_install(bare: Installed) -> None:
    done = bare.python_code(HOSTED, CLAUDE_BIN=bare.simulator)
    assert done.returncode == 1
    assert "pip install 'quarterdeck[host]'" in done.stderr


def test_remote_alone_reaches_a_host(wheel: Path, tmp_path: Path) -> None:
    there = Installed(tmp_path, wheel, "remote")
    host = Installed(_made(tmp_path / "other"), wheel, "host")
    state = Path(tempfile.mkdtemp())  # short enough for a socket
    serving = [str(host.python), "-m", "quarterdeck", "serve", "--listen", "127.0.0.1:0", "--state", str(state)]
    serving += ["--agent", host.simulator]
    with subprocess.Popen(serving, cwd=host.folder, env=host.env, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            url = next(found[0] for line in served.stdout if (found := re.search(r"http://127.0.0.1:\d+", line)))
            token = (state / "token").read_text().strip()
            done = there.python_code(REMOTE.format(url=url), QUARTERDECK_TOKEN=token)
        finally:
            served.terminate()
            served.wait(LIMIT_S)
            shutil.rmtree(state)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Hello!")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_each_extra_is_tried_alone() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    tried = set(re.findall(r'Installed\(.+, wheel, "(\w+)"[,)]', Path(__file__).read_text()))
    assert tried == set(offered) - {"all"}


def test_testing_alone_plays_a_scenario_in_yaml(wheel: Path, tmp_path: Path) -> None:
    done = Installed(tmp_path, wheel, "testing").quarterdeck("sim", "--scenario", str(SCENARIO), "-p", "hello")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_otel_alone_traces_a_session(wheel: Path, tmp_path: Path) -> None:
    there = Installed(tmp_path, wheel, "otel", beside=["opentelemetry-sdk"])
    done = there.python_code(SPANS, CLAUDE_BIN=there.simulator)
    assert (done.returncode, done.stderr) == (0, "")
    assert {"quarterdeck.session", "invoke_agent claude-code"} <= set(done.stdout.splitlines())


def test_mcp_alone_runs_a_server_of_that_package(wheel: Path, tmp_path: Path) -> None:
    there = Installed(tmp_path, wheel, "mcp")
    program = _example("fastmcp_server")
    done = there.python_code(program, CLAUDE_BIN=there.simulator)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_all_is_every_extra() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (every,) = offered.pop("all")
    assert Requirement(every).extras == set(offered)
