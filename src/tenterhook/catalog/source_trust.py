"""Trust in the sources of packs: the revisions that the user has approved, and the keys that may sign them."""

from __future__ import annotations

import os
import time

from ..basics import light_json, places, private_files
from ..basics.processes import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from ..model import Hook
    from .packs import LockedPack


def path(state: str | None = None) -> str:
    return f"{state or places.state()}/sources.json"


def all_sources(state: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the record of each source. Empty if another account could have written the file, or it is broken."""
    found = private_files.read_json(path(state)).get("sources")
    return found if isinstance(found, dict) else {}


def objection(hook: Hook, state: str | None = None) -> str | None:
    """Return why a pack's hook is not trusted; None if its source is, at this revision and with these bytes.

    The records are in `state`; without it, in the current state directory.
    """
    pack = hook.pack
    record = all_sources(state).get(pack["source"])
    if record is None:
        return f"the source {pack['source']} is not trusted"
    revision = record["revisions"].get(pack["commit"] or pack["tree"])
    if revision is None or revision["hooks"].get(os.path.basename(hook.folder or "")) != pack["digest"]:
        named = pack["rev"] or pack["commit"][:12] or "this state"
        return f"{named} of {pack['source']} is not trusted"
    if record["signers"] and revision["signer"] not in record["signers"]:
        return f"{pack['rev'] or pack['commit'][:12]} of {pack['source']} is not signed by a key that you trust"
    return None


def approves(pack: LockedPack, names: Collection[str]) -> bool:
    """Whether these hooks of a revision were approved earlier, with these bytes."""
    record = all_sources().get(pack.source)
    revision = record["revisions"].get(pack.commit or pack.tree) if record else None
    hooks = revision["hooks"] if revision else {}
    return all(hooks.get(hook.name) == hook.digest for hook in pack.hooks if hook.name in names)


def approve(pack: LockedPack, signer: str = "", names: Collection[str] | None = None) -> None:
    """Trust a source at this revision, in every project that names it; only the hooks that were shown."""
    hooks = {hook.name: hook.digest for hook in pack.hooks if signer or names is None or hook.name in names}
    revision: dict[str, Any] = {
        "hooks": hooks,
        "rev": pack.rev,
        "tree": pack.tree,
        "signer": signer,
        "when": int(time.time()),
    }

    def change(sources: dict[str, Any]) -> None:
        record = sources.setdefault(pack.source, {"signers": [], "revisions": {}})
        before = record["revisions"].get(pack.commit or pack.tree)
        if before is not None and before["signer"] == signer:
            revision["hooks"] = {**before["hooks"], **hooks}
        record["revisions"][pack.commit or pack.tree] = revision

    _change(change)


def add_signer(source: str, key: str) -> None:
    """Add a key that may sign revisions of a source; from then on, revisions without such a signature do not count."""

    def change(sources: dict[str, Any]) -> None:
        record = sources.setdefault(source, {"signers": [], "revisions": {}})
        if key not in record["signers"]:
            record["signers"].append(key)

    _change(change)


def remove_signer(source: str, key: str) -> bool:
    """Trust a key no longer, nor the revisions that it has signed; return whether it was trusted."""
    found: list[bool] = []

    def change(sources: dict[str, Any]) -> None:
        record = sources.get(source)
        found.append(record is not None and key in record["signers"])
        if record is None or not found[0]:
            return
        record["signers"].remove(key)
        record["revisions"] = {name: each for name, each in record["revisions"].items() if each["signer"] != key}
        if not record["signers"] and not record["revisions"]:
            del sources[source]

    _change(change)
    return found[0]


def revoke(source: str) -> bool:
    """Remove the trust in a source; return whether there was any."""
    removed: list[Any] = []
    _change(lambda sources: removed.append(sources.pop(source, None)))
    return removed != [None]


def _change(change: Callable[[dict[str, Any]], None]) -> None:
    places.make_private(os.path.dirname(path()))
    with Lock(f"{path()}.lock"):
        sources: Mapping[str, Any] = all_sources()
        if not sources and os.path.exists(path()) and os.path.getsize(path()) > _EMPTY:
            os.replace(path(), f"{path()}.broken")  # kept, so that a person can repair it
        changed = dict(sources)
        change(changed)
        places.replace_file(path(), light_json.dumps({"schema": 1, "sources": changed}).encode(), sync=True)


_EMPTY = 40  # bytes of a file without sources, with room to spare
