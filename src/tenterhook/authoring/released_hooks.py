"""Built-in hooks that earlier versions wrote: recognised by their files, and updated with their settings."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from ..basics import light_json, places
from ..errors import HookError, Problem
from ..formats import front_matter
from . import built_in_hooks
from .templates import File

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..catalog.catalog import Catalog
    from ..model import Hook

FILE = os.path.join(places.PACKAGE, "authoring", "released_hooks.json")  # made by tools/released_hooks.py
EARLIER, CHANGED = "earlier version", "changed"


class Released(TypedDict):
    """What earlier versions have shipped of one hook."""

    files: dict[str, list[str]]  # digests by path; of HOOK.md, of the text below the front matter
    fields: list[dict[str, Any]]  # the front matter of each version


class OutdatedHook(NamedTuple):
    """A folder with an earlier version of a built-in hook, as it came (`EARLIER`) or with changes (`CHANGED`)."""

    built_in: Hook
    folder: str
    state: str
    settings: Mapping[str, Any]  # fields of the front matter that are the user's own
    changed: tuple[str, ...] = ()  # files
    removed: tuple[str, ...] = ()  # fields of the front matter that the user has removed

    def files(self) -> dict[str, File]:
        """Return the files of the current hook, with the user's settings. Raises `HookError`."""
        found = built_in_hooks.files(self.built_in)
        try:
            found["HOOK.md"] = File(with_settings(found["HOOK.md"].text, self.settings, self.removed))
        except ValueError:
            remedy = f"tenterhook add {self.built_in.name} --force replaces it without them and keeps yours"
            raise HookError(f"{self.folder} was not updated: your settings cannot be written", remedy) from None
        return found


@cache
def table() -> dict[str, Released]:
    """Return what earlier versions have shipped, by the name of the hook."""
    with open(FILE, encoding="utf-8") as file:
        found: dict[str, Released] = json.load(file)
    return found


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]


def parts(definition: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the fields of a HOOK.md, and the text below them. Raises `ValueError` if it has no front matter."""
    text = definition.decode().removeprefix("\ufeff").replace("\r\n", "\n")
    start, head, body = text.split("---\n", 2)
    read = front_matter.parse("HOOK.md", head.split("\n"))
    if start or isinstance(read, Problem):
        raise ValueError("no front matter")
    fields: dict[str, Any] = light_json.plain(read.raw)
    return fields, body.encode()


def outdated(folders: Iterable[str]) -> list[OutdatedHook]:
    """Return the folders that have an earlier version of a built-in hook, even if the user has changed it."""
    current = {hook.name: hook for hook in built_in_hooks.built_in_hooks()}
    found = (_look(current[os.path.basename(each)], each) for each in folders if os.path.basename(each) in current)
    return [each for each in found if each is not None]


def outdated_hooks(catalog: Catalog) -> list[OutdatedHook]:
    """Return the hooks of a catalog that an earlier version wrote. Of an untrusted hook, no file is read."""
    hooks = (hook for hook in catalog.all_hooks() if not hook.missing and catalog.trust.standing(hook).runs)
    return outdated(hook.folder for hook in hooks if hook.folder)


def problems(found: Iterable[OutdatedHook]) -> list[Problem]:
    """Return a problem for each hook that the user has not changed."""
    message = "it was written by an earlier version"
    return [
        Problem("earlier-version", each.folder, None, None, message, f"tenterhook update {each.built_in.name}")
        for each in found
        if each.state == EARLIER
    ]


def _look(hook: Hook, folder: str) -> OutdatedHook | None:
    """Compare a folder with what was shipped; None for what is current, and for another hook of that name."""
    known = table().get(hook.name, Released(files={}, fields=[]))
    if os.path.islink(folder):
        return None
    contents = {path: built_in_hooks.content(file) for path, file in built_in_hooks.paths(folder).items()}
    try:
        fields, contents["HOOK.md"] = parts(contents.get("HOOK.md") or b"")
    except ValueError:
        return None
    ours = {path: file.text.encode() for path, file in built_in_hooks.files(hook).items()}
    our_fields, ours["HOOK.md"] = parts(ours["HOOK.md"])
    released = {path for path, content in contents.items() if digest(content or b"") in known["files"].get(path, ())}
    if all(contents[path] == ours.get(path) for path in released) or "scripts/source/guards/script.py" in contents:
        return None  # nothing of an earlier version, or the source that `add --copy` wrote
    changed = tuple(sorted(path for path in contents.keys() - released if contents[path] != ours.get(path)))
    settings = own_settings(fields, [*known["fields"], our_fields])
    removed = removed_fields(fields, known["fields"])
    return OutdatedHook(hook, folder, CHANGED if changed else EARLIER, settings, changed, removed)


def own_settings(fields: Mapping[str, Any], released: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields that no released version has; of metadata, the keys."""
    versions = list(released)
    found = {key: value for key, value in fields.items() if all(each.get(key) != value for each in versions)}
    metadata = found.pop("metadata", None)
    if isinstance(metadata, dict):
        theirs = [_metadata(each) for each in versions]
        found["metadata"] = {k: v for k, v in metadata.items() if all(each.get(k) != v for each in theirs)}
    return found


def removed_fields(fields: Mapping[str, Any], released: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the missing fields of the most similar version; keys of metadata as `metadata.key`."""
    version = max(released, key=lambda each: sum(fields.get(key) == each[key] for key in each), default={})
    inner = (f"metadata.{key}" for key in _metadata(version) if key not in _metadata(fields))
    return (*(key for key in version if key not in fields and key != "metadata"), *inner)


def _metadata(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    found = fields.get("metadata")
    return found if isinstance(found, dict) else {}


def with_settings(definition: str, settings: Mapping[str, Any], removed: Collection[str] = ()) -> str:
    """Return a HOOK.md with these fields replaced or added, and without those that are removed.

    Raises `ValueError` if the result would be read differently.
    """
    expected = dict(parts(definition.encode())[0])
    inner = {**_metadata(expected), **settings.get("metadata", {})}
    expected |= settings
    if inner:
        expected["metadata"] = {key: value for key, value in inner.items() if f"metadata.{key}" not in removed}
    expected = {key: value for key, value in expected.items() if key not in removed}
    head, body = definition.removeprefix("---\n").split("\n---\n", 1)
    lines = head.split("\n")
    for key in dict.fromkeys([*settings, *("metadata" if key.startswith("metadata.") else key for key in removed)]):
        lines = _with_field(lines, key, expected)
    changed = "---\n" + "\n".join(lines) + "\n---\n" + body
    if parts(changed.encode()) != (expected, body.encode()):
        raise ValueError("it would be read differently")
    return changed


def _with_field(lines: list[str], key: str, fields: Mapping[str, Any]) -> list[str]:
    """Return lines of YAML with a field instead of the one of that name, or after the others; or without it."""
    import yaml

    at = next((number for number, line in enumerate(lines) if line.startswith(f"{key}:")), len(lines))
    end = next((n for n in range(at + 1, len(lines)) if not lines[n].startswith(" ")), max(at + 1, len(lines)))
    text = (
        yaml.safe_dump({key: fields[key]}, allow_unicode=True, sort_keys=False, width=10_000) if key in fields else ""
    )
    return [*lines[:at], *text.split("\n")[:-1], *lines[end:]]
