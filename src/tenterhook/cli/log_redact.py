"""`tenterhook log redact`: redact a secret from the journal."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..basics import places
from ..basics.display_text import one_line
from ..errors import HookError
from .loading import json_option
from .printing import print_json, print_text, short_path
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..journal.redact_stored import Redacted
    from ..journal.redacted_records import ByText, StoredRedactor

_PIECE, _OVERLAP = 1 << 22, 1 << 16  # characters of a file, which may be a large database

F = TypeVar("F", bound="Callable[..., Any]")


def redacting_options(function: F) -> F:
    """Add the options that select what is redacted."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from ..basics.redaction import kinds

    return [kind for kind in kinds() if kind.startswith(incomplete)]


_OPTIONS = (
    click.option("--stdin", "from_stdin", is_flag=True, help="Read the text from standard input."),
    click.option("--rules", is_flag=True, help="Redact what the current rules for secrets find, instead of one text."),
    click.option(
        "--kind",
        metavar="KIND",
        default="secret",
        show_default=True,
        shell_complete=_kinds,
        help="The kind of secret, named in the mark that replaces it.",
    ),
    click.option("--dry-run", is_flag=True, help="Only show where it is."),
    click.option("-y", "--yes", is_flag=True, help="Do not ask."),
    json_option,
)


def redactor_of(command: str, *, from_stdin: bool, rules: bool, kind: str, asks: bool) -> StoredRedactor:
    """Return the redactor; prompt for the text, without echo, unless it is on standard input."""
    from ..journal.redacted_records import KINDS, SHORTEST, ByRules, ByText

    if rules:
        if from_stdin:
            raise click.UsageError("--rules needs no text: leave out --stdin")
        need_terminal(command, yes=not asks)
        return ByRules()
    if not KINDS.fullmatch(kind):
        raise click.UsageError("--kind must be at most 30 lower-case letters, digits, dots and spaces")
    if from_stdin:
        need_terminal(command, yes=not asks)
        text = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    elif sys.stdin.isatty():
        text = click.prompt("Text to redact", hide_input=True, default="", show_default=False)
    else:
        raise HookError("there is no terminal to prompt for the text", "pass it on standard input, with --stdin --yes")
    if len(text.strip()) < SHORTEST:
        raise HookError(
            f"a text of fewer than {SHORTEST} characters would match too much else", "give the whole secret"
        )
    if text in kind:
        raise HookError("--kind contains the text itself", "name what kind of secret it is")
    return ByText(text, kind)


def count_of(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@click.command(short_help="Redact a secret from the journal.")
@redacting_options
def redact(from_stdin: bool, rules: bool, kind: str, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Redact a secret from the journal and its index. The secret is prompted for; it is never an argument.

    \b
    tenterhook log redact
    tenterhook log redact --rules --dry-run
    pass show old-token | tenterhook log redact --stdin --yes

    The lines stay, with a mark in place of the text; `log verify` lists them, and when and by whom they were redacted.
    The redacted lines are also sent to the hub that this machine has joined.
    """
    refuse_below_agent("log redact")
    from ..journal.redact_stored import Redaction

    asks = not (dry_run or yes)
    redactor = redactor_of("log redact", from_stdin=from_stdin, rules=rules, kind=kind, asks=asks)
    redaction = Redaction(places.journal(), redactor)
    found = redaction.lines()
    is_done = bool(found) and not dry_run
    if asks and found:
        _print(found, err=as_json)
        is_done = click.confirm(f"Redact {count_of(len(found), 'line')}? This cannot be undone.", err=True)
        if not is_done:
            return 1
    if not dry_run:  # also if nothing was found: an interrupted one may have left the index
        found = _run(redaction)
    others = _other_files(redactor)
    if as_json:
        lines = [{"segment": each.line.segment, "line": each.line.number, "texts": each.texts} for each in found]
        print_json({"schema": 1, "redacted": is_done, "lines": lines, "elsewhere": others})
        return 0
    if not asks:
        _print(found)
    if not found:
        print_text("nothing found in the journal")
    else:
        print_text(f"{count_of(len(found), 'line')} {'redacted' if is_done else 'to be redacted'}")
    for path in others:
        remedy = "tenterhook hub redact" if os.path.basename(path).startswith("hub.db") else "remove it yourself"
        print_text(f"also in {short_path(path)}: {remedy}")
    if is_done:
        _print_about_hub()
        print_text("revoke or change the secret anyway: it was readable until now")
    return 0


def _other_files(redactor: StoredRedactor) -> list[str]:
    """Return our other files that contain the text, such as sessions of the bundled agent, or refused calls."""
    from ..journal.redacted_records import ByText

    if not isinstance(redactor, ByText):
        return []
    found = []
    for own in dict.fromkeys((places.state(), places.cache())):
        for folder, folders, names in os.walk(own):
            folders[:] = [each for each in folders if os.path.join(folder, each) != places.journal()]
            found += [path for name in names if _has(path := os.path.join(folder, name), redactor)]
    return sorted(found)


def _has(path: str, redactor: ByText) -> bool:
    try:
        if not os.path.isfile(path):  # reading a pipe or a socket could block
            return False
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            before = ""
            while piece := file.read(_PIECE):
                if redactor.is_in(before + piece):
                    return True
                before = piece[-_OVERLAP:]
        return False
    except OSError:  # removed in the meantime
        return False


def _print_about_hub() -> None:
    from ..hub_client import membership

    joined = membership.read()
    if joined is not None:
        print_text(
            f"the hub {one_line(joined.url)} is sent the redacted lines; for requests and answers stored there,"
            " and what is left in its files, run on its machine: tenterhook hub redact"
        )


def _run(redaction: Any) -> list[Redacted]:
    from ..hub_client.uploader_start import ensure_uploader_running

    try:
        found: list[Redacted] = redaction.run() if redaction.exists else []
    except OSError as error:
        raise HookError(
            f"the redaction is incomplete: {error.strerror or error}", "run the same command again"
        ) from None
    ensure_uploader_running()
    return found


def _print(found: list[Redacted], *, err: bool = False) -> None:
    for each in found:
        record = each.line.record or {}
        about = " ".join(one_line(str(record[key])) for key in ("event", "tool_name") if record.get(key))
        when = ""
        if isinstance(record.get("time"), (int, float)):
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record["time"]))
        click.echo(f"{each.line.segment}:{each.line.number}  {when}  {about}".rstrip(), err=err)
