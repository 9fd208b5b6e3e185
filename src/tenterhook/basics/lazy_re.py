"""`re` for modules that an agent waits for: it is imported when an expression is needed first.

Importing `re` takes 6 ms, most of what starting an interpreter takes, and most shell lines are judged without it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import *  # noqa: F403
else:

    def __getattr__(name):
        import re

        value = globals()[name] = getattr(re, name)
        return value

    class compile:  # noqa: A001, N801  # as `re.compile`
        """A pattern that is compiled when it is used first."""

        def __init__(self, *given):
            self._given = given

        def __getattr__(self, name):
            import re

            method = getattr(re.compile(*self._given), name)
            setattr(self, name, method)
            return method
