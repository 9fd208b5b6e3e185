"""The catalog of a project: the hooks in force, those left out, all problems, and the layers they come from."""

from __future__ import annotations

import os

from ..basics import places
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ..errors import Problem
    from ..model import Hook
    from .trust import Trust


class LeftOut(NamedTuple):
    """A hook that is defined but not in force."""

    hook: Hook
    why: str  # disabled, replaced
    until: float | None = None  # seconds since 1970: when it is in force again
    is_disabled: bool = True

    def __str__(self) -> str:
        return f"{self.hook.name} is {self.why}; tenterhook enable {self.hook.name}"


class Catalog(NamedTuple):
    """The hooks and problems of one project."""

    root: str
    layers: tuple[Layer, ...]
    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...]
    left_out: tuple[LeftOut, ...]
    trust: Trust
    debug: bool = False
    refused_configs: tuple[str, ...] = ()
    shadow_until: float | None = None  # when a new revision of a pack is enforced, in seconds since 1970

    def without_empty(self, files: Collection[str]) -> Catalog:
        """Return the catalog without the problem `no-hooks` of these files, which the user did not name."""
        kept = [each for each in self.problems if each.code != "no-hooks" or each.file not in files]
        return self._replace(problems=tuple(kept))

    @property
    def until(self) -> float | None:
        """When a disabled hook, or a pack's new revision, comes into force and the catalog expires; None for never."""
        times = [each.until for each in self.left_out if each.until is not None]
        return min(times + ([self.shadow_until] if self.shadow_until is not None else []), default=None)

    def disabled(self, event: str | None = None) -> list[LeftOut]:
        """Return the disabled hooks, of an event or of all."""
        return [each for each in self.left_out if each.is_disabled and event in (None, each.hook.event)]

    def all_hooks(self) -> tuple[Hook, ...]:
        """Return the hooks in force and those left out."""
        return (*self.hooks, *(each.hook for each in self.left_out))

    def expected(self) -> tuple[Hook, ...]:
        """Return the hooks in force and those disabled until a time: agents must call Tenterhook for both."""
        return (*self.hooks, *(each.hook for each in self.left_out if each.until is not None))

    def in_force(self) -> tuple[Hook, ...]:
        """Return the hooks that would run now, without those that need trust and lack it."""
        return tuple(hook for hook in self.hooks if not hook.needs_trust or self.trust.standing(hook).runs)


MANAGED = "/etc/agents/hooks"


class Layer(NamedTuple):
    """A directory of hook folders: managed by root, the user's own, or a project's."""

    name: str
    directory: str


def layers(root: str, managed: str = MANAGED) -> list[Layer]:
    """Return the layers in order of definition: managed, user (`agents`, then `kimi`), project; each directory once."""
    found: dict[str, Layer] = {}
    for layer in all_layers(root, managed):
        found.setdefault(os.path.realpath(layer.directory), layer)
    return list(found.values())


def directories(root: str, managed: str = MANAGED) -> list[str]:
    """Return the directories of all layers, including repeated ones."""
    return [layer.directory for layer in all_layers(root, managed)]


def with_settings(layers: Iterable[Layer]) -> list[Layer]:
    """Return layers as directories with a `hooks.toml` and `hooks.lock`: a project may have both in `.agents`, too."""
    found = []
    for layer in layers:
        if layer.name == "project" and layer.directory.endswith("/.agents/hooks"):
            found.append(Layer("project", os.path.dirname(layer.directory)))
        found.append(layer)
    return found


def all_layers(root: str, managed: str) -> list[Layer]:
    """Return the layers, including those whose directory is also that of another."""
    config = places.config_home()
    user = "project" if is_config_moved(root) else "user"
    return [
        Layer("managed", managed),
        Layer(user, os.path.join(config, "agents", "hooks")),
        Layer(user, os.path.join(config, "kimi", "hooks")),
        Layer("project", os.path.join(root, ".agents", "hooks")),
    ]


def is_config_moved(root: str) -> bool:
    """Whether the environment moves the user's configuration into a repository, whose hooks the hooks there then are.

    ~/.config and the directory that `install` recorded are always the user's.
    """
    config = places.config_home()
    own = os.path.join(places.account_home(), ".config")
    if "config" in places.FIXED or os.path.realpath(config) == os.path.realpath(own):
        return False
    from . import project_root

    return project_root.repository_can_reach(config, root)
