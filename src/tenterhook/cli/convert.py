"""`tenterhook convert`: hooks of one format rewritten in another."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..agents import dialect
from ..authoring.convert import targets
from ..basics import light_json
from ..basics.display_text import one_line, visible
from ..errors import ERROR, HookError
from .loading import json_option
from .printing import counted, place_text, print_json, print_problems, print_said, print_table, print_text, short_path
from .refusals import refuse_writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..authoring.convert import sources
    from ..authoring.convert.carrying import Conversion
    from ..authoring.convert.findings import Loss, Note

LOSSY = 3
_SHOWN = 100


@click.command(short_help="Rewrite hooks in another format.")
@click.argument("paths", nargs=-1, required=True, metavar="SRC...", type=click.Path())
@click.option("--to", "name", required=True, type=click.Choice(list(targets.TARGETS)), help="The format to write.")
@click.option(
    "--out",
    metavar="PATH",
    type=click.Path(),
    help="Where to write: a file, or the parent directory for folders. Default: a file goes to stdout, "
    "folders into the current directory.",
)
@click.option("--force", is_flag=True, help="Replace existing files and folders.")
@json_option
def convert(paths: tuple[str, ...], name: str, out: str | None, force: bool, as_json: bool) -> int:
    """Rewrite hooks in another format, and list what cannot be converted and what to check by hand.

    SRC is a hook's folder, a directory of them, a project, a TOML file of either format, or the settings of Claude
    Code, Codex, Gemini CLI or Qwen Code. Exit status 0 if nothing is lost and nothing has to be checked; 3, with a
    list, if something is; 1 if SRC has errors, and nothing is written. Scripts are not read.

    \b
    tenterhook convert ~/.kimi/config.toml --to folder --out ~/.config/agents/hooks
    tenterhook convert .agents/hooks --to claude --out new-settings.json
    """
    from ..authoring.convert import carrying, sources

    found = sources.read(paths)
    if found.errors or not found.hooks:
        return _refuse(found, as_json)
    target = targets.target_for(name, out)
    made = carrying.convert(found.hooks, target)
    text, written, misread = _write(made, out, force=force, read=[*paths, *(hook.source for hook in found.hooks)])
    losses, notes = (*found.losses, *made.losses), (*found.notes, *made.notes, *misread)
    if as_json:
        _print_json(found, made, losses, notes, written, text if out is None else None)
        return LOSSY if losses else 0
    is_on_stdout = text is not None and out is None
    if is_on_stdout:
        click.echo(text, nl=False)
    print_problems(found.problems, err=True)
    _print_carried(found, made, notes, where=None if is_on_stdout else out or ".", is_all=not losses)
    names = {
        _Place(each.hook.name, each.hook.source, each.hook.line): each.name or each.hook.name for each in made.hooks
    }
    _print_lost([loss for loss in losses if not loss.to_check], target, names, is_said=bool(losses))
    _print_checks([loss for loss in losses if loss.to_check], target, names)
    return LOSSY if losses else 0


def _write(
    made: Conversion, out: str | None, *, force: bool, read: Sequence[str]
) -> tuple[str | None, list[str], list[Note]]:
    """Write the result. Return the text of a file target, the written paths, and notes on the file name."""
    from ..authoring.convert import documents, placing

    if not made.target.is_document:
        refuse_writing("convert", *(os.path.join(out or ".", hook.name or "") for hook in made.hooks))
        return None, placing.place_folders(made, out or ".", force=force, sources=read), []
    has_toml = made.target.is_agent and dialect(made.target.name).has_toml
    text = documents.text_of(made, toml=has_toml and str(out).endswith(".toml"))
    if out is None or not made.hooks:
        return text, [], []
    refuse_writing("convert", out)
    written = placing.place_file(text, out, force=force, sources=read)
    return text, [written], placing.file_name_notes(written, made.target)


def _print_json(
    found: sources.Sources,
    made: Conversion,
    losses: Sequence[Loss],
    notes: Sequence[Note],
    written: list[str],
    output: str | None,
) -> None:
    print_json(
        {
            "schema": 1,
            "to": made.target.name,
            "hooks": len(made.hooks),
            "lossless": not losses,
            "losses": [loss.as_json() for loss in losses],
            "notes": [note._asdict() for note in notes],
            "problems": [problem.as_json() for problem in found.problems],
            "written": written,
            "output": output,
        }
    )


def _refuse(found: sources.Sources, as_json: bool) -> int:
    """Print why nothing is converted, and fail."""
    if as_json:
        print_json({"schema": 1, "hooks": 0, "problems": [problem.as_json() for problem in found.problems]})
        return 1
    print_problems(found.problems, err=True)
    for loss in found.losses:
        print_text(f"{_place(loss)}: {visible(loss.why)}", err=True)
    if found.errors:
        raise HookError("nothing was converted", "fix the errors above first")
    raise HookError("there is no hook to convert", "name a hook's folder, a file with hooks, or an agent's settings")


def _print_carried(
    found: sources.Sources, made: Conversion, notes: Sequence[Note], *, where: str | None, is_all: bool
) -> None:
    """Print each converted hook, with the notes about it."""
    number = f"{len(made.hooks)} of {counted(len(found.hooks) + len(found.losses), 'hook')}"
    if not made.hooks:
        none = "nothing was written: no hook can be converted"
        print_text(f"{click.style('converted', bold=True)}: {number}; {none}", err=True)
        return
    is_err = where is None
    place = f" to {short_path(os.path.abspath(where))}" if where is not None and where != "." else ""
    lossless = "; nothing is lost, and nothing has to be checked" if is_all else ""
    print_text(f"{click.style('converted', bold=True)}: {number}{place}{lossless}", err=is_err)
    about: dict[str, list[str]] = {}
    for note in notes:
        about.setdefault(note.hook, []).append(note.text)
    rows = [
        (
            *(each.name or each.hook.name, each.event, place_text(each.hook.source, each.hook.line)),
            "; ".join(dict.fromkeys(about.pop(each.hook.name, ()))),
        )
        for each in made.hooks
    ]
    print_table(("hook", "event", "from", ""), rows, err=is_err)
    for hook, texts in about.items():
        print_said(f"  {one_line(hook)}  ".replace("    ", "  "), "; ".join(dict.fromkeys(texts)), indent=4, err=True)


def _print_lost(lost: Sequence[Loss], target: targets.Target, names: Mapping[_Place, str], *, is_said: bool) -> None:
    title = click.style("lost", bold=True)
    if lost:
        print_text(f"{title}: {len(lost)}, which {target.title} cannot express", err=True)
    elif is_said:
        print_text(f"{title}: nothing", err=True)
    for loss in lost:
        marked = " left out" if loss.left_out else " a block is lost" if loss.severity == ERROR else ""
        name = f"{one_line(names.get(_place_of(loss), loss.hook))} " if loss.hook else ""
        value = "" if loss.value is None else f" {_short(loss.value)}"
        key = click.style(loss.key, fg="yellow")
        print_text(f"  {name}{key}{visible(value)}  {_place(loss)}{click.style(marked, fg='red')}", err=True)
        print_said("      ", loss.why, err=True)
        print_said("      instead: ", loss.instead, indent=6, err=True)


def _print_checks(checks: Sequence[Loss], target: targets.Target, names: Mapping[_Place, str]) -> None:
    """Print the commands to check, and each difference that affects any of them once."""
    by_hook: dict[_Place, list[Loss]] = {}
    for loss in checks:
        by_hook.setdefault(_place_of(loss), []).append(loss)
    if not by_hook:
        return
    title = click.style("to check", bold=True)
    number = counted(len(by_hook), "command")
    print_text(f"{title}: {number}; does one use what is different in {target.title}?", err=True)
    for place, found in by_hook.items():
        may_block = click.style(" a block may be lost", fg="red") if found[0].severity == ERROR else ""
        print_text(f"  {one_line(names.get(place, place.hook))}  {_place(found[0])}{may_block}", err=True)
    for (key, instead), differing in _differences(checks).items():
        texts = [f"{each} {' or '.join(values)}".strip() for each, values in differing.items()]
        print_said(f"      {key}: ", ", ".join(texts), indent=8, err=True)
        print_said("      instead: ", instead, indent=8, err=True)


def _differences(checks: Sequence[Loss]) -> dict[tuple[str, str], dict[str, list[str]]]:
    """Group the differences by what commands read or write: each once, with the values that it names."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for loss in checks:
        for each in loss.why.split(", "):
            difference, quote, value = each.partition(" '")
            values = found.setdefault((loss.key, loss.instead), {}).setdefault(difference, [])
            if quote and f"'{value}" not in values:
                values.append(f"'{value}")
    return found


class _Place(NamedTuple):
    """Which hook a loss is about."""

    hook: str
    source: str
    line: int | None


def _place_of(found: Loss) -> _Place:
    return _Place(found.hook, found.source, found.line)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(light_json.plain(value), ensure_ascii=False)
    text = one_line(text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _place(loss: Loss) -> str:
    return click.style(place_text(loss.source, loss.line), dim=True)
