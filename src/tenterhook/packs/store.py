"""The store of fetched packs: `<tree>/<hook>/…`, read-only, named by its content, checked before it is used."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..basics import places
from ..catalog import fingerprints, packs
from ..catalog.packs import LockedHook, LockedPack
from ..errors import HookError, Problem
from ..formats import folder as folder_format
from .git import Entry, Repository, Revision, check_source

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

PACK_FILE = "pack.toml"
_LARGEST = 16 * 1024 * 1024  # bytes of one pack's hooks
_MOST_FILES = 10_000  # of one pack's hooks
_READ_ONLY = 0o555
_LINK, _SUBMODULE, _EXECUTABLE = "120000", "160000", "100755"


class PackFile(NamedTuple):
    """What is used of a `pack.toml`."""

    name: str
    hooks: tuple[str, ...] | None = None  # those in force by default


class SourceFile(NamedTuple):
    """One file of a pack: its bytes, or the target of a link."""

    path: str
    data: bytes
    is_link: bool = False
    is_executable: bool = False


def fetch(source: str, rev: str, layer: str, signers: Iterable[str] = ()) -> LockedPack:
    """Fetch a pack into the store and return its entry for the lock. Raises `HookError` if it cannot be used."""
    if is_folder(source):
        if rev:
            raise HookError(f"{source} is not a git repository, so it has no revision {rev}", "leave the revision out")
        if list(signers):
            raise HookError(f"{source} is not a git repository, so it has no signature", "use its repository")
        files = list(_read_folder(source))
        return _stored(source, Revision("", "", ""), files, layer)
    repository = Repository(source)
    repository.fetch()
    return fetched(repository, repository.resolve(rev), layer, signers)


def fetched(repository: Repository, revision: Revision, layer: str, signers: Iterable[str] = ()) -> LockedPack:
    """Put a revision of a repository that was fetched into the store."""
    keys = list(signers)
    signer = repository.signer(revision, keys)
    if keys and not signer:
        named = revision.rev or revision.commit[:12]
        message = f"{named} of {repository.source} is not signed by a key that you trust for this source"
        raise HookError(message, "get it signed, or trust its key: tenterhook trust --source URL --signer KEY")
    pack = _stored(repository.source, revision, _read_revision(repository, revision.tree), layer)
    return pack._replace(signer=signer, tag=repository.is_tag(revision.rev))


def is_folder(source: str) -> bool:
    """Whether a source is a plain folder without git. Raises `HookError` for one that cannot be fetched."""
    check_source(source)
    is_git = any(os.path.exists(f"{source}/{name}") for name in (".git", "HEAD"))
    return os.path.isdir(source) and not is_git


def _read_revision(repository: Repository, tree: str) -> list[SourceFile]:
    entries = repository.files(tree)
    folders = _hook_folders(entry.path for entry in entries)
    wanted: list[Entry] = []
    for entry in entries:
        is_wanted = entry.path == PACK_FILE or _is_below(entry.path, folders)
        if entry.mode == _SUBMODULE and (is_wanted or not folders or _may_hold_hooks(entry.path)):
            raise HookError(f"{repository.source}: {entry.path} is a submodule", "commit the files themselves")
        if entry.mode == _LINK and not is_wanted:
            _refuse_link(repository.source, entry.path)
        if is_wanted:
            wanted.append(entry)
    _refuse_large(repository.source, [entry.size for entry in wanted])
    return [
        SourceFile(entry.path, data, entry.mode == _LINK, entry.mode == _EXECUTABLE)
        for entry, data in zip(wanted, repository.contents(wanted), strict=True)
    ]


def _read_folder(source: str) -> Iterable[SourceFile]:
    paths = [
        os.path.relpath(os.path.join(above, name), source)
        for above, directories, names in os.walk(source)
        for name in (*names, *(each for each in directories if os.path.islink(os.path.join(above, each))))
    ]
    folders = _hook_folders(paths)
    wanted = [path for path in paths if path == PACK_FILE or _is_below(path, folders)]
    for path in paths:
        if path not in wanted and os.path.islink(f"{source}/{path}"):
            _refuse_link(source, path)
    _refuse_large(source, [os.lstat(f"{source}/{path}").st_size for path in wanted])
    for path in wanted:
        full = f"{source}/{path}"
        if os.path.islink(full):
            yield SourceFile(path, os.fsencode(os.readlink(full)), is_link=True)
            continue
        if not os.path.isfile(full):
            raise HookError(f"{full} is not a regular file", "remove it")
        with open(full, "rb") as file:
            yield SourceFile(path, file.read(), is_executable=bool(os.stat(full).st_mode & 0o111))


def _may_hold_hooks(path: str) -> bool:
    """Whether a path may hold hooks: `hooks` and what is directly in it."""
    return path == "hooks" or os.path.dirname(path) == "hooks"


def _refuse_link(source: str, path: str) -> None:
    if _may_hold_hooks(path):
        raise HookError(
            f"{source}: {path} is a link, which could point outside the pack", "commit the files themselves"
        )


def _refuse_large(source: str, sizes: Sequence[int]) -> None:
    if len(sizes) > _MOST_FILES:
        raise HookError(f"the hooks of {source} have more than {_MOST_FILES} files", "keep data outside the hooks")
    if sum(sizes) > _LARGEST:
        raise HookError(f"the hooks of {source} are larger than {_LARGEST >> 20} MiB", "keep data outside the hooks")


def _hook_folders(paths: Iterable[str]) -> dict[str, None]:
    """Return the folders with a HOOK.md, at the top of a pack or in its directory `hooks`."""
    folders = [os.path.dirname(path) for path in paths if os.path.basename(path) == "HOOK.md"]
    return dict.fromkeys(each for each in folders if each and (os.path.dirname(each) in ("", "hooks")))


def _is_below(path: str, folders: Container[str]) -> bool:
    """Whether a path is in one of the folders, which are at the top or in `hooks`."""
    first, *rest = path.split("/", 2)
    return (bool(rest) and first in folders) or (len(rest) > 1 and f"{first}/{rest[0]}" in folders)


def _stored(source: str, revision: Revision, files: list[SourceFile], layer: str) -> LockedPack:
    """Write files into the store unless it has them, and return the pack's entry for the lock."""
    pack = _pack_file(source, files)
    folders = _hook_folders(file.path for file in files)
    if not folders:
        raise HookError(f"{source} has no hooks", "a pack has folders with a HOOK.md, at its top or in hooks/")
    names = [os.path.basename(folder) for folder in folders]
    if twice := {name for name in names if names.count(name) > 1}:
        raise HookError(f"{source} has two hooks called {sorted(twice)[0]}", "rename one of them")
    above = packs.store(layer)
    places.make_directories(above, 0o755 if layer == "managed" else 0o700)
    temporary = tempfile.mkdtemp(prefix=".new-", dir=above)
    try:
        for folder in folders:
            above_hook = os.path.dirname(folder)
            for file in sorted(files, key=lambda each: each.is_link):  # links last: none is written through
                if file.path.startswith(f"{folder}/"):
                    _write(temporary, os.path.relpath(file.path, above_hook or "."), file)
        for directory, _, _ in os.walk(temporary):
            if directory != temporary:
                os.chmod(directory, _READ_ONLY)
        os.chmod(temporary, _READ_ONLY if layer == "managed" else 0o500)
        hooks = [_locked_hook(source, f"{temporary}/{name}", layer) for name in sorted(names)]
        tree = revision.tree or f"folder-{_digest(hooks)}"
        _move(temporary, f"{above}/{tree}", hooks)
    finally:
        _remove(temporary)
    if unknown := set(pack.hooks or ()) - set(names):
        raise HookError(f"{PACK_FILE} of {source} names a hook that it does not have: {sorted(unknown)[0]}", "fix it")
    return LockedPack(pack.name, source, revision.rev, revision.commit, tree, tuple(hooks), pack.hooks)


def _digest(hooks: Iterable[LockedHook]) -> str:
    import hashlib

    return hashlib.sha256("".join(f"{hook.name} {hook.digest}\n" for hook in hooks).encode()).hexdigest()[:40]


def _pack_file(source: str, files: Iterable[SourceFile]) -> PackFile:
    name = packs.default_name(source)
    found = next((file for file in files if file.path == PACK_FILE), None)
    if found is None:
        return PackFile(name)
    if found.is_link:
        raise HookError(f"{PACK_FILE} of {source} is a link", "commit the file itself")
    try:
        document: Mapping[str, Any] = tomllib.loads(found.data.decode().replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise HookError(f"{PACK_FILE} of {source} is not valid TOML: {error}", "fix that file") from None
    if "packs" in document:
        raise HookError(
            f"{PACK_FILE} of {source} names other packs, which is not supported", "name each of them in hooks.toml"
        )
    for key in ("name", "description", "requires"):
        if not isinstance(document.get(key, ""), str):
            raise HookError(f"{PACK_FILE} of {source}: '{key}' is not a string", "fix it in that file")
    hooks = document.get("hooks")
    if hooks is not None and not (isinstance(hooks, list) and all(isinstance(each, str) for each in hooks)):
        raise HookError(f"{PACK_FILE} of {source}: 'hooks' is not a list of names", "fix it in that file")
    requires = document.get("requires", "")
    if requires and not _version(requires):
        raise HookError(f"{PACK_FILE} of {source}: 'requires' is not a version: {requires}", 'write requires = "0.2"')
    if requires and _version(requires) > _version(__version__):
        raise HookError(
            f"{source} needs Tenterhook {requires}; this is {__version__}", "upgrade Tenterhook, or use an older rev"
        )
    return PackFile(document.get("name") or name, None if hooks is None else tuple(hooks))


def _version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version; empty if it is not one."""
    numbers = re.match(r"\d+(\.\d+){0,2}", text.strip().removeprefix(">=").strip())
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _write(above: str, relative: str, file: SourceFile) -> None:
    """Write one file to the store: of its mode, only the executable bit is kept."""
    if any(part in ("", ".", "..") for part in relative.split("/")):
        raise HookError(f"{relative}: a file with this name cannot be stored", "rename it")
    if not file.is_link and file.data.startswith(b"#!") and file.data.partition(b"\n")[0].endswith(b"\r"):
        raise HookError(
            f"{relative} has Windows line endings: the system cannot find its interpreter",
            "commit it with line feeds: '*.sh text eol=lf' in .gitattributes",
        )
    if not file.is_link and file.data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise HookError(f"{relative} is kept by git LFS, which is not fetched", "commit the file itself")
    target = f"{above}/{relative}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if file.is_link:
            os.symlink(os.fsdecode(file.data), target)
            return
        with open(target, "xb") as stream:
            stream.write(file.data)
    except (FileExistsError, NotADirectoryError):
        raise HookError(f"{relative}: the pack has two files of this name", "rename one of them") from None
    except OSError as error:
        raise HookError(f"{relative} cannot be stored: {error.strerror}", "rename it, or free some space") from None
    os.chmod(target, 0o555 if file.is_executable else 0o444)


def _locked_hook(source: str, folder: str, layer: str) -> LockedHook:
    try:
        digest = fingerprints.of_folder(folder).hash
    except fingerprints.Untrustable as error:
        raise HookError(f"{source}: {error.message.replace(folder, os.path.basename(folder))}", error.remedy) from None
    hook, problems = folder_format.read(folder, layer)
    if hook is None:
        problem: Problem = next(each for each in problems if each.severity == "error")
        raise HookError(f"{source}: {os.path.basename(folder)}/HOOK.md: {problem.message}", problem.remedy)
    if hook.name != os.path.basename(folder):
        raise HookError(f"{source}: the hook {hook.name} is in the folder {os.path.basename(folder)}", "rename one")
    return LockedHook(hook.name, digest, hook.declared, hook.tool, hook.pattern, hook.fail_closed)


def _move(temporary: str, target: str, hooks: Iterable[LockedHook]) -> None:
    """Move a tree to its place, replacing one that differs from what was fetched."""
    if os.path.isdir(target):
        if all(packs.difference(f"{target}/{hook.name}", hook.digest) is None for hook in hooks):
            return
        _remove(target)
    try:
        os.rename(temporary, target)
    except OSError:
        if not os.path.isdir(target):  # else another process was faster
            raise


def _remove(directory: str) -> None:
    if os.path.isdir(directory):
        os.chmod(directory, 0o700)
    for above, directories, _ in os.walk(directory):
        for name in directories:
            if not os.path.islink(f"{above}/{name}"):
                os.chmod(f"{above}/{name}", 0o700)
    shutil.rmtree(directory, ignore_errors=True)
