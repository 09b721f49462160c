"""What counts as a secret, and what is left of it."""

from __future__ import annotations

import pytest

from quarterdeck.testing.redaction import MARK, Redactor, is_secret_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer [redacted]"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', '{"authorization": "Basic [redacted]"}'),
        (r'"{\"x-api-key\": \"0123456789\"}"', r'"{\"x-api-key\": \"[redacted]\"}"'),
        ("export AWS_SECRET=verysecret; ls", "export AWS_SECRET=[redacted]; ls"),
        ('{"env": {"GITHUB_TOKEN": "aaaaaaaaaa"}}', '{"env": {"GITHUB_TOKEN": "[redacted]"}}'),
        ("ghp_" + "a" * 36, "[redacted]"),
        ('{"apiKey": "abcdefgh"}', '{"apiKey": "[redacted]"}'),
        ('{"clientSecret":"abcdefgh","name":"x"}', '{"clientSecret":"[redacted]","name":"x"}'),
        ('{"password": "hunter2"}', '{"password": "[redacted]"}'),
        (r'"{\"accessToken\":\"abcdefgh\"}"', r'"{\"accessToken\":\"[redacted]\"}"'),
        ("password=hunter22 user=me", "password=[redacted] user=me"),
        ("https://x.example/?access_token=abcdefgh&page=2", "https://x.example/?access_token=[redacted]&page=2"),
        ("postgres://me:pa55word@db.example/x", "postgres://me:[redacted]@db.example/x"),
        ("git clone https://me:a@b:c@host/x", "git clone https://me:[redacted]@host/x"),
        ("curl -H 'Cookie: session=abcdefgh' u", "curl -H 'Cookie: [redacted]' u"),
        ("tool --api-key abcdefgh --verbose", "tool --api-key [redacted] --verbose"),
        ('["tool", "--token", "abcdefgh"]', '["tool", "--token", "[redacted]"]'),
        ("AKIA" + "A" * 16 + " ASIA" + "B" * 16, "[redacted] [redacted]"),
        (r'"-----BEGIN PRIVATE KEY-----\nMII\n-----END"', '"-----BEGIN PRIVATE KEY-----[redacted]-----END"'),
        ('{"apiKeySource": "environment"}', '{"apiKeySource": "environment"}'),
        ('{"input_tokens": 12345678, "author": "somebody"}', '{"input_tokens": 12345678, "author": "somebody"}'),
        ("see https://example.com:8443/path for more", "see https://example.com:8443/path for more"),
        ("nothing to see: token_count 12, monkey", "nothing to see: token_count 12, monkey"),
        ('{"max_tokens": 123456789}', '{"max_tokens": 123456789}'),
    ],
)
def test_only_the_secret_is_replaced(text: str, expected: str) -> None:
    redacted, count = Redactor().redact(text.encode())
    assert (redacted.decode(), count) == (expected, expected.count("[redacted]"))


def test_the_command_line_is_redacted_word_by_word() -> None:
    words = [
        b"claude",
        b"--token",
        b"abc",
        b"--password=x, y",
        b"API_TOKEN=1",
        b"--max-tokens=5",
        b"--header",
        b"Authorization: Bearer abcdefgh",
        b"-p",
    ]
    redacted, count = Redactor().redact_words(words)
    expected = [
        b"claude",
        b"--token",
        MARK,
        b"--password=" + MARK,
        b"API_TOKEN=" + MARK,
        b"--max-tokens=5",
        b"--header",
        b"Authorization: Bearer " + MARK,
        b"-p",
    ]
    assert (redacted, count) == (expected, 4)


def test_redaction_takes_steps_in_proportion_to_the_text() -> None:
    """Long runs of the characters that names and values are made of, where a careless pattern would look back."""
    redactor = Redactor()
    for text in (
        b"a" * 500_000,
        b"_key" * 100_000,
        b"--a" * 100_000,
        b"://a:" * 100_000,
        b"-----BEGIN PRIVATE KEY-----" * 500,
    ):
        redactor.redact(text)


def test_names_tell_which_variables_are_secret() -> None:
    assert all(map(is_secret_name, ["ANTHROPIC_API_KEY", "GH_TOKEN", "DB_PASSWORD", "CLIENT_SECRET", "APIKEY"]))
    assert not any(map(is_secret_name, ["PATH", "MONKEY", "MAX_THINKING_TOKENS", "KEYBOARD", "TOKENIZER"]))
