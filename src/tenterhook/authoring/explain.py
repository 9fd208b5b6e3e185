"""Why a hook would run for an event, or why not, without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..basics import expression_cost
from ..basics.light_json import input_texts
from ..engine import decisions, matching
from ..formats import entry_points, expressions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..catalog.catalog import Catalog
    from ..model import Event, Hook

_SHOWN = 60


class Explanation(NamedTuple):
    """One hook: the stage it would run in, or what keeps it from running."""

    hook: Hook
    stage: int | None
    background: bool = False
    why_not: str | None = None
    note: str | None = None


def explain(hooks: Sequence[Hook], event: Event, catalog: Catalog) -> list[Explanation]:
    """Return all hooks: those that would run in their order, then the others."""
    plan = matching.plan(matching.OrderedHooks(hooks), event)
    sight = matching.MatcherSearch(event)
    unsure = decisions.unsure_match(event)
    would: list[Explanation] = []
    for number, stage in enumerate(plan.stages, start=1):
        for each in sight.reached(stage.hooks):
            would.append(_reached(each, number, False, catalog, unsure))
    for each in sight.reached(plan.background):
        would.append(_reached(each, None, True, catalog, unsure))
    running = [each for each in would if each.why_not is None]
    stages = {number: order for order, number in enumerate(sorted({e.stage for e in running if e.stage}), start=1)}
    running = [each._replace(stage=stages.get(each.stage or 0)) for each in running]
    reached = {id(each.hook) for each in would}
    others = [Explanation(hook, None, why_not=_why_not(hook, event)) for hook in hooks if id(hook) not in reached]
    left_out = [Explanation(each.hook, None, why_not=each.why) for each in catalog.left_out]
    return [*running, *(each for each in would if each.why_not), *left_out, *others]


def _reached(
    each: matching.MatchedHook, stage: int | None, background: bool, catalog: Catalog, unsure: str
) -> Explanation:
    standing = catalog.trust.standing(each.hook)
    note = None if each.surely else f"{unsure}: it counts as a match, but its allow does not count"
    is_script = each.hook.folder is not None and each.hook.guard is None
    if is_script and entry_points.entry_point(each.hook.folder or "")[0] is None:
        note = "it will fail: no script"
    why = None if standing.runs else f"untrusted: {standing.why}"
    if each.hook.replaced_by and catalog.trust.replaces(each.hook.replaced_by):
        why = "replaced by the project's hook of that name"
    return Explanation(each.hook, stage, background, why, note)


def _why_not(hook: Hook, event: Event) -> str:
    if hook.event != event.canonical:
        return f"event: the hook is for {hook.declared}"
    if hook.never_matches:
        return "matcher: not a valid expression, so it matches nothing"
    if not event.spec.has_tool and not hook.has_one_matcher:
        return f"matcher: {hook.declared} has no tool, so a matcher never matches"
    if hook.tool is not None:
        if event.tool_name is None:
            return f"tool: '{hook.tool}' is set, but the event has no tool"
        names = event.tool_names
        quick = all(expression_cost.is_quick(hook.tool, len(name)) for name in names)
        if quick and not any(expressions.search(hook.dialect, hook.tool)(name) for name in names):
            return f"tool: '{hook.tool}' is not found in {_quoted(names)}"
    if hook.pattern is not None:
        texts = input_texts(event.tool_input)
        if not texts:
            return f"pattern: '{hook.pattern}' is set, but the event has no input"
        return f"pattern: '{hook.pattern}' is not found in {_quoted(texts)}"
    target = matching.target_text(event)
    if target is None:
        return f"matcher: '{hook.target}' is set, but the event has no {event.spec.target}"
    return f"matcher: '{hook.target}' is not found in {_quoted([target])}"


def _quoted(texts: Sequence[str]) -> str:
    shown = [repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…") for text in texts[:4]]
    return ", ".join(shown) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")
