"""`NamedTuple`, `StrEnum` and `cached` without `typing`, `enum` and `functools`.

Importing those three takes as long as starting an interpreter, while an agent waits. Type checkers see the originals.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum as StrEnum  # noqa: PLC0414  # exported
    from typing import Any, TypeVar
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414  # exported

    _Function = TypeVar("_Function", bound=Callable[..., Any])

    def cached(maxsize: int) -> Callable[[_Function], _Function]: ...

else:
    from _collections import _tuplegetter  # the fields of `collections.namedtuple`

    _NOT_INHERITED = ("__annotations__", "__qualname__", "__classcell__")
    _COMPILE_AFTER = 256

    class _NamedTupleType(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace["__annotations__"])
            defaults = {field: namespace[field] for field in fields if field in namespace}
            members = {
                key: value for key, value in namespace.items() if key not in _NOT_INHERITED and key not in fields
            }
            getters = {field: _tuplegetter(number, "") for number, field in enumerate(fields)}
            made = type(name, (_Named,), {**getters, **members, "__slots__": (), "__match_args__": fields})
            made._fields, made._field_defaults = fields, defaults
            made.__new__ = _constructor(made, fields, defaults)
            return made

    def _constructor(made, fields, defaults):
        """Return a `__new__` that is not compiled for the class; after many instances, a compiled one replaces it.

        Compiling takes as long as a hundred instances, and most classes have only a few in a short process.
        """
        count = len(fields)
        left = _COMPILE_AFTER

        def make(cls, *values, **named):
            nonlocal left
            left -= 1
            if not left:
                made.__new__ = _compiled_constructor(made, fields, defaults)
            if len(values) == count and not named:
                return tuple.__new__(cls, values)
            given = len(values)
            if given > count:
                raise TypeError(f"{made.__name__} takes {count} values, not {given}")
            rest = []
            for field in fields[given:]:
                if field in named:
                    rest.append(named.pop(field))
                elif field in defaults:
                    rest.append(defaults[field])
                else:
                    raise TypeError(f"{made.__name__} needs {field!r}")
            if named:
                raise TypeError(f"{made.__name__} has no field {next(iter(named))!r}, or got it twice")
            return tuple.__new__(cls, (*values, *rest))

        return make

    def _compiled_constructor(made, fields, defaults):
        names = ", ".join(fields)
        code = f"lambda _cls, {names}: _new(_cls, ({names},))"
        function = eval(code, {"_new": tuple.__new__, "__builtins__": {}})  # noqa: S307  # names of our own fields
        function.__name__, function.__defaults__ = "__new__", tuple(defaults.values())
        return function

    class _Named(tuple):
        __slots__ = ()

        @classmethod
        def _make(cls, values):
            return tuple.__new__(cls, values)

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"{type(self).__name__} has no field {next(iter(changes))!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            shown = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self):
            return tuple(self)

    class NamedTuple(metaclass=_NamedTupleType):
        """A base for classes with annotated fields, which work like those of `collections.namedtuple`."""

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
        """A base for enumerations of strings; each member is a single object, equal to its string."""

        __slots__ = ("name", "value")

        def __repr__(self):
            return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

        def __str__(self):
            return str.__str__(self)

        def __reduce__(self):
            return type(self), (self.value,)

    def cached(maxsize):
        """Cache the results of a function by its positional arguments; clear the cache when it is full."""

        def decorate(function):
            known = {}

            def wrapper(*arguments):
                try:
                    return known[arguments]
                except KeyError:
                    if len(known) >= maxsize:
                        known.clear()
                    answer = known[arguments] = function(*arguments)
                    return answer

            wrapper.__name__, wrapper.__doc__ = function.__name__, function.__doc__
            return wrapper

        return decorate
