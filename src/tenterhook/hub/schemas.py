"""The schemas of the HTTP interface, from which its OpenAPI description is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from . import accounts

State = Literal["open", "approved", "denied", "withdrawn", "expired"]
Scope = Literal["once", "session"]
_DEEPEST = 100
_LONGEST_PATH = 8192


def _plain(value: Any, depth: int = 0) -> Any:
    """Refuse a value that other parsers may not read: infinities, huge numbers, deep nesting."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, float) and value - value != 0:
        raise ValueError("not a finite number")
    if isinstance(value, int) and value.bit_length() > 1024:
        raise ValueError("a number too large")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _plain(each, depth + 1)
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_PATH:
        raise ValueError(f"not a string of at most {_LONGEST_PATH} characters")
    return value


Object = Annotated[dict[Any, Any], AfterValidator(_plain), WithJsonSchema({"type": "object"})]
# Unlike a `str`, a path may hold lone surrogates, for file names that are not UTF-8.
Path = Annotated[Any, AfterValidator(_path), WithJsonSchema({"type": "string", "maxLength": _LONGEST_PATH})]
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Short = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=10_000)]
Moment = Annotated[float, Field(description="seconds since 1970")]


class Given(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class ErrorDetails(BaseModel):
    """An error: a code for programs, a message for people, and its remedy."""

    code: str
    message: str
    remedy: str


class ErrorResponse(BaseModel):
    """Every error of this interface."""

    error: ErrorDetails


class RequestGiven(Given):
    """A request for the approval of a call."""

    id: Id
    tool_name: Annotated[str, Field(min_length=1, max_length=500)]
    tool_input: Object
    hash: Annotated[Hash, Field(description="SHA-256 of the canonical JSON of [tool_name, tool_input, work_dir]")]
    display: Object = Field(default_factory=dict)
    action: Short = ""
    why: Long | None = None
    session_id: Annotated[str, Field(max_length=500)] = ""
    agent: Annotated[Short, Field(description="the agent that asks, if the token does not name it")] = ""
    machine: Annotated[Short, Field(description="ignored: it is the name of the token", deprecated=True)] = ""
    work_dir: Path = ""
    expires_in: Annotated[float, Field(gt=0, le=7 * 86400)] = 3600.0
    grant: Annotated[
        str | None,
        Field(
            max_length=1_000_000,
            description="begins with the agent's process, for whose lifetime an approval for the session is valid, and"
            " a space; the rest is ignored: the hub computes what is covered. Without it, there is no such approval",
        ),
    ] = None


class Answer(BaseModel):
    """A person's answer."""

    approved: bool
    scope: Scope
    message: str | None
    by: str
    via: str
    at: Moment


class Withdrawn(BaseModel):
    """How a request ended without an answer at the hub, as its machine says."""

    by: str
    machine: str
    approved: bool | None
    at: Moment


class Request(BaseModel):
    """A request for the approval of a call, and its state."""

    id: str
    state: State
    tool_name: str
    tool_input: Object
    hash: str
    display: Object
    action: str
    why: str | None
    machine: str
    agent: str
    session_id: str
    work_dir: str
    opened: Moment
    expires: Moment
    answer: Answer | None
    withdrawn: Withdrawn | None


class RequestState(BaseModel):
    """The state of a request; nothing is decided while it is open."""

    state: State
    answer: Answer | None


class WithdrawGiven(Given):
    """What decided on the agent's machine, and how; it is shown as that machine's claim."""

    by: Annotated[
        str,
        Field(
            pattern="^[a-z][a-z0-9-]{0,40}$",
            description="`terminal`, `hook`, `rule`, `session`, `allow`, `agent`, `nobody` or `gone`; any other word is"
            " shown as `elsewhere`",
        ),
    ] = "gone"
    approved: bool | None = None


class AnswerGiven(Given):
    """A person's answer, bound to the request that they have seen."""

    approved: bool
    hash: Annotated[Hash, Field(description="the hash of the request that was shown")]
    scope: Scope = "once"
    message: Annotated[str, Field(max_length=4000)] | None = None
    via: Annotated[str, Field(pattern="^[a-z]{1,20}$", description="where it was given")] | None = None


class AnswerResult(BaseModel):
    """Whether an answer counts; if not, why, and who answered first is in the request."""

    won: bool
    why: Literal["late", "duplicate", "stale", "expired", "withdrawn"] | None
    request: Request


class AnswerAttempt(BaseModel):
    """An answer and its outcome."""

    who: str
    via: str
    approved: bool
    scope: Scope
    message: str | None
    at: Moment
    became: Literal["won", "late", "duplicate", "stale", "refused"]


class RequestWithAnswers(Request):
    """A request with all answers to it."""

    answers: list[AnswerAttempt]


class Inbox(BaseModel):
    requests: list[Request]


Name = Annotated[str, Field(pattern=accounts.NAME)]
Password = Annotated[str, Field(min_length=accounts.SHORTEST_PASSWORD, max_length=accounts.LONGEST_PASSWORD)]
Number = Annotated[int, Field(ge=0, le=2**53)]


class SignInGiven(Given):
    name: Short
    password: Annotated[str, Field(max_length=accounts.LONGEST_PASSWORD)]


class EnterGiven(Given):
    link: Short


class Me(BaseModel):
    """Who is signed in, or the owner of the token."""

    kind: Literal["person", "agent"]
    name: str
    role: Literal["approver", "admin"] | None


class SignedIn(Me):
    """A new sign-in. The cookie counts only in requests that have `key` as the header `Tenterhook-Key`."""

    key: str


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
    agent: Annotated[str, Field(pattern=accounts.NAME, description="the only agent that may use it")] | None = None


class Token(BaseModel):
    id: int
    name: str
    kind: Literal["agent", "person"]
    person: str | None
    agent: str | None
    created: Moment
    last_used: Moment | None


class Tokens(BaseModel):
    tokens: list[Token]


class NewToken(BaseModel):
    """A new token, which is only shown here."""

    id: int
    token: str


class WebhookGiven(Given):
    kind: Literal["ntfy", "slack", "json"]
    url: Annotated[str, Field(pattern=r"^https?://[!-~]+$", max_length=2000)]


class Webhook(BaseModel):
    """A webhook; only the beginning of its URL is shown."""

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
    id: Annotated[str, Field(description="of the inbox: the same for all hubs on one database")]
    url: Annotated[str, Field(description="its public address")]
    tls: Annotated[bool, Field(description="whether this request came over TLS, as a trusted proxy says")]


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


class DeliveredGiven(Given):
    """One line of a journal."""

    segment: Short
    line: Annotated[int, Field(ge=0, le=2**53)]
    record: Object
    replaces: bool = False  # it was redacted: it replaces the one that is stored, and is not added


class RecordsGiven(Given):
    """Lines of the journal of the token's machine, in their order."""

    machine: Annotated[Short, Field(description="ignored: it is the name of the token", deprecated=True)] = ""
    records: Annotated[list[DeliveredGiven], Field(max_length=5000)]


class AgentGiven(Given):
    """An agent on a machine: whether it asks at the hub, and if not, why and what to do."""

    name: Short
    title: Short
    connected: bool
    why: Annotated[str, Field(max_length=500, description="what it asks about, or why it does not ask")] = ""
    remedy: Annotated[
        str, Field(max_length=500, description="the `tenterhook` command that connects it; another text is not shown")
    ] = ""


class MachineGiven(Given):
    """The agents of the token's machine; of a token for one agent, the others are ignored."""

    agents: Annotated[list[AgentGiven], Field(max_length=100)]


class MachineAgent(BaseModel):
    """An agent on a machine, and when it was last heard of; None: not within a week."""

    name: str
    title: str
    connected: bool
    why: str
    remedy: str
    heard: Moment | None


class Machine(BaseModel):
    """A machine with a token, whether it is connected, and its agents; None: not reported."""

    name: str
    state: Literal["connected", "silent", "never"]
    heard: Moment | None
    agents: list[MachineAgent] | None


class Machines(BaseModel):
    machines: list[Machine]


class UploadResult(BaseModel):
    taken: int
    known: int


class Session(BaseModel):
    """A session that has records."""

    machine: str
    session: str
    by: str | None
    records: int
    denied: int
    first: Moment
    last: Moment


class Sessions(BaseModel):
    sessions: list[Session]


class TimelineEntry(BaseModel):
    number: int
    time: Moment
    record: Object
    confirmed: Annotated[
        bool | None, Field(description="whether the hub knows the person's answer in the record, if there is one")
    ]


class Timeline(BaseModel):
    records: list[TimelineEntry]


class Point(BaseModel):
    """An interval in a plot."""

    time: Moment
    runs: int
    blocks: int
    failures: int
    p50_ms: float
    p95_ms: float


class HookFigures(BaseModel):
    """The statistics of one hook."""

    hook: str
    source: str
    runs: int
    blocks: int
    failures: int
    timeouts: int
    not_run: int
    allowed: int
    asked: int
    no_decision: int
    would_block: int
    changed_input: int
    told: int
    shadow: bool
    p50_ms: float
    p95_ms: float
    p99_ms: float
    is_failing: bool
    series: list[Point]


class Hooks(BaseModel):
    since: Moment
    until: Moment
    hooks: list[HookFigures]
    total: list[Point]
