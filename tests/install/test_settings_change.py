"""A person's settings come through install and uninstall byte for byte, or install refuses and touches nothing."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from install.installations import (
    BRIDGE,
    NAMES,
    PLUGINS,
    SETTINGS,
    changed,
    install,
    kept,
    put,
    records,
    refused,
    uninstall,
)
from support import FEW, folder_hook, tenterhook, user_hooks

HAND_MADE = {agent: sorted((Path(__file__).parent / "settings" / agent).iterdir()) for agent in SETTINGS}
JSON, TOML = b'{\n  "theme": "dark"\n}\n', b'theme = "dark"\n'
SOMETHING = {agent: TOML if path.endswith("toml") else JSON for agent, path in SETTINGS.items()}
SOMETHING["openhands"] = b'{\n  "theme": "dark",\n  "hooks": {}\n}\n'  # else all of it would be events


@pytest.fixture(autouse=True)
def hooks(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A guard and a gate; agents only where the test puts them."""
    monkeypatch.setenv("PATH", "/nowhere")
    folder_hook(user_hooks(home), "guard", "echo 'not here' >&2; exit 2", matcher={"pattern": "rm -rf /"})
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    return user_hooks(home)


def entries(agent: str) -> int:
    """How many there are for the guard, the gate and the session's start; in Vibe the first two alone."""
    start, tool, _, stop = NAMES[agent]
    return len({start, tool, stop})


@pytest.mark.parametrize("number", range(max(map(len, HAND_MADE.values()))))
def test_hand_made_settings_survive_byte_for_byte(home: Path, number: int) -> None:
    files = {agent: files[number] for agent, files in HAND_MADE.items() if number < len(files)}
    for agent, file in files.items():
        path = put(home, agent, file.read_bytes())
        path.chmod(0o640)
        path.with_name("another.json").write_bytes(b"{ left alone")
    before = kept(home)

    said = install(*files)
    installed = kept(home)
    assert changed(before, installed) == {
        *(f"home/{SETTINGS[agent]}" for agent in files),
        *(["home/.codex/config.toml"] if "codex" in files else []),
    }
    for agent in files:
        path = home / SETTINGS[agent]
        assert path.read_bytes().count(BRIDGE) == entries(agent), agent
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert f"+++ {path} (then)" in said

    assert install(*files).count("nothing changed") == len(files)
    assert kept(home) == installed

    uninstall(*files)
    after = kept(home)
    wrong = changed(before, after)
    assert {path: after.get(path) for path in wrong} == {path: before.get(path) for path in wrong}
    assert records(home) == []


def test_every_agent_has_at_least_six_hand_made_files() -> None:
    assert {agent: len(files) >= 6 for agent, files in HAND_MADE.items()} == dict.fromkeys(SETTINGS, True)


def nothing_there(home: Path, agent: str) -> None:
    pass


def an_empty_folder(home: Path, agent: str) -> None:
    (home / SETTINGS[agent]).parent.mkdir(parents=True)


def an_empty_file(home: Path, agent: str) -> None:
    put(home, agent, b"")


def a_private_file(home: Path, agent: str) -> None:
    put(home, agent, SOMETHING[agent]).chmod(0o600)


def a_linked_file(home: Path, agent: str) -> None:
    """As people keep their settings in a repository of their own."""
    path = put(home, agent, SOMETHING[agent])
    store = home / "dotfiles" / agent
    store.mkdir(parents=True)
    path.rename(store / path.name)
    path.symlink_to(os.path.relpath(store / path.name, path.parent))


def a_linked_empty_file(home: Path, agent: str) -> None:
    a_linked_file(home, agent)
    (home / SETTINGS[agent]).write_bytes(b"")


def a_linked_folder(home: Path, agent: str) -> None:
    put(home, agent, b"\n")
    folder = home / SETTINGS[agent].partition("/")[0]
    (home / "dotfiles").mkdir(exist_ok=True)
    folder.rename(home / "dotfiles" / folder.name)
    folder.symlink_to(home / "dotfiles" / folder.name)


def a_linked_folder_without_the_file(home: Path, agent: str) -> None:
    a_linked_folder(home, agent)
    (home / SETTINGS[agent]).unlink()


@pytest.mark.parametrize(
    "circumstance",
    [
        nothing_there,
        an_empty_folder,
        an_empty_file,
        a_private_file,
        a_linked_file,
        a_linked_empty_file,
        a_linked_folder,
        a_linked_folder_without_the_file,
    ],
    ids=lambda function: function.__name__,
)
def test_files_folders_modes_and_links_are_as_they_were(home: Path, circumstance: object) -> None:
    assert callable(circumstance)
    for agent in SETTINGS:
        circumstance(home, agent)
    before = kept(home)
    install(*SETTINGS)
    installed = kept(home)
    for agent, path in SETTINGS.items():
        assert (home / path).read_bytes().count(BRIDGE) == entries(agent), agent
    assert {path: before[path][:2] for path in before if path in installed} == {
        path: installed[path][:2] for path in before
    }
    uninstall(*SETTINGS)
    assert changed(before, kept(home)) == set()


def test_a_folder_that_somebody_moved_into_stays(home: Path) -> None:
    install(*SETTINGS)
    neighbours = [(home / path).with_name("history.jsonl") for path in SETTINGS.values()]
    for neighbour in neighbours:
        neighbour.write_text("{}\n")
    uninstall(*SETTINGS)
    assert [neighbour.read_text() for neighbour in neighbours] == ["{}\n"] * len(SETTINGS)
    assert [agent for agent, path in SETTINGS.items() if (home / path).exists()] == []


BROKEN = {
    "json": {
        "a_comma_too_few": (b'{\n  "model": "x"\n  "hooks": {}\n}\n', "line 3"),
        "cut_off": (b'{\n  "hooks": {\n', "line "),
        "a_list": (b"[]\n", "line 1"),
        "hooks_of_a_wrong_type": (b'{\n  "a": 1,\n  "hooks": []\n}\n', "line 3"),
        "an_event_of_a_wrong_type": (b'{\n  "hooks": {\n    "Stop": "make test"\n  }\n}\n', "line 3"),
        "not_utf8": (b'{\n  "a": "\xff\xfe"\n}\n', "line 2"),
        "utf16": ('{"a": 1}'.encode("utf-16"), "line 1"),
        "twice_the_same_key": (b'{\n  "hooks": {},\n  "hooks": {}\n}\n', "line 3"),
    },
    "toml": {
        "no_value": (b"a = 1\nmodel =\n", "line 2"),
        "cut_off": (b'a = 1\nhooks = [{event = "Stop"', "line 2"),
        "hooks_of_a_wrong_type": (b'a = 1\nhooks = "none"\n', "line 2"),
        "hooks_as_a_table": (b'a = 1\n\n[hooks]\nevent = "Stop"\n', "line 3"),
        "hooks_of_words": (b'hooks = ["make test"]\n', "line 1"),
        "not_utf8": (b'a = 1\nb = "\xff"\n', "line 2"),
        "twice_the_same_table": (b"[a]\n[b]\n[a]\n", "line 3"),
    },
}


@pytest.mark.parametrize(
    ("agent", "case"),
    [
        pytest.param(agent, case, marks=() if agent in FEW else pytest.mark.thorough)
        for agent, path in SETTINGS.items()
        for case in BROKEN[path[-4:]]
        if agent in ("claude-code", "kimi-code") or case in ("cut_off", "hooks_of_a_wrong_type", "not_utf8")
    ],
)
def test_a_file_that_cannot_be_understood_is_refused_with_its_line(home: Path, agent: str, case: str) -> None:
    content, line = BROKEN[SETTINGS[agent][-4:]][case]
    path = put(home, agent, content)
    before = kept(home)
    said = refused("install", agent)
    assert f"{path}: {line}" in said
    assert "nothing was changed" in said
    assert kept(home) == before
    assert records(home) == []


def read_only(path: Path) -> None:
    path.write_bytes(b"")
    path.chmod(0o444)


def a_directory(path: Path) -> None:
    path.mkdir()


def a_link_that_leads_nowhere(path: Path) -> None:
    path.symlink_to("gone")


def links_in_a_circle(path: Path) -> None:
    path.symlink_to(path.name)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("agent", "obstacle"),
    [
        *(
            pytest.param(agent, obstacle, marks=() if agent in FEW else pytest.mark.thorough)
            for agent in SETTINGS
            for obstacle in (read_only, a_directory)
        ),
        *(("claude-code", obstacle) for obstacle in (a_link_that_leads_nowhere, links_in_a_circle, a_pipe)),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_what_is_no_writable_file_is_refused(home: Path, agent: str, obstacle: object) -> None:
    assert callable(obstacle)
    path = put(home, agent, b"")
    path.unlink()
    obstacle(path)
    listing = sorted(os.walk(home / path.parent))
    said = tenterhook("install", agent, timeout=10)
    assert said.returncode == 1
    assert str(path) in said.stderr
    assert "\n  " in said.stderr  # how to fix it
    assert sorted(os.walk(home / path.parent)) == listing
    assert records(home) == []


def test_a_file_where_the_folder_should_be_is_refused(home: Path) -> None:
    for agent, path in SETTINGS.items():
        (home / path).parent.parent.mkdir(parents=True, exist_ok=True)
        (home / path).parent.write_text("a file")
        before = kept(home)
        assert str((home / path).parent) in refused("install", agent)
        assert kept(home) == before
    assert records(home) == []


@pytest.mark.parametrize("broken", [b"{", b""], ids=["broken", "read-only"])
def test_one_refusal_leaves_the_agents_named_beside_it_alone(home: Path, broken: bytes) -> None:
    put(home, "gemini", b"{}\n")
    put(home, "qwen", broken).chmod(0o644 if broken else 0o444)
    before = kept(home)
    assert str(home / SETTINGS["qwen"]) in refused("install", "claude-code", "gemini", "qwen")
    assert kept(home) == before
    assert records(home) == []


def test_a_file_that_broke_since_is_refused_by_uninstall_as_well(home: Path) -> None:
    path = put(home, "claude-code", b"{}\n")
    install("claude-code")
    path.write_bytes(path.read_bytes()[:-4])
    before = kept(home)
    assert "line " in refused("uninstall", "claude-code", "--yes")
    assert kept(home) == before
    assert records(home) == ["claude-code.json"]  # to be tried again


class TestDryRun:
    """The change is shown and not made."""

    def test_shows_the_diff_and_changes_nothing(self, home: Path) -> None:
        paths = [put(home, agent, SOMETHING[agent]) for agent in SETTINGS]
        before = kept(home)
        said = install(*SETTINGS, "--dry-run")
        assert said.count("this would be changed") == len(SETTINGS)
        for path in paths:
            assert f"--- {path} (now)\n+++ {path} (then)" in said
        assert kept(home) == before
        assert records(home) == []
        shown = [line[1:] for line in said.splitlines() if line.startswith("+") and BRIDGE.decode() in line]
        assert len(shown) == sum(map(entries, SETTINGS))
        install(*SETTINGS)
        written = [line for path in paths for line in path.read_text().splitlines()]
        assert [line for line in written if BRIDGE.decode() in line] == shown
        assert install(*SETTINGS, "--dry-run").count("nothing to change") == len(SETTINGS)


class TestWhatHappenedInBetween:
    """The file is the person's; it changes."""

    def test_what_the_person_wrote_since_stays(self, home: Path) -> None:
        paths = [put(home, agent, SOMETHING[agent]) for agent in SETTINGS]
        install(*SETTINGS)
        own = b'\n[[hooks]]\nevent = "Stop"\ncommand = "mine"\n'
        for path in paths:
            path.write_bytes(path.read_bytes().replace(b"theme", b"colours") + (own if path.suffix == ".toml" else b""))
        edited = [path.read_bytes() for path in paths]
        assert install(*SETTINGS).count("nothing changed") == len(SETTINGS)
        assert [path.read_bytes() for path in paths] == edited
        uninstall(*SETTINGS)
        for path, agent in zip(paths, SETTINGS, strict=True):
            left = SOMETHING[agent].replace(b"theme", b"colours")
            assert path.read_bytes() == left + (own if path.suffix == ".toml" else b"")

    def test_an_entry_that_was_taken_out_or_bent_comes_back_once(self, home: Path) -> None:
        paths = [put(home, agent, b"") for agent in SETTINGS]
        install(*SETTINGS)
        whole = [path.read_bytes() for path in paths]
        for path in paths:
            path.write_bytes(path.read_bytes().replace(b"600", b"7"))
        assert "nothing changed" not in install(*SETTINGS)
        assert [path.read_bytes() for path in paths] == whole
        for path in paths:
            path.write_bytes(b"")
        assert "nothing changed" not in install(*SETTINGS)
        assert [path.read_bytes() for path in paths] == whole

    @pytest.mark.parametrize("agent", ["claude-code", "codex"])
    def test_a_hook_that_joined_our_group_stays_and_ours_goes(self, home: Path, agent: str) -> None:
        path = put(home, agent, b"{}\n")
        install(agent)
        settings = json.loads(path.read_text())
        settings["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "mine"})
        path.write_text(json.dumps(settings, indent=2))
        install(agent)
        assert path.read_bytes().count(BRIDGE) == 3
        uninstall(agent)
        assert BRIDGE not in path.read_bytes()
        assert json.loads(path.read_text()) == {
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}
        }

    def test_an_agent_that_wrote_its_json_anew_without_comments(self, home: Path) -> None:
        agent = "gemini"
        path = put(home, agent, b'// mine\n{\n    "a": 1, // one\n    "hooks": {} /* none */\n}\n')
        install(agent)
        plain = path.read_text().replace("// mine\n", "").replace("// one", "").replace("/* none */", "")
        path.write_text(json.dumps({**json.loads(plain), "b": 2}, separators=(",", ":")))
        assert "nothing changed" in install(agent)
        uninstall(agent)
        assert path.read_text() == '{"a":1,"hooks":{},"b":2}'

    @pytest.mark.parametrize("agent", ["kimi-code", "kimi-cli"])
    def test_an_agent_that_wrote_its_toml_anew_without_comments(self, home: Path, agent: str) -> None:
        path = put(home, agent, b'# mine\ntheme = "dark" # night\n')
        install(agent)
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("#")))
        assert "nothing changed" in install(agent)
        uninstall(agent)
        assert path.read_text() == 'theme = "dark" # night\n'

    def test_without_a_record_our_entries_go_all_the_same(self, home: Path) -> None:
        paths = [put(home, agent, SOMETHING[agent]) for agent in SETTINGS]
        install(*SETTINGS)
        shutil.rmtree(home / ".local")
        assert "it is not installed in any agent" in refused("uninstall", "--yes")
        uninstall(*SETTINGS)
        for path in paths:
            assert BRIDGE not in path.read_bytes()
            assert b"theme" in path.read_bytes()
        assert b"trusted_hash" not in (home / ".codex/config.toml").read_bytes()

    def test_an_agents_folder_that_is_named_elsewhere_now_is_found_again(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for variable, agent in (("CLAUDE_CONFIG_DIR", "claude-code"), ("CODEX_HOME", "codex")):
            before = kept(home)
            monkeypatch.setenv(variable, str(home / "elsewhere"))
            install(agent)
            monkeypatch.delenv(variable)
            uninstall(agent)
            assert changed(before, kept(home)) == set()

    def test_a_file_that_is_gone_needs_no_uninstall(self, home: Path) -> None:
        install("gemini")
        shutil.rmtree(home / ".gemini")
        assert "no entries of ours" in uninstall("gemini")
        assert not (home / ".gemini").exists()
        assert records(home) == []

    def test_the_file_as_it_was_before_the_first_install_is_kept(self, home: Path) -> None:
        original = b'{\n  "model": "opus"\n}\n'
        put(home, "claude-code", original)
        install("claude-code")
        folder_hook(user_hooks(home), "later", "exit 0", "pre-agent-turn")
        said = install("claude-code")
        backup = Path(said.partition("backup: ")[2].partition("\n")[0].replace("~", str(home), 1))
        backups = [path.read_bytes() for path in backup.parent.iterdir()]
        assert original in backups


class TestSeveralAgents:
    """Each has its own entries."""

    def test_a_second_agent_leaves_the_first_alone(self, home: Path) -> None:
        for agent in SETTINGS:
            before = kept(home)
            install(agent)
            top = SETTINGS[agent].partition("/")[0]
            assert {path.split("/")[1] for path in changed(before, kept(home))} == {top}
        before = kept(home)
        uninstall("codex")
        assert {path.split("/")[1] for path in changed(before, kept(home))} == {".codex"}
        assert len(records(home)) == len(SETTINGS) - 1
        uninstall()
        assert records(home) == []
        assert [agent for agent, path in SETTINGS.items() if (home / path).exists()] == []


@pytest.mark.parametrize("agent", PLUGINS)
class TestPlugin:
    """A file that is ours as a whole."""

    def test_is_written_and_removed_with_the_folders_made_for_it(self, home: Path, agent: str) -> None:
        before = kept(home)
        install(agent)
        assert (home / PLUGINS[agent]).read_bytes().count(BRIDGE) == 3
        assert "nothing changed" in install(agent)
        uninstall(agent)
        assert changed(before, kept(home)) == set()

    def test_comes_back_if_it_was_changed(self, home: Path, agent: str) -> None:
        install(agent)
        path = home / PLUGINS[agent]
        whole = path.read_bytes()
        path.write_bytes(whole + b"// mine\n")
        assert "not the plug-in of this version" in tenterhook("doctor", agent).stdout
        assert "nothing changed" not in install(agent)
        assert path.read_bytes() == whole

    def test_is_shown_whole_only_if_asked_for_or_edited(self, home: Path, agent: str) -> None:
        path = home / PLUGINS[agent]
        assert "ENTRIES" in tenterhook("install", agent, "--dry-run").stdout
        said = install(agent)
        assert f"+++ {path} (a plug-in of {len(path.read_bytes().splitlines())} lines" in said
        assert "ENTRIES" not in said
        assert "ENTRIES" in tenterhook("uninstall", agent, "--dry-run").stdout
        path.write_bytes(path.read_bytes() + b"// mine\n")
        assert "-// mine" in uninstall(agent)
        install(agent)
        said = uninstall(agent)
        assert f"--- {path} (a plug-in of" in said
        assert "ENTRIES" not in said

    def test_goes_without_a_record(self, home: Path, agent: str) -> None:
        install(agent)
        shutil.rmtree(home / ".local")
        uninstall(agent)
        assert not (home / PLUGINS[agent]).exists()

    def test_of_another_person_is_refused_and_stays(self, home: Path, agent: str) -> None:
        path = home / PLUGINS[agent]
        path.parent.mkdir(parents=True)
        path.write_bytes(b"// mine\n")
        before = kept(home)
        assert f"{path}: line 1: a file of this name exists that is not ours" in refused("install", agent)
        assert kept(home) == before
        assert records(home) == []


class TestProject:
    """Settings of a project rather than of a person."""

    FILES = {
        "claude-code": ".claude/settings.local.json",
        "codex": ".codex/hooks.json",
        "gemini": ".gemini/settings.json",
        "qwen": ".qwen/settings.json",
        "copilot": ".github/hooks/tenterhook.json",
        "droid": ".factory/settings.json",
        "pi": ".pi/extensions/tenterhook.ts",
        "vibe": ".vibe/hooks.toml",
        "openhands": ".openhands/hooks.json",
        "cline": ".cline/plugins/tenterhook.js",
        "opencode": ".opencode/plugins/tenterhook.js",
        "cursor": ".cursor/hooks.json",
        "goose": ".agents/plugins/tenterhook/hooks/hooks.json",
    }
    MORE = {
        "codex": {"home/.codex/config.toml"},
        "cline": {"project/.cline/hooks/PreToolUse.zsh", "project/.cline/hooks/PostToolUse.zsh"},
    }

    @pytest.mark.parametrize("agent", FILES)
    def test_is_installed_into_and_left_as_it_was(self, home: Path, project: Path, agent: str) -> None:
        (project / ".git").mkdir()
        inner = project / "src"
        inner.mkdir()
        before = kept(home)
        ended = tenterhook("install", agent, "--project", cwd=inner)
        assert ended.returncode == 0, ended.stderr
        assert (project / self.FILES[agent]).read_bytes().count(BRIDGE) == entries(agent)
        written = {path for path, found in kept(home).items() if found[0] == "file"} - before.keys()
        assert written == {f"project/{self.FILES[agent]}"} | self.MORE.get(agent, set())
        ended = tenterhook("uninstall", agent, "--project", "--yes", cwd=inner)
        assert ended.returncode == 0, ended.stderr
        assert changed(before, kept(home)) == set()

    @pytest.mark.parametrize("agent", ["kimi-code", "kimi-cli"])
    def test_is_refused_where_the_agent_has_no_such_settings(self, home: Path, agent: str) -> None:
        before = kept(home)
        said = refused("install", agent, "--project")
        assert "has no settings of a project" in said
        assert f"tenterhook install {agent}" in said
        assert kept(home) == before

    def test_is_apart_from_the_persons_own(self, home: Path, project: Path) -> None:
        install("gemini")
        own = (home / SETTINGS["gemini"]).read_bytes()
        install("gemini", "--project")
        assert len(records(home)) == 2
        uninstall("gemini", "--project")
        assert (home / SETTINGS["gemini"]).read_bytes() == own
        assert records(home) == ["gemini.json"]


YAML = sorted((Path(__file__).parent / "settings" / "hermes").iterdir())


class TestPluginThatIsEnabled:
    """A plug-in of ours is written whole, and its name is in a list of the person's settings."""

    PLUGIN = (".hermes/plugins/tenterhook/__init__.py", ".hermes/plugins/tenterhook/plugin.yaml")
    CONFIG = ".hermes/config.yaml"

    def config(self, home: Path, content: bytes) -> Path:
        path = home / self.CONFIG
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    @pytest.mark.parametrize("file", YAML, ids=lambda file: file.stem)
    def test_hand_made_settings_survive_byte_for_byte(self, home: Path, file: Path) -> None:
        path = self.config(home, file.read_bytes())
        path.chmod(0o640)
        before = kept(home)
        said = install("hermes")
        installed = kept(home)
        folders = {"home/.hermes/plugins", "home/.hermes/plugins/tenterhook"}
        assert changed(before, installed) == folders | {f"home/{each}" for each in (*self.PLUGIN, self.CONFIG)}
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert f"+++ {path} (then)" in said
        assert "nothing changed" in install("hermes")
        assert kept(home) == installed
        uninstall("hermes")
        assert changed(before, kept(home)) == set()
        assert records(home) == []

    def test_nothing_is_left_where_nothing_was(self, home: Path) -> None:
        before = kept(home)
        install("hermes")
        bytecode = home / ".hermes/plugins/tenterhook/__pycache__/__init__.cpython-313.pyc"
        bytecode.parent.mkdir()
        bytecode.write_bytes(b"written by Hermes")
        uninstall("hermes")
        assert changed(before, kept(home)) == set()

    def test_a_linked_file_stays_a_link(self, home: Path) -> None:
        path = self.config(home, b"a: 1\n")
        (home / "dotfiles").mkdir()
        path.rename(home / "dotfiles" / "config.yaml")
        path.symlink_to("../dotfiles/config.yaml")
        before = kept(home)
        install("hermes")
        assert path.is_symlink()
        assert b"- tenterhook" in path.read_bytes()
        uninstall("hermes")
        assert changed(before, kept(home)) == set()

    def test_what_cannot_be_edited_is_refused_with_its_line_and_nothing_is_written(self, home: Path) -> None:
        path = self.config(home, b"a: 1\nplugins:\n  enabled: all\n")
        before = kept(home)
        said = refused("install", "hermes")
        assert f"{path}: line 3: `plugins.enabled` cannot be edited" in said
        assert "add tenterhook to it yourself" in said
        assert kept(home) == before

    def test_a_name_that_was_there_already_stays(self, home: Path) -> None:
        path = self.config(home, b"plugins: {enabled: [tenterhook]}\n")
        install("hermes")
        uninstall("hermes")
        assert path.read_bytes() == b"plugins: {enabled: [tenterhook]}\n"

    def test_an_agent_that_wrote_its_yaml_anew(self, home: Path) -> None:
        path = self.config(home, b"# mine\nmodel: x\n")
        install("hermes")
        path.write_bytes(b"model: x\nplugins:\n  enabled:\n  - tenterhook\n  - later\nnew: 1\n")
        assert "nothing changed" in install("hermes")
        uninstall("hermes")
        assert path.read_bytes() == b"model: x\nplugins:\n  enabled:\n  - later\nnew: 1\n"

    def test_without_a_record_the_plugin_and_its_name_go_all_the_same(self, home: Path) -> None:
        path = self.config(home, b"plugins:\n  enabled: [other]\n")
        install("hermes")
        shutil.rmtree(home / ".local")
        uninstall("hermes")
        assert path.read_bytes() == b"plugins:\n  enabled: [other]\n"
        assert not (home / self.PLUGIN[0]).exists()

    def test_a_plugin_of_somebody_else_with_our_name_is_refused(self, home: Path) -> None:
        plugin = home / self.PLUGIN[0]
        plugin.parent.mkdir(parents=True)
        plugin.write_text("def register(ctx): pass\n")
        before = kept(home)
        assert "a file of this name exists that is not ours" in refused("install", "hermes")
        assert kept(home) == before

    def test_a_home_that_is_named_elsewhere_now_is_found_again(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = kept(home)
        monkeypatch.setenv("HERMES_HOME", str(home / "elsewhere"))
        install("hermes")
        assert (home / "elsewhere" / "config.yaml").exists()
        monkeypatch.delenv("HERMES_HOME")
        uninstall("hermes")
        assert changed(before, kept(home)) == set()

    def test_the_file_as_it_was_before_the_first_install_is_kept(self, home: Path) -> None:
        self.config(home, b"model: opus\n")
        install("hermes")
        backups = home / ".local/state/tenterhook/installed/backups"
        assert [path.read_bytes() for path in backups.iterdir()] == [b"model: opus\n"]
