"""Showing the bytes of a pack before they run: all of them, or the difference from the previous lock."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from ..basics.display_text import one_line, visible
from ..catalog import fingerprints, packs
from ..errors import HookError
from ..formats import folder as folder_format
from .printing import counted, print_text
from .trust import content_rows, print_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..catalog.packs import LockedPack, NamedPack
    from ..model import Hook


def show(new: LockedPack, old: LockedPack | None, names: set[str], layer: str, *, is_asked: bool) -> bool:
    """Print every file of the hooks that would run, or what differs. Return False if not all of it was shown."""
    return print_pages(_rows(new, old, names, layer), is_asked=is_asked)


def _rows(new: LockedPack, old: LockedPack | None, names: set[str], layer: str) -> Iterator[str]:
    before = {hook.name: hook for hook in old.hooks} if old else {}
    store = packs.store(layer)
    for hook in new.hooks:
        if hook.name not in names:
            continue
        if hook.name in before and before[hook.name].digest == hook.digest:
            continue
        earlier = f"{store}/{old.tree}/{hook.name}" if old and hook.name in before else None
        if earlier and packs.difference(earlier, before[hook.name].digest) is not None:
            earlier = None  # what is in the store is not what was shown
        yield click.style(one_line(hook.name), bold=True) + ("" if old is None else "  changed" if earlier else "  new")
        yield from _files(f"{store}/{new.tree}/{hook.name}", hook.digest, earlier)
    for name in before.keys() - {hook.name for hook in new.hooks}:
        yield click.style(one_line(name), bold=True) + "  removed"


def _files(folder: str, digest: str, earlier: str | None) -> Iterator[str]:
    total, now = fingerprints.of_folder(folder)
    if total != digest:  # which is what will be trusted
        raise HookError(f"{folder} was changed after it was fetched", "try again: it is fetched again")
    is_known = earlier is not None and os.path.isdir(earlier)
    then = {entry.path: entry for entry in fingerprints.of_folder(earlier or "").entries} if is_known else {}
    for entry in now:
        old = then.get(entry.path)
        if entry == old or entry.path.endswith("/"):
            continue
        executable = " executable" if entry.mode & 0o111 else ""
        said = "" if not is_known else " (added)" if old is None else " (changed)"
        yield click.style(f"  --- {one_line(entry.path)}{executable}{said}", dim=True)
        if old is None or old.digest != entry.digest:
            yield from content_rows(f"{folder}/{entry.path}", entry, _content(earlier, old))
            if entry.path.startswith("scripts/") and (above := _path_above(entry.path, _content(folder, entry) or b"")):
                note = f"  note: {above} may lead out of the hook's folder; what is there is not pinned, nor fetched"
                yield click.style(note, fg="yellow")
    for path in sorted(then.keys() - {entry.path for entry in now}):
        yield click.style(f"  --- {one_line(path)} (removed)", dim=True)


def _path_above(path: str, data: bytes) -> str | None:
    """Return a relative path in a script that has more `..` than the script has directories above it."""
    found = (each for each in re.finditer(rb"((?:\.\./)+)[\w./-]*", data) if len(each[1]) // 3 > path.count("/"))
    return next((each[0].decode() for each in found), None)


def _content(folder: str | None, entry: fingerprints.FileFingerprint | None) -> bytes | None:
    if folder is None or entry is None or os.path.islink(f"{folder}/{entry.path}"):
        return None
    with open(f"{folder}/{entry.path}", "rb") as file:
        return file.read()


def run_cases(pack: LockedPack, names: set[str], layer: str) -> bool:
    """Run the cases of a pack's hooks, print what fails, and return whether all passed."""
    from ..authoring import results, suites
    from .loading import catalog_here

    catalog = catalog_here()
    catalog.trust.everything = True  # for these cases only: the bytes were just fetched and shown
    folders = [f"{packs.store(layer)}/{pack.tree}/{name}" for name in sorted(names)]
    report = results.run_suites(suites.pick(catalog, folders), (), None)
    failed = [each for each in report.results if each.status not in (results.Status.PASSED, results.Status.UPDATED)]
    for result in failed:
        print_text(f"  FAIL {one_line(result.suite.hook.name)}: {one_line(result.case.name)}", err=True)
    print_text(f"  cases: {counted(len(report.results) - len(failed), 'case')} passed, {len(failed)} failed")
    return report.is_good


def _hooks(pack: LockedPack, named: NamedPack, layer: str) -> tuple[Hook, ...]:
    """Return the chosen hooks of a revision, with their settings, to be run without trust of their own."""
    found = []
    for each in pack.chosen(named.only):
        settings = named.settings.get(each.name)
        changes = {"defaults": {}, "override": {"metadata": settings} if isinstance(settings, dict) else {}}
        folder = f"{packs.store(layer)}/{pack.tree}/{each.name}"
        if packs.difference(folder, each.digest) is None:
            found.append(folder_format.read(folder, "user", changes).hook)
    return tuple(hook for hook in found if hook is not None)


def print_replay(new: LockedPack, old: LockedPack | None, named: NamedPack, days: float, layer: str) -> None:
    """Replay the journal's last days against the hooks of both revisions, and print what is decided differently."""
    import time

    from ..authoring.replay import KINDS, Candidate, is_replayed, replay
    from ..journal.filters import RecordFilter
    from .log import opened_index

    wanted = RecordFilter(since=time.time() - days * 86400)
    records = [record for _, record in opened_index().records(wanted) if is_replayed(record)]
    before = _hooks(old, named, layer) if old else ()
    replayed = replay(records, Candidate(hooks=_hooks(new, named, layer), before=before))
    counts = {kind: [each for each in replayed.differences if each.kind == kind] for kind in KINDS}
    said = ", ".join(f"{len(found)} {kind}" for kind, found in counts.items() if found) or "no difference"
    print_text(f"  journal: {counted(replayed.events, 'event')} of the last {days:g} days replayed: {said}")
    for kind, found in counts.items():
        for each in found[:5]:
            print_text(f"    {kind}: {one_line(each.hook or '')}  {visible(one_line(each.about))[:70]}")
