"""docs/writing-hooks.md says what is so: every example is executed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from authoring.trying import BOOT, case, differing, hook, tenterhook, tried
from support import folder_hook, project_hooks
from tenterhook.authoring import expectations
from tenterhook.authoring.cases import CASE, FILE

PAGE = (Path(__file__).parents[2] / "docs" / "writing-hooks.md").read_text()
CALL = ("--tool", "Shell", "--input", '{"command": "ls"}')


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def rows(header: str) -> list[list[str]]:
    """A table's rows as cells, by the first cell of its header."""
    table = PAGE.partition(f"\n| {header} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()[2:]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `tenterhook` is a command."""
    command = tmp_path / "bin" / "tenterhook"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\n{BOOT}")
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}


def settled(output: str) -> str:
    return re.sub(r" +\d+\.\d ms", " N ms", output)


def test_console_examples_print_what_they_show(environment: dict[str, str], home: Path, project: Path) -> None:
    count = 0
    for block in blocks("console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = step.splitlines()
            length = next((n for n, line in enumerate(lines[1:], 1) if not line.startswith("> ")), len(lines))
            command = "\n".join([lines[0], *(line[2:] for line in lines[1:length])])
            ended = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, cwd=project, env=environment
            )
            assert settled(ended.stdout) == settled("".join(f"{line}\n" for line in lines[length:])), ended.stderr
            assert "Traceback" not in ended.stderr
            count += 1
    assert count == 7


def test_shell_examples_run(environment: dict[str, str], home: Path, project: Path) -> None:
    (home / ".claude").mkdir()
    case(
        folder_hook(project_hooks(project), "theirs", "exit 2"),
        '[event]\ntool_name = "x"\n[expect]\ndecision = "deny"\n',
    )
    first, second = blocks("sh")
    for block in (first, second):
        for command in block.splitlines():
            ended = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, cwd=project, env=environment
            )
            assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    assert (project / "results.xml").exists()
    assert tried()["passed"] == 1  # trusted by now
    assert (home / ".claude" / "settings.json").exists()


@pytest.mark.parametrize(("script", "means"), [row[:2] for row in rows("the script")])
def test_what_a_script_does_means_what_the_table_says(script: str, means: str, home: Path, project: Path) -> None:
    hook(home, script.strip("`"))
    decision = re.match(r"`(\w+)`", means)
    assert decision is not None
    verdict = json.loads(tenterhook("trigger", "pre-tool-call", *CALL, "--json").stdout)
    assert verdict["decision"] == decision[1]
    answer = json.loads(found[0]) if (found := re.search(r"\{.*\}", script)) else {}
    assert verdict["modified_input"] == answer.get("modified_input")
    assert verdict["additional_context"] == ([answer["additional_context"]] if "additional_context" in answer else [])
    assert verdict["reason"] == answer.get("reason", "Not here." if "exit 2" in script else None)
    assert (verdict["runs"][0]["outcome"] == "failed") == ("it has failed" in means)


def test_a_failure_blocks_where_the_table_says_so(home: Path, project: Path) -> None:
    hook(home, "exit 1", metadata={"on_failure": "block"})
    assert json.loads(tenterhook("trigger", "pre-tool-call", *CALL, "--json").stdout)["decision"] == "deny"


FORMATTER = r"""
test "$STYLE" = strict && test -z "${CI+set}" && test -x bin/tool && test -d .git && grep -q 100 ~/.toolrc || exit 1
sed -i 's/ *$//' latest 2>/dev/null || exit 1
sed -i 's/ *$//' src/a.txt
echo 1 >>"$TENTERHOOK_STATE_DIR/count"
echo "{\"message\": \"formatted $PWD/src/a.txt\"}"
"""


def test_the_case_with_every_part_passes_and_can_fail(home: Path, project: Path) -> None:
    folder = hook(home, FORMATTER, "after_tool")
    text = blocks("toml")[0]
    case(folder, text)
    report = tried(env={**os.environ, "CI": "1"})
    assert report["passed"] == 1, report["cases"]
    for word in ("setup", "timeout", "[event]", "[env]", "[files]", "[expect]", "[expect.files]"):
        assert f"\n{word}" in text
    keys = {field.key for field in (*CASE, *FILE)}
    assert keys == set(re.findall(rf"\b({'|'.join(keys)})\b(?=\]| = |\.)", text)) | {"name"}
    script = folder / "scripts" / "run.sh"
    script.write_text(script.read_text().replace("src/a.txt\n", "src/b.txt\n"))
    (result,) = tried()["cases"]
    assert "files.src/a.txt" in differing(result) or "outcome" in differing(result)


def test_several_cases_in_one_file(home: Path, project: Path) -> None:
    case(hook(home, "exit 2", matcher={"pattern": "--force"}), blocks("toml")[1])
    report = tried()
    assert [each["case"] for each in report["cases"]] == ["a push with force", "a plain push"]
    assert report["passed"] == 2, report["cases"]


def test_the_table_has_every_expectation_with_its_default() -> None:
    found = {row[0].strip("`"): row[1] for row in rows("in `[expect]`")}
    assert list(found) == [field.key for field in expectations.FIELDS]
    for field in expectations.FIELDS:
        if field.choices:
            text = next(row[2] for row in rows("in `[expect]`") if row[0] == f"`{field.key}`")
            assert set(field.choices) <= set(re.findall(r"`(\w+)`", text)), field.key
    assert (found["runs"], found["decision"], found["unreadable"]) == ("`true`", "`none`", "`false`")
