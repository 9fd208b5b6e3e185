"""The folder in which one vector happens: a home, a project, the files of the vector, and what its hooks leave."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance import PROTOCOL

if TYPE_CHECKING:
    from conformance.reading import Vector

SESSION = "session-1"
_NOT_INHERITED = ("XDG_", "KIMI_", "TENTERHOOK_")


class Place(NamedTuple):
    """Where a vector happens; `mark` is in the environment of everything started there."""

    root: Path
    mark: str

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def records(self) -> Path:
        return self.root / "records"

    @property
    def request_file(self) -> Path:
        return self.root / "request.json"

    @property
    def answer_file(self) -> Path:
        return self.root / "answer.json"

    @property
    def stderr_file(self) -> Path:
        return self.root / "stderr.txt"

    def filled(self, value: Any) -> Any:
        """A value of a vector with the paths of this place put in."""
        if isinstance(value, str):
            for name in ("home", "project", "records"):
                value = value.replace(f"@{name.upper()}@", str(self.root / name))
            return value
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if isinstance(value, dict):
            if "@repeat" in value:
                text, times = value["@repeat"]
                return text * times
            return {key: self.filled(each) for key, each in value.items()}
        return value

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        """The caller's variables without settings of hook engines, with a home of its own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
        return {**kept, "HOME": str(self.home), "CONFORMANCE_MARK": self.mark, **self.filled(more)}

    def request(self, vector: Vector) -> dict[str, Any]:
        """Return the document that the adapter reads."""
        config = next((name for name in vector.files if name.endswith("config.toml")), None)
        return {
            "protocol": PROTOCOL,
            "vector": vector.id,
            "format": vector.format,
            "home": str(self.home),
            "project": str(self.project),
            "config": str(self.root / config) if config and vector.format != "folder" else None,
            "session_id": SESSION,
            "earlier": [self._event(each) for each in vector.earlier],
            **self._event(vector.event),
        }

    def _event(self, event: dict[str, Any]) -> dict[str, Any]:
        return {"event": event["name"], "payload": self.filled(event.get("payload", {}))}

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def make(vector: Vector, run_mark: str) -> Place:
    """A new place with the vector's files in it."""
    root = Path(tempfile.mkdtemp(prefix="conformance-")).resolve()
    place = Place(root, f"{run_mark}{root.name}")
    for folder in (place.home, place.project, place.records):
        folder.mkdir(mode=0o755)
    for name, content in vector.files.items():
        _write(place, root / name, content)
    return place


def _write(place: Place, file: Path, content: Any) -> None:
    """Text, or lines; executable if it begins with `#!`, unless `mode` says otherwise. Never open to other accounts."""
    for folder in reversed(file.relative_to(place.root).parents[:-1]):
        (place.root / folder).mkdir(mode=0o755, exist_ok=True)
    mode = None
    if isinstance(content, dict):
        mode, content = content.get("mode"), content["lines"]
    text = content if isinstance(content, str) else "".join(f"{line}\n" for line in content)
    file.write_text(place.filled(text), "utf-8", newline="")
    file.chmod(int(mode, 8) if mode else 0o755 if text.startswith("#!") else 0o644)
