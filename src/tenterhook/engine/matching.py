"""Which hooks an event reaches, and in which stages.

A hook that is not reached must cost very little, and no expression may freeze an agent: one that can take exponential
time is searched in a helper process with a time limit (`bounded_search`). If it is cut off, the hook counts as reached.
"""

from __future__ import annotations

from ..basics import literal_search
from ..basics.light_json import input_texts, prompt_text, text
from ..basics.named_tuples import NamedTuple
from ..events import mcp_spellings, tool_names
from ..model import Event, Hook
from . import bounded_search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_MOST_PLANS = 1024


class MatchedHook(NamedTuple):
    """A hook that the event reaches; not `surely` if a search was cut off, or a reading of the name does not match."""

    hook: Hook
    surely: bool


class Stage(NamedTuple):
    """Hooks that run in parallel on the same input: one, or several of the array format."""

    hooks: tuple[Hook, ...]
    reached: Sequence[MatchedHook] = ()  # all hooks, if nothing remains to be searched


class Plan(NamedTuple):
    """The hooks that an event may reach, by its name and tool; the input is searched later."""

    stages: tuple[Stage, ...] = ()
    background: tuple[Hook, ...] = ()


class OrderedHooks:
    """Hooks in their order, by event; the plan of each tool name is cached."""

    def __init__(self, hooks: Iterable[Hook]) -> None:
        self.hooks = tuple(sorted(hooks, key=lambda hook: -hook.priority))  # stable: then order of definition
        self._by_event: dict[str, list[Hook]] = {}
        for hook in self.hooks:
            self._by_event.setdefault(hook.event, []).append(hook)
        self._plans: dict[tuple[str | None, ...], Plan] = {}

    def of(self, event: Event) -> Sequence[Hook]:
        return self._by_event.get(event.canonical, ())


def plan(arranged: OrderedHooks, event: Event) -> Plan:
    """Return the stages in order, and the hooks that start in the background once the verdict is known."""
    hooks = arranged.of(event)
    if not hooks:
        return Plan()
    tool = event.tool_name if event.spec.has_tool else None
    if tool is not None and len(tool) > 200:  # not a real tool's name: do not cache it
        return _plan(hooks, event)
    key = (event.canonical, tool, event.tool_kind, *event.fields.get("mcp_names", ()))
    known = arranged._plans.get(key)
    if known is None:
        known = _plan(hooks, event)
        if len(arranged._plans) < _MOST_PLANS:
            arranged._plans[key] = known
    return known


def _plan(hooks: Sequence[Hook], event: Event) -> Plan:
    stages: list[list[Hook]] = []
    background: list[Hook] = []
    previous = ""
    for hook in hooks:
        if hook.never_matches or not _tool_may_match(hook, event):
            continue
        if hook.in_background:
            background.append(hook)
            continue
        if hook.in_parallel and previous == hook.format:
            stages[-1].append(hook)
        else:
            stages.append([hook])
        previous = hook.format if hook.in_parallel else ""
    return Plan(tuple(_stage(stage, event) for stage in stages), tuple(background))


def _stage(hooks: Sequence[Hook], event: Event) -> Stage:
    matcher = MatcherSearch(event)
    if any(hook.replaced_by or any(matcher.questions(hook)) for hook in hooks):
        return Stage(tuple(hooks))
    return Stage(tuple(hooks), tuple(MatchedHook(hook, surely=True) for hook in hooks))


def _tool_may_match(hook: Hook, event: Event) -> bool:
    """Return False only if the tool's name rules the hook out."""
    if not event.spec.has_tool:
        return hook.has_one_matcher or not (hook.tool or hook.pattern)
    if hook.tool is None:
        return True
    if event.tool_name is None:
        return False
    names = event.tool_names
    if not _quick(hook.dialect, hook.tool, names):
        return True  # `MatcherSearch` searches it, with a time limit
    found = _search(hook.dialect, hook.tool)
    return any(found(name) for name in names)


def _quick(dialect: str, expression: str, texts: Sequence[str]) -> bool:
    """Whether searching an expression is certain to be quick, so that no helper process is needed."""
    if literal_search.words(expression) is not None:
        return True
    from ..basics import expression_cost
    from ..formats import expressions

    if expression_cost.is_quick(expression, max(map(len, texts), default=0)):
        return True
    return dialect == expressions.PYTHON and expression_cost.is_quick_for(expression, texts)


def _is_linear(expression: str) -> bool:
    if literal_search.words(expression) is not None:
        return True
    from ..basics import expression_cost

    return expression_cost.is_linear(expression)


def _search(dialect: str, expression: str) -> Callable[[str], object]:
    found = literal_search.search(dialect, expression)
    if found is not None:
        return found
    from ..formats import expressions

    return expressions.search(dialect, expression)


class MatcherSearch:
    """The results of matchers on one event; each distinct expression is searched once."""

    def __init__(self, event: Event, limit: bounded_search.TimeLimit | None = None) -> None:
        self.event = event
        self.limit = limit or bounded_search.TimeLimit()
        self._is_ambiguous = len(event.fields.get("mcp_names", ())) > 1
        self._texts: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str, str], bool | None] = {}

    def reached(self, hooks: Iterable[Hook]) -> Sequence[MatchedHook]:
        """Return the hooks whose matchers match or were cut off, in order."""
        hooks = list(hooks)
        self._search(hooks)
        verdicts = [(hook, self._matches(hook)) for hook in hooks]
        return [MatchedHook(hook, verdict is True) for hook, verdict in verdicts if verdict is not False]

    def _matches(self, hook: Hook) -> bool | None:
        """Return whether a hook's matchers match; None if one is uncertain and no other rules the hook out."""
        answers = [self._found[question] for question in self.questions(hook)]
        if False in answers:
            return False
        return None if None in answers else True

    def _search(self, hooks: Sequence[Hook]) -> None:
        """Search the expressions of these hooks; those that may be slow together, in one helper process."""
        delayed: list[tuple[str, str, str]] = []
        for hook in hooks:
            for question in self.questions(hook):
                if question in self._found:
                    continue
                what, dialect, expression = question
                texts = self.texts(what)
                if _quick(dialect, expression, texts) and (self.limit.left() > 0 or _is_linear(expression)):
                    with self.limit:
                        found = _search(dialect, expression)
                        self._found[question] = any(map(found, texts)) and (what != "tool" or self._in_each(found))
                else:
                    self._found[question] = None
                    delayed.append(question)
        if delayed:
            asked = [(dialect, expression, self.texts(what)) for what, dialect, expression in delayed]
            answers = bounded_search.search(asked, self.limit)
            self._found.update(
                (question, None if answer and self._is_ambiguous and question[0] == "tool" else answer)
                for question, answer in zip(delayed, answers, strict=True)
            )

    def _in_each(self, found: Callable[[str], object]) -> bool | None:
        """Return True if an expression that matches the tool matches each reading of its name; else None."""
        event = self.event
        if not self._is_ambiguous or any(map(found, tool_names(event.tool_name or "", (), event.tool_kind))):
            return True
        return all(any(map(found, mcp_spellings(reading))) for reading in event.mcp_names) or None

    def questions(self, hook: Hook) -> Iterator[tuple[str, str, str]]:
        """Yield a hook's searches: the part of the event, the dialect, the expression."""
        if hook.tool is not None and (self._is_ambiguous or not _quick(hook.dialect, hook.tool, self.texts("tool"))):
            yield "tool", hook.dialect, hook.tool
        if hook.pattern is not None:
            yield "input", hook.dialect, hook.pattern
        if hook.target is not None:
            yield "target", hook.dialect, hook.target

    def texts(self, what: str) -> tuple[str, ...]:
        """Return the strings to search, for a part of the event: "tool", "input" or "target"."""
        if what not in self._texts:
            self._texts[what] = tuple(_texts(self.event, what))
        return self._texts[what]


def _texts(event: Event, what: str) -> Iterable[str]:
    if what == "tool":
        return event.tool_names
    if what == "input":
        return input_texts(event.tool_input)
    target = target_text(event)
    return () if target is None else (target,)


def target_text(event: Event) -> str | None:
    """Return the text that an array matcher is tested against; None if the event lacks that field."""
    if event.spec.target is None:
        return ""
    value = event.fields.get(event.spec.target)
    if value is None:
        return None
    return prompt_text(value) if event.spec.target == "prompt" else text(value)
