"""docs/problems.md: every problem code, what it means and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenterhook.errors import CODES, ERROR, WARNING
from tools.reference.markdown import sentence
from tools.reference.remedies import REMEDIES

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABOUT = """# Problem codes

A mistake in a definition is reported as a problem: its code, the file with the line, the key, what is wrong, and how to
fix it. `tenterhook check` looks for all problems, `list`, `show` and `trigger` show those of the hooks that they load,
and `--json` has them under `problems`. Codes do not change: scripts may rely on them. A broken definition does not
affect others, with one exception: a file in the [array format](formats.md#array-format) is refused as a whole.

```text
error .agents/hooks/guard/HOOK.md:4 [unknown-event] unknown event 'pre-tool-cal'
    did you mean 'pre-tool-call'?
```

"""
_SEVERITIES = {
    ERROR: "The hook does not run or always fails, and `tenterhook check` ends with exit status 1.",
    WARNING: "The definition is used as far as it goes; `tenterhook check` ends with exit status 0.",
}


def page() -> str:
    """Return the current page."""
    return (_ABOUT + "".join(_sections())).rstrip() + "\n"


def _sections() -> Iterator[str]:
    for severity, about in _SEVERITIES.items():
        yield f"## {severity.title()}s\n\n{about}\n\n"
        for code, (its, meaning) in CODES.items():
            if its == severity:
                yield f"### {code}\n\n{sentence(meaning)}\n\n**Do:** {REMEDIES[code]}\n\n"
