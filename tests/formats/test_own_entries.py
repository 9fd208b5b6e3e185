"""Entries that `install` wrote are never hooks."""

from __future__ import annotations

from tenterhook.formats.own_entries import is_own_command


def test_the_command_that_install_writes_is_known_and_one_that_mentions_it_is_not() -> None:
    assert is_own_command("python -I -S '/a b/tenterhook/bridge.py' --host codex --event Stop")
    assert not is_own_command("grep -q tenterhook/bridge.py && exit 2")
