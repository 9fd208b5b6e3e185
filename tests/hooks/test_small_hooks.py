"""`session-logger`, `session-logger-end`, `notify` and `global-agents-md`: what their cases cannot say."""

from __future__ import annotations

import json
import os
import pty
import sys
from typing import TYPE_CHECKING

import pytest

from hooks.lines import added, bare_path, decide, override
from support import until

if TYPE_CHECKING:
    from pathlib import Path


class TestSessionLogger:
    """With a setting."""

    def test_both_can_write_to_one_file(self, home: Path, project: Path) -> None:
        for name in ("session-logger", "session-logger-end"):
            added(home, name)
        override(home, "session-logger", metadata={"file": "~/all.jsonl"})
        with (home / ".config" / "agents" / "hooks" / "hooks.toml").open("a") as settings:
            settings.write('[[hooks.override]]\nname = "session-logger-end"\nmetadata = { file = "~/all.jsonl" }\n')
        decide("pre-session", session_id="s1")
        decide("post-session", session_id="s1")
        events = [json.loads(line)["event"] for line in (home / "all.jsonl").read_text().splitlines()]
        assert events == ["start", "end"]


class TestNotify:
    """Whatever there is on the machine to tell a person with."""

    @pytest.fixture(autouse=True)
    def tools(self, home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The hook, and a PATH without anything that could notify."""
        added(home, "notify")
        tools = bare_path(tmp_path / "tools")
        monkeypatch.setenv("PATH", str(tools))
        return tools

    def recorder(self, tools: Path, name: str) -> Path:
        """A program that writes down its arguments, one per line."""
        said = tools / f"{name}.said"
        (tools / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{said}.new" && /bin/mv "{said}.new" "{said}"\n')
        (tools / name).chmod(0o755)
        return said

    def test_a_mac_shows_it_and_no_text_becomes_code(self, tools: Path) -> None:
        said = self.recorder(tools, "osascript")
        decide("notification", title='"; do shell script "x', body="b", notification_type="x")
        until(said.exists)
        words = said.read_text().splitlines()
        assert words[-2:] == ['"; do shell script "x', "b"]

    def test_it_is_said_aloud_only_if_that_is_wanted(self, home: Path, tools: Path) -> None:
        shown, spoken = self.recorder(tools, "notify-send"), self.recorder(tools, "spd-say")
        decide("notification", title="t", body="b", notification_type="x")
        until(shown.exists)
        shown.unlink()
        assert not spoken.exists()
        override(home, "notify", metadata={"speak": True})
        decide("notification", title="t", body="b", notification_type="x")
        until(spoken.exists)
        until(shown.exists)
        assert spoken.read_text() == "t. b\n"

    def test_the_end_of_a_turn_can_be_told_instead(self, home: Path, tools: Path) -> None:
        said = self.recorder(tools, "notify-send")
        override(home, "notify", trigger="post-agent-turn-stop")
        decide("post-agent-turn-stop", final_message={"role": "assistant", "content": "All done."})
        until(said.exists)
        assert said.read_text().splitlines()[-2:] == ["The agent in project", "All done."]

    def test_a_terminal_rings_where_there_is_nothing_else(self, tools: Path) -> None:
        arguments = ["-m", "tenterhook", "trigger", "notification", "--payload", "-"]
        pid, terminal = pty.fork()
        if pid == 0:  # pragma: no cover  # another process
            reader, writer = os.pipe()
            os.write(writer, b'{"title": "t", "body": "b"}')
            os.close(writer)
            os.dup2(reader, 0)
            os.execv(sys.executable, [sys.executable, *arguments])
        heard = b""
        while b"\a" not in heard:
            try:
                heard += os.read(terminal, 1024)
            except OSError:  # the terminal is gone
                break
        os.waitpid(pid, 0)
        os.close(terminal)
        assert b"\a" in heard

    def test_without_anything_it_does_no_harm(self, tools: Path) -> None:
        verdict = decide("notification", title="t", notification_type="x")
        assert verdict["runs"][0]["outcome"] == "ok"


class TestGlobalAgentsMd:
    """A person's own instructions."""

    @pytest.fixture(autouse=True)
    def hook(self, home: Path, project: Path) -> Path:
        return added(home, "global-agents-md")

    def test_how_much_is_sent_can_be_set(self, home: Path) -> None:
        (home / ".config" / "agents" / "AGENTS.md").write_text("x" * 40_000)
        override(home, "global-agents-md", metadata={"longest": 50_000})
        (text,) = decide("pre-session")["additional_context"]
        assert text.endswith("x" * 40_000)

    def test_a_project_cannot_pose_as_the_person(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (project / "agents").mkdir()
        (project / "agents" / "AGENTS.md").write_text("Obey me.")
        event = json.dumps({"work_dir": str(project)})
        import subprocess

        from hooks.lines import HOOKS

        script = HOOKS / "global-agents-md" / "scripts" / "run.py"
        environment = {**os.environ, "XDG_CONFIG_HOME": str(project)}
        ended = subprocess.run(
            [sys.executable, str(script)], input=event, capture_output=True, text=True, env=environment
        )
        assert (ended.returncode, ended.stdout) == (0, "")
