"""Every command below a guarded agent: refused, refused over what is protected, or harmless."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click
import pytest

from install.installations import install, wired
from support import below_agent, folder_hook, project_hooks, tenterhook, user_hooks, write_config
from tenterhook.basics import places
from tenterhook.basics.protected_places import READING, REFUSED, REFUSED_WITH, REFUSED_WITHOUT, WRITING, command_in
from tenterhook.cli import tenterhook as commands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = f"{sys.executable} -m tenterhook"
GUARDED = "was called from an agent that Tenterhook guards"


@pytest.fixture
def line(home: Path, project: Path) -> str:
    folder_hook(user_hooks(home), "guard", "exit 2")
    folder_hook(project_hooks(project), "mine", "exit 2")
    case = 'event = { tool_name = "Shell" }\nexpect = { decision = "allow" }\n'
    write_config(project_hooks(project) / "mine/cases/one.toml", case)
    folder_hook(project / "evil", "guard", "exit 0")
    install("claude-code")
    return wired(home, "claude-code")["SessionStart"]


def all_commands(group: click.Group = commands, before: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield f"{before}{name}"
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{before}{name} ")


def options_of(name: str) -> set[str]:
    command: click.Command = commands
    for part in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), part) or command
    return {option for parameter in command.params for option in parameter.opts}


def test_the_table_names_every_command_and_no_other() -> None:
    tables = (REFUSED, REFUSED_WITHOUT, REFUSED_WITH, WRITING, READING)
    assert {name for table in tables for name in table} == set(all_commands())
    for name, option in [*REFUSED_WITHOUT.items(), *REFUSED_WITH.items()]:
        assert option in (*options_of(name), "NAME")
    for name in {name for table in (WRITING, READING) for name in table}:
        written = options_of(name) & {"--out", "--junit", "--update", "--force", "--fix", "--yes"}
        assert written <= {*WRITING.get(name, ()), "--force"}, name


# One way to call each command that is refused. `hub` and `inbox` alone are in the table, too.
_CALLS = [
    *(
        "agent go --model scripted:evil.yaml --mode yolo",
        "add protect-hooks",
        "allow abcdefgh --yes",
        "add protect-hooks --project --force",
        "disable guard --yes",
        "disable guard --for 1h --yes",
        "update --yes",
    ),
    *("doctor --fix", "enable guard", "hub --listen 127.0.0.1:0", "hub join http://127.0.0.1:9 --yes", "hub leave"),
    *("hub person add eve --admin --no-password", "hub person password eve --password-stdin", "hub person remove eve"),
    *("hub --database x.db token add eve", "hub token add eve --database x.db", "hub token revoke 1"),
    *(
        "daemon run",
        "daemon start",
        "daemon start --foreground",
        "daemon stop",
        "hub share",
        "hub start",
        "hub stop",
        "inbox",
        "inbox approve last --yes",
        "inbox deny last --yes",
    ),
    *("inbox sign-in http://127.0.0.1:9 --yes", "install claude-code", "install claude-code --no-config"),
    *("new guard --on Stop --force", "new other --on Stop", "new mine --on Stop --project --force"),
    *("remove guard --yes", "trust --all --yes", "trust --code --yes", "untrust --all --yes"),
    *("trigger Stop --session s", "trigger Stop --session=s --dry-run", "agent --resume s", "agent go --resume"),
    *("setup --yes", "setup --guards none --agents claude-code"),
    *("uninstall --yes", "uninstall claude-code --yes", "update --yes"),
    *("pack add ../x --yes", "pack update --yes", "pack remove x --yes", "pack verify --fetch"),
    *("trust --source ../x --yes", "untrust --source ../x --yes"),
    *("log redact --rules --yes", "log redact --stdin --dry-run", "hub redact --rules --yes --database x.db"),
]


@pytest.mark.timeout(300)
@pytest.mark.promise("a model that tries")
def test_what_weakens_protection_is_refused_yes_or_not(home: Path, project: Path, line: str) -> None:
    """Below a guarded agent, commands that would weaken the protection are refused, with --yes or without."""
    assert {command_in(call.split())[0] for call in _CALLS} == {*REFUSED, *REFUSED_WITHOUT, *REFUSED_WITH}
    before = _contents(home / ".config", home / ".claude", project / ".agents")
    for call, ended in zip(_CALLS, below_agent(line, *(f"{PROGRAM} {call}" for call in _CALLS)), strict=True):
        assert (ended.returncode, GUARDED in ended.stderr) == (1, True), (call, ended)
        assert command_in(call.split())[1], call
    assert _contents(home / ".config", home / ".claude", project / ".agents") == before


def _contents(*directories: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for each in directories for path in each.rglob("*") if path.is_file()}


_SETS_VARIABLES = """
[[hooks]]
event = "SessionStart"
command = "mkdir -p .kimi; echo FOO=tmp/x | tee -a $KIMI_ENV_FILE >> .kimi/env; echo x > $TENTERHOOK_STATE_DIR/x"
"""


@pytest.mark.timeout(300)
@pytest.mark.promise("a model that tries")
def test_events_that_an_agent_fires_itself_change_no_state_of_its_guards(home: Path, project: Path, line: str) -> None:
    """Below a guarded agent, `tenterhook trigger`, `test` and `replay` change no session and no state of its guards."""
    folder_hook(user_hooks(home), "begin", "true", trigger="pre-session")
    write_config(project / "evil.toml", _SETS_VARIABLES)
    (project / "own.json").write_text('{"session_id": "s", "source": "startup"}')
    case = 'event = { tool_name = "Shell", session_id = "s" }\nexpect = { decision = "deny" }\n'
    write_config(user_hooks(home) / "guard/cases/one.toml", case)
    start = f"{PROGRAM} trigger SessionStart --config evil.toml"
    calls = [
        *(start, f"{start} --payload own.json", f"TENTERHOOK_SESSION_ID=s {start}"),
        *(f"{PROGRAM} test guard", f"{PROGRAM} replay --config evil.toml"),
    ]
    state = home / ".local/state/tenterhook"
    below_agent(line)
    before = _contents(state / "sessions", state / "env-lines", state / "hooks")
    for call, ended in zip(calls, below_agent(line, *calls), strict=True):
        assert ended.returncode == 0, (call, ended)
    assert "FOO=tmp/x" in (project / ".kimi/env").read_text()  # they did run
    assert _contents(state / "sessions", state / "env-lines", state / "hooks") == before


@pytest.mark.timeout(300)
@pytest.mark.promise("a model that tries")
@pytest.mark.slow
def test_no_option_overwrites_hooks_settings_state_or_our_program(home: Path, project: Path, line: str) -> None:
    """Below a guarded agent, no command of ours writes over hooks, settings, state or the program, however named."""
    (project / "link").symlink_to(home / ".config/agents")
    (project / "settings").symlink_to(home / ".claude/settings.json")
    (project / "deep").symlink_to(home / ".config/agents/hooks/guard")
    (home / "dot").mkdir()
    (user_hooks(home) / "guard/scripts").rename(home / "dot/scripts")
    (user_hooks(home) / "guard/scripts").symlink_to(home / "dot/scripts")
    (home / "mine.toml").write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n')
    install("claude-code", "--config", str(home / "mine.toml"))
    os.environ["CODEX_HOME"] = str(home / "cx")
    install("codex")
    del os.environ["CODEX_HOME"]
    os.link(home / ".config/agents/hooks/guard/HOOK.md", project / "hard")
    state = places.state()
    relative = os.path.relpath(user_hooks(home), project)
    convert = "convert evil/guard --force"
    calls = [
        *(f"{convert} --to folder --out {out}" for out in ("~/.config/agents/hooks", "link/hooks", relative)),
        f"{convert} --to folder --out=deep/..",
        f"{convert} --to folder --out .agents/hooks",
        *(
            f"{convert} --to claude --out {out}"
            for out in ("~/.claude/settings.json", "settings", ".claude/settings.json")
        ),
        f"{convert} --to claude --out {project}/.CLAUDE/Settings.json",
        f"{convert} --to codex --out ~/.codex/hooks.json",
        f"{convert} --to codex --out ~/cx/hooks.json",
        f"{convert} --to array --out ~/mine.toml",
        f"{convert} --to folder --out ~/dot/scripts",
        "test guard --junit ~/dot/scripts/run.sh",
        f"log export --out {state}/trust.json",
        f"XDG_STATE_HOME=/nowhere HOME=/nowhere {PROGRAM} log export --out {state}/launcher.sh",
        # in a folder that is not there: nothing of the real program is lost if this fails
        *(f"log export --out {real}/nowhere/x" for real in (places.PACKAGE, sys.prefix, places.marks())),
        "log export --out hard",
        "log export --out ~/.config/tenterhook/config.toml",
        "test guard --junit ~/.config/agents/hooks/guard/HOOK.md",
        "test guard --junit deep/HOOK.md",
        "test mine --trust-project --update",
    ]
    before = _contents(home / ".config", home / ".claude", home / ".local/state/tenterhook/installed", project)
    asked = [call if PROGRAM in call else f"{PROGRAM} {call}" for call in calls]
    asked.append(f"cd ~/.config/agents/hooks; {PROGRAM} convert {project}/evil/guard --to folder --force")
    for call, ended in zip(asked, below_agent(line, *asked), strict=True):
        assert (ended.returncode, GUARDED in ended.stderr) == (1, True), (call, ended)
        assert " belongs to " in ended.stderr
    assert _contents(home / ".config", home / ".claude", home / ".local/state/tenterhook/installed", project) == before


@pytest.mark.parametrize("link", [".agents", ".agents/hooks", "hooks of the home"])
@pytest.mark.promise("a model that tries")
def test_a_hook_for_the_project_is_made_nowhere_else(home: Path, project: Path, line: str, link: str) -> None:
    """Below a guarded agent, `tenterhook new --project` makes no hook outside the project, whatever is a link."""
    (project / ".agents").rename(project / "before")
    if link == ".agents":
        (project / ".agents").symlink_to(home / ".config/agents")
    elif link == ".agents/hooks":
        (project / ".agents").mkdir()
        (project / ".agents/hooks").symlink_to(user_hooks(home))
    else:  # the home is in a repository, and work is done there
        (home / ".agents").symlink_to(".config/agents")
        (home / ".git").mkdir()
    start = "cd; " if link == "hooks of the home" else ""
    before = _contents(home / ".config")
    (ended,) = below_agent(line, f"{start}{PROGRAM} new evil --on pre-tool-call --project")
    assert (ended.returncode, GUARDED in ended.stderr) == (1, True), ended
    assert _contents(home / ".config") == before


def test_everything_else_may_be_written(home: Path, project: Path, line: str) -> None:
    calls = [
        "convert evil/guard --to folder --out made",
        "convert evil/guard --to folder",
        "convert evil/guard --to claude --out made.json",
        "log export --out week.jsonl",
        "test --junit results.xml",
        "new drafted --on Stop --project",
        "install claude-code --dry-run",
        "setup --dry-run",
        "uninstall claude-code --dry-run",
        "add",
        "list",
    ]
    for call, ended in zip(calls, below_agent(line, *(f"{PROGRAM} {call}" for call in calls)), strict=True):
        assert GUARDED not in ended.stderr, (call, ended)
        assert ended.returncode in (0, 3) or call.startswith("test"), (call, ended)
    assert {"made", "guard", "made.json", "week.jsonl", "results.xml"} <= {path.name for path in project.iterdir()}


def test_a_person_may_write_where_they_like(home: Path, project: Path, line: str) -> None:
    below_agent(line)
    ended = tenterhook("convert", "evil/guard", "--to", "folder", "--out", user_hooks(home), "--force")
    assert ended.returncode == 0, ended.stderr
    assert "exit 0" in "".join(path.read_text() for path in (user_hooks(home) / "guard").rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("words", "name", "is_refused"),
    [
        ("trust --help", "trust", False),
        ("hub --database list token add x", "hub token add", True),
        ("hub token add list", "hub token add", True),
        ("hub --database x token list", "hub token list", False),
        ("hub status", "hub status", False),
        ("new x --on Stop --project", "new", False),
        ("doctor claude-code", "doctor", False),
        ("add --json", "add", False),
        ("unheard-of", "", False),
        ("", "", False),
    ],
)
def test_the_command_is_found_among_options(words: str, name: str, is_refused: bool) -> None:
    assert command_in(words.split()) == (name, is_refused)
