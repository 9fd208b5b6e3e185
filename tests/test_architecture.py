"""Which package may import which, what the path of an event imports, and whether ARCHITECTURE.md is true."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import wrap

import pytest

from support import below_agent, tenterhook
from tools import figures, walks

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenterhook"
TESTS = ROOT / "tests"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"

# Each layer may import itself and those before it.
LAYERS = {
    "values and small tools": {"basics", "errors", "events", "model"},
    "what a shell line would do": {"shell"},
    "the built-in guards": {"guards"},
    "agents and hook formats": {"agents", "formats"},
    "what happened": {"journal"},
    "which hooks there are": {"catalog"},
    "an event to a verdict": {"engine"},
    "whether a tool call may run": {"approvals"},
    "the server and its clients": {"hub", "hub_client"},
    "agents of other frameworks": {"adapters"},
    "the bundled agent": {"bundled_agent"},
    "agents' settings; hook authors; packs": {"authoring", "install", "packs"},
    "what an agent runs; is it in force?": {"dispatch", "doctor"},
    "the entry point in settings": {"bridge"},
    "the command line": {"cli", "__main__"},
}
LAYER_OF = {module: number for number, layer in enumerate(LAYERS.values()) for module in layer}


def modules() -> list[Path]:
    scripts = SOURCE / "hooks"  # of hooks: they run by themselves
    return sorted(file for file in SOURCE.rglob("*.py") if scripts not in file.parents)


def imports(file: Path) -> set[str]:
    """The top-level parts of our own package that a file imports, type checking aside."""
    package = file.relative_to(SOURCE).parts[:-1]
    found: set[str] = set()
    tree = ast.parse(file.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in skipped:
            base = package[: len(package) - node.level + 1]
            if base:
                found.add(base[0])
            elif node.module:
                found.add(node.module.split(".")[0])
            else:
                found |= {alias.name for alias in node.names}
    return {name for name in found if name in LAYER_OF}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_one_way(file: Path) -> None:
    part = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part == "__init__":
        return
    assert part in LAYER_OF, "a new module needs its place in LAYERS"
    too_high = {name for name in imports(file) if LAYER_OF[name] > LAYER_OF[part]}
    assert not too_high


def drawn() -> str:
    """The layers as ARCHITECTURE.md shows them: each imports what stands below it."""
    rows = [f"{title:36} {'  '.join(sorted(names))}" for title, names in reversed(LAYERS.items())]
    return "\n".join(line for row in rows for line in wrap(row, 116, subsequent_indent=" " * 37))


def test_the_picture_of_the_layers_is_true() -> None:
    assert f"```text\n{drawn()}\n```" in ARCHITECTURE.read_text(), f"ARCHITECTURE.md should show:\n{drawn()}"


@pytest.mark.parametrize("name", walks.WALKS)
def test_the_lists_of_the_walks_are_what_a_trace_enters(name: str) -> None:
    traced = walks.block(name, walks.entered(name))
    assert traced in ARCHITECTURE.read_text(), f"python -m tools.walks --write makes it:\n{traced}"


def test_functions_that_the_architecture_names_are_there() -> None:
    named = re.findall(r"`(\w+)\.(\w+)`", ARCHITECTURE.read_text().split("## Three walks")[1].split("\n## ")[0])
    assert len(named) > 10
    for module, name in named:
        files = list(SOURCE.rglob(f"{module}.py"))
        found = [file for file in files if re.search(rf"^\s*(?:async )?(?:def|class) {name}\b", file.read_text(), re.M)]
        assert found, f"{module}.{name}"


def test_no_public_class_name_is_used_for_two_ideas() -> None:
    assert figures.ambiguous_names(figures.sources()) == []


def modules_of(statement: str) -> set[str]:
    """What a bare interpreter has loaded after a statement."""
    code = f"import sys; sys.path.append(sys.argv[1]); {statement}; print(*sys.modules)"
    bare = [sys.executable, "-I", "-S", "-c", code, str(SOURCE.parent)]
    return set(subprocess.run(bare, capture_output=True, text=True, check=True).stdout.split())


def test_an_engine_starts_without_what_only_people_need() -> None:
    loaded = modules_of("import tenterhook.engine.engine, tenterhook.catalog.loading")
    for_people = {"click", "rich", "regress", "asyncio", "difflib", "shutil"}
    heavy = {"typing", "dataclasses", "inspect", "subprocess", "yaml", "tomllib", "pathlib"}
    assert not (for_people | heavy) & loaded


def test_the_engine_alone_starts_without_expressions_json_and_enums() -> None:
    loaded = modules_of("import tenterhook.engine.engine")
    assert not {"re", "json", "enum", "functools", "contextlib", "signal"} & loaded


EVENT = '{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
SLOW_TO_IMPORT = {"re", "json", "enum", "typing", "tomllib", "hashlib", "difflib", "pathlib"}
FOR_PEOPLE = {"click", "rich", "pygments", "prompt_toolkit", "tenterhook.basics.terminal_layout", "tenterhook.cli"}


def loaded_by(*arguments: str | Path) -> set[str]:
    """What a program in Python has loaded when it has answered an event."""
    asked = [sys.executable, "-X", "importtime", *map(str, arguments)]
    return imported(subprocess.run(asked, input=EVENT, capture_output=True, text=True, check=True).stderr)


def imported(errors: str) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in errors.splitlines() if line.startswith("import time:")}


def test_an_event_that_an_agent_waits_for_loads_no_library_for_people(home: Path, project: Path) -> None:
    tenterhook("add", "block-dangerous-commands")
    tenterhook("install", "claude-code")
    record = home / ".local/state/tenterhook/installed/claude-code.json"
    options = ("--host", "claude-code", "--event", "PreToolUse", "--record", record)
    loaded = loaded_by("-I", "-S", SOURCE / "bridge.py", *options)
    assert "tenterhook.guards.block_dangerous_commands" in loaded
    assert not FOR_PEOPLE & loaded


def test_guards_judge_ordinary_lines_and_ask_without_what_is_slow_to_import(home: Path, project: Path) -> None:
    tenterhook("add", "block-dangerous-commands", "protect-secrets", "infrastructure")
    tenterhook("install", "claude-code")
    record = home / ".local/state/tenterhook/installed/claude-code.json"
    bridge = shlex.join(
        (sys.executable, "-X", "importtime", "-I", "-S", f"{SOURCE}/bridge.py", "--host", "claude-code")
    )
    lines = (
        *("pwd", "pwd"),  # the first events of a session read the hooks
        *("grep -rn foo src", "find . -name '*.py' | head -20", "sed -n '1,120p' a.py", "cp a.txt b.txt", "docker ps"),
        *("git commit -m \"$(cat <<'EOF'\nfix: handle it\nEOF\n)\"", "git push --force", "ls"),
    )
    events = [shlex.quote(json.dumps({**json.loads(EVENT), "tool_input": {"command": line}})) for line in lines]
    begin = f"{bridge} --event SessionStart --record {record}"  # renews the agent's settings
    commands = [f"printf %s {event} | {bridge} --event PreToolUse --record {record}" for event in events]
    for line, ended in zip(lines, below_agent(begin, *commands), strict=True):
        assert ended.returncode == 0, ended.stderr
        needed = {"re", "enum"} if "push" in line else SLOW_TO_IMPORT if line == "pwd" else set[str]()
        assert not (SLOW_TO_IMPORT - needed) & imported(ended.stderr), line


def test_a_guard_that_a_script_runs_starts_without_rich(home: Path, project: Path) -> None:
    assert "rich" not in loaded_by("-m", "tenterhook", "guard", SOURCE / "hooks" / "block-dangerous-commands")


def agent_names() -> set[str]:
    from tenterhook.agents import AGENTS, FORMATS

    return {*AGENTS, *FORMATS}


# The table of agents' settings and programs; which formats settings are, and what `convert` knows of each as a target.
NAMING_AGENTS = {
    SOURCE / "agents",
    SOURCE / "basics" / "protected_places.py",
    SOURCE / "events.py",
    SOURCE / "authoring" / "convert",
}


@pytest.mark.parametrize(
    "file",
    [file for file in modules() if not NAMING_AGENTS & {file, *file.parents}],
    ids=lambda file: str(file.relative_to(SOURCE)),
)
def test_only_modules_of_agents_name_an_agent(file: Path) -> None:
    tree, names = [*ast.walk(ast.parse(file.read_text()))], agent_names()
    found: dict[int, object] = {
        node.lineno: node.value for node in tree if isinstance(node, ast.Constant) and node.value in names
    }
    for node in tree:  # one name in a list of words may be that of another program
        if isinstance(node, ast.Attribute) and node.attr == "split" and isinstance(node.value, ast.Constant):
            named = names & {*str(node.value.value).split()}
            if len(named) > 1:
                found[node.lineno] = named
    assert not found, "ask the agent's module instead"


@pytest.mark.parametrize(
    "file", [each for end in ("sh", "pl") for each in SOURCE.rglob(f"*.{end}") if SOURCE / "agents" not in each.parents]
)
def test_no_other_program_names_an_agent(file: Path) -> None:
    assert not set(re.findall(r"[\w-]+", file.read_text())) & agent_names()


# Modules of agents with the JSON of Claude Code's hooks, and of those that are known from documentation only.
LIKE_CLAUDE_CODE = ("claude_code", "codex", "gemini", "qwen", "droid", "goose", "cursor")


@pytest.mark.parametrize("file", sorted((SOURCE / "agents").glob("*.py")), ids=lambda file: file.stem)
def test_the_module_of_an_agent_is_short(file: Path) -> None:
    limit = 320 if file.stem == "protocol" else 120 if file.stem in LIKE_CLAUDE_CODE else 300
    assert len(file.read_text().splitlines()) <= limit


def test_an_event_imports_the_module_of_its_own_agent_and_nothing_for_people() -> None:
    loaded = modules_of("import tenterhook.agents; tenterhook.agents.AGENTS['codex'].read_event({}, 'PreToolUse')")
    of_agents = {name.rpartition(".")[2] for name in loaded if name.startswith("tenterhook.agents.")}
    assert of_agents == {"claude_json", "codex", "codex_settings", "protocol", "codec"}
    assert not {"re", "json", "typing", "subprocess", "tempfile", "tomllib", "shutil", "hashlib", "pathlib"} & loaded


def test_settings_of_every_agent_are_protected_and_its_tools_known() -> None:
    from tenterhook.agents import AGENTS
    from tenterhook.basics.protected_places import MOVED, PROTECTED
    from tenterhook.events import TOOL_NAMES

    known = {name for names in TOOL_NAMES for name in names}
    for agent in AGENTS.values():
        assert agent.variable is None or agent.variable in MOVED
        own = f"{agent.directory}/{agent.file}"
        for file in filter(None, (own, agent.project_file)):
            assert any(file == place or (place[-1] == "/" and file.startswith(place)) for place in PROTECTED), file
        if agent.dialect:
            assert set(agent.dialect.tools) <= known, agent.name


def test_starting_any_agent_without_its_hooks_is_refused() -> None:
    from tenterhook.agents import AGENTS
    from tenterhook.basics.protected_places import AGENT_PROGRAMS

    assert {name for agent in AGENTS.values() for name in agent.executables} <= AGENT_PROGRAMS


def test_every_problem_code_is_used_and_every_used_code_is_known() -> None:
    from tenterhook.errors import CODES

    used = set()
    for file in modules():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and file.name != "errors.py":
                used |= {node.value} & set(CODES)
    assert used == set(CODES)


def imported_test_modules(file: Path) -> set[str]:
    """The `test_*` modules that a file imports, or imports from."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.rpartition(".")[2].startswith("test_") and is_test_module(name)}


def is_test_module(name: str) -> bool:
    return (TESTS / f"{name.replace('.', '/')}.py").exists()


def test_no_test_imports_from_a_test_module() -> None:
    """What tests share is a fixture or in a module of helpers."""
    found = {str(file.relative_to(TESTS)): imported_test_modules(file) for file in sorted(TESTS.rglob("*.py"))}
    assert {file: sorted(names) for file, names in found.items() if names} == {}


def possessive_groups(expression: str) -> list[str]:
    """Return the groups of a regular expression that are repeated possessively, such as `(?:a|b)*+`."""
    found, opened, in_class = [], [], False
    for token in re.finditer(r"\\.|\[\^?\]?|\]|\(|\)(?:[*+?]|\{\d*,?\d*\})?\+?|.", expression, re.DOTALL):
        text = token.group()
        if in_class or text[0] == "\\":
            in_class = in_class and text != "]"
        elif text[0] == "[":
            in_class = True
        elif text == "(":
            opened.append(token.start())
        elif text[0] == ")" and opened:
            group = expression[opened.pop() : token.end()]
            found += [group] if len(text) > 2 and text.endswith("+") else []
    return found


def test_no_possessive_group_contains_a_lookahead() -> None:
    """Python before 3.11.5 goes on after what the lookahead has matched (CPython issue 106052)."""
    assert possessive_groups(r"a(?:[^)(]|\)(?!b))*+(?:c)+(d){2,}+") == [r"(?:[^)(]|\)(?!b))*+", "(d){2,}+"]
    wrong = []
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [part.value if isinstance(part, ast.Constant) else "x" for part in parts]
            if isinstance(node, ast.JoinedStr | ast.Constant) and all(isinstance(text, str) for text in texts):
                groups = possessive_groups("".join(map(str, texts)))
                wrong += [f"{file.name}: {group}" for group in groups if re.search(r"\(\?<?[=!]", group)]
    assert not wrong
