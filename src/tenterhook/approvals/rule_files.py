"""The settings files that hold rules: the managed one, which is root's, and the person's."""

from __future__ import annotations

import tomllib
from typing import Any

from ..basics import places
from ..catalog import ownership
from ..errors import HookError
from . import presence, rules


def managed() -> list[rules.Rule]:
    """The rules of the administrator of this machine; used only if nobody but root could have written it."""
    file = presence.MANAGED
    found = settings(file)
    if found and not ownership.owned_by_root(file):
        raise HookError(f"another account could have written {file}", f"make it root's: chown root {file}; chmod 644")
    return rules.of_settings(found, file)


def person() -> list[rules.Rule]:
    """The person's own rules; believed only if no other account could have written them."""
    file = places.settings_file()
    found = settings(file)
    if found and (other := ownership.writable_by_others(file)):
        raise HookError(f"another account could change {other}: {file}", f"chmod go-w {other}, and make it your own")
    return rules.of_settings(found, file)


def settings(file: str) -> dict[str, Any]:
    """What a file says; nothing without one. A file that cannot be read is an error: it may hold denials."""
    try:
        with open(file, "rb") as stream:
            return tomllib.load(stream)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise HookError(f"{error.strerror}: {file}", "your rules stand there: make it readable") from None
    except (ValueError, RecursionError) as error:
        raise HookError(f"{file}: {error}", "your rules stand there: correct it, or move it away") from None
