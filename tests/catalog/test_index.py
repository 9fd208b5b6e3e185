"""The compiled index: what it settles is true, it notices every change, and nobody else can have written it."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.changes import CHANGES, guard, indexed, trusted
from support import array_hook, folder_hook, project_hooks, tenterhook, until, user_hooks, write_config
from tenterhook import Event, Hook
from tenterhook.agents import AGENTS, FORMATS
from tenterhook.basics import places
from tenterhook.catalog import index, loading
from tenterhook.catalog.catalog import Catalog
from tenterhook.catalog.snapshot import Snapshot
from tenterhook.catalog.trust import Trust
from tenterhook.dispatch import dispatch
from tenterhook.engine import matching
from tenterhook.errors import HookError
from tenterhook.events import EVENTS, TOOL_NAMES
from tenterhook.formats import expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Change = Callable[[Path, Path], object]  # home, project

# ---- what it settles

TOOLS = [*(name for group in TOOL_NAMES for name in group), "apply_patch", "", "Bash\n", "X"]
MCP_TOOLS = ["mcp__files__write", "mcp_files_write", "files___write", "files-write", "a-b-files-x_write", "mcp__x____y"]
MCP_TOOLS += ["files/write"]
TOOLS += MCP_TOOLS
EXPRESSIONS = [
    *(
        "Shell",
        "^Bash$",
        "Write|Edit",
        "^(Bash|Edit)$",
        "Shell$",
        "^run",
        "apply_patch",
        "",
        "^$",
        "X|",
        "mcp__",
        "WriteFile",
    ),
    *(
        "mcp:files/",
        "^mcp:files/write$",
        ":files",
        "/write",
        "_files",
        "files_",
        "s__w",
        "^mcp",
        "cp",
        "^files",
        "write$",
    ),
    *("mcp:.*/write", "mcp__files__.*", "(mcp:|_)files", "p:f", "b-files/"),
    *(".*", "^Ba.h$", "[A-Z]", "(?i)SHELL", r"\w+_\w+", "Bash|.x"),
]
PATTERNS = [
    *("rm", "^rm$", "rm$", "^src/a", "Makefile", "^Makefile$", "true", "^1$", "null", "", "hello", "^$"),
    *(r"\.py$", "r+m", "^.$", "(?i)RM"),
]
TEXTS = ["rm", "rm\n", "rm -rf", "a rm", "src/a.py", "Makefile", "hello", "", "true", "*** Add File: Makefile\n+x"]

tools = st.sampled_from(TOOLS)
scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([1.0, 0.5]) | st.sampled_from(TEXTS)
inputs = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["command", "cmd", "path", "file_path", "content", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def hooks(draw: st.DrawFn) -> Hook:
    """A hook as some format's reader makes it."""
    spec = draw(st.sampled_from([*EVENTS, *(spec for spec in EVENTS if spec.has_tool)]))
    format_ = draw(st.sampled_from(["folder", "table", "array", *FORMATS]))
    alone = format_ == "array" or format_ in FORMATS
    expression = st.none() | st.sampled_from(EXPRESSIONS)
    has_target = alone and not spec.has_tool
    return Hook(
        "hook",
        spec.name,
        spec.name,
        format_,
        tool=None if has_target else draw(expression),
        pattern=None if alone else draw(st.none() | st.sampled_from(PATTERNS)),
        target=draw(expression) if has_target else None,
        dialect="javascript" if alone and draw(st.booleans()) else "python",
        async_=draw(st.booleans()),
        never_matches=draw(st.sampled_from([False, False, False, True])),
        command="true",
    )


def made(found: Sequence[Hook]) -> index.Index:
    """An index of these hooks, through the bytes that are kept."""
    catalog = Catalog("/", (), tuple(found), (), (), Trust("/"))
    read: index.Index = marshal.loads(index._made(catalog, [], Snapshot("/", [], "/nonexistent")))
    return read


def reached(found: Sequence[Hook], event: Event) -> list[Hook]:
    """What the engine's plan reaches."""
    plan = matching.plan(matching.OrderedHooks(found), event)
    planned = [hook for stage in plan.stages for hook in stage.hooks] + list(plan.background)
    return [each.hook for each in matching.MatcherSearch(event).reached(planned)]


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(
    found=st.lists(hooks(), max_size=4),
    event=st.sampled_from(EVENTS),
    tool=st.none() | tools,
    tool_input=st.none() | inputs,
)
def test_what_is_said_to_reach_nothing_reaches_nothing(
    found: list[Hook], event: Any, tool: str | None, tool_input: Any
) -> None:
    if index.reaches_nothing(made(found), event.name, tool, tool_input):
        assert reached(found, Event(event.name, tool_name=tool, tool_input=tool_input)) == []


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(
    found=st.lists(hooks(), min_size=1, max_size=3),
    host=st.sampled_from(list(AGENTS)),
    which=st.integers(min_value=0),
    tool=tools,
    tool_input=inputs | inputs.map(json.dumps),
    more=st.dictionaries(
        st.sampled_from(["agentId", "prompt", "tool_name", "toolName", "tool_input"]), scalars, max_size=2
    ),
)
def test_what_an_agent_sends_reaches_nothing_either_if_the_index_says_so(
    found: list[Hook], host: str, which: int, tool: str, tool_input: Any, more: dict[str, Any]
) -> None:
    """The short way looks at the payload as it came; the engine at the event that was made of it."""
    natives = list(AGENTS[host].events)
    native = natives[which % len(natives)]
    payload: dict[str, Any] = {"session_id": "s", "sessionId": "s", "cwd": "/"}
    if host != "copilot":
        payload |= {"tool_name": tool, "tool_input": tool_input, **more}
    else:
        key = "toolInput" if native == "permissionRequest" else "toolArgs"
        payload |= {
            "toolName": tool,
            key: tool_input,
            **{key: value for key, value in more.items() if key == "agentId"},
        }
    seen = dispatch._matched_values(payload)
    if seen is not None and index.reaches_nothing(made(found), AGENTS[host].events[native], *seen):
        event = AGENTS[host].read_event(payload, native).event
        assert reached(found, event) == []


@pytest.mark.parametrize("host", AGENTS)
@pytest.mark.parametrize(
    "context", [{}, {"mcp_context": {"server_name": "files", "tool_name": "a long name"}}], ids=bool
)
def test_a_tool_of_an_mcp_server_is_not_passed_over_under_its_other_names(host: str, context: dict[str, Any]) -> None:
    native = next(name for name, event in AGENTS[host].events.items() if event == "pre-tool-call")
    for expression in [*EXPRESSIONS, "long"]:
        hook = Hook("hook", "pre-tool-call", "pre-tool-call", "table", tool=expression, command="true")
        known = made([hook])
        for tool in MCP_TOOLS:
            payload = {"toolName" if host == "copilot" else "tool_name": tool, "cwd": "/", **context}
            seen = dispatch._matched_values(payload)
            if seen is not None and index.reaches_nothing(known, "pre-tool-call", *seen):
                event = AGENTS[host].read_event(payload, native).event
                assert reached([hook], event) == [], (expression, tool)


PIECES = [
    *("ab", "rm", "x", "-", r"\.", r"\(", r"\]", r"\b", r"\w", r"\d", r"\s", "[ab]", "[^a]", r"[\]x]", ".", "^", "$"),
    *(
        "(",
        "(?:",
        ")",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{0}",
        "{0,1}",
        "{,2}",
        "{1,}",
        "{",
        "}",
        "]",
        "é",
        "(?i)",
        "(?=",
        r"\x61",
    ),
]


@settings(max_examples=600, deadline=None, database=None, derandomize=True)
@given(
    expression=st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join),
    texts=st.lists(st.lists(st.sampled_from([*"abrmx.(]1 -é{}2,", "ab", "rm"]), max_size=8).map("".join), max_size=6),
    dialect=st.sampled_from([expressions.PYTHON, expressions.JAVASCRIPT]),
)
def test_no_expression_is_thought_to_find_nothing_where_it_finds_something(
    expression: str, texts: list[str], dialect: str
) -> None:
    try:
        search = expressions.search(dialect, expression)
    except HookError:
        return
    guards = [Hook("hook", "pre-tool-call", "pre-tool-call", "folder", pattern=expression, dialect=dialect)]
    guards += [Hook("hook", "pre-tool-call", "pre-tool-call", "array", tool=expression, dialect=dialect)]
    for text in texts:
        if search(text):
            assert not index.reaches_nothing(made(guards[:1]), "pre-tool-call", "Bash", {"command": text})
            assert not index.reaches_nothing(made(guards[1:]), "pre-tool-call", text, {})


def test_words_are_settled_and_expressions_are_not() -> None:
    """Else it would be of no use."""
    only_shell = Hook("hook", "pre-tool-call", "pre-tool-call", "folder", tool="Shell", pattern="rm")
    settled = made([only_shell])
    assert index.reaches_nothing(settled, "pre-tool-call", "Read", {"file_path": "rm"})
    assert index.reaches_nothing(settled, "pre-tool-call", "Bash", {"command": "ls"})
    assert index.reaches_nothing(settled, "post-tool-call", "Bash", {"command": "rm"})
    assert not index.reaches_nothing(settled, "pre-tool-call", "Bash", {"command": "rm"})
    assert not index.reaches_nothing(made([only_shell._replace(tool="[RS].*")]), "pre-tool-call", "Read", {"x": "rm"})


# ---- what it is made from


def test_a_catalog_of_the_index_is_the_one_that_was_loaded(root: str, config: Path) -> None:
    (Path(root) / ".agents" / "hooks" / "theirs" / "HOOK.md").write_text("no front matter")  # a problem is kept as well
    kept = index.catalog(indexed(root, [str(config)]))
    loaded = loading.load(root, [str(config)])
    assert kept.hooks == loaded.hooks
    assert kept.problems == loaded.problems
    assert kept.problems
    assert [type(each) for each in kept.hooks[0]] == [type(each) for each in loaded.hooks[0]]
    assert (kept.root, kept.debug) == (loaded.root, loaded.debug)
    assert {hook.name for hook in kept.hooks} >= {"guard", "second"}


def test_every_layer_is_in_it(home: Path, project: Path, tmp_path: Path) -> None:
    managed = tmp_path / "managed"
    folder_hook(managed, "rule", "exit 2")
    loaded = index.load(str(project), managed=str(managed))
    until(lambda: (index.load(str(project), managed=str(managed)), index.read(str(project)))[1])
    kept = index.read(str(project))
    assert kept is not None
    assert [(hook.layer, hook.name) for hook in index.catalog(kept).hooks] == [
        (hook.layer, hook.name) for hook in loaded.hooks
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(root: str, home: Path, config: Path, change: str) -> None:
    CHANGES[change](home, Path(root))
    assert index.read(root, [str(config)]) is None


REPAIRS: dict[str, tuple[Change, Change]] = {
    "a script comes": (
        lambda home, _: (guard(home) / "scripts" / "run.sh").unlink(),
        lambda home, _: (guard(home) / "scripts" / "run.sh").write_text("#!/bin/sh\nexit 2\n"),
    ),
    "a folder is its owner's alone again": (
        lambda home, _: (guard(home) / "scripts").chmod(0o777),
        lambda home, _: (guard(home) / "scripts").chmod(0o755),
    ),
    "what stood in for it is gone": (
        lambda home, _: folder_hook(home / ".config" / "kimi" / "hooks", "guard", "exit 0"),
        lambda home, _: (guard(home) / "scripts" / "run.sh").unlink(),
    ),
}


@pytest.mark.parametrize("repair", REPAIRS)
def test_a_hook_that_comes_into_force_is_noticed(root: str, home: Path, config: Path, repair: str) -> None:
    before, after = REPAIRS[repair]
    before(home, Path(root))
    indexed(root, [str(config)])
    after(home, Path(root))
    assert index.read(root, [str(config)]) is None


def test_trust_that_is_taken_back_is_noticed(root: str, config: Path) -> None:
    trusted()
    indexed(root, [str(config)])
    assert tenterhook("untrust", "theirs", "--yes").returncode == 0
    assert index.read(root, [str(config)]) is None


def test_settings_that_lose_their_trust_with_the_repository_are_noticed(home: Path, project: Path) -> None:
    """Trust is bound to the repository, so another one at the same place has none."""
    folder_hook(project_hooks(project), "theirs", "exit 2")
    (project_hooks(project) / "hooks.toml").write_text('[[hooks.disable]]\nname = "theirs"\n')
    trusted()
    kept = index.catalog(indexed(str(project), []))
    assert [hook.name for hook in kept.hooks] == []
    (project / ".git").mkdir()
    assert [hook.name for hook in loading.load(str(project)).hooks] == ["theirs"]
    assert index.read(str(project)) is None


def test_what_has_nothing_to_do_with_hooks_changes_nothing(root: str, home: Path, config: Path) -> None:
    (Path(root) / "code.py").write_text("x")
    (home / "file").write_text("x")
    (home / ".config" / "other").mkdir()
    (user_hooks(home) / "data").mkdir()
    (user_hooks(home) / "audit.log").write_text("one\n")
    indexed(root, [str(config)])
    (user_hooks(home) / "data" / "more").touch()
    (user_hooks(home) / "audit.log").write_text("one\ntwo\n")
    assert index.read(root, [str(config)]) is not None


def test_what_changed_a_moment_ago_is_not_kept(home: Path, project: Path) -> None:
    """A second change in the same tick of the clock would look like the first."""
    folder_hook(user_hooks(home), "guard", "exit 2")

    def is_kept() -> bool:
        os.utime(guard(home) / "HOOK.md")
        index.load(str(project))
        return index.read(str(project)) is not None

    assert not all(is_kept() for _ in range(20))  # on a busy machine the moment may have passed


def test_every_project_and_every_list_of_files_has_its_own(home: Path, project: Path) -> None:
    one = write_config(home / "one.toml", array_hook("true"))
    two = write_config(home / "two.toml", array_hook("true", event="Stop"))
    both = write_config(
        Path(f"{one} {two}"), array_hook("true", event="SessionStart")
    )  # one path, which reads like two
    lists = [[str(each) for each in configs] for configs in ([], [one], [two], [one, two], [both])]
    for configs in lists:
        found = index.catalog(indexed(str(project), configs))
        assert [hook.source for hook in found.hooks] == configs
    for configs in lists:
        kept = index.read(str(project), configs)
        assert kept is not None
        assert [hook.source for hook in index.catalog(kept).hooks] == configs


# ---- who wrote it


def kept_in(home: Path) -> Path:
    (file,) = (home / ".cache" / "tenterhook" / "index").iterdir()
    return file


def resaved(home: Path, **changes: Any) -> None:
    found = marshal.loads(kept_in(home).read_bytes())
    kept_in(home).write_bytes(marshal.dumps({**found, **changes}))


def linked(home: Path) -> None:
    file = kept_in(home)
    file.rename(home / "moved")
    file.symlink_to(home / "moved")


def linked_directory(home: Path) -> None:
    directory = kept_in(home).parent
    directory.rename(home / "moved")
    directory.symlink_to(home / "moved")


def special(home: Path, make: Callable[[Path], object]) -> None:
    file = kept_in(home)
    file.unlink()
    make(file)


SPOILS: dict[str, Callable[[Path], object]] = {
    "writable by the group": lambda home: kept_in(home).chmod(0o620),
    "writable by others": lambda home: kept_in(home).chmod(0o602),
    "in a directory of the group": lambda home: kept_in(home).parent.chmod(0o770),
    "in a directory of everybody": lambda home: kept_in(home).parent.chmod(0o777),
    "a link": linked,
    "in a linked directory": linked_directory,
    "a pipe": lambda home: special(home, os.mkfifo),
    "a directory": lambda home: special(home, Path.mkdir),
    "gone": lambda home: kept_in(home).unlink(),
    "empty": lambda home: kept_in(home).write_bytes(b""),
    "garbage": lambda home: kept_in(home).write_bytes(b"\xff" * 500),
    "text": lambda home: kept_in(home).write_bytes(b'{"made_by": 1}'),
    "another kind of value": lambda home: kept_in(home).write_bytes(marshal.dumps([1, 2])),
    "no value": lambda home: kept_in(home).write_bytes(marshal.dumps(None)),
    "from another version": lambda home: resaved(home, made_by=(1, "0.0.0", sys.hexversion)),
    "from another Python": lambda home: resaved(home, made_by=(*index._MADE_BY[:2], 1)),
    "another project's": lambda home: resaved(home, root="/elsewhere"),
    "without its files": lambda home: resaved(home, files=None),
    "with other places": lambda home: resaved(home, places=[("/", (0,))]),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_an_index_that_cannot_be_believed_is_not(root: str, home: Path, config: Path, spoil: str) -> None:
    SPOILS[spoil](home)
    assert index.read(root, [str(config)]) is None
    loaded = index.load(root, [str(config)])  # which then works without it
    assert "guard" in [hook.name for hook in loaded.hooks]


def test_an_index_cut_off_anywhere_is_none(root: str, home: Path, config: Path) -> None:
    whole = kept_in(home).read_bytes()
    for length in range(0, len(whole), 97):
        kept_in(home).write_bytes(whole[:length])
        assert index.read(root, [str(config)]) is None
    kept_in(home).write_bytes(whole)
    assert index.read(root, [str(config)]) is not None


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(data=st.binary(max_size=80))
def test_no_bytes_are_an_index(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    places.FIXED["cache"] = str(tmp_path_factory.getbasetemp() / "any-bytes")
    try:
        file = Path(index._file("/", ()))
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_bytes(data)
        assert index.read("/") is None
    finally:
        del places.FIXED["cache"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("what", ["file", "directory"])
def test_an_index_of_another_account_is_not_believed(root: str, home: Path, config: Path, what: str) -> None:
    file = kept_in(home)
    os.chown(file if what == "file" else file.parent, 12345, -1)
    assert index.read(root, [str(config)]) is None


def test_it_is_private(root: str, home: Path) -> None:
    assert kept_in(home).stat().st_mode & 0o777 == 0o600
    assert kept_in(home).parent.stat().st_mode & 0o777 == 0o700


def test_a_reader_sees_the_old_one_or_the_new_one_whole(root: str, home: Path, config: Path) -> None:
    code = "import sys; from tenterhook.catalog import index\nfor _ in range(60): index.load(sys.argv[1], sys.argv[2:])"
    writers = [subprocess.Popen([sys.executable, "-c", code, root, str(config)]) for _ in range(2)]
    while any(writer.poll() is None for writer in writers):
        assert index.read(root, [str(config)]) is not None
    assert [writer.returncode for writer in writers] == [0, 0]
    assert kept_in(home)  # and nothing half-written beside it


def test_without_a_place_for_it_hooks_are_loaded_each_time(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    (home / ".cache").write_text("")
    for _ in range(2):
        assert [hook.name for hook in index.load(str(project)).hooks] == ["guard"]
        assert index.read(str(project)) is None


@pytest.mark.parametrize("kind", ["config", "state"])
def test_each_place_that_install_wrote_down_has_its_own(
    home: Path, project: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    monkeypatch.setitem(places.FIXED, "cache", str(home / "cache"))
    assert [hook.name for hook in index.catalog(indexed(str(project), [])).hooks] == ["guard"]
    (home / "elsewhere").mkdir()
    monkeypatch.setitem(places.FIXED, kind, str(home / "elsewhere"))
    assert index.read(str(project)) is None


def test_a_commit_changes_nothing(home: Path, project: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    indexed(str(project), [])
    (project / "code.py").write_text("x")
    subprocess.run([*git, "add", "code.py"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    assert index.read(str(project)) is not None
