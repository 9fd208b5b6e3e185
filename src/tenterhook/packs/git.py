"""Git for packs: fetching a source into a bare repository of ours, and reading a revision there. Nothing of it is run.

The user's own git configuration applies, for credentials and mirrors (`url.….insteadOf`); hooks, filters, external
diffs and protocols that run commands do not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from ..basics import places, processes
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGEST = 200 * 1024 * 1024  # bytes of a source's history
_LARGEST_LISTING = 32 * 1024 * 1024  # bytes of a revision's list of files: a small tree may be in another many times
_LONGEST = 300  # seconds
_SAFE = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null"),
    *("-c", "fetch.recurseSubmodules=no", "-c", "gc.auto=0"),
)
_NO_QUESTIONS = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
# A list, and not what configuration allows: a remote helper is a program that an address names, such as `ext::…`.
_LIMITS = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "GIT_NO_LAZY_FETCH": "1"}
# git takes the program for a signature from the signature: one by OpenPGP would be checked with the person's keyring.
_OPENSSH_ONLY = tuple(
    word
    for setting in (
        *("gpg.format=ssh", "gpg.ssh.program=ssh-keygen"),
        *("gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false"),
    )
    for word in ("-c", setting)
)
_PUBLISHED = "published.json"
_HEAD, _HEADS, _TAGS = "refs/pack/HEAD", "refs/remotes/pack/", "refs/tags/"
_NO_HEAD = "couldn't find remote ref HEAD"
_LAST_DATE = 253402300799  # the end of the year 9999


class Entry(NamedTuple):
    """One file of a revision."""

    path: str
    mode: str  # as git writes it: 100644, 100755, 120000 (a link), 160000 (a submodule)
    object_id: str
    size: int


class Revision(NamedTuple):
    """A revision that a name currently refers to."""

    rev: str
    commit: str
    tree: str
    tag: str = ""  # the tag object, if it is one
    date: int = 0  # of the tag or the commit, or later if it came later, in seconds since 1970


def check_source(source: str) -> None:
    """Raise `HookError` for a source that is no URL and no absolute path: it could be an option of git."""
    if not re.match(r"/|[a-z][a-z0-9+.-]*://[^-]|[^-/:][^/:]*:", source) or re.search(r"[\x00-\x1f\x7f]", source):
        remedy = "name a git URL, or a folder that exists; in hooks.toml by its absolute path"
        raise HookError(f"{source!r} is neither a git URL nor an absolute path", remedy)
    if re.match(r"[a-z+]+://[^/@]*:[^/@]+@", source):
        raise HookError(
            f"{re.sub('//[^/@]*@', '//…@', source)} has a password in it, which hooks.toml and hooks.lock would show",
            "leave it out; a credential helper of git has it: git help credentials",
        )


class Repository:
    """The bare repository of one source in our cache. The pack may be in a directory of it: `URL#directory`."""

    def __init__(self, source: str) -> None:
        check_source(source)
        self.source = source
        self._address, _, below = source.partition("#")
        self.below = below.strip("/")
        self._directory = f"{places.cache()}/packs/{places.file_name(self._address)}.git"

    def fetch(self) -> None:
        """Fetch every branch and tag. Raises `HookError` if that fails, or if the source is too large."""
        if shutil.which("git") is None:
            raise _without_git()
        places.make_private(os.path.dirname(self._directory))
        if not os.path.isdir(f"{self._directory}/objects"):
            self._git("init", "--quiet", "--bare", self._directory, at=False)
        refs = (f"+refs/heads/*:{_HEADS}*", f"+refs/tags/*:{_TAGS}*")
        status, said = self._fetch(*refs, f"+HEAD:{_HEAD}")
        if status != 0 and _NO_HEAD in said:  # a bare repository whose default branch was never pushed
            self._ask("update-ref", "-d", _HEAD)
            status, said = self._fetch(*refs)
        if status != 0:
            lines = [line for line in said.splitlines() if line.strip()]
            telling = [line for line in lines if not re.match(r"(remote: )?warning:", line, re.IGNORECASE)] or lines
            why = re.sub(r"^(fatal|error): ", "", telling[0]) if telling else f"git ended with {status}"
            raise HookError(
                f"{self.source} cannot be fetched: {why}",
                "check the address and your access; fetched packs stay in force",
            )
        self._note_published()

    def _fetch(self, *refs: str) -> tuple[int, str]:
        """Fetch some refs; return git's exit status and what it said. Raises `HookError` at the limits."""
        command = self._command("fetch", "--quiet", "--prune", "--no-write-fetch-head", "--", self._address, *refs)
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(  # git, with a source that the user named
                command, env=_environment(), stdin=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
            leader = processes.child(process.pid)
            watch = _SizeWatch(self._directory, leader)
            try:
                status = process.wait(_LONGEST)
            except subprocess.TimeoutExpired:
                raise HookError(f"{self.source} took longer than {_LONGEST} seconds", "try again later") from None
            finally:
                watch.end()
                if process.returncode is None:
                    processes.end_group(leader, 0, process.poll)
            said.seek(0)
            text = said.read(4000).decode("utf-8", "replace").strip()
        if watch.is_exceeded:
            shutil.rmtree(self._directory, ignore_errors=True)
            remedy = "keep hooks in a repository of their own"
            raise HookError(f"{self.source} is larger than {LARGEST >> 20} MiB", remedy)
        return status, text

    def _note_published(self) -> None:
        """Store when each new tag and branch can have been published at the earliest, because dates can be forged."""
        known, last = self._published()
        found = self._git("for-each-ref", "--format=%(objectname)").decode().split()
        places.replace_file(
            f"{self._directory}/{_PUBLISHED}",
            json.dumps({"at": time.time(), "after": {each: known.get(each, last) for each in found}}).encode(),
        )

    def _published(self) -> tuple[dict[str, float], float]:
        """Return by object the last time at which the source did not have it yet, and when it was last fetched."""
        try:
            with open(f"{self._directory}/{_PUBLISHED}", encoding="utf-8") as file:
                stored = json.load(file)
            return stored["after"], stored["at"]
        except (OSError, ValueError, KeyError, TypeError):
            return {}, 0.0

    def resolve(self, rev: str) -> Revision:
        """Return the revision of a tag, branch or commit; without a name, of the source's default branch.

        A whole hash is a commit, whatever the source calls its tags and branches.
        """
        names = (f"{_TAGS}{rev}", f"{_HEADS}{rev}", rev) if rev else (_HEAD,)
        for name in (rev,) if _is_hash(rev) else names:
            if rev and (re.search(r"[\s~^:]", rev) or (name == rev and not re.fullmatch(r"[0-9a-f]{7,64}", rev))):
                break
            found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            if found:
                tag = self._ask("rev-parse", "--verify", "--quiet", name) or ""
                is_tag = bool(tag) and self._ask("cat-file", "-t", tag) == "tag"
                return self._revision(rev, found, tag if is_tag else "")
        known = ", ".join(self.tag_names()[:5])
        remedy = f"its newest tags: {known}" if known else "name a tag, a branch or a commit that it has"
        raise HookError(f"{self.source} has no {rev or 'default branch'}", remedy)

    def _revision(self, rev: str, commit: str, tag: str = "") -> Revision:
        tree = self.tree(commit)
        if tree is None or self._ask("cat-file", "-t", tree) != "tree":
            raise HookError(f"{self.source}: {rev or commit[:12]} has no directory {self.below}", "fix what is after #")
        date = (self._date("tag", tag) if tag else 0) or self._date("commit", commit)
        return Revision(rev, commit, tree, tag, max(date, int(self._published()[0].get(tag or commit, 0))))

    def _date(self, kind: str, object_id: str) -> int:
        """Return the date in a tag or commit; 0 without one. Not by `git log`, whose output configuration changes."""
        head = (self._ask("cat-file", kind, object_id) or "").partition("\n\n")[0]
        found = re.search(r"^(?:tagger|committer) .* (\d{1,18}) [+-]\d+$", head, re.MULTILINE)
        return min(int(found[1]), _LAST_DATE) if found else 0

    def tree(self, commit: str) -> str | None:
        """Return the tree of the pack at a commit; None if there is none."""
        return self._ask("rev-parse", "--verify", "--quiet", f"{commit}:{self.below}")

    def tag_names(self) -> list[str]:
        """Return the names of the tags, the newest version first; v2.0-rc1 is older than v2.0."""
        asked = ("for-each-ref", "--sort=-version:refname", "--format=%(refname:strip=2)", _TAGS)
        return (self._ask("-c", "versionsort.suffix=-", *asked) or "").splitlines()

    def is_tag(self, rev: str) -> bool:
        if not rev or _is_hash(rev):
            return False
        return self._ask("rev-parse", "--verify", "--quiet", f"{_TAGS}{rev}") is not None

    def is_branch(self, rev: str) -> bool:
        if not rev or _is_hash(rev):
            return not rev
        return not self.is_tag(rev) and self._ask("rev-parse", "--verify", "--quiet", f"{_HEADS}{rev}") is not None

    def has(self, commit: str) -> bool:
        return self._ask("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def descends(self, newer: str, older: str) -> bool:
        """Whether a commit has another one in its history."""
        return self._ask("merge-base", "--is-ancestor", older, newer) is not None

    def files(self, tree: str) -> list[Entry]:
        """Return every file of a tree or commit. Raises `HookError` if there are too many."""
        command = self._command("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", tree)  # -t: trees without files too
        with subprocess.Popen(  # git, on a repository of ours
            command, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            output = process.stdout.read(_LARGEST_LISTING + 1)
            if len(output) > _LARGEST_LISTING:
                process.kill()
                raise HookError(f"{self.source} has too many files", "keep hooks in a repository of their own")
        if process.returncode != 0:
            raise HookError(f"the files of {self.source} cannot be listed", "remove the cache of packs and try again")
        entries = []
        for row in output.split(b"\0"):
            about, tab, path = row.partition(b"\t")
            if tab:
                mode, kind, object_id, size = about.decode().split()
                if kind != "tree":
                    entries.append(Entry(os.fsdecode(path), mode, object_id, int(size) if size != "-" else 0))
        return entries

    def contents(self, entries: Sequence[Entry]) -> Iterator[bytes]:
        """Yield the bytes of files as they were committed: no filter and no change of line endings applies."""
        wanted = "".join(f"{entry.object_id}\n" for entry in entries).encode()
        output = self._git("cat-file", "--batch", given=wanted)
        at = 0
        for entry in entries:
            head = output.index(b"\n", at) + 1
            yield output[head : head + entry.size]
            at = head + entry.size + 1

    def signer(self, revision: Revision, keys: Sequence[str]) -> str:
        """Return the trusted key that signed a tag or commit; empty if there is none."""
        for key in keys:
            with tempfile.NamedTemporaryFile("w", prefix="tenterhook-signers-") as allowed:
                allowed.write(f'* namespaces="git" {key}\n')
                allowed.flush()
                options = (*_OPENSSH_ONLY, "-c", f"gpg.ssh.allowedSignersFile={allowed.name}")
                asked = [("verify-commit", revision.commit)]
                if revision.tag and self._tagged_name(revision.tag) == revision.rev:
                    asked.insert(0, ("verify-tag", revision.tag))
                if any(self._ask(*options, *each) is not None for each in asked):
                    return key
        return ""

    def _tagged_name(self, tag: str) -> str:
        """Return the name that was signed with a tag: under another one, it could bring an old revision back."""
        found = re.search(r"^tag (.*)$", self._ask("cat-file", "tag", tag) or "", re.MULTILINE)
        return found[1] if found else ""

    def _command(self, *arguments: str, at: bool = True) -> list[str]:
        # named explicitly, since `safe.bareRepository` may forbid to use one that is only found
        there = ("-C", self._directory, "--git-dir=.") if at else ()
        return ["git", *_SAFE, *there, *arguments]

    def _git(self, *arguments: str, given: bytes = b"", at: bool = True) -> bytes:
        try:
            ended = subprocess.run(  # git, on a repository of ours
                self._command(*arguments, at=at),
                env=_environment(),
                input=given,
                capture_output=True,
                timeout=_LONGEST,
                check=False,
            )
        except FileNotFoundError:
            raise _without_git() from None
        except subprocess.TimeoutExpired:
            raise HookError(f"git {arguments[0]} took longer than {_LONGEST} seconds", "try again later") from None
        if ended.returncode != 0:
            why = ended.stderr.decode("utf-8", "replace").strip()
            raise HookError(f"git {arguments[0]}: {why}", "remove the cache of packs and try again")
        return ended.stdout

    def _ask(self, *arguments: str) -> str | None:
        """Return what git prints; None if it ends with an error."""
        try:
            return self._git(*arguments).decode("utf-8", "replace").strip()
        except HookError:
            return None


def _is_hash(rev: str) -> bool:
    """Whether a revision is a whole hash, of SHA-1 or SHA-256."""
    return re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", rev) is not None


def _without_git() -> HookError:
    return HookError("git is not installed", "install git: packs are fetched with it")


class _SizeWatch:
    """Stops a fetch whose repository becomes too large: git has no such limit of its own."""

    def __init__(self, directory: str, leader: processes.Process) -> None:
        self.is_exceeded = False
        self._directory, self._leader = directory, leader
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            if _size(self._directory) > LARGEST:
                self.is_exceeded = True
                processes.end_group(self._leader, 0)
                return

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        self.is_exceeded = self.is_exceeded or _size(self._directory) > LARGEST


def _size(directory: str) -> int:
    total = 0
    for above, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(above, name)).st_size
            except OSError:  # git has renamed it
                pass
    return total


def _environment() -> dict[str, str]:
    """Return the caller's environment without variables that make git use another repository or run programs."""
    kept = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_SSL_CAINFO", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
    given = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in kept}
    if places.is_managed():  # under `sudo`, the settings could be the invoking user's
        given = {name: value for name, value in given.items() if name not in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME")}
        given["HOME"] = places.home()
    return {**given, **_NO_QUESTIONS, **_LIMITS}
