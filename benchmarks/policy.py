"""How long one decision takes: a typical command against 500 rules, and the worst inputs we could think of.

``python benchmarks/policy.py`` prints the numbers and fails when a limit is broken.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from quarterdeck.policy import Policy
from quarterdeck.policy.shell import MAX_LENGTH, MAX_WORK

P50_LIMIT_US = 50.0
P99_LIMIT_US = 500.0
WORST_LIMIT_MS = 100.0
ROUNDS = 7
DECISIONS = 1200

TYPICAL = (
    "npm run test",
    "npm run test -- --watch=false",
    "git log --oneline -20",
    "git diff --stat HEAD~3 src/quarterdeck",
    "python -m pytest tests/policy -q -x",
    "cargo build --release",
    "ls -la src",
    "make lint",
    "npx tsc --noEmit",
    "docker compose ps",
    "grep -rn decide src",
    "go test ./...",
)
COMPOUND = (
    "npm run lint && npm run test",
    "git add -A && git commit -m 'fix: a thing that was broken'",
    "cargo test 2>&1 | tail -20",
    'grep -rn "class Policy" src | head -5',
    "cd src && npm run build > /dev/null",
)
UNITS = (
    *(
        "(",
        "$(",
        "a;",
        "`",
        "\\\n",
        "<<E ",
        "${",
        "a|",
        "if ",
        "{a,",
        "'",
        "a <<E\n",
        "[[ ",
        "$((",
        "case a in ",
        "a=(",
    ),
    *("a&&", "a||", "a\n", "<(", "a&", '"$(', "'\"", "a=b ", "a[", "for a in b;do ", "!", "a <<'E'\n", "{ ", "$'"),
    *("((", "a>b ", "x=", "${a[", "a<<<b ", "[ ", '"$a" ', "'a' ", "\\\na ", "sudo ", "env a=b ", "sh -c ", "eval '"),
    *("su ", "A=1 ", "rm -", "dd if=", "grep -e ", "awk '{' ", "sed s/a/ "),
    *(
        "time ",
        "timeout 5 ",
        "xargs ",
        "\\",
        "../",
        "*a",
        "find -exec ",
        "sudo 'a|b' ",
        "eval 'eval ",
        "~/",
        "git -c a ",
    ),
)


def make_policy() -> Policy:
    """Five hundred rules of the kinds that people have."""
    tools = (
        "npm run",
        "git",
        "cargo",
        "docker compose",
        "kubectl get",
        "python -m",
        "make",
        "go",
        "terraform",
        "bazel",
    )
    allow = [f"Bash({tool} task{number}:*)" for tool in tools for number in range(35)]
    allow += [f"Bash(tool{number} * --flag)" for number in range(30)]
    allow += [f"Edit(src/part{number}/**)" for number in range(30)] + ["Bash(npm run test:*)", "Bash(git log *)"]
    deny = [f"Bash(danger{number}:*)" for number in range(50)] + ["Bash(rm -rf:*)", "Read(.env)", "Read(//etc/**)"]
    ask = [f"Bash(git push origin{number}*)" for number in range(35)]
    return Policy.from_rules(allow=allow, deny=deny, ask=ask, cwd=".")


def measure(decide: Callable[[str], object], commands: tuple[str, ...]) -> tuple[float, float]:
    """p50 and p99 in microseconds over all commands; the quietest of some rounds, the machine may be shared."""
    rounds = [_round(decide, commands) for _ in range(ROUNDS)]
    return min(p50 for p50, _ in rounds), min(p99 for _, p99 in rounds)


def _round(decide: Callable[[str], object], commands: tuple[str, ...]) -> tuple[float, float]:
    took: list[float] = []
    for _ in range(DECISIONS // len(commands)):
        for command in commands:
            start = time.perf_counter()
            decide(command)
            took.append((time.perf_counter() - start) * 1e6)
    took.sort()
    return statistics.median(took), took[int(len(took) * 0.99)]


def hostile_inputs() -> list[str]:
    """Deep, long and full of operators, up to and over the stated limits."""
    inputs = ["x" * 10_000_000, "a " * MAX_LENGTH, "sudo " * 900 + "rm x"]
    for unit in UNITS:
        for length in (600, 2000, MAX_LENGTH):
            count = max(1, min(length // len(unit), MAX_WORK // length))
            inputs += [
                unit * count,
                (unit * count + " a" * length)[:length],
                ("a " * length)[: length // 2] + unit * (count // 2),
            ]
    return inputs


def worst(decide: Callable[[str], object]) -> tuple[float, str]:
    """The longest time in milliseconds of CPU time (the quicker of two runs), and the input that took it."""
    return max((min(_cost(decide, command) for _ in range(2)), command[:30]) for command in hostile_inputs())


def _cost(decide: Callable[[str], object], command: str) -> float:
    start = time.process_time()
    decide(command)
    return (time.process_time() - start) * 1e3


def main() -> int:
    policy = make_policy()

    def decide(command: str) -> object:
        return policy.decide("Bash", {"command": command})

    p50, p99 = measure(decide, TYPICAL)
    compound50, compound99 = measure(decide, COMPOUND)
    slowest, text = worst(decide)
    print(f"rules                {len(policy.rules):8}")
    print(f"typical command p50  {p50:8.1f} µs   (limit {P50_LIMIT_US:.0f})")
    print(f"typical command p99  {p99:8.1f} µs   (limit {P99_LIMIT_US:.0f})")
    print(f"compound p50 / p99   {compound50:8.1f} / {compound99:.1f} µs")
    print(f"worst of {len(hostile_inputs())} inputs  {slowest:8.1f} ms   (limit {WORST_LIMIT_MS:.0f})  {text!r}")
    return 0 if p50 <= P50_LIMIT_US and p99 <= P99_LIMIT_US and slowest <= WORST_LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
