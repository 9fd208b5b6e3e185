"""Codex runs a hook only if its config.toml holds the hook's hash; install puts it there, uninstall takes it out."""

from __future__ import annotations

import hashlib
import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from support import folder_hook, tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path

SNAKE = {
    "SessionStart": "session_start",
    "SessionEnd": "session_end",
    "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use",
    "UserPromptSubmit": "user_prompt_submit",
    "SubagentStop": "subagent_stop",
    "Stop": "stop",
}
OTHERS = {"hooks": [{"type": "command", "command": "theirs"}]}


@pytest.fixture(autouse=True)
def codex(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Codex's folder, and hooks on a few events."""
    monkeypatch.delenv("CODEX_HOME", raising=False)
    folder_hook(user_hooks(home), "guard", "exit 0")
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    codex = home / ".codex"
    codex.mkdir()
    return codex


def install(*arguments: str) -> None:
    ended = tenterhook("install", "codex", *arguments)
    assert ended.returncode == 0, ended.stderr


def uninstall(*arguments: str) -> None:
    ended = tenterhook("uninstall", "codex", "--yes", *arguments)
    assert ended.returncode == 0, ended.stderr


def expected(hooks: Path) -> dict[str, str]:
    """The key and the hash of each entry of ours, as Codex itself lists them."""
    found = {}
    for event, groups in json.loads(hooks.read_text())["hooks"].items():
        for number, group in enumerate(groups):
            for place, hook in enumerate(group["hooks"]):
                if "/tenterhook/launcher.sh" not in hook["command"]:
                    continue
                assert hook.keys() == {"type", "command", "timeout"}
                command, event_name = json.dumps(hook["command"], ensure_ascii=False), SNAKE[event]
                text = (
                    f'{{"event_name":"{event_name}","hooks":[{{"async":false,"command":{command},'
                    f'"timeout":{hook["timeout"]},"type":"command"}}]}}'
                )
                digest = hashlib.sha256(text.encode()).hexdigest()
                found[f"{hooks}:{event_name}:{number}:{place}"] = f"sha256:{digest}"
    return found


def trusted(config: Path) -> dict[str, Any]:
    state = tomllib.loads(config.read_text())["hooks"]["state"]
    return {key: value["trusted_hash"] for key, value in state.items()}


def test_exactly_our_entries_are_trusted(home: Path, codex: Path) -> None:
    for name, event in (("prompt", "pre-agent-turn"), ("end", "post-session"), ("sub", "post-subagent")):
        folder_hook(user_hooks(home), name, "exit 0", event)
    (codex / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [OTHERS, OTHERS], "PostToolUse": [OTHERS]}}))
    install()
    found = trusted(codex / "config.toml")
    assert found == expected(codex / "hooks.json")
    assert len(found) == 6
    assert f"{codex}/hooks.json:pre_tool_use:2:0" in found


def test_the_short_patience_of_a_sessions_end_is_what_is_hashed(home: Path, codex: Path) -> None:
    folder_hook(user_hooks(home), "end", "exit 0", "post-session")
    install()
    (group,) = json.loads((codex / "hooks.json").read_text())["hooks"]["SessionEnd"]
    assert group["hooks"][0]["timeout"] == 3  # Codex hashes what it makes of it, and it makes no more of it than this
    assert trusted(codex / "config.toml") == expected(codex / "hooks.json")


CONFIGS = {
    "comments": b'# mine\nmodel = "o5" # large\n\n[features]\nhooks = true\n# the end\n',
    "windows": b'model = "o5"\r\n\r\n[projects."/work"]\r\ntrust_level = "trusted"\r\n',
    "windows_no_final_newline": b'model = "o5"\r\n[tui]\r\ntheme = "x"',
    "no_final_newline": b'model = "o5"\n\n[mcp_servers.files]\ncommand = "npx"',
    "byte_order_mark": b'\xef\xbb\xbfmodel = "o5"\n',
    "empty": b"",
    "blank_lines_at_the_end": b'model = "o5"\n\n\n',
    "others_are_trusted_too": b'[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:00"\nenabled = false\n',
    "hooks_of_their_own": b'[[hooks.PreToolUse]]\nmatcher = "Bash"\n\n[[hooks.PreToolUse.hooks]]\n'
    b'type = "command"\ncommand = "guard"\n\n[hooks.state]\n\n[profiles.x]\nmodel = "o4"\n',
    "a_table_without_an_end": b"[notice]\nhide = true # until the end of the file",
}


@pytest.mark.parametrize("name", [*CONFIGS, "missing"])
def test_the_rest_of_its_configuration_is_byte_for_byte_as_it_was(codex: Path, name: str) -> None:
    config = codex / "config.toml"
    if name != "missing":
        config.write_bytes(CONFIGS[name])
        config.chmod(0o640)
    before = tomllib.loads(CONFIGS.get(name, b"").decode("utf-8-sig"))
    install()
    written = config.read_bytes()
    assert written.startswith(CONFIGS.get(name, b""))
    after = tomllib.loads(written.decode("utf-8-sig"))
    ours = expected(codex / "hooks.json")
    assert {key: after["hooks"]["state"].pop(key)["trusted_hash"] for key in ours} == ours
    after["hooks"] = {key: value for key, value in after["hooks"].items() if value or key in before.get("hooks", {})}
    assert {key: value for key, value in after.items() if value or key in before} == before
    assert b"\n" not in written.replace(b"\r\n", b"") or not name.startswith("windows")
    install()
    assert config.read_bytes() == written
    uninstall()
    assert not (codex / "hooks.json").exists()
    if name == "missing":
        assert not config.exists()
    else:
        assert config.read_bytes() == CONFIGS[name]
        assert config.stat().st_mode & 0o777 == 0o640


NO_PLACE = {
    "no_value": (b"model =\n", "line 1"),
    "cut_off": (b'a = 1\n\n[x]\nb = "\n', "line 4"),
    "a_number_that_is_too_long": (b"a = " + b"9" * 5000, "line 1"),
    "nested_too_deeply": (b"a = " + b"[" * 100_000, "line 1"),
    "not_utf8": (b'a = 1\nb = "\xff"\n', "line 2"),
    "hooks_on_one_line": (b"hooks = { state = {} }\n", "line 1"),
    "hooks_of_a_wrong_type": (b'hooks = "none"\n', "line 1"),
    "state_of_a_wrong_type": (b'a = 1\n[hooks]\nstate = "none"\n', "line "),
}


@pytest.mark.parametrize("name", NO_PLACE)
def test_a_configuration_with_no_place_for_trust_is_refused(codex: Path, name: str) -> None:
    content, line = NO_PLACE[name]
    (codex / "config.toml").write_bytes(content)
    ended = tenterhook("install", "codex")
    assert ended.returncode == 1
    assert f"{codex / 'config.toml'}: {line}" in ended.stderr
    assert "nothing was changed" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert (codex / "config.toml").read_bytes() == content
    assert not (codex / "hooks.json").exists()


def test_a_read_only_configuration_is_refused_before_anything_is_written(codex: Path) -> None:
    (codex / "config.toml").touch(0o444)
    ended = tenterhook("install", "codex")
    assert ended.returncode == 1
    assert f"{codex / 'config.toml'} is read-only" in ended.stderr
    assert [path.name for path in codex.iterdir()] == ["config.toml"]


def test_trust_follows_when_a_group_is_put_before_ours(codex: Path) -> None:
    (codex / "config.toml").write_text('model = "o5"\n')
    install()
    settings = json.loads((codex / "hooks.json").read_text())
    settings["hooks"]["PreToolUse"].insert(0, OTHERS)
    (codex / "hooks.json").write_text(json.dumps(settings))
    assert trusted(codex / "config.toml") != expected(codex / "hooks.json")
    install()
    assert trusted(codex / "config.toml") == expected(codex / "hooks.json")
    assert f"{codex}/hooks.json:pre_tool_use:1:0" in trusted(codex / "config.toml")
    uninstall()
    assert (codex / "config.toml").read_text() == 'model = "o5"\n'
    assert json.loads((codex / "hooks.json").read_text()) == {"hooks": {"PreToolUse": [OTHERS]}}


def test_trust_that_codex_took_away_or_wrote_anew_is_given_again(codex: Path) -> None:
    install()
    config = codex / "config.toml"
    config.write_text(config.read_text().replace("sha256:", "sha256:0"))
    install()
    assert trusted(config) == expected(codex / "hooks.json")
    entries = ", ".join(
        f"{json.dumps(key)} = {{ trusted_hash = {json.dumps(digest)} }}" for key, digest in trusted(config).items()
    )
    config.write_text(f"[hooks]\nstate = {{ {entries} }}\n")
    install()
    assert trusted(config) == expected(codex / "hooks.json")


def test_a_hook_that_the_person_switched_off_stays_so_and_leaves_nothing_behind(codex: Path) -> None:
    config = codex / "config.toml"
    config.write_text("[features]\nhooks = true\n")
    install()
    header, digest, rest = config.read_text().partition("trusted_hash")
    line, _, rest = rest.partition("\n")
    config.write_text(f"{header}{digest}{line}\nenabled = false\n{rest}")
    off = config.read_text()
    install()
    assert config.read_text() == off
    uninstall()
    assert tomllib.loads(config.read_text()) == {"features": {"hooks": True}}


@pytest.mark.parametrize("link", [True, False], ids=["linked", "plain"])
def test_a_home_of_codex_elsewhere_is_trusted_as_codex_spells_it(
    home: Path, codex: Path, monkeypatch: pytest.MonkeyPatch, link: bool
) -> None:
    real = home / "elsewhere"
    real.mkdir()
    named = home / "link" if link else real
    if link:
        named.symlink_to(real)
    monkeypatch.setenv("CODEX_HOME", str(named))
    install()
    assert expected(real / "hooks.json").items() <= trusted(real / "config.toml").items()
    assert list(codex.iterdir()) == []
    uninstall()
    assert list(real.iterdir()) == []


def test_hooks_of_a_project_are_trusted_in_the_persons_configuration(codex: Path, project: Path) -> None:
    install("--project")
    assert trusted(codex / "config.toml") == expected(project / ".codex" / "hooks.json")
    install()
    both = expected(project / ".codex" / "hooks.json") | expected(codex / "hooks.json")
    assert trusted(codex / "config.toml") == both
    uninstall("--project")
    assert trusted(codex / "config.toml") == expected(codex / "hooks.json")
    uninstall()
    assert not (codex / "config.toml").exists()
