"""`NamedTuple`, `StrEnum` and `remembered` without `typing`, `enum` and `functools`.

Importing those three costs as much as starting an interpreter. Events and verdicts are on the way that an agent waits
for, so they take the light road; type checkers see the real things.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum as StrEnum  # noqa: PLC0414  # exported
    from typing import Any, TypeVar
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414  # exported

    _Function = TypeVar("_Function", bound=Callable[..., Any])

    def remembered(maxsize: int) -> Callable[[_Function], _Function]: ...

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

    class _StrEnumType(type):
        def __new__(cls, name, bases, namespace):
            made = super().__new__(cls, name, bases, namespace)
            made._members = {}
            for key, value in namespace.items():
                if isinstance(value, str) and not key.startswith("_"):
                    member = str.__new__(made, value)
                    member.name = key
                    member.value = value
                    made._members[value] = member
                    setattr(made, key, member)
            return made

        def __call__(cls, value):
            try:
                return cls._members[value]
            except (KeyError, TypeError):
                raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None

        def __iter__(cls):
            return iter(cls._members.values())

        def __len__(cls):
            return len(cls._members)

    class StrEnum(str, metaclass=_StrEnumType):
        """Subclass it with names for strings; each is one object, equal to its string."""

        __slots__ = ("name", "value")

        def __repr__(self):
            return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

        def __str__(self):
            return str.__str__(self)

        def __reduce__(self):
            return type(self), (self.value,)

        def __copy__(self):
            return self

        def __deepcopy__(self, _):
            return self

    def remembered(maxsize):
        """Remember what a function returned for its positional arguments; forget everything when it is too much."""

        def decorate(function):
            known = {}

            def ask(*arguments):
                try:
                    return known[arguments]
                except KeyError:
                    if len(known) >= maxsize:
                        known.clear()
                    answer = known[arguments] = function(*arguments)
                    return answer

            ask.__name__, ask.__doc__ = function.__name__, function.__doc__
            return ask

        return decorate
