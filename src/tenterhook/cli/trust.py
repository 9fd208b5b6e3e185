"""`tenterhook trust`: show a project's hooks and trust exactly these bytes."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from ..basics.display_text import lines_of, one_line, text_of, visible
from ..catalog import fingerprints, layer_settings, source_trust
from ..catalog.catalog import with_settings
from ..catalog.trust import OWN_FILES, fingerprint_of
from ..errors import HookError
from ..install.settings_change import NO_NEWLINE, diff
from .loading import catalog_here, offered
from .own_hooks import wired
from .printing import print_problems, print_text, short_path
from .refusals import need_terminal, refuse_below_agent, typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..catalog.catalog import Catalog
    from ..catalog.packs import LockedPack

_WRITTEN_OUT = "invisible characters, and bytes that are not UTF-8, are shown as escapes: \\x0c, \\u2028, \\xff"
_PAGE = 200  # rows that are shown at once on a terminal
_LONGEST_ROW = 2000  # characters
_LARGEST_SHOWN = 1024 * 1024  # bytes of one file


class Trustable(NamedTuple):
    """A hook's folder of a project, or its `hooks.toml`: both need trust."""

    name: str
    path: str


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return offered([each.name for each in candidates(catalog_here())], incomplete)


@click.command(short_help="Let this project's hooks run, as they are now.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_names)
@click.option("--all", "everything", is_flag=True, help="Every hook of the project, and its hooks.toml.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; for scripts, if you have reviewed the hooks.")
@click.option("--code", is_flag=True, help="Trust the project's own code: your hooks may run its tests and tools.")
@click.option("--replace", is_flag=True, help="Let them replace your own hooks of the same name.")
@click.option("--source", metavar="URL", help="Trust a source of packs, in every project that names it.")
@click.option("--signer", metavar="KEY", help="With --source: only revisions signed by this SSH key (or key file).")
def trust(
    names: tuple[str, ...],
    everything: bool,
    yes: bool,
    code: bool,
    replace: bool,
    source: str | None,
    signer: str | None,
) -> int:
    """Show this project's hooks and trust them, for exactly the bytes shown.

    Any later change to a hook's folder revokes its trust. What the scripts call outside their folder is not covered:
    review that too.

    Invisible characters are shown as escapes, in lines that begin with "!". A file of more than 1 MiB is refused.
    The project's own code (--code) is trusted for this repository, not for another one at the same path.

    \b
    tenterhook trust                 # review each and decide
    tenterhook trust format --yes    # trust one without being asked
    tenterhook trust --code          # your own hooks may run this project's tests and formatters
    tenterhook trust --source URL --signer team.pub   # packs from there, signed by this key, in every project
    """
    refuse_below_agent("trust")
    if signer is not None and source is None:
        raise click.UsageError("--signer needs --source")
    if source is not None:
        from . import trust_packs

        need_terminal("trust", yes=yes)
        return trust_packs.trust_source(source, signer, catalog_here(), yes=yes)
    names_none = not (names or everything or code)
    need_terminal("trust", yes=yes, also="--all" if names_none else "")
    if code:
        return _trust_code(catalog_here(), yes=yes)
    if yes and names_none:
        raise click.UsageError(f"name the hooks to trust, or: {typed('--all')}")
    catalog = catalog_here()
    _need_records(catalog)
    print_problems(catalog.problems, err=True)
    untrusted = [] if names else _untrusted_packs(catalog)
    wanted = chosen(catalog, names)
    pending = [each for each in wanted if names or _is_pending(each, catalog, replace=replace)]
    if not pending and not untrusted:
        print_text("nothing to trust: " + ("this project has no hooks" if not wanted else "everything is trusted"))
        return 0
    refused = 0
    if untrusted:
        from . import trust_packs

        for layer, locked in untrusted:
            try:
                refused += not trust_packs.trust_pack(layer, locked, yes=yes)
            except HookError as error:  # the others, and the project's own hooks, do not wait for it
                print_text(f"  not trusted: {visible(error.message)}\n  {visible(error.remedy)}", err=True)
                refused += 1
    for each in pending:
        refused += not _trust_one(each, catalog, yes=yes, replace=replace)
    for line in wired(catalog_here()):
        print_text(line)
    return 1 if refused else 0


def _untrusted_packs(catalog: Catalog) -> list[tuple[str, LockedPack]]:
    """Return the locked packs whose source is not trusted at that revision, each with its layer."""
    from ..packs import declarations

    waiting = {
        (hook.layer, hook.pack["source"], hook.pack["commit"], hook.pack["tree"])
        for hook in catalog.hooks
        if hook.pack and hook.layer != "managed" and source_trust.objection(hook)
    }
    return [
        (layer.name, locked)
        for layer in with_settings(catalog.layers)
        for _, locked in (declarations.read(layer.directory, layer.name).packs if waiting else ())
        if locked and (layer.name, locked.source, locked.commit, locked.tree) in waiting
    ]


def _is_pending(each: Trustable, catalog: Catalog, *, replace: bool) -> bool:
    """Return whether something is left to confirm: the bytes, or that they replace a hook of the user."""
    standing = catalog.trust.of(each.path)
    return not standing.runs or (replace and not standing.replaces and _has_namesake(each, catalog))


def _trust_code(catalog: Catalog, *, yes: bool) -> int:
    """Trust the project's own code in any later version, without showing it. Return the exit status."""
    _need_records(catalog)
    print_text(
        f"hooks of yours such as enforce-tests may then run the code of {one_line(catalog.root)}, in any later version"
    )
    if not yes and not click.confirm("Trust it?", default=False):
        return 1
    catalog.trust.grant_code()
    print_text("trusted; revoke it with: tenterhook untrust .")
    return 0


def _need_records(catalog: Catalog) -> None:
    trouble = catalog.trust.unreliable()
    if trouble:
        raise HookError(
            trouble, "run it in another directory, or use a state directory of your own, outside the project"
        )


def candidates(catalog: Catalog) -> list[Trustable]:
    """Return everything in a project that needs trust, broken or not."""
    names = {hook.folder: hook.name for hook in catalog.hooks}
    found: list[Trustable] = []
    for layer in with_settings(layer for layer in catalog.layers if layer.name == "project"):
        if not os.path.isdir(layer.directory):
            continue
        if layer not in catalog.layers:  # `.agents`, which has no hook folders
            file = os.path.join(layer.directory, layer_settings.FILE)
            found += [Trustable(layer_settings.FILE, file)] if os.path.lexists(file) else []
            continue
        for name in sorted(os.listdir(layer.directory), key=os.fsencode):
            path = os.path.join(layer.directory, name)
            if name == layer_settings.FILE or os.path.lexists(os.path.join(path, "HOOK.md")):
                found.append(Trustable(names.get(path, name), path))
    return found


def chosen(catalog: Catalog, names: tuple[str, ...]) -> list[Trustable]:
    """Return the candidates with these names, or all. Raises `HookError` for an unknown name."""
    found = candidates(catalog)
    if not names:
        return found
    picked = []
    for name in names:
        matching = [each for each in found if name in (each.name, os.path.basename(each.path))]
        if not matching:
            known = ", ".join(each.name for each in found)
            remedy = f"its hooks: {known}" if known else "it has none in .agents/hooks"
            raise HookError(f"this project has no hook '{name}'", remedy)
        picked += matching
    return list(dict.fromkeys(picked))


def _trust_one(each: Trustable, catalog: Catalog, *, yes: bool, replace: bool) -> bool:
    """Show one candidate, ask unless `yes`, and trust it. Return whether it is trusted now."""
    click.echo(click.style(one_line(each.name), bold=True) + f"  {short_path(each.path)}")
    try:
        seen = fingerprint_of(each.path)
        _refuse_large(each, catalog, seen)
        if not print_pages(_shown(each, catalog, seen), is_asked=not yes):
            print_text("  not trusted: you did not view all of it", err=True)
            return False
    except fingerprints.Untrustable as error:
        print_text(f"  cannot be trusted: {visible(error.message)}\n  {visible(error.remedy)}", err=True)
        return False
    print_text("  What it calls outside its folder is not covered by this.")
    if os.path.isdir(each.path):
        print_text(f"  Any change in the folder revokes the trust: {OWN_FILES}.")
    if not yes and not click.confirm("  Trust exactly this?", default=False):
        return False
    replaces = False
    if _has_namesake(each, catalog):
        replaces = replace or (
            not yes and click.confirm(f"  Let it replace your own hook '{one_line(each.name)}'?", default=False)
        )
        both = "Your own hook of that name stays in force; both run."
        print_text(f"  It replaces your own hook '{one_line(each.name)}'." if replaces else f"  {both}")
    catalog.trust.grant(each.path, replaces=replaces, seen=seen)
    click.echo("  trusted")
    return True


def _has_namesake(each: Trustable, catalog: Catalog) -> bool:
    """Return whether the user has a hook of the same name."""
    hooks = [*catalog.hooks, *(left.hook for left in catalog.left_out)]
    return any(hook.layer == "user" and hook.name == each.name for hook in hooks)


def _pending(each: Trustable, catalog: Catalog, seen: fingerprints.Fingerprint) -> list[fingerprints.FileFingerprint]:
    """Return the files that differ from the trusted ones; all if nothing was trusted."""
    changed = {name for name, _ in catalog.trust.changes(each.path, seen)}
    return [entry for entry in seen.entries if entry.path in changed]


def _base(each: Trustable) -> str:
    return os.path.dirname(each.path) if os.path.basename(each.path) == layer_settings.FILE else each.path


def _refuse_large(each: Trustable, catalog: Catalog, seen: fingerprints.Fingerprint) -> None:
    """Raise `Untrustable` for files that are too large to be shown: only what was shown is trusted."""
    for entry in _pending(each, catalog, seen):
        file = os.path.join(_base(each), entry.path)
        if os.path.lexists(file) and os.lstat(file).st_size > _LARGEST_SHOWN and not entry.path.endswith("/"):
            message = f"{file} is too large to be shown: more than {_LARGEST_SHOWN >> 20} MiB"
            raise fingerprints.Untrustable(message, "keep data outside a hook's folder")


def _shown(each: Trustable, catalog: Catalog, seen: fingerprints.Fingerprint) -> Iterator[str]:
    """Yield rows that show the files, or what has changed since they were trusted."""
    trust = catalog.trust
    is_known = trust.knows(each.path)
    for entry in _pending(each, catalog, seen):
        old = trust.trusted_entry(each.path, entry.path)
        is_directory, is_changed = entry.path.endswith("/"), old is None or old.digest != entry.digest
        about = [*_mode(entry, old), *(["added" if old is None else "changed"] if is_known and is_changed else [])]
        below = [other for other in seen.entries if other is not entry and other.path.startswith(entry.path)]
        if is_directory and not about and below:
            continue  # its files are shown
        executable = " executable" if entry.mode & 0o111 and not is_directory else ""
        said = f" ({', '.join(about)})" if about else ""
        yield click.style(f"  --- {one_line(entry.path)}{executable}{said}", dim=True)
        if is_changed and not is_directory:
            content = None if old is None else trust.trusted_content(old)
            yield from content_rows(os.path.join(_base(each), entry.path), entry, content)
    for path, what in trust.changes(each.path, seen):
        if is_known and what == "removed":
            yield click.style(f"  --- {one_line(path)} (removed)", dim=True)


def _mode(entry: fingerprints.FileFingerprint, old: fingerprints.FileFingerprint | None) -> list[str]:
    """Return a remark if a file's mode has changed or is unusual."""
    if _is_link(entry):
        return []
    if old is not None and old.mode != entry.mode and not _is_link(old):
        return [f"mode {entry.mode:o}, was {old.mode:o}"]
    return [] if entry.mode in _USUAL_MODES else [f"mode {entry.mode:o}"]


_USUAL_MODES = (0o600, 0o640, 0o644, 0o660, 0o664, 0o700, 0o750, 0o755, 0o770, 0o775)


def _is_link(entry: fingerprints.FileFingerprint) -> bool:
    return entry.digest.startswith("link:")


def content_rows(file: str, entry: fingerprints.FileFingerprint, old: bytes | None) -> Iterator[str]:
    """Yield rows with a file's text, or its difference to the trusted content."""
    if _is_link(entry):
        data = os.fsencode(os.readlink(file))
        _must_be(data, entry, file)
        yield f"  a link to {one_line(os.fsdecode(data))}"
        return
    with open(file, "rb") as stream:
        data = stream.read()
    _must_be(data, entry, file)
    text = text_of(data) if old is None else diff(old, data, "trusted", "now", context=2)
    is_written_out = False
    for line in lines_of(text):
        plain = line.removesuffix("\n")
        mark, shown = "|", visible(plain)
        if shown != plain:  # double backslashes of the file: ours mark escapes
            mark, shown, is_written_out = "!", visible(plain.replace("\\", "\\\\")), True
        for start in range(0, len(shown) or 1, _LONGEST_ROW):
            yield f"  {mark if start == 0 else '>'} {shown[start : start + _LONGEST_ROW]}"
    if not data:
        yield "  (it is empty)"
    elif old is None and not data.endswith(b"\n"):
        yield f"  {NO_NEWLINE}"
    if is_written_out:
        yield f"  (!: {_WRITTEN_OUT})"


def _must_be(data: bytes, entry: fingerprints.FileFingerprint, file: str) -> None:
    """Raise `Untrustable` if the data differs from the fingerprint that will be trusted."""
    if hashlib.sha256(data).hexdigest() != entry.digest.removeprefix("link:"):
        raise fingerprints.Untrustable(f"{file} changed while it was being shown", "review it again")


def print_pages(rows: Iterator[str], *, is_asked: bool) -> bool:
    """Print all rows, on a terminal page by page. Return False if the user stopped before the end."""
    is_paged = is_asked and sys.stdout.isatty()
    for number, row in enumerate(rows):
        is_full = is_paged and number > 0 and number % _PAGE == 0
        if is_full and not click.confirm("  There is more. Continue?", default=True):
            return False
        click.echo(row)
    return True
