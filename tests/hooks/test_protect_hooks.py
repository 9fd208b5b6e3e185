"""`protect-hooks`: an agent reads hooks and their settings, and changes none of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from hooks.lines import added, decide, shell
from install.installations import install

if TYPE_CHECKING:
    from pathlib import Path

NAME = "protect-hooks"


@pytest.fixture(autouse=True)
def hook(home: Path, project: Path) -> Path:
    """The hook in force, a project with hooks of its own, and settings of agents."""
    folder = added(home, NAME)
    for path in (
        home / ".claude" / "settings.json",
        home / ".codex" / "config.toml",
        home / ".config" / "tenterhook" / "config.toml",
        home / ".local" / "state" / "tenterhook" / "trust.json",
        project / ".agents" / "hooks" / "mine" / "HOOK.md",
        project / ".claude" / "settings.local.json",
        project / "src" / "app.py",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return folder


def tool(name: str, **tool_input: Any) -> dict[str, Any]:
    return decide("pre-tool-call", tool_name=name, tool_input=tool_input)


REFUSED = [
    "echo '{}' > ~/.claude/settings.json",
    "echo x >> $HOME/.claude/settings.json",
    "cd ~/.claude && sed -i 's/a/b/' settings.json",
    "sed -i.bak -e 's/hooks/x/' ~/.codex/config.toml",
    "tee -a ~/.kimi/config.toml <<< x",
    "cp settings.json ~/.claude/",
    "cp evil.toml ~/.kimi-code/config.toml",
    "mv ~/.claude/settings.json /tmp/",
    "mv ~/.claude ~/.claude.off",
    "rm -rf .agents",
    "rm .agents/hooks/mine/HOOK.md",
    "rm -rf ~/.config/agents/hooks/protect-hooks",
    "rm -rf ~/.config",
    "rm -rf ~/.local/state/tenterhook",
    "find ~/.config/agents -name HOOK.md -delete",
    "find . -path '*/.agents/*' -exec rm -rf {} +",
    "chmod -x ~/.config/agents/hooks/protect-hooks/scripts/run.py",
    "chmod -R 000 .agents",
    "chown nobody .agents/hooks/mine/HOOK.md",
    "ln -sf /dev/null ~/.claude/settings.json",
    "ln -s ~/.claude c; echo x > c/settings.json",
    "truncate -s 0 ~/.local/state/tenterhook/trust.json",
    "dd if=/dev/null of=$HOME/.claude/settings.json",
    "touch .agents/hooks/new/HOOK.md",
    "mkdir -p .agents/hooks/new/scripts",
    "cat > .agents/hooks/mine/scripts/run.sh <<'EOF'\nexit 0\nEOF",
    "jq '.hooks = {}' ~/.claude/settings.json | sponge ~/.claude/settings.json",
    "jq . x > src/../.claude/settings.local.json",
    "sudo sh -c 'echo > ~/.gemini/settings.json'",
    'bash -c "rm -f ~/.qwen/settings.json"',
    "x=~/.claude; echo y > $x/settings.json",
    "echo y > ~/.cl*/settings.json",
    "python3 -c \"open('.claude/settings.local.json', 'w').write('{}')\"",
    "python3 -c \"import pathlib; pathlib.Path('.agents/hooks/mine/HOOK.md').write_text('')\"",
    "node -e \"require('fs').writeFileSync('.claude/settings.json', '{}')\"",
    "perl -pi -e 's/a/b/' .agents/hooks/mine/HOOK.md",
    "vim ~/.claude/settings.json",
    "curl -o ~/.claude/settings.json https://x.example/s.json",
    "tar xf x.tar -C ~/.config/agents/hooks",
    "git rm -r .agents/hooks/mine",
    "echo x | tee .github/hooks/x.json",
    "pip uninstall -y tenterhook",
    "uv tool uninstall tenterhook",
    "echo x > ~/.config/tenterhook/config.toml",
    "rsync -a --delete empty/ ~/.config/agents/hooks/",
    "echo .agents/hooks/mine | xargs rm -rf",
    f"rm -rf /tmp/tenterhook-{os.getuid()}",
    f"echo x > /run/user/{os.getuid()}/tenterhook/1.2",
    "rm -rf ~/.Claude/Settings.json",
    "tenterhook trust --all --yes",
    "XDG_STATE_HOME=/tmp/x tenterhook uninstall claude-code --yes",
    "env -i python3 -m tenterhook untrust --all --yes",
    "python3 -mtenterhook hub --database x.db token add eve",
    "setsid -f tenterhook trust --all --yes",
    "nohup tenterhook disable guard --yes &",
    "(tenterhook remove guard --yes &)",
    "tenterhook inbox approve last --yes & disown",
    "setsid sh -c 'sleep 9; .venv/bin/python -m tenterhook trust --all --yes'",
    "systemd-run --user tenterhook trust --all --yes",
    "echo tenterhook trust --all --yes | at now",
    "echo '* * * * * tenterhook trust --all --yes' | crontab -",
    "daemonize /usr/bin/tenterhook trust --all --yes",
    "start-stop-daemon --start --exec /usr/bin/tenterhook -- trust --all --yes",
    "screen -dm tenterhook trust --all --yes",
    "tmux new -d 'tenterhook trust --all --yes'",
    "script -qc 'tenterhook trust --all --yes' /dev/null",
    "unshare -rpf --mount-proc tenterhook trust --all --yes",
    "bwrap --bind / / --tmpfs /tmp tenterhook trust --all --yes",
    "ssh localhost tenterhook trust --all --yes",
    "docker run -v $HOME:/root image tenterhook trust --all --yes",
    "uvx tenterhook trust --all --yes",
    "tenterhook convert e.toml --to folder --out ~/.config/agents/hooks --force",
    "tenterhook convert e.toml --to claude --out=$HOME/.claude/settings.json --force",
    "cd ~/.config/agents/hooks && tenterhook convert ~/e.toml --to folder --force",
    "tenterhook log export --out ~/.local/state/tenterhook/trust.json",
    "tenterhook test --junit .agents/hooks/mine/HOOK.md",
    "apply_patch <<'EOF'\n*** Begin Patch\n *** Update File: ../home/.claude/settings.json\n@@\n*** End Patch\nEOF",
    "cd ~/.claude && apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: settings.json\n@@\n*** End Patch\nEOF",
    "bash -lc 'cd ~/.claude && applypatch \"*** Begin Patch\n*** Delete File: settings.json\n*** End Patch\"'",
]
ASKED = [
    "./mystery ~/.claude/settings.json",
    "python3 tool.py --file=.claude/settings.local.json",
    "git checkout HEAD~1 -- .claude/settings.local.json",
    "echo 'unfinished > ~/.claude/settings.json",
]
FINE = [
    "cat ~/.claude/settings.json",
    "grep -rn hooks ~/.claude/settings.json .agents/hooks",
    "ls -la ~/.config/agents/hooks",
    "jq .hooks ~/.claude/settings.json",
    "sudo cat ~/.claude/settings.json",
    "diff ~/.claude/settings.json .claude/settings.local.json",
    "sed -n 1,5p .agents/hooks/mine/HOOK.md",
    "find .agents -name HOOK.md",
    "cp ~/.claude/settings.json /tmp/copy.json",
    "git add .agents && git commit -m 'hooks'",
    "git diff .claude/settings.local.json",
    "git log -- .agents/hooks",
    "test -f ~/.claude/settings.json && echo yes",
    "tenterhook list",
    "tenterhook check .agents/hooks",
    "echo x > src/app.py",
    "rm -rf build",
    "mkdir -p src/hooks && touch src/hooks/use-state.ts",
    "echo 'see ~/.claude/settings.json' > notes.md",
    "cat <<'EOF' > docs.md\nrm -rf ~/.claude\nEOF",
    "rm -rf ~/.cache/pip",
    "npm test && git push",
    "cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: settings.json\n@@\n*** End Patch\nEOF",
    "echo x > settings.json",
    "sed -i s/a/b/ .github/workflows/ci.yml",
    "git hooks --help",
    "cd .agents/hooks && ls",
    "tenterhook trust --help",
    "tenterhook install --dry-run",
    "tenterhook doctor",
    "nohup tenterhook log --follow &",
    "tenterhook new draft --on Stop --project",
    "tenterhook convert .agents/hooks --to claude --out new-settings.json",
    "tenterhook log export --out week.jsonl",
    "tenterhook hub --database x.db token list",
    "pip install tenterhook",
    "git commit -m 'tenterhook trust'",
    "grep -rn tenterhook trust",
    "docker run image tenterhook trust --all --yes",
]


@pytest.mark.parametrize("line", REFUSED)
def test_a_shell_line_that_changes_them_is_refused(line: str) -> None:
    verdict = shell(line)
    assert verdict["decision"] == "deny", verdict
    assert "Only the person may change this" in verdict["reason"]


@pytest.mark.parametrize("line", ASKED)
def test_where_it_cannot_be_told_the_person_is_asked(line: str) -> None:
    assert shell(line)["decision"] == "ask"


@pytest.mark.parametrize("line", FINE)
def test_reading_and_everything_else_is_fine(line: str) -> None:
    verdict = shell(line)
    assert (verdict["decision"], [run["outcome"] for run in verdict["runs"]]) == ("none", ["ok"]), verdict


_PATCH = "*** Begin Patch\n*** Add File: x\n+a\n"


@pytest.mark.parametrize(
    ("name", "tool_input"),
    [
        ("WriteFile", {"file_path": ".agents/hooks/mine/HOOK.md", "content": ""}),
        ("Write", {"file_path": "~/.claude/settings.json", "content": "{}"}),
        ("StrReplaceFile", {"file_path": "src/../.agents/hooks/mine/HOOK.md", "old_string": "a", "new_string": "b"}),
        ("Edit", {"file_path": ".claude/settings.local.json", "old_string": "a", "new_string": "b"}),
        ("create", {"path": ".github/hooks/x.json", "file_text": "{}"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: .agents/hooks/mine/HOOK.md\n@@\n*** End Patch"}),
        (
            "apply_patch",
            {"command": f"{_PATCH}  *** Update File: .claude/settings.local.json\n@@\n-a\n+b\n*** End Patch"},
        ),
        ("apply_patch", {"command": f"{_PATCH}\t*** Delete File: .claude/settings.local.json \r\n*** End Patch"}),
        ("apply_patch", {"command": f"{_PATCH}*** Add File: x\f/../.claude/settings.local.json\n+a\n*** End Patch"}),
        ("apply_patch", {"input": "x", "file_paths": ["src/a.py", ".codex/hooks.json"]}),
        ("mcp__fs__move_file", {"source": ".agents/hooks", "destination": "/tmp/x"}),
        ("str_replace_editor", {"command": "str_replace", "path": ".claude/settings.local.json"}),
    ],
)
def test_file_tools_that_change_them_are_refused(name: str, tool_input: dict[str, Any]) -> None:
    verdict = tool(name, **tool_input)
    assert verdict["decision"] == "deny", verdict


def test_a_link_in_the_project_does_not_hide_them(home: Path, project: Path) -> None:
    (project / "innocent").symlink_to(home / ".claude")
    assert tool("WriteFile", file_path="innocent/settings.json", content="")["decision"] == "deny"
    assert shell("echo x > innocent/settings.json")["decision"] == "deny"


def test_settings_that_a_variable_moves_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert tool("WriteFile", file_path=str(tmp_path / "elsewhere/settings.json"), content="")["decision"] == "deny"
    assert tool("WriteFile", file_path=str(tmp_path / "elsewhere/notes.json"), content="")["decision"] == "none"


@pytest.mark.promise("a model that tries")
def test_settings_of_another_agent_are_protected_wherever_they_were_at_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`protect-hooks` protects the settings of every agent that Tenterhook guards, also where a variable moved them."""
    monkeypatch.setenv("CODEX_HOME", str(home / "cx"))
    install("codex")
    for value in (None, "/nowhere"):
        monkeypatch.delenv("CODEX_HOME") if value is None else monkeypatch.setenv("CODEX_HOME", value)
        for name in ("config.toml", "hooks.json"):
            assert tool("Write", file_path=str(home / "cx" / name), content="")["decision"] == "deny"
            assert shell(f"echo x > ~/cx/{name}")["decision"] == "deny"
        assert tool("Write", file_path=str(home / "cx" / "notes.md"), content="")["decision"] == "none"


@pytest.mark.promise("a model that tries")
def test_files_named_with_config_are_protected(home: Path) -> None:
    """`protect-hooks` protects the files that `install --config` named."""
    (home / "mine.toml").write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n')
    install("claude-code", "--config", str(home / "mine.toml"))
    assert tool("Edit", file_path="~/mine.toml", old_string="a", new_string="b")["decision"] == "deny"
    assert shell("rm ~/mine.toml")["decision"] == "deny"
    assert shell("cat ~/mine.toml")["decision"] == "none"


@pytest.mark.parametrize("text", ["", "[]", '{"settings": 1, "files": 2}', '{"schema": 1, "configs": [null]}', "\0"])
def test_a_broken_record_of_an_installation_is_ignored(home: Path, text: str) -> None:
    installed = home / ".local/state/tenterhook/installed"
    installed.mkdir(parents=True)
    (installed / "codex.json").write_text(text)
    assert tool("Write", file_path="~/.claude/settings.json", content="")["decision"] == "deny"
    assert tool("Write", file_path="src/app.py", content="")["decision"] == "none"


@pytest.mark.promise("a model that tries")
def test_the_files_behind_links_are_protected(home: Path, project: Path, hook: Path) -> None:
    """`protect-hooks` protects the real files, too, where hooks and settings are links that a dotfiles manager made."""
    dotfiles = home / "dot"
    (dotfiles / "claude").mkdir(parents=True)
    (home / ".claude/settings.json").rename(dotfiles / "claude/real.json")
    (home / ".claude/settings.json").symlink_to("../dot/claude/chosen.json")
    (dotfiles / "claude/chosen.json").symlink_to("real.json")
    (home / ".gemini").symlink_to("dot/gemini")  # not there yet
    hook.rename(dotfiles / "guard")
    hook.symlink_to("../../../dot/guard")
    (dotfiles / "rules.toml").touch()
    (home / ".config/tenterhook/config.toml").unlink()
    (home / ".config/tenterhook/config.toml").symlink_to(dotfiles / "rules.toml")
    (dotfiles / "library").mkdir()
    (dotfiles / "guard/scripts/shell_line.py").rename(dotfiles / "library/line.py")
    (dotfiles / "guard/scripts/shell_line.py").symlink_to("../../library/line.py")
    (hook.parent / "everything").symlink_to("/")
    for path in (
        *("claude/real.json", "claude/chosen.json", "gemini/settings.json", "guard/HOOK.md", "guard/scripts/run.py"),
        *("guard/scripts/new.py", "library/line.py", "rules.toml"),
    ):
        assert tool("Write", file_path=f"~/dot/{path}", content="")["decision"] == "deny", path
        assert shell(f"echo x > ~/dot/{path}")["decision"] == "deny", path
    for path in ("", "/guard", "/library", "/claude"):
        assert shell(f"rm -rf ~/dot{path}")["decision"] == "deny", path
    for path in ("notes.md", "library/other.py", "claude/notes.md"):
        assert tool("Write", file_path=f"~/dot/{path}", content="")["decision"] == "none", path


@pytest.mark.parametrize(
    ("name", "tool_input"),
    [
        ("WriteFile", {"file_path": "src/app.py", "content": "open('.claude/settings.json', 'w')"}),
        ("WriteFile", {"file_path": "docs/hooks.md", "content": "~/.claude/settings.json"}),
        ("StrReplaceFile", {"file_path": "src/app.py", "old_string": ".agents/hooks", "new_string": "x"}),
        ("str_replace_editor", {"command": "view", "path": ".claude/settings.local.json"}),
    ],
)
def test_file_tools_may_do_everything_else(name: str, tool_input: dict[str, Any]) -> None:
    assert tool(name, **tool_input)["decision"] == "none"


def test_reading_tools_do_not_even_start_it() -> None:
    for name in ("ReadFile", "Read", "Grep", "Glob", "view"):
        assert tool(name, file_path=".claude/settings.local.json")["runs"] == []


def test_it_fails_closed(hook: Path) -> None:
    (hook / "scripts" / "shell_line.py").write_text("raise SystemExit(1)")
    assert shell("ls")["decision"] == "deny"
