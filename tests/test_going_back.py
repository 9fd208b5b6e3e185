"""Back from this version to 0.1 and forth again: nothing is lost, and what 0.1 cannot read it refuses clearly.

The code of version 0.1 comes from the history; where there is none (a source archive, a shallow clone) this is skipped.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from hub.hubs import Hub, answered, running
from install.installations import fire, is_blocked
from support import UNPACKED, end_of_the_agent, folder_hook, until, user_hooks

ROOT = Path(__file__).parent.parent
COMMIT = "49507b48"  # the last one before the changelog had a section after 0.1.0
SETTINGS = '{\n  "model": "opus"\n}\n'
RM = ("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf build"}')


@pytest.fixture(scope="session")
def version_0_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    packed = subprocess.run(["git", "archive", COMMIT, "src"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode != 0:
        pytest.skip("version 0.1 is not in the history here")
    place = tmp_path_factory.mktemp("version_0_1")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(place, **UNPACKED)
    return place / "src" / "tenterhook"


class Environment:
    """A directory with one version of the package at a time, as pip would replace one by the other."""

    def __init__(self, place: Path, version_0_1: Path) -> None:
        self._place = place
        self._versions = {"0.1": version_0_1, "0.2": ROOT / "src" / "tenterhook"}

    def has(self, version: str) -> None:
        shutil.rmtree(self._place, ignore_errors=True)
        shutil.copytree(
            self._versions[version], self._place / "tenterhook", ignore=shutil.ignore_patterns("__pycache__")
        )

    def run(self, *arguments: str, status: int | None = 0) -> str:
        end_of_the_agent()
        ended = subprocess.run(
            [sys.executable, "-m", "tenterhook", *arguments],
            env={**os.environ, "PYTHONPATH": str(self._place)},
            capture_output=True,
            text=True,
            check=False,
        )
        said = ended.stdout + ended.stderr
        assert status in (None, ended.returncode), said
        assert "Traceback" not in said
        return said

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tenterhook", *arguments],
            env={**os.environ, "PYTHONPATH": str(self._place)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def environment(tmp_path: Path, version_0_1: Path) -> Environment:
    made = Environment(tmp_path / "packages", version_0_1)
    made.has("0.2")
    return made


@pytest.fixture
def settings(home: Path) -> Path:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    return file


def lines(settings: Path, event: str) -> list[str]:
    groups = json.loads(settings.read_text())["hooks"][event]
    return [hook["command"] for group in groups for hook in group["hooks"]]


def test_an_installation_blocks_with_either_version_and_is_removed_to_the_byte(
    environment: Environment, home: Path, settings: Path, project: Path
) -> None:
    folder_hook(user_hooks(home), "guard", "echo not with me >&2; exit 2")
    environment.run("install", "claude-code")
    [line] = lines(settings, "PreToolUse")
    for version in ("0.2", "0.1", "0.2"):
        environment.has(version)
        assert is_blocked(fire("claude-code", "PreToolUse", line)), version
    assert environment.run("log", "verify").split()[-1] in ("whole", "intact")  # as 0.1 and 0.2 say it
    environment.run("uninstall", "claude-code", "--yes")
    assert settings.read_text() == SETTINGS


def test_installing_with_0_1_on_top_blocks_and_is_put_in_order_by_this_version(
    environment: Environment, home: Path, settings: Path, project: Path
) -> None:
    folder_hook(user_hooks(home), "guard", "echo not with me >&2; exit 2")
    environment.run("install", "claude-code")
    environment.has("0.1")
    environment.run("install", "claude-code")
    assert any(is_blocked(fire("claude-code", "PreToolUse", line)) for line in lines(settings, "PreToolUse"))
    environment.has("0.2")
    environment.run("install", "claude-code")
    [line] = lines(settings, "PreToolUse")
    assert is_blocked(fire("claude-code", "PreToolUse", line))
    environment.run("uninstall", "claude-code", "--yes")
    assert settings.read_text() == SETTINGS


def test_trust_the_index_and_the_journal_serve_both_versions(environment: Environment, project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    hooks = project / ".agents" / "hooks"
    folder_hook(hooks, "guard", "echo do not delete >&2; exit 2")
    environment.run("trust", "--yes", "--all")
    for count, version in enumerate(("0.2", "0.1", "0.2"), start=1):
        environment.has(version)
        assert "do not delete" in environment.run(*RM, status=2), version
        records = [json.loads(line) for line in environment.run("log", "--json").splitlines()]
        assert [each["decision"] for each in records if each["type"] == "verdict"] == ["deny"] * count
        assert environment.run("log", "verify").split()[-1] in ("whole", "intact")  # as 0.1 and 0.2 say it
    script = hooks / "guard" / "scripts" / "run.sh"
    script.write_text(script.read_text().replace("exit 2", "exit 0"))
    for version in ("0.1", "0.2"):
        environment.has(version)
        assert "changed" in environment.run("list"), version


def test_version_0_1_refuses_the_database_of_this_hub_and_leaves_it_as_it_is(
    environment: Environment, home: Path
) -> None:
    database = home / "hub.db"
    hub = Hub(home, database=str(database))
    hub.end()
    with sqlite3.connect(database) as connection:
        before = list(connection.iterdump())
    connection.close()
    environment.has("0.1")
    said = environment.run("hub", "--listen", "127.0.0.1:0", "--database", str(database), status=1)
    assert "the hub's database is of a newer version" in said
    with sqlite3.connect(database) as connection:
        assert list(connection.iterdump()) == before
    connection.close()


def test_a_machine_with_version_0_1_asks_and_reports_at_this_hub(
    environment: Environment, home: Path, project: Path, tmp_path: Path
) -> None:
    play = project / "play.yaml"
    calls = [{"calls": [{"tool": "Shell", "input": {"command": command}}]} for command in ("echo a", "echo b")]
    play.write_text(json.dumps({"answers": [*calls, {"text": "Done."}]}))
    with running(tmp_path / "hub") as hub:
        admin = hub.admin
        assert admin is not None
        token = tmp_path / "token"
        token.write_text(hub.token("old"))
        environment.has("0.1")
        environment.run("hub", "join", hub.url, "--token-file", str(token), "--name", "another", "--yes")
        agent = environment.start("agent", "Say it.", "--model", f"scripted:{play}")
        for command in ("echo a", "echo b"):  # an approval for the session is for the call that was shown
            until(lambda: admin.get("/inbox").json()["requests"])
            [asked] = admin.get("/inbox").json()["requests"]
            assert asked["tool_input"] == {"command": command}
            assert asked["machine"].startswith("old ")  # as its token is called
            assert answered(admin, asked, scope="session").json()["won"]
            until(lambda: not admin.get("/inbox").json()["requests"])
        assert "Done." in agent.communicate(timeout=60)[0]
        until(lambda: len(approvals(hub)) == 2)
        assert {(each["answered_by"], each["decision"]) for each in approvals(hub)} == {
            (f"{hub.person_file['name']} (hub)", "approve")
        }
        environment.run("hub", "leave")


def approvals(hub: Hub) -> list[dict[str, Any]]:
    """What machines have reported of answers."""
    assert hub.admin is not None
    found = []
    for each in hub.admin.get("/sessions").json()["sessions"]:
        path = f"/sessions/{quote(each['machine'])}/{quote(each['session'], safe='')}/timeline"
        records = hub.admin.get(path).json()["records"]
        assert all(record["confirmed"] is not False for record in records)
        found += [record["record"] for record in records if record["record"]["type"] == "approval"]
    return found
