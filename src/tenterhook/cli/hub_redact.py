"""`tenterhook hub redact`: redact a secret from the hub's database."""

from __future__ import annotations

import contextlib
import time

import click
from click.core import ParameterSource

from ..basics.display_text import one_line
from .hub import database_option
from .log_redact import count_of, redacting_options, redactor_of
from .printing import print_json, print_table, print_text
from .refusals import refuse_below_agent


@click.command(short_help="Redact a secret from the hub's database.")
@redacting_options
@click.option("--list", "is_list", is_flag=True, help="List the redactions so far.")
@database_option
@click.pass_context
def redact(
    context: click.Context,
    from_stdin: bool,
    rules: bool,
    kind: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    is_list: bool,
    database: str | None,
) -> int:
    """Redact a secret from the hub's database. The secret is prompted for; it is never an argument.

    \b
    tenterhook hub redact
    tenterhook hub redact --rules --dry-run
    pass show old-token | tenterhook hub redact --stdin --yes

    It works while the hub runs. Machines' own journals are not changed: run `tenterhook log redact` there.
    """
    refuse_below_agent("hub redact")
    from ..hub import redact as redaction
    from ..hub.database import opened
    from ..journal.redact_stored import account

    is_named = context.get_parameter_source("database") is ParameterSource.COMMANDLINE  # not by the variable
    with contextlib.closing(opened(database if is_named else context.obj)) as kept:
        if is_list:
            _print_list(kept.read(redaction.audit), as_json=as_json)
            return 0
        asks = not (dry_run or yes)
        redactor = redactor_of("hub redact", from_stdin=from_stdin, rules=rules, kind=kind, asks=asks)
        if asks:
            found = redaction.redact(kept, redactor, account(), dry_run=True)
            if any(found[:3]) and not click.confirm(f"Redact {_counted(found)}? This cannot be undone.", err=True):
                return 1
        counts = redaction.redact(kept, redactor, account(), dry_run=dry_run)
    if as_json:
        print_json({"schema": 1, "redacted": any(counts[:3]) and not dry_run, **counts._asdict()})
        return 0
    print_text(f"{_counted(counts)} {'to be redacted' if dry_run else 'redacted'}")
    if counts.waiting:
        print_text(f"also in {count_of(counts.waiting, 'open request')}: run this again once answered", err=True)
    if counts.rules:
        print_text(f"also in {count_of(counts.rules, 'rule')}: edit on the Rules page", err=True)
    if any(counts[:3]) and not dry_run:
        print_text("revoke or change the secret anyway: it was readable until now", err=True)
    if kept.kind == "postgresql" and not dry_run:
        print_text("PostgreSQL keeps old rows in its files until VACUUM FULL, and in its WAL and backups", err=True)
    return 0


def _counted(counts: tuple[int, ...]) -> str:
    records, requests, answers, *_ = counts
    return f"{count_of(records, 'record')}, {count_of(requests, 'request')}, {count_of(answers, 'answer')}"


def _print_list(found: list[dict[str, object]], *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": 1, "redactions": found})
        return
    rows = []
    for each in found:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(str(each["time"]))))
        counts = (str(each[key]) for key in ("records", "requests", "answers"))
        rows.append((when, one_line(str(each["by"])), *counts))
    if rows:
        print_table(("when", "by", "records", "requests", "answers"), rows)
    else:
        print_text("nothing has been redacted yet")
