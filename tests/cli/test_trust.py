"""`tenterhook trust` shows what it trusts, every byte of it, and what is trusted runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, on_a_terminal, project_hooks, tenterhook, trigger, user_hooks
from tenterhook.basics import agent_marks, processes
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

DANGEROUS = ("--tool", "Shell", "--input", '{"command": "rm -rf /"}')
HIDDEN = {
    b"\f": "\\x0c",
    b"\v": "\\x0b",
    b"\r": "\\r",
    b"\x1b[2K": "\\x1b[2K",
    b"\x00": "\\x00",
    b"\x1c": "\\x1c",
    b"\x7f": "\\x7f",
    "\u0085".encode(): "\\u0085",
    "\u009b".encode(): "\\u009b",
    "\u2028".encode(): "\\u2028",
    "\u2029".encode(): "\\u2029",
    "\u202e".encode(): "\\u202e",
    "\u2066".encode(): "\\u2066",
    "\u200b".encode(): "\\u200b",
    "\ufeff".encode(): "\\ufeff",
    "\U000e0041".encode(): "\\U000e0041",
    b"\xe9": "\\xe9",
    b"\xff\xfe": "\\xff\\xfe",
}


@pytest.fixture
def guard(project: Path) -> Path:
    return folder_hook(project_hooks(project), "guard", "exit 0")


@pytest.fixture
def script(guard: Path) -> Path:
    return guard / "scripts" / "run.sh"


def trusted(*options: str, status: int = 0) -> str:
    ended = tenterhook("trust", "guard", "--yes", *options)
    assert ended.returncode == status, ended.stderr
    assert ended.stdout.replace("\n", "").isprintable()
    return ended.stdout + ended.stderr


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("hidden", HIDDEN, ids=HIDDEN.values())
def test_what_cannot_be_seen_is_written_out(script: Path, hidden: bytes) -> None:
    """What `trust` shows is what is trusted: characters that cannot be seen, that end a line in some programs, reverse
    text or move the cursor, and bytes that are not UTF-8, are written out."""
    script.write_bytes(b"#!/bin/sh\n# one" + hidden + b"two \\ three\nexit 0\n")
    assert f"\n  ! # one{HIDDEN[hidden]}two \\\\ three\n  | exit 0\n" in trusted()


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("hidden", HIDDEN, ids=HIDDEN.values())
def test_a_character_that_becomes_a_line_break_is_a_difference(script: Path, hidden: bytes) -> None:
    """A hook that was changed is trusted again only after each changed line was shown, also one in which a form feed, a
    carriage return or a Unicode line separator became a line break."""
    script.write_bytes(b"#!/bin/sh\n# harmless" + hidden + b"exit 0\n")
    trusted()
    script.write_bytes(b"#!/bin/sh\n# harmless\nexit 0\n")
    shown = trusted()
    assert f"\n  ! -# harmless{HIDDEN[hidden]}exit 0\n  | +# harmless\n  | +exit 0\n" in shown


def test_an_escape_that_becomes_the_character_is_a_difference(script: Path) -> None:
    script.write_bytes(b"#!/bin/sh\nprintf '\\x0c'\n")
    trusted()
    script.write_bytes(b"#!/bin/sh\nprintf '\x0c'\n")
    assert "\n  | -printf '\\x0c'\n  ! +printf '\\x0c'\n" in trusted()


def _cut_newline(folder: Path) -> None:
    (folder / "notes").write_text("notes")


def _link_elsewhere(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("notes")


def _become_link(folder: Path) -> None:
    (folder / "notes").unlink()
    (folder / "notes").symlink_to("empty")


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (_cut_newline, "  | -notes\n  | +notes\n  | \\ No newline at end of file\n"),
        (lambda folder: (folder / "notes").write_text(""), "  | -notes\n  (it is empty)\n"),
        (lambda folder: (folder / "empty").write_text("\n"), "  | +\n"),
        (lambda folder: (folder / "notes").chmod(0o755), "  --- notes executable (mode 755, was 644)\n"),
        (lambda folder: (folder / "notes").chmod(0o4755), "  --- notes executable (mode 4755, was 644)\n"),
        (lambda folder: (folder / "data").chmod(0o700), "  --- data/ (mode 700, was 755)\n"),
        (lambda folder: (folder / "data" / "more").mkdir(), "  --- data/more/ (added)\n"),
        (lambda folder: (folder / "new").touch(), "  --- new (added)\n  (it is empty)\n"),
        (lambda folder: (folder / "empty").unlink(), "  --- empty (removed)\n"),
        (_link_elsewhere, "  --- link (changed)\n  a link to notes\n"),
        (_become_link, "  --- notes (changed)\n  a link to empty\n"),
    ],
)
def test_every_kind_of_change_is_shown(guard: Path, change: Callable[[Path], object], shown: str) -> None:
    (guard / "notes").write_text("notes\n")
    (guard / "empty").touch()
    (guard / "link").symlink_to("empty")
    (guard / "data").mkdir()
    for name in ("notes", "empty"):
        (guard / name).chmod(0o644)
    (guard / "data").chmod(0o755)
    first = trusted()
    for part in ("  --- empty\n  (it is empty)\n", "  --- link\n  a link to empty\n", "  --- data/\n", "  | notes\n"):
        assert part in first
    change(guard)
    assert shown in trusted()


def test_an_unusual_mode_and_a_missing_newline_are_shown_at_once(guard: Path, script: Path) -> None:
    script.write_text("#!/bin/sh\nexit 0")
    script.chmod(0o4755)
    assert "run.sh executable (mode 4755)\n  | #!/bin/sh\n  | exit 0\n  \\ No newline at end of file\n" in trusted()


@pytest.mark.promise("a hostile repository")
def test_nothing_is_left_out(script: Path) -> None:
    """No line of a file is left out of what `trust` shows, however many there are and however long they are."""
    script.write_text("#!/bin/sh\n" + "".join(f"# {number}\n" for number in range(5000)) + f"# {'x' * 9999}y\n")
    shown = trusted()
    assert all(f"\n  | # {number}\n" in shown for number in range(5000))
    rows = [line[4:] for line in shown.split("\n") if line.startswith(("  | # x", "  > "))]
    assert "".join(rows) == f"# {'x' * 9999}y"


@pytest.mark.promise("a hostile repository")
def test_what_is_too_large_to_be_shown_is_refused(guard: Path, project: Path) -> None:
    """A file that is too large to be shown (1 MiB) cannot be trusted, with `--yes` or without."""
    (guard / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    shown = trusted(status=1)
    assert "guard/large is too large to be shown: more than 1 MiB" in shown
    assert not Trust(str(project)).knows(str(guard))
    (guard / "large").write_bytes(b"x" * 1024 * 1024)
    trusted()


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("goes_on", [True, False])
def test_on_a_terminal_a_long_file_is_shown_in_pages(script: Path, project: Path, goes_on: bool) -> None:
    """On a terminal a long file is shown in pages, and if you do not look at all of them, nothing is trusted."""
    script.write_text("#!/bin/sh\n" + "".join(f"# {number}\n" for number in range(300)) + "exit 0\n")
    answers = {b"There is more. Continue?": b"\n" if goes_on else b"n\n"}
    if goes_on:
        answers[b"Trust exactly this?"] = b"y\n"
    status, seen = on_a_terminal(["trust"], answers)
    assert status == (0 if goes_on else 1)
    assert (b"# 299\r\n" in seen) is goes_on
    assert Trust(str(project)).knows(str(script.parent.parent)) is goes_on


def test_what_is_shown_is_what_is_on_disk(project: Path, guard: Path) -> None:
    os.symlink("scripts", guard / "li\u202enk\n")
    assert "  --- li\\u202enk\\n\n  a link to scripts\n" in trusted()


@pytest.fixture
def theirs(project: Path) -> Path:
    return folder_hook(project_hooks(project), "theirs", "echo theirs >&2; exit 2")


def fire() -> subprocess.CompletedProcess[str]:
    return tenterhook("trigger", "pre-tool-call", *DANGEROUS)


def test_an_untrusted_hook_is_said_on_stderr_with_the_remedy(theirs: Path) -> None:
    ended = fire()
    assert ended.returncode == 0
    assert "1 hook was not run" in ended.stderr
    assert "tenterhook trust" in ended.stderr


def test_trust_shows_what_it_trusts_and_untrust_takes_it_back(theirs: Path) -> None:
    shown = tenterhook("trust", "theirs", "--yes").stdout
    assert "echo theirs" in shown
    assert "outside its folder is not covered" in shown
    assert fire().returncode == 2
    assert tenterhook("untrust", "theirs", "--yes").returncode == 0
    assert fire().returncode == 0


def test_trust_again_shows_the_difference(theirs: Path) -> None:
    tenterhook("trust", "--all", "--yes")
    script = theirs / "scripts" / "run.sh"
    script.write_text(script.read_text().replace("theirs", "changed"))
    shown = tenterhook("trust", "--all", "--yes").stdout
    assert "-echo theirs" in shown
    assert "+echo changed" in shown
    assert "HOOK.md" not in shown


def test_trust_project_is_for_one_call_and_replaces_nothing(theirs: Path, home: Path) -> None:
    folder_hook(user_hooks(home), "theirs", "exit 0")
    verdict = trigger("pre-tool-call", *DANGEROUS, "--trust-project")
    assert [run["outcome"] for run in verdict["runs"]] == ["ok", "blocked"]
    assert fire().returncode == 0


def test_replacing_ones_own_hook_needs_to_be_said(theirs: Path, home: Path) -> None:
    folder_hook(user_hooks(home), "theirs", "exit 0")
    tenterhook("trust", "theirs", "--yes")
    assert len(trigger("pre-tool-call", *DANGEROUS)["runs"]) == 2
    tenterhook("trust", "theirs", "--yes", "--replace")
    assert [run["outcome"] for run in trigger("pre-tool-call", *DANGEROUS)["runs"]] == ["blocked"]


def test_replace_is_recorded_for_a_hook_that_is_trusted_already(theirs: Path, home: Path) -> None:
    folder_hook(user_hooks(home), "theirs", "exit 0")
    tenterhook("trust", "--all", "--yes")
    shown = tenterhook("trust", "--all", "--yes", "--replace").stdout
    assert "It replaces your own hook 'theirs'." in shown
    assert [run["outcome"] for run in trigger("pre-tool-call", *DANGEROUS)["runs"]] == ["blocked"]
    assert "nothing to trust" in tenterhook("trust", "--all", "--yes", "--replace").stdout


@pytest.mark.parametrize("command", ["trust", "untrust"])
def test_an_agent_that_is_guarded_may_not_widen_what_runs(theirs: Path, command: str) -> None:
    agent_marks.mark(processes.this())
    ended = tenterhook(command, "theirs", "--yes")
    assert ended.returncode == 1
    assert "an agent that Tenterhook guards" in ended.stderr
    assert fire().returncode == 0


def test_on_a_terminal_it_asks(theirs: Path) -> None:
    for answer, status in ((b"n\n", 0), (b"y\n", 2)):
        on_a_terminal(["trust"], {b"Trust exactly this?": answer})
        assert fire().returncode == status


def test_an_unknown_name_is_an_error(theirs: Path) -> None:
    ended = tenterhook("trust", "nobodys", "--yes")
    assert ended.returncode == 1
    assert "its hooks: theirs" in ended.stderr
