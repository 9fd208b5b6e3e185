"""Errors and problems, each with its remedy.

A `Problem` is a value: definitions with problems never stop the others. A `HookError` is raised at the edges only,
where the user or the caller can act on it.
"""

from __future__ import annotations

from .basics.named_tuples import NamedTuple

ERROR = "error"
WARNING = "warning"


class HookError(Exception):
    """An error that the caller can fix; `remedy` says how."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class UnknownEvent(HookError):
    """No event has this name."""


class BadEvent(HookError):
    """An event whose fields cannot be sent to a hook."""


class Cancelled(HookError):
    """The caller cancelled while hooks were running; their process groups have been ended."""


class Problem(NamedTuple):
    """One problem of one definition: where it is and how to fix it."""

    code: str
    file: str
    line: int | None
    key: str | None
    message: str
    remedy: str

    @property
    def severity(self) -> str:
        return CODES[self.code][0]

    def as_json(self) -> dict[str, str | int | None]:
        """Return the problem as JSON, with its severity."""
        return {**self._asdict(), "severity": self.severity}


# code: (severity, what it means). Codes are stable: scripts and documentation name them.
CODES: dict[str, tuple[str, str]] = {
    "unreadable": (ERROR, "a file or folder cannot be read"),
    "not-text": (ERROR, "a definition is not UTF-8 text"),
    "no-front-matter": (ERROR, "HOOK.md does not begin with front matter between two `---` lines"),
    "bad-yaml": (ERROR, "the front matter is not valid YAML"),
    "bad-toml": (ERROR, "the file is not valid TOML"),
    "bad-json": (ERROR, "the file is not valid JSON"),
    "bad-hooks-section": (ERROR, "`hooks` is neither an array of hooks nor a table of events"),
    "missing-key": (ERROR, "a key that the format requires is missing"),
    "unknown-key": (ERROR, "the array format allows no other keys; the whole file is refused"),
    "bad-value": (ERROR, "a value has the wrong type or is out of range"),
    "unknown-event": (ERROR, "no event has this name"),
    "bad-expression": (ERROR, "a matcher is not a valid regular expression; the hook is refused"),
    "placeholder-in-code": (ERROR, "a placeholder would become code instead of data; the hook is refused"),
    "placeholder-reason": (ERROR, "the script of a new hook still has the placeholder reason"),
    "writable-by-others": (ERROR, "another account could change this; it is not used"),
    "moved-into-repository": (ERROR, "a variable names a folder of hooks that a repository can change; it is not used"),
    "not-owned-by-root": (ERROR, "a managed hook must belong to root; it is not used"),
    "wrong-case": (ERROR, "a file name differs only in case from the one that is read"),
    "misplaced": (ERROR, "a hook's folder is not directly in the hooks directory; it is not read"),
    "no-script": (ERROR, "the hook has no script: it will always fail"),
    "script-syntax": (ERROR, "the command or script has a syntax error: it will always fail"),
    "cannot-start": (ERROR, "the script, or the program that runs it, does not exist: it will always fail"),
    "cannot-be-trusted": (ERROR, "`tenterhook trust` refuses this hook of a project: it never runs"),
    "fail-closed-missing": (ERROR, "a hook that blocks when it fails can no longer be loaded; its events are refused"),
    "fail-closed-unknown": (
        ERROR,
        "the list of hooks that block when they fail cannot be read; a missing hook blocks nothing",
    ),
    "permission-syntax": (ERROR, "a tool expression in another program's permission syntax matches no tool"),
    "unknown-guard": (ERROR, "no built-in guard has this name: the hook always fails"),
    "guard-setting": (WARNING, "a setting of a built-in guard has no effect; the guard is in force without it"),
    "ignored-key": (WARNING, "the format has no such key; it does nothing"),
    "never-matches-expression": (WARNING, "the matcher is not a valid expression; array hooks never match then"),
    "odd-on-failure": (WARNING, "`on_failure` is neither `block` nor `open`; it is treated as `block`"),
    "no-description": (WARNING, "the hook has no description"),
    "odd-name": (WARNING, "a name has characters other than lower-case letters, digits and hyphens"),
    "name-differs": (WARNING, "the name in HOOK.md is not the folder's name"),
    "name-twice": (WARNING, "two hooks of one layer have the same name"),
    "escape-in-quotes": (WARNING, "an escape sequence in double quotes is unknown to YAML; it is kept as it is"),
    "control-character": (WARNING, "a matcher contains a control character, usually from a backslash in double quotes"),
    "not-executable": (WARNING, "the script is not executable; its interpreter runs it anyway"),
    "missing-program": (WARNING, "the hook calls a program that is not on the PATH"),
    "unknown-tool": (WARNING, "the expression matches no tool of any known agent"),
    "matcher-on-other-event": (WARNING, "matchers apply to tool events; on this event the hook never matches"),
    "foreign-event-name": (WARNING, "Kimi Code refuses a file with this event name"),
    "foreign-event": (WARNING, "an agent's own event without an equivalent here; its hooks do not run"),
    "foreign-handler": (WARNING, "an agent's handler is not a plain command; it does not run"),
    "switched-off": (WARNING, "the agent's settings disable hooks; they do not run"),
    "not-wired": (
        WARNING,
        "an agent's settings do not call Tenterhook at the event of this hook; it does not run there",
    ),
    "dialect": (WARNING, "the expression has a different meaning in the other dialect"),
    "can-run-away": (WARNING, "the expression can take exponential time; a helper process matches it within a limit"),
    "earlier-version": (WARNING, "a built-in hook written by an earlier version: `tenterhook update` replaces it"),
    "long-body": (WARNING, "HOOK.md is longer than about 1,000 tokens"),
    "no-hooks": (WARNING, "a given file defines no hooks"),
    "ungoverned": (WARNING, "hooks.toml names a hook that it cannot change or that does not exist"),
    "bad-lock": (ERROR, "hooks.lock, or the hooks.toml beside it, cannot be read; packs stay in force as they were"),
    "bad-pack": (ERROR, "an entry of `[[packs]]` names something that its pack does not have, or is not a table"),
    "pack-not-locked": (ERROR, "hooks.toml names a pack that hooks.lock does not have; none of its hooks runs"),
    "pack-differs": (ERROR, "the files of a pack's hook are missing or do not match hooks.lock; it does not run"),
    "untrusted-settings": (WARNING, "the project's hooks.toml is not trusted; it has no effect"),
}
