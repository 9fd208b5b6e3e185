"""The agent's tools: run commands, read, write and find files. Inputs have the names that hooks expect."""

from __future__ import annotations

import asyncio
import fnmatch
import os
import re
from collections import deque
from typing import TYPE_CHECKING

from pydantic_ai import Tool, ToolReturn
from pydantic_ai.exceptions import ToolFailed

from ..approvals.requests import resolved
from ..basics import processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

_LONGEST_OUTPUT = 30_000  # characters
_LONGEST_TIMEOUT = 3600.0  # seconds
_GRACE = 0.1  # seconds between SIGTERM and SIGKILL
_LEFT_OPEN = 0.2  # seconds to read on after the command ended: a child may keep the pipe open
_MOST_FOUND = 200
_LARGEST_SEARCHED = 2 * 1024 * 1024
_NOT_SEARCHED = {".git", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache"}


class Tools:
    """The tools of one session. `variables` are what its hooks have set."""

    def __init__(self, work_dir: str, variables: Callable[[], Mapping[str, str]]) -> None:
        self.work_dir = work_dir
        self._variables = variables

    def all(self) -> list[Tool[Any]]:
        named: dict[str, Callable[..., Any]] = {
            "Shell": self.shell,
            "ReadFile": self.read_file,
            "WriteFile": self.write_file,
            "StrReplaceFile": self.str_replace_file,
            "Glob": self.glob,
            "Grep": self.grep,
        }
        return [Tool(function, name=name) for name, function in named.items()]

    async def shell(self, command: str, timeout: float = 120) -> str | ToolReturn:  # the model's to set
        """Run a command with /bin/sh in the working directory and return what it prints.

        Args:
            command: The command line.
            timeout: Seconds after which it is killed.
        """
        timeout = min(max(timeout, 0.1), _LONGEST_TIMEOUT)
        # A pipe of our own: asyncio would wait for its end, which a background child may delay forever.
        ours, theirs = os.pipe()
        stream = asyncio.StreamReader()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream),
            open(ours, "rb", buffering=0),  # noqa: SIM115  # closed with the pipe
        )
        starting = asyncio.create_task(
            asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                cwd=self.work_dir,
                env={**os.environ, **self._variables()},
                start_new_session=True,
            )
        )
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:  # asyncio would kill only the shell, not what it has started
            pipe.close()
            await asyncio.shield(_end_started(starting))
            raise
        except (OSError, ValueError) as error:  # too long, an invalid character, no such directory
            pipe.close()
            where = getattr(error, "filename", None)
            said = getattr(error, "strerror", None) or str(error)
            raise ToolFailed(f"The command cannot be started: {said}" + (f": {where}" if where else "")) from None
        finally:
            os.close(theirs)
        leader = processes.child(process.pid)
        output = _Output()
        reading = asyncio.create_task(output.read(stream))
        try:
            await asyncio.wait_for(process.wait(), timeout)
        except TimeoutError:
            await asyncio.shield(_end(process, leader))
            raise ToolFailed(f"{output.text()}\n[killed after {timeout:g} s: it had not finished]".strip()) from None
        except asyncio.CancelledError:
            await asyncio.shield(_end(process, leader))
            raise
        finally:
            await asyncio.wait([reading], timeout=_LEFT_OPEN)
            reading.cancel()
            pipe.close()
        said = output.text()
        status = process.returncode
        if status == 0:
            return said or "[no output]"
        assert status is not None  # it was waited for
        ended = f"exit status {status}" if status > 0 else f"killed by signal {-status}"
        return ToolReturn(f"{said}\n[{ended}]".strip(), metadata={"exit_code": status if status > 0 else 128 - status})

    def read_file(self, file_path: str, offset: int = 1, limit: int = 2000) -> str:
        """Read a text file; each line is given with its number.

        Args:
            file_path: The file, absolute or relative to the working directory.
            offset: The first line, counted from 1.
            limit: The maximum number of lines.
        """
        with self._opened(file_path) as file:
            lines = file.read().splitlines()
        shown = lines[max(offset, 1) - 1 :][: max(limit, 0)]
        text = "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, max(offset, 1)))
        left = len(lines) - (max(offset, 1) - 1) - len(shown)
        return _cut(text) + (f"\n[{left} more lines]" if left > 0 else "") or "[empty]"

    def write_file(self, file_path: str, content: str) -> str:
        """Write a file, replacing its content if it exists.

        Args:
            file_path: The file, absolute or relative to the working directory.
            content: The complete text.
        """
        path = self._path(file_path)
        try:
            self._write(path, content.encode())
        except UnicodeEncodeError as error:
            raise ToolFailed(_said(error, path)) from None
        return f"Wrote {len(content)} characters to {path}"

    def str_replace_file(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> str:
        """Replace a part of a file's text.

        Args:
            file_path: The file, absolute or relative to the working directory.
            old_string: The exact text to replace; it must be unique unless replace_all is set.
            new_string: The replacement.
            replace_all: Replace every occurrence.
        """
        path = self._path(file_path)
        with self._opened(file_path) as file:
            before = file.buffer.read()
        old, new = (text.encode("utf-8", "surrogatepass") for text in (old_string, new_string))
        found = before.count(old) if old else 0
        if not found:
            raise ToolFailed(f"{path} does not contain that text")
        if found > 1 and not replace_all:
            raise ToolFailed(f"{path} contains that text {found} times: include more context, or set replace_all")
        self._write(path, before.replace(old, new))  # bytes: the rest keeps its encoding
        return f"Replaced {found if replace_all else 1} in {path}"

    def glob(self, pattern: str, path: str = ".") -> str:
        """Find files by name.

        Args:
            pattern: A glob such as `**/*.py` or `src/*.toml`.
            path: The directory to search.
        """
        root = self._existing(path)
        names = [os.path.relpath(file, root) for file in _files(root)]
        found = [name for name in names if _matches(name, pattern)]
        return _listed(found, "no file matches")

    def grep(self, pattern: str, path: str = ".", glob: str | None = None) -> str:
        """Find lines in files by a regular expression.

        Args:
            pattern: A Python regular expression.
            path: A file, or a directory to search.
            glob: Search only files whose name matches this.
        """
        try:
            search = re.compile(pattern).search
        except re.error as error:
            raise ToolFailed(f"not a regular expression: {error}") from None
        root = self._existing(path)
        found: list[str] = []
        for file in [root] if os.path.isfile(root) else _files(root):
            name = os.path.relpath(file, self.work_dir)
            if glob is None or _matches(os.path.relpath(file, root), glob):
                found += [f"{name}:{number}:{line}" for number, line in _lines(file) if search(line)]
            if len(found) > _MOST_FOUND:
                break
        return _listed(found, "nothing found")

    def _path(self, path: str) -> str:
        if "\0" in path:
            raise ToolFailed(f"not a path: {path!r}")
        return resolved(self.work_dir, path)

    def _existing(self, path: str) -> str:
        found = self._path(path)
        if not os.path.exists(found):
            raise ToolFailed(f"No such file or directory: {found}")
        return found

    def _write(self, path: str, data: bytes) -> None:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        except OSError as error:
            raise ToolFailed(_said(error, path)) from None

    def _opened(self, file_path: str) -> Any:
        path = self._path(file_path)
        try:
            if not os.path.isfile(path):
                raise ToolFailed(f"{'Not a file' if os.path.exists(path) else 'No such file'}: {path}")
            return open(path, encoding="utf-8", errors="replace", newline="")
        except (OSError, ValueError) as error:
            raise ToolFailed(_said(error, path)) from None


class _Output:
    """The beginning and the end of a command's output."""

    def __init__(self) -> None:
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0

    async def read(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(65536):
            room = _LONGEST_OUTPUT // 2 - len(self._head)
            self._head += piece[:room]
            if rest := piece[room:]:
                self._tail.append(rest)
                self._size += len(rest)
                while self._size - len(self._tail[0]) > _LONGEST_OUTPUT // 2:
                    dropped = len(self._tail.popleft())
                    self._size -= dropped
                    self._dropped += dropped

    def text(self) -> str:
        tail = b"".join(self._tail)
        over = max(0, len(tail) - _LONGEST_OUTPUT // 2)
        dropped = self._dropped + over
        middle = b"\n[%d bytes omitted]\n" % dropped if dropped else b""
        return (self._head + middle + tail[over:]).decode("utf-8", "replace").rstrip("\n")


async def _end_started(starting: asyncio.Task[asyncio.subprocess.Process]) -> None:
    """End a command that may still be starting."""
    try:
        process = await starting
        await _end(process, processes.child(process.pid))
    except (OSError, ValueError):
        pass  # it could not be started


async def _end(process: asyncio.subprocess.Process, leader: processes.Process) -> None:
    await asyncio.to_thread(processes.end_group, leader, _GRACE)
    await process.wait()  # the event loop reaps the leader


def _files(root: str) -> Iterator[str]:
    for directory, directories, files in os.walk(root):
        directories[:] = sorted(name for name in directories if name not in _NOT_SEARCHED)
        paths = (os.path.join(directory, file) for file in sorted(files))
        yield from (path for path in paths if os.path.isfile(path))  # reading a pipe would block


def _lines(file: str) -> Iterator[tuple[int, str]]:
    try:
        if os.path.getsize(file) > _LARGEST_SEARCHED:
            return
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError:
        return
    if b"\0" not in data:
        yield from enumerate(data.decode("utf-8", "replace").splitlines(), 1)


def _matches(name: str, pattern: str) -> bool:
    """Return whether a name matches a glob; `**/` stands for any number of directories."""
    plain = pattern.removeprefix("./")
    return fnmatch.fnmatchcase(name, plain) or ("**/" in plain and _matches(name, plain.replace("**/", "", 1)))


def _listed(found: list[str], nothing: str) -> str:
    if not found:
        return nothing
    more = f"\n[and {len(found) - _MOST_FOUND} more]" if len(found) > _MOST_FOUND else ""
    return _cut("\n".join(found[:_MOST_FOUND])) + more


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_OUTPUT:
        return text
    return text[:_LONGEST_OUTPUT] + f"\n[{len(text) - _LONGEST_OUTPUT} characters omitted]"


def _said(error: Exception, path: str) -> str:
    return f"{getattr(error, 'strerror', None) or error}: {path}"
