"""What goes over the wire: signing in, and what admins look after."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from . import accounts
from .schemas import Given, Long, Moment, Short

Name = Annotated[str, Field(pattern=accounts.NAME)]
Password = Annotated[str, Field(min_length=accounts.SHORTEST_PASSWORD, max_length=accounts.LONGEST_PASSWORD)]
Number = Annotated[int, Field(ge=0, le=2**53)]


class SignInGiven(Given):
    name: Short
    password: Annotated[str, Field(max_length=accounts.LONGEST_PASSWORD)]


class EnterGiven(Given):
    link: Short


class Me(BaseModel):
    """Who you are; `csrf` goes with each change that a page makes, as the header `csrf`."""

    kind: Literal["person", "agent"]
    name: str
    role: Literal["approver", "admin"] | None
    csrf: str | None


class PersonGiven(Given):
    name: Name
    role: Literal["approver", "admin"] = "approver"
    password: Password | None = None


class Person(BaseModel):
    name: str
    role: Literal["approver", "admin"]
    created: Moment
    has_password: bool


class People(BaseModel):
    people: list[Person]


class PasswordGiven(Given):
    password: Password


class TokenGiven(Given):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: Literal["agent", "person"] = "agent"
    person: Name | None = None


class Token(BaseModel):
    id: int
    name: str
    kind: Literal["agent", "person"]
    person: str | None
    created: Moment
    last_used: Moment | None


class Tokens(BaseModel):
    tokens: list[Token]


class TokenMade(BaseModel):
    """A new token, shown this once."""

    id: int
    token: str


class WebhookGiven(Given):
    kind: Literal["ntfy", "slack", "json"]
    url: Annotated[str, Field(pattern=r"^https?://[!-~]+$", max_length=2000)]


class Webhook(BaseModel):
    """Where the hub calls; of the address only its beginning is shown."""

    number: int
    kind: Literal["ntfy", "slack", "json"]
    url: str
    created_by: str
    created: Moment


class Webhooks(BaseModel):
    webhooks: list[Webhook]


class Health(BaseModel):
    schema_: Annotated[int, Field(alias="schema")]
    version: str
    database: Literal["sqlite", "postgresql"]


class RuleGiven(Given):
    """A rule for every agent that has joined."""

    answer: Literal["approve", "deny", "ask"]
    tool: Annotated[str, Field(max_length=1000)] | None = None
    command: Long | None = None
    pattern: Annotated[str, Field(max_length=1000)] | None = None
    directory: Annotated[str, Field(max_length=4096)] | None = None
    agent: Short | None = None
    reason: Annotated[str, Field(max_length=2000)] | None = None
    expires: Annotated[float, Field(ge=0, le=1e11, description="seconds since 1970")] | None = None


class Rule(RuleGiven):
    number: int
    created_by: str
    created: Moment


class Rules(BaseModel):
    rules: list[Rule]
