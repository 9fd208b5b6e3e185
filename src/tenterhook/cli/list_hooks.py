"""`tenterhook list`: every hook by layer, and every problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..basics import light_json
from ..catalog.trust import State
from ..events import spec_of
from ..formats import entry_points
from ..install import sources
from ..journal import statistics
from .loading import config_option, event_names, json_option
from .printing import matcher_text, print_json, print_problems, print_table, print_text, short_path, why_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..catalog.catalog import Catalog
    from ..install.sources import InForce
    from ..model import Hook


@click.command("list", short_help="List the hooks in force here, and problems.")
@click.option(
    "--event", metavar="EVENT", shell_complete=event_names, help="Only hooks of this event (any of its names)."
)
@config_option
@json_option
def list_hooks(event: str | None, configs: tuple[str, ...], as_json: bool) -> None:
    """List the hooks in force, by source: event, mode, priority, matcher, timeout, trust; problems below.

    Hook folders are in force in every agent; a hooks file is in force in the agents listed beside it.

    \b
    tenterhook list
    tenterhook list --event PreToolUse --config hooks.toml
    """
    wanted = spec_of(event).name if event else None
    found = sources.here(configs)
    catalog = found.catalog
    remarks = statistics.remarks(catalog.hooks)
    hooks = [hook for hook in catalog.hooks if wanted in (None, hook.event)]
    left_out = [each for each in catalog.left_out if wanted in (None, each.hook.event)]
    if as_json:
        print_json(
            {
                "schema": 1,
                "root": catalog.root,
                "layers": [layer._asdict() for layer in catalog.layers],
                "files": [source.as_json() for source in found.sources],
                "hooks": [
                    *({**hook_as_json(hook, found), "health": _remark(hook, remarks)} for hook in hooks),
                    *({**hook_as_json(each.hook, found, each.why), "health": None} for each in left_out),
                ],
                "problems": [each.as_json() for each in found.problems()],
            }
        )
        return
    shown = [(hook, _row(hook, *_state(hook, catalog), _remark(hook, remarks))) for hook in hooks]
    shown += [(each.hook, _row(each.hook, "not in force", why_text(each))) for each in left_out]
    for title, hooks_of_it in headings(found, [hook for hook, _ in shown]):
        name, _, rest = title.partition("  ")
        click.echo(f"{click.style(name, bold=True)}  {rest}")
        rows = [row for hook, row in shown if hook in hooks_of_it]
        print_table(("hook", "event", "state", "mode", "priority", "timeout", "matcher", ""), rows)
        click.echo()
    if not shown:
        print_text("no hooks in force" + (f" for {wanted}" if wanted else "") + "; Tenterhook looks for them in:")
        for each in catalog.layers:
            print_text(f"  {each.name:8} {short_path(each.directory)}")
    print_problems(found.problems())


def headings(found: InForce, hooks: list[Hook]) -> Iterator[tuple[str, list[Hook]]]:
    """Yield a heading for each layer and each hooks file, with its hooks."""
    for layer in dict.fromkeys(hook.layer for hook in hooks if hook.layer != "config"):
        directories = [short_path(each.directory) for each in found.catalog.layers if each.name == layer]
        more = "  for every account; only root changes these" if layer == "managed" else ""
        yield f"{layer}  {', '.join(directories)}{more}", [hook for hook in hooks if hook.layer == layer]
    for source in found.sources:
        if of_it := [hook for hook in hooks if hook.source == source.file]:
            yield f"config  {short_path(source.file)}  {source}", of_it


def _remark(hook: Hook, remarks: dict[tuple[str, str], str]) -> str | None:
    return remarks.get((hook.name, hook.source))


def _state(hook: Hook, catalog: Catalog) -> tuple[str, str]:
    """Return whether a hook is in force, and a remark: why not, or what that implies."""
    state, _, why = trust_text(hook, catalog).partition(": ")
    return state + (", shadow" if hook.is_shadow else ""), why


def _row(hook: Hook, state: str, *remarks: str | None) -> tuple[str, ...]:
    return (
        *(hook.name, hook.declared, state),
        mode(hook) if hook.guard is None else f"{mode(hook)}, guard",
        *(str(hook.priority), f"{hook.timeout:g} s", matcher_text(hook) or "-"),
        ", ".join(filter(None, remarks)),
    )


def mode(hook: Hook) -> str:
    return "async" if hook.in_background else "sync"


def trust_text(hook: Hook, catalog: Catalog) -> str:
    if hook.replaced_by and catalog.trust.replaces(hook.replaced_by):
        return "replaced: the project has a hook of that name"
    if hook.missing is not None:
        if (state := catalog.trust.standing(hook).state) is State.UNTRUSTED:
            return str(state)
        return f"cannot be loaded: it {'refuses' if hook.fail_closed else 'does not run'}"
    if hook.folder is not None and hook.guard is None and entry_points.entry_point(hook.folder)[0] is None:
        return "no script: it will fail"
    return str(catalog.trust.standing(hook).state) if hook.needs_trust else "in force"


def hook_as_json(hook: Hook, found: InForce, left_out: str | None = None) -> dict[str, Any]:
    """Return a hook as printed with --json."""
    trust = found.catalog.trust
    standing = trust.standing(hook)
    replaced = hook.replaced_by is not None and trust.replaces(hook.replaced_by)
    runs = left_out is None and standing.runs and not replaced and not hook.missing
    why_not = left_out or hook.missing or standing.why
    return {
        "name": hook.name,
        "event": hook.event,
        "event_name": hook.declared,
        "format": hook.format,
        "layer": hook.layer,
        "source": hook.source,
        "line": hook.line,
        "mode": mode(hook),
        "priority": hook.priority,
        "timeout_ms": round(hook.timeout * 1000),
        "matcher": {"tool": hook.tool, "pattern": hook.pattern, "target": hook.target, "dialect": hook.dialect},
        "command": hook.command,
        "guard": hook.guard,
        "description": hook.description,
        "metadata": light_json.plain(dict(hook.metadata)),
        "fail_closed": hook.fail_closed,
        "trust": str(standing.state),
        "in_force": runs,
        "in_force_in": list(found.places(hook)) if runs else [],
        "why_not": why_not or ("replaced by the project's hook of that name" if replaced else None),
    }
