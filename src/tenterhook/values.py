"""`NamedTuple` without `typing`, whose import alone doubles the start of an interpreter.

Events and verdicts are on the way that an agent waits for, so they take the light road; type checkers see the real
thing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414  # exported
else:
    from collections import namedtuple

    _NOT_INHERITED = ("__annotations__", "__qualname__", "__classcell__")

    class _NamedTupleType(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = list(namespace["__annotations__"])
            defaults = [namespace[field] for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])
            made.__doc__ = namespace.get("__doc__")
            for key, value in namespace.items():
                if key not in fields and key not in _NOT_INHERITED:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_NamedTupleType):
        """Subclass it with annotated fields; the result is a plain named tuple."""
