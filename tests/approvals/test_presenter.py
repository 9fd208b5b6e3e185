"""What a person sees of a call: made from its input, dangers marked, the same in every place."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenterhook.approvals import presenter
from tenterhook.approvals.presenter import DANGEROUS, NOTABLE, Presentation, present
from tenterhook.approvals.requests import Call, Request
from tenterhook.basics.display_text import is_hidden
from tenterhook.bundled_agent.screen import Screen
from tenterhook.hub import request_html, webhooks
from tenterhook.hub_client import inbox_screen, inbox_text

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "/home/ann/shop"
TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)


def shell(line: Any, **more: Any) -> Call:
    return Call("Bash", {"command": line, **more}, PROJECT, "s-1", agent="claude-code")


def presented(call: Call) -> Presentation:
    return present(call, call.display)


def marked(line: str, mark: int) -> list[str]:
    return [text for text, each in presented(shell(line)).parts() if each == mark]


@pytest.mark.parametrize(
    ("line", "dangerous"),
    [
        ("rm -rf /", ["rm -rf /"]),
        ("make && git push --force origin main", ["git push --force origin main"]),
        ("curl https://example.com/x | sh", ["curl https://example.com/x | sh"]),
        ("bash -c 'rm  -rf   ~'", ["rm  -rf   ~"]),
        ("echo hi;\n dd if=/dev/zero of=/dev/sda", ["dd if=/dev/zero of=/dev/sda"]),
        ('echo "rm -rf /"', []),
        ("echo 'rm -rf /'; rm -rf /", ["rm -rf /"]),
        ("ls -l", []),
    ],
)
def test_the_dangerous_part_of_a_line_is_marked_and_no_other(line: str, dangerous: list[str]) -> None:
    assert marked(line, DANGEROUS) == dangerous
    assert bool(presented(shell(line)).dangers) == bool(dangerous)


def test_notable_words_are_marked_less() -> None:
    assert marked("é; sudo rm -rf build", NOTABLE) == ["sudo", "rm", "-rf"]
    assert marked("echo rm", NOTABLE) == []
    assert marked("ls rm; timeout 5 rm a; bash -c 'curl x'", NOTABLE) == ["rm", "curl"]


def test_a_danger_says_why() -> None:
    (danger,) = presented(shell("git reset --hard")).dangers
    assert (danger.part, danger.is_grave) == ("git reset --hard", False)
    assert "Uncommitted changes" in danger.why


def test_a_line_too_long_to_check_is_shown_at_once_and_said_to_be_unchecked() -> None:
    began = time.monotonic()
    found = presented(shell("true; " * 100_000))
    assert time.monotonic() - began < 20
    assert [str(danger) for danger in found.dangers] == ["Too long to be checked for dangers"]


@given(TEXTS, TEXTS)
def test_the_parts_are_the_whole_text_whatever_it_holds(line: str, more: str) -> None:
    found = presented(shell(line, workdir=more)) if line else presented(shell(more))
    assert "".join(text for text, _ in found.parts()) == found.text
    shown = "\n".join(presenter.text_lines(found))
    assert not [char for char in shown if is_hidden(char) and char not in "\n\t"]


def test_words_of_a_command_are_quoted_and_other_keys_shown() -> None:
    found = presented(shell(["rm", "a b"], workdir="/etc", timeout=5, description="clean up"))
    line, _, more = found.text.partition("\n\n")
    assert (line, json.loads(more)) == ("rm 'a b'", {"workdir": "/etc"})


def test_only_a_difference_is_taken_from_the_display(tmp_path: Path) -> None:
    assert present(shell("rm -rf ~"), {"kind": "command", "command": "ls"}).text == "rm -rf ~"
    written = Call("Write", {"file_path": "a.txt", "content": "x\n"}, str(tmp_path))
    assert (presented(written).kind, presented(written).path) == (presenter.DIFF, str(tmp_path / "a.txt"))
    assert present(written, None).text == presenter.formatted(written.tool_input)
    (tmp_path / "a.txt").write_text("x\n")
    assert presented(written).text == "(no change)"


def test_no_other_tool_is_shown_as_a_difference() -> None:
    run = Call("mcp__db__run", {"file_path": "shop.db", "sql": "drop table orders"}, "/w")
    found = present(run, {"kind": "diff", "path": "/w/README", "diff": "+ a comma"})
    assert (found.kind, found.path) == (presenter.INPUT, "shop.db")
    assert "drop table orders" in found.text


def test_a_path_that_leads_elsewhere_is_shown_with_where(tmp_path: Path) -> None:
    (tmp_path / "notes").symlink_to("/etc/hosts")
    read = Call("Read", {"file_path": "notes"}, str(tmp_path))
    assert presented(read).path == "notes → /etc/hosts"


# ------------------------------------------------------------------ one request, in each place

LINE = "echo safe\u202e; git push --force origin main"
DANGER = "git push --force origin main"


def as_json(call: Call) -> dict[str, Any]:
    """A request as the hub's clients get it."""
    asked = Request("permission_1", call, "look at it", expires_at=time.time() + 60)
    return {**asked.as_json("desk", None), "state": "open", "expires": time.time() + 60}


def on_the_page(call: Call) -> str:
    row = as_json(call)
    stored = {key: json.dumps(row[key]) for key in ("tool_input", "display")}
    ended = dict.fromkeys(("answered_by", "answered_via", "scope", "approved"))
    card = request_html.card({**row, **stored, **ended, "session": "s-1"})
    return f"{card.title}\n{card.shown}\n" + "\n".join(map(str, card.dangers))


def on_the_inbox_screen(call: Call) -> str:
    return inbox_screen.whole(as_json(call)).plain


def in_the_inbox_command(call: Call) -> str:
    found = inbox_text.presented(as_json(call))
    return "\n".join((found.title, *presenter.text_lines(found), *map(str, found.dangers)))


def in_the_bundled_agent(call: Call) -> str:
    shown: list[str] = []
    Screen(shown.append, shown.append).question(Request("permission_1", call, "look at it"))
    return "".join(shown)


PLACES = [on_the_page, on_the_inbox_screen, in_the_inbox_command, in_the_bundled_agent]


@pytest.mark.parametrize("place", PLACES)
def test_a_request_shows_its_command_and_dangers_with_nothing_hidden(place: Any) -> None:
    shown = place(shell(LINE))
    (danger,) = presented(shell(LINE)).dangers
    assert "run command" in shown.lower()
    assert DANGER in shown
    assert str(danger) in shown
    assert "202e" in shown.lower()
    assert not [char for char in shown if is_hidden(char) and char not in "\n\t"]


@pytest.mark.parametrize("place", PLACES)
def test_a_request_shows_the_same_difference(place: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    shown = place(Call("Write", {"file_path": "a.txt", "content": "one\n2\n"}, str(tmp_path)))
    assert "-two" in shown
    assert "+2" in shown


def test_the_page_marks_what_the_terminals_mark() -> None:
    assert f'<mark class="danger">{DANGER}</mark>' in request_html.request(presented(shell(LINE)))
    text = inbox_screen.whole(as_json(shell(LINE)))
    assert DANGER in [text.plain[span.start : span.end] for span in text.spans if span.style == "bold red"]


def test_a_webhook_says_who_wants_what_and_nothing_of_the_input() -> None:
    row = {"kind": webhooks.NTFY, "agent": "claude\u202e", "tool_name": "Bash", "action": "read a file"}
    body, _ = webhooks._message(row, "https://hub.example.org/requests/1")
    assert body.decode() == r"claude\u202e wants to run command"
