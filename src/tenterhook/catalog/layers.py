"""The directories hooks are found in, from the strongest to the weakest."""

from __future__ import annotations

import os

from ..basics import places
from ..basics.named_tuples import NamedTuple
from . import project_root

MANAGED = "/etc/agents/hooks"


class Layer(NamedTuple):
    """A directory of hook folders: managed by root, the person's own, or a project's."""

    name: str
    directory: str


def layers(root: str, managed: str = MANAGED) -> list[Layer]:
    """Managed, user (`agents`, then `kimi`), project, in order of definition; a directory with two names once."""
    found: dict[str, Layer] = {}
    for layer in every(root, managed):
        found.setdefault(os.path.realpath(layer.directory), layer)
    return list(found.values())


def directories(root: str, managed: str = MANAGED) -> list[str]:
    """Every name under which a layer is looked for."""
    return [layer.directory for layer in every(root, managed)]


def every(root: str, managed: str = MANAGED) -> list[Layer]:
    """The same, each under every name."""
    config = places.config_home()
    # What the environment moves to where a repository can write is the project's; the account's own ~/.config never is.
    # Nor is what `install` wrote down: the person chose it.
    own = os.path.join(places.account_home(), ".config")
    chosen = "config" in places.FIXED or os.path.realpath(config) == os.path.realpath(own)
    moved = not chosen and project_root.repository_can_reach(config, root)
    user = "project" if moved else "user"
    return [
        Layer("managed", managed),
        Layer(user, os.path.join(config, "agents", "hooks")),
        Layer(user, os.path.join(config, "kimi", "hooks")),
        Layer("project", os.path.join(root, ".agents", "hooks")),
    ]
