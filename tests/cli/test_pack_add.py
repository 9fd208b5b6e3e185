"""`tenterhook pack add`: every byte is shown, and what cannot be used is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import decision
from packs.repositories import PackRepository
from support import tenterhook
from tenterhook.cli.pack_add import split

if TYPE_CHECKING:
    from pathlib import Path


def test_add_shows_every_byte_and_puts_the_hooks_in_force(pack: PackRepository, home: Path, project: Path) -> None:
    tried = tenterhook("pack", "add", pack.source, "--dry-run")
    assert "echo not this >&2" in tried.stdout
    assert not (home / ".config/agents/hooks").exists()
    added = tenterhook("pack", "add", pack.source, "--yes")
    assert "1 hook of agent-hooks v1.0.0 in force: no-deploy" in added.stdout
    assert decision() == "deny"
    listed = json.loads(tenterhook("pack", "list", "--json").stdout)["packs"]
    assert [(each["name"], each["rev"], each["hooks"], each["trusted"]) for each in listed] == [
        ("agent-hooks", "v1.0.0", ["no-deploy"], True)
    ]
    assert "agent-hooks" in tenterhook("pack", "list").stdout
    assert "no-deploy" in tenterhook("pack", "show", "agent-hooks").stdout
    again = tenterhook("pack", "add", pack.source, "--yes")
    assert again.returncode == 1
    assert "tenterhook pack update" in again.stderr
    removed = tenterhook("pack", "remove", "agent-hooks", "--yes")
    assert removed.returncode == 0
    assert decision() == "none"
    assert not (home / ".config/agents/hooks/hooks.lock").exists()


def test_add_needs_a_person(pack: PackRepository, project: Path) -> None:
    refused = tenterhook("pack", "add", pack.source)
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert decision() == "none"


def test_two_packs_with_a_hook_of_the_same_name(pack: PackRepository, tmp_path: Path, project: Path) -> None:
    second = PackRepository(tmp_path / "second")
    second.hook("no-deploy", "release")
    second.hook("no-prod", "prod")
    second.commit("v1")
    assert tenterhook("pack", "add", pack.source, "--yes").returncode == 0
    refused = tenterhook("pack", "add", second.source, "--yes")
    assert refused.returncode == 1
    assert "the pack agent-hooks has a hook called no-deploy too" in refused.stderr
    assert tenterhook("pack", "add", second.source, "--only", "no-prod", "--yes").returncode == 0
    assert tenterhook("pack", "add", second.source, "--only", "gone", "--yes").returncode == 1


@pytest.mark.parametrize(
    ("given", "source", "rev"),
    [
        ("https://git.example.org/acme/hooks@v1.4.0", "https://git.example.org/acme/hooks", "v1.4.0"),
        ("https://me@git.example.org/acme/hooks", "https://me@git.example.org/acme/hooks", ""),
        ("https://git.example.org/acme/hooks@team/next", "https://git.example.org/acme/hooks", "team/next"),
        ("git@example.org:acme/hooks", "git@example.org:acme/hooks", ""),
        ("git@example.org:acme/hooks.git@v2", "git@example.org:acme/hooks.git", "v2"),
        ("ssh://git@example.org:22/acme/hooks@v2", "ssh://git@example.org:22/acme/hooks", "v2"),
        ("https://example.org/mono#tools/hooks@v2", "https://example.org/mono#tools/hooks", "v2"),
        ("/srv/mirror/hooks.git@v2", "/srv/mirror/hooks.git", "v2"),
    ],
)
def test_the_revision_is_what_follows_the_path(given: str, source: str, rev: str) -> None:
    assert split(given) == (source, rev)
