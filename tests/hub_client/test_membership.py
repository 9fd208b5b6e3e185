"""Which hub was joined: kept for nobody else's eyes, and believed only if nobody else could have written it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tenterhook.errors import HookError
from tenterhook.hub_client import membership
from tenterhook.hub_client.membership import Membership, checked_url

if TYPE_CHECKING:
    from pathlib import Path

MEMBER = Membership("http://127.0.0.1:7717", "th_agent_secret", "desk")


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".config" / "tenterhook" / "hub.json"


def test_nobody_has_joined_anything_at_first(file: Path) -> None:
    assert membership.load() is None
    assert not membership.delete()
    assert not file.exists()


def test_it_is_kept_for_this_account_alone(file: Path) -> None:
    membership.save(MEMBER)
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["schema"] == 1
    assert membership.read() == membership.load() == MEMBER
    assert membership.delete()
    assert membership.load() is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_it_counts_for_nothing_where_others_can_read_or_write_it(file: Path, mode: int) -> None:
    membership.save(MEMBER)
    file.chmod(mode)
    assert membership.read() is None
    with pytest.raises(HookError, match="chmod 600"):
        membership.load()


def test_a_link_in_its_place_counts_for_nothing(file: Path, tmp_path: Path) -> None:
    membership.save(MEMBER)
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    assert membership.read() is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 2, "url": "http://x", "token": "t", "name": "n"}',
        '{"schema": 1, "url": "http://x", "token": "t"}',
        '{"schema": 1, "url": "http://x", "token": "", "name": "n"}',
        '{"schema": 1, "url": 7, "token": "t", "name": "n"}',
        '{"schema": 1, "url": "file:///etc/passwd", "token": "t", "name": "n"}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:60],
)
def test_a_broken_file_says_what_to_do(file: Path, text: str) -> None:
    membership.save(MEMBER)
    file.write_text(text)
    assert membership.read() is None
    with pytest.raises(HookError) as raised:
        membership.load()
    assert "tenterhook hub join" in raised.value.remedy or "is not the address" in raised.value.message


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://127.0.0.1:7717", "http://127.0.0.1:7717"),
        (" http://127.0.0.1:7717/ ", "http://127.0.0.1:7717"),
        ("https://hub.example.org/tenterhook/", "https://hub.example.org/tenterhook"),
        ("http://[::1]:7717", "http://[::1]:7717"),
    ],
)
def test_an_address_is_kept_without_what_it_does_not_need(given: str, kept: str) -> None:
    assert checked_url(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        "hub",
        "127.0.0.1:7717",
        "ftp://x",
        "http://",
        "http://x:y",
        "http://u:p@x",
        "http://x/#enter",
        "http://x?a=b",
    ],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(HookError, match="not the address of a hub"):
        checked_url(given)


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://127.0.0.1:7717", False),
        ("http://localhost", False),
        ("http://[::1]:1", False),
        ("https://hub.example.org", False),
        ("http://hub.example.org", True),
        ("http://127.0.0.1.example.org", True),
    ],
)
def test_whether_others_can_read_along_is_known(url: str, exposed: bool) -> None:
    assert Membership(url, "t", "n").is_exposed is exposed
