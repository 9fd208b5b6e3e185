"""Tables made of what was observed: the generated parts of docs/agents.md and README.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a hook can try at each event; at the others it only watches.
TRIED: dict[str, tuple[str, ...]] = {
    "pre-session": ("block", "context", "timeout"),
    "pre-agent-turn": ("block", "context", "timeout"),
    "pre-tool-call": ("block", "modify", "context", "ask", "approve", "timeout"),
    "permission-request": ("block", "approve", "timeout"),
    "post-tool-call": ("block", "output", "context", "timeout"),
    "post-tool-call-failure": ("block", "output", "context", "timeout"),
    "pre-agent-turn-stop": ("block", "timeout"),
    "pre-subagent": ("block", "context", "timeout"),
    "post-subagent": ("block", "timeout"),
    "pre-context-compact": ("block", "context", "timeout"),
}
WATCHED = (
    *("post-session", "post-agent-turn-failure", "permission-result", "post-context-compact", "notification"),
    *(
        "post-agent-turn",
        "prompt-queued",
        "turn-started",
        "task-started",
        "interrupt",
        "session-heartbeat",
        "agent-event",
    ),
)
CAPABILITIES = ("fires", "block", "modify", "output", "context", "ask", "approve", "timeout")

YES, NOTHING = "yes", "–"
NOT_OBSERVED = "not observed"


def disagreements(name: str, entry: Mapping[str, Any]) -> list[str]:
    """Where our module of an agent says otherwise than what was seen."""
    capabilities = AGENTS[name].capabilities
    found = []
    for event, seen in entry["events"].items():
        beside = event in ("post-tool-call", "post-tool-call-failure")
        said = {
            "block": event in (capabilities.context if beside else capabilities.blocks),
            "context": event in capabilities.context,
            "modify": capabilities.modifies,
            "output": capabilities.replaces_output if event == "post-tool-call" else capabilities.replaces_error,
            "ask": capabilities.asks,
            "approve": capabilities.approves if event == "pre-tool-call" else capabilities.answers_permission,
        }
        for capability, expected in said.items():
            came = in_short(seen.get(capability, {}))
            if came != NOT_OBSERVED and came != ("yes" if expected else "no"):
                found.append(f"{name}: {capability} at {event} is {came}, and our module says {expected}")
    return found


def in_short(cells: Mapping[str, str]) -> str:
    """Yes, no, or both, of the modes in which it was observed."""
    kinds = {_kind(cell) for cell in cells.values()} - {NOT_OBSERVED}
    if not kinds:
        return NOT_OBSERVED
    return kinds.pop() if len(kinds) == 1 else "in part"


def _kind(cell: str) -> str:
    return NOT_OBSERVED if cell.startswith(NOT_OBSERVED) else re.split(r"[:;,]", cell)[0]


# The short tables of the page, an agent in each row: their titles and their columns.
_SUMMARY = {
    "Tool calls": (
        ("a call is blocked", "pre-tool-call", "block"),
        ("its input is changed", "pre-tool-call", "modify"),
        ("what the model sees of a result is replaced", "post-tool-call", "output"),
        ("… of an error", "post-tool-call-failure", "output"),
        ("a hook's timeout holds", "pre-tool-call", "timeout"),
    ),
    "Sessions, prompts, stops": (
        ("a session is not started", "pre-session", "block"),
        ("a prompt is held back", "pre-agent-turn", "block"),
        ("the agent is sent back when it would stop", "pre-agent-turn-stop", "block"),
        ("a subagent is not started", "pre-subagent", "block"),
        ("a subagent is sent back", "post-subagent", "block"),
        ("compaction is stopped", "pre-context-compact", "block"),
    ),
    "Text for the model": (
        ("when a session starts", "pre-session", "context"),
        ("with a prompt", "pre-agent-turn", "context"),
        ("before a tool call", "pre-tool-call", "context"),
        ("beside a tool's result", "post-tool-call", "context"),
        ("beside a tool's error", "post-tool-call-failure", "context"),
        ("when a subagent starts", "pre-subagent", "context"),
        ("for a summary", "pre-context-compact", "context"),
    ),
    "The agent's own question": (
        ("is asked", "pre-tool-call", "ask"),
        ("is skipped", "pre-tool-call", "approve"),
        ("is answered", "permission-request", "approve"),
    ),
}

# The columns of the short table in the README.
_IN_README = (
    ("blocks a call", "pre-tool-call", "block"),
    ("changes its input", "pre-tool-call", "modify"),
    ("replaces its output", "post-tool-call", "output"),
    ("holds a prompt back", "pre-agent-turn", "block"),
    ("sends it back at a stop", "pre-agent-turn-stop", "block"),
    ("makes it ask", "pre-tool-call", "ask"),
    ("answers its question", "permission-request", "approve"),
)

# What the runs did not do, or did without effect, for an event that did not fire.
_WHY = {
    "post-session": "no run fired it",
    "post-agent-turn-failure": "an error of the model did not fire it",
    "post-tool-call-failure": "tools that failed did not fire it",
    "permission-request": "run headless, it asks nobody",
    "permission-result": "run headless, it asks nobody",
    "post-context-compact": "no run fired it",
    "notification": "no run gave it a reason to notify anybody",
    "prompt-queued": "nobody typed while it worked",
    "task-started": "no run left a task in the background",
    "interrupt": "nobody interrupted it",
    "session-heartbeat": "the runs were too short",
}


def tables(seen: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page, by the name of their marker."""
    return {
        "summary": _summary(seen),
        "readme": _readme(seen),
        **{name: agent_table(entry) for name, entry in seen.items()},
    }


def _summary(seen: Mapping[str, Any]) -> str:
    return "\n\n".join(f"**{title}**\n\n{_by_agent(seen, columns)}" for title, columns in _SUMMARY.items())


def _readme(seen: Mapping[str, Any]) -> str:
    return f"{_by_agent(seen, _IN_README)}\n\n{_dates(seen)}"


def _dates(seen: Mapping[str, Any]) -> str:
    first, *_, last = sorted([entry["date"] for entry in seen.values()] * 2)
    return f"Run on {last}." if first == last else f"Run from {first} to {last}."


def _by_agent(seen: Mapping[str, Any], columns: tuple[tuple[str, str, str], ...]) -> str:
    rows = [["agent", "version", *(title for title, _, _ in columns)], ["---"] * (len(columns) + 2)]
    for name, entry in seen.items():
        cells = [_cell_in_short(entry["events"].get(event), capability) for _, event, capability in columns]
        rows.append([AGENTS[name].title, entry["version"], *cells])
    return _markdown(rows)


def _cell_in_short(event: Mapping[str, Any] | None, capability: str) -> str:
    return NOTHING if event is None else in_short(event.get(capability, {}))


def agent_table(entry: Mapping[str, Any]) -> str:
    notes: list[str] = []
    rows = [["event", *CAPABILITIES], ["---"] * (len(CAPABILITIES) + 1)]
    for event, cells in entry["events"].items():
        names = ", ".join(f"`{name}`" for name in cells["names"])
        row = [f"`{event}`" + (f" ({names})" if names else "")]
        for capability in CAPABILITIES:
            if capability == "fires":
                row.append(_fires(event, cells, notes))
            elif capability not in TRIED.get(event, ()):
                row.append("")
            elif "fires" not in cells:
                row.append(NOT_OBSERVED)
            else:
                row.append(_cell(cells.get(capability, {}), notes))
        rows.append(row)
    absent = [f"`{event}`" for event in TRIED if event not in entry["events"]]
    parts = [f"Version {entry['version']}, run on {entry['date']}.", _markdown(rows)]
    if notes:
        parts.append("\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1)))
    if absent:
        parts.append(f"It has no event for {', '.join(absent)}.")
    return "\n\n".join(parts)


def _fires(event: str, cells: Mapping[str, Any], notes: list[str]) -> str:
    if "fires" not in cells:
        return _noted(f"{NOT_OBSERVED}: {_WHY.get(event, 'no run fired it')}", notes)
    modes = [mode for mode in MODES if mode in cells["fires"]]
    return YES if len(modes) == len(MODES) else ", ".join(modes)


def _cell(cells: Mapping[str, str], notes: list[str]) -> str:
    """What was seen in every mode, or by mode where they differ."""
    if not cells:
        return NOT_OBSERVED
    by_cell: dict[str, list[str]] = {}
    for mode in MODES:
        if mode in cells:
            by_cell.setdefault(cells[mode], []).append(mode)
    if len(by_cell) == 1:
        return _noted(next(iter(by_cell)), notes)
    return "; ".join(f"{', '.join(modes)}: {_noted(cell, notes)}" for cell, modes in by_cell.items())


def _noted(cell: str, notes: list[str]) -> str:
    """The kind of a cell, and the number of the note that has the rest."""
    kind = _kind(cell)
    rest = cell[len(kind) :].lstrip(":;, ")
    if not rest:
        return kind
    note = rest[0].upper() + rest[1:] + "."
    if note not in notes:
        notes.append(note)
    return f"{kind} ({notes.index(note) + 1})"


def _markdown(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_tables(page: str, parts: Mapping[str, str]) -> str:
    """The page with its generated parts as given; what stands between the markers is replaced."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{parts[found[2]]}\n{found[3]}"

    return re.sub(r"(<!-- seen: ([\w-]+) -->).*?(<!-- end -->)", part, page, flags=re.DOTALL)
