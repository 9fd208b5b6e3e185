"""Two people, three repositories, one pack: real git repositories, SSH keys, homes and commands."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from cli.packs_in_use import CASE, DEPLOY
from dispatch.bridges import answered, call, install, line, payload, reason, serving
from packs.repositories import PackRepository, git, new_key
from support import end_of_the_agent, tenterhook, trigger

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


class Person(NamedTuple):
    """A person with a home, and clones of the repositories below it."""

    home: Path

    @property
    def options(self) -> dict[str, Any]:
        return {"env": {**os.environ, "HOME": str(self.home)}}

    def runs(self, clone: str, *words: str) -> subprocess.CompletedProcess[str]:
        return tenterhook(*words, cwd=self.home / clone, **self.options)

    def succeeds(self, clone: str, *words: str) -> str:
        ended = self.runs(clone, *words)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def deploys(self, clone: str) -> str | None:
        """Return why `make deploy` is refused in a clone; None if it is not."""
        verdict = trigger(*DEPLOY, cwd=self.home / clone, **self.options)
        return str(verdict["reason"]) if verdict["decision"] == "deny" else None

    def clones(self, origin: Path) -> None:
        git(self.home, "clone", "-q", str(origin), origin.name)

    def pulls(self, clone: str) -> None:
        git(self.home / clone, "pull", "-q")

    def publishes(self, clone: str) -> None:
        git(self.home / clone, "add", "-A")
        git(self.home / clone, "commit", "-q", "-m", "hooks")
        git(self.home / clone, "push", "-q", "origin", "main")


REPOSITORIES = ("shop", "billing", "site")


@pytest.fixture
def pack(tmp_path: Path) -> PackRepository:
    made = PackRepository(tmp_path / "agent-hooks")
    cases = made.hook("no-deploy", "deploy", reason="ask Ana first") / "cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    made.commit("v1.0.0")
    return made


@pytest.fixture
def people(tmp_path: Path, pack: PackRepository) -> tuple[Person, Person]:
    """Ana has put the pack into three repositories, and both have clones of them."""
    ana, ben = (Person(tmp_path / name) for name in ("ana", "ben"))
    for person in (ana, ben):
        person.home.mkdir()
    for name in REPOSITORIES:
        origin = tmp_path / "origins" / name
        origin.mkdir(parents=True)
        git(origin, "init", "-q", "--bare", "-b", "main")
        ana.clones(origin)
        ana.succeeds(name, "pack", "add", f"{pack.source}@v1.0.0", "--project", "--yes")
        ana.publishes(name)
        ben.clones(origin)
    return ana, ben


def tamper(person: Person) -> Path:
    script = next((person.home / ".local/share/tenterhook/packs").glob("*/no-deploy/scripts/run.sh"))
    script.chmod(0o755)
    script.write_text("#!/bin/sh\nexit 0\n")
    return script


def test_one_look_for_each_person_and_revision_counts_in_every_repository(
    people: tuple[Person, Person], pack: PackRepository
) -> None:
    ana, ben = people
    assert [ana.deploys(name) for name in REPOSITORIES] == ["ask Ana first"] * 3
    assert [ben.deploys(name) for name in REPOSITORIES] == [None] * 3
    assert "echo ask Ana first" in ben.succeeds("shop", "trust", "--all", "--yes")
    assert [ben.deploys(name) for name in REPOSITORIES] == ["ask Ana first"] * 3

    pack.hook("no-deploy", "deploy", reason="ask Ben first")
    pack.commit("v1.1.0")
    updated = ana.succeeds("shop", "pack", "update", "--project", "--yes")
    assert "-echo ask Ana first >&2" in updated
    assert "+echo ask Ben first >&2" in updated
    assert "1 case passed, 0 failed" in updated
    assert "newly blocked" in updated or "no difference" in updated
    ana.publishes("shop")
    assert [ana.deploys(name) for name in REPOSITORIES] == ["ask Ben first", "ask Ana first", "ask Ana first"]
    ben.pulls("shop")
    assert ben.deploys("shop") is None, "a new revision is looked at once by each person"
    ben.succeeds("shop", "trust", "--all", "--yes")
    assert ben.deploys("shop") == "ask Ben first"
    assert ben.deploys("site") == "ask Ana first", "there the old revision is locked, and still trusted"

    ben.succeeds("shop", "untrust", "--source", pack.source, "--yes")
    assert [ben.deploys(name) for name in REPOSITORIES] == [None] * 3
    assert ana.deploys("shop") == "ask Ben first"


def test_with_a_key_signed_revisions_need_no_look_and_unsigned_ones_do_not_run(
    people: tuple[Person, Person], pack: PackRepository, tmp_path: Path
) -> None:
    ana, ben = people
    key = new_key(tmp_path / "key")
    pack.hook("no-deploy", "deploy", reason="signed")
    pack.commit("v1.1.0", key=key)
    ana.succeeds("shop", "pack", "update", "--project", "--yes")
    ana.publishes("shop")
    ben.pulls("shop")
    ben.succeeds("shop", "trust", "--source", pack.source, "--signer", f"{key}.pub", "--yes")
    assert ben.deploys("shop") == "signed"
    refused = ben.runs("billing", "trust", "--all", "--yes")
    assert "v1.0.0 of" in refused.stderr
    assert "not signed by a key that you trust" in refused.stderr
    assert ben.deploys("billing") is None, "what is locked there is not signed"

    pack.hook("no-deploy", "deploy", reason="signed by a stranger")
    pack.commit("v1.2.0", key=new_key(tmp_path / "stranger"))
    refused = ben.runs("shop", "pack", "update", "--project", "--yes")
    assert (refused.returncode, "v1.2.0" in refused.stderr) == (1, True)
    assert ben.deploys("shop") == "signed", "what was in force stays in force"


def test_a_tampered_store_is_found_at_the_next_event_and_repaired_without_a_question(
    people: tuple[Person, Person],
) -> None:
    ana, _ = people
    tamper(ana)
    verdict = trigger(*DEPLOY, cwd=ana.home / "shop", **ana.options)
    assert [(run["hook"], run["outcome"]) for run in verdict["runs"]] == [("no-deploy", "not_run")]
    wrong = ana.runs("shop", "pack", "verify")
    assert (wrong.returncode, "its files are not those of hooks.lock" in wrong.stdout) == (1, True)
    ana.succeeds("shop", "pack", "verify", "--fetch")
    assert ana.deploys("shop") == "ask Ana first"


@pytest.mark.parametrize("with_daemon", [False, True])
def test_each_event_of_an_agent_compares_bytes_and_trust_anew(
    people: tuple[Person, Person], pack: PackRepository, monkeypatch: pytest.MonkeyPatch, with_daemon: bool
) -> None:
    ana, _ = people
    monkeypatch.setenv("HOME", str(ana.home))
    monkeypatch.chdir(ana.home / "shop")
    install("claude-code")
    event = payload("claude-code", ana.home / "shop", "make deploy")
    with serving(env={**os.environ}) if with_daemon else nullcontext():
        assert [reason("claude-code", event) for _ in range(3)] == ["ask Ana first"] * 3
        script = tamper(ana)
        assert [reason("claude-code", event) for _ in range(2)] == [None] * 2
        script.write_text("#!/bin/sh\necho ask Ana first >&2\nexit 2\n")
        script.chmod(0o555)
        assert reason("claude-code", event) == "ask Ana first", "these are the bytes of the lock again"
        end_of_the_agent()
        ana.succeeds("site", "untrust", "--source", pack.source, "--yes")
        assert reason("claude-code", event) is None
        assert not with_daemon or answered(ana.home) >= 6


def test_a_moved_tag_is_refused_and_what_is_locked_stays(people: tuple[Person, Person], pack: PackRepository) -> None:
    ana, ben = people
    pack.hook("no-deploy", "deploy", reason="another one")
    pack.commit("v1.0.0")
    refused = ana.runs("shop", "pack", "update", "--project", "--yes")
    assert (refused.returncode, "the tag v1.0.0 was moved" in refused.stderr) == (1, True)
    assert ana.deploys("shop") == "ask Ana first"
    ben.succeeds("shop", "trust", "--all", "--yes")
    assert ben.deploys("shop") == "ask Ana first", "the lock says which commit, not the tag"


def test_without_a_network_what_is_in_the_store_works_and_a_mirror_is_a_path(
    people: tuple[Person, Person], pack: PackRepository
) -> None:
    ana, ben = people
    mirror = pack.path.rename(pack.path.with_name("mirror"))
    assert ana.deploys("shop") == "ask Ana first"
    assert "ok  agent-hooks v1.0.0" in ana.succeeds("site", "pack", "verify")
    refused = ben.runs("shop", "trust", "--all", "--yes")
    assert "cannot be fetched" in refused.stderr
    git(ben.home, "config", "--global", f"url.{mirror}.insteadOf", pack.source)
    ben.succeeds("shop", "trust", "--all", "--yes")
    assert ben.deploys("shop") == "ask Ana first"


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_whoever_clones_is_asked_one_thing_at_the_first_session(
    people: tuple[Person, Person], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ben = people
    monkeypatch.setenv("HOME", str(ben.home))
    monkeypatch.chdir(ben.home / "shop")
    install(host)
    said = {"session_id": "s-1", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(ben.home / "shop")}
    shown = json.loads(call(line(host, "SessionStart"), said).stdout)["systemMessage"]
    assert shown.splitlines()[0].endswith("Look at them and trust them with: tenterhook trust")
    assert "pack verify" not in shown
    assert "cannot be used" not in shown
