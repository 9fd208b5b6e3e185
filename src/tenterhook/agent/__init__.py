"""The bundled agent: a real coding agent, on pydantic-ai, in which every event happens.

`HooksCapability` puts an engine's hooks into any pydantic-ai agent.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .capability import HooksCapability as HooksCapability

__all__ = ["HooksCapability"]


def __getattr__(name: str) -> object:
    if name == "HooksCapability":  # with all of pydantic-ai behind it
        from .capability import HooksCapability

        return HooksCapability
    raise AttributeError(f"module 'tenterhook.agent' has no attribute {name!r}")
