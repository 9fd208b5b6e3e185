"""The guard `infrastructure`: asks before deleting in a cloud, cluster, database, queue or service that others use.

`infrastructure_table.ROWS` has the programs and their subcommands; this module compares commands with its rows. It
never asks about commands that only list, show or plan, or change settings of this machine.
"""

from __future__ import annotations

from itertools import pairwise

from ..basics import lazy_re as re
from ..shell.programs import arguments, has
from ..shell.syntax import UNKNOWNS, decoded
from .calls import GuardFinding, by_program, judged, read
from .infrastructure_table import API_VERBS, OTHER_VERBS, PASS, ROWS, VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.reader import ShellCommand
    from .calls import GuardedCall, Objection

_LOOK_FIRST = "list what it would delete and show that to the user; use a dry run if there is one"
# The rules: what each is about, and what to do instead.
RULES = {
    "cloud": ("deletes or ends resources of an account", _LOOK_FIRST),
    "cluster": ("deletes or empties parts of a cluster", _LOOK_FIRST),
    "container": ("deletes containers that are not named, or their data", "name the one container or volume to delete"),
    "database": (
        "deletes data",
        "make a backup first, or work on a database whose name says that it is for tests",
    ),
    "queue": ("deletes queues, topics or messages", _LOOK_FIRST),
    "service": ("deletes or disables something in a service that others use", _LOOK_FIRST),
    "dns": ("deletes names that others look up", _LOOK_FIRST),
    "backup": ("deletes backups", "keep them; tell the user which ones are no longer needed"),
    "iam": ("grants or revokes accounts and rights", "say who needs which right, and let the user grant it"),
    "audit": ("disables the audit records of an account", "keep them enabled; filter what you read instead"),
}

FOR_TESTS = r"(?i)(?:^|[_\W])(?:test|tests|testing|tmp|temp|scratch|ci|dummy|sandbox)(?:$|[_\W\d])"
_NO_EFFECT = (
    r"--?(?:help|dry-?run|dryrun|dry_run|what-?if|noop|simulate|(?:preview|check|plan)(?:-only)?|cli-dry-run|generate-cli-skeleton)"
    r"(?:=(?!none|false).*)?"
)
_SWITCHES = frozenset("--debug --verbose --quiet --yes --force --json --all --assume-yes -v -q -y -d -D -f".split())
_BEFORE_VERB = ("batch", "bulk", "force", "admin", "permanent")  # batch-delete-image
MOST = 500  # words of a command that are checked
LONGEST_STATEMENT = 2_000
LONGEST = 20_000  # characters of SQL, or of an argument
_DEPTH = 6  # words that may be subcommands

_STATEMENT = (
    r"(?is)(?:drop|truncate|purge\s+binary|reset\s+master|detach\s+database)\b|alter\s+\w+\s+\S+\s+(?:drop|delete|disable)\b"
    r"|delete\s+from\s+\S+(?:\s+(?:using|limit|order)\b(?!.*\bwhere\b).*|\s+where\s+(?:true|1\b|'?1'?\s*=\s*'?1).*)?$"
    r"|update\s+\S+\s+set\b(?!.*\bwhere\b)|with\b.*\bdelete\s+from\b(?!.*\bwhere\b)|revoke\b|grant\s+all\b|alter\s+(?:user|role|login)\b.*\b(?:password|superuser|identified)\b|db2\s+drop\b|flush(?:all|db)\b|(?:optional\s+)?match\b.*\bdelete\b"
)
_SHELL_CODE = (
    r"\b(?:dropDatabase|dropUser|dropAllUsers|dropIndexes|dropRole|shutdownServer|_drop|_truncate)\s*\("
    r"|\.\s*(?:drop|remove|deleteMany)\s*\(\s*(?:\{\s*\})?\s*\)"
)
_SPECIAL = {
    "delete": r"(?s)(?:-\w*X|--(?:request|method)=|(?i:-method:))?(?i:delete)"
    r"|.*(?:\bmutation\b.*(?:\b(?:delete|remove)[A-Z_]|[a-z](?:Delete|Remove|Destroy)\s*\()|\"Action\"\s*:\s*\"DELETE\"|DeleteRequest|/_delete_by_query|/_close\b|/doDelete|/delete-batch\b|/documents/delete\b|delete_series|purge_everything).*",
    "endpoint": r"(?i)(?:--url=)?https?://[^?#]*[/.](?:delete|destroy|purge|terminate|kill)(?:[?#].*)?",
    "absent": r"(?s).*(?:state=(?:absent|stopped)|\brm\s+-\w*r|\bmkfs|\bdd\s+if=|\bshutdown\b|\breboot\b).*",
    "noexecute": r"(?s).*:NoExecute",
    "stopped": r"(?s).*\breplicas\"?\s*:\s*0\b.*",
    "finalizers": r"(?s).*finalizers\"?\s*:\s*(?:null|\[\s*\]).*",
    "flush": r"(?is).*flush(?:all|db).*",
    "destroy": r"(?s).*(?:\.|->|::)(?:force)?(?i:destroy|delete|truncate)(?:_all)?\b.*",
    "named": r"(?is)(?:.*[/_.-])?(?:drop|wipe|truncate|delete|reset|destroy|purge|nuke|teardown|uninstall)(?:[_.-].*)?"
    r"\.(?:sql|ya?ml|js|cql)",
    "privileged": r"(?s).*(?:\"?privileged\"?\s*:\s*true|\"?hostPID\"?\s*:\s*true).*|--privileged(?:=true)?",
    "zero": r"\S+=0",
    "protection": r"(?s).*/protection\b.*",
}
_HTTP_CLIENTS = frozenset("curl curlie wget http https xh xhs".split())
_HTTP_OPTIONS = ("--request", "--header", "--data", "--data-raw", "--json", "--user", "--output", "--url", "--max-time")
# All ports of this machine, except those of databases: CouchDB, etcd, Qdrant, InfluxDB, Consul, Solr, Prometheus,
# Elasticsearch, RabbitMQ, ClickHouse.
_LOCAL = (
    r"(?i)(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])"
    r"(?::(?!(?:5984|2379|8001|8444|4646|8200|6333|8086|8500|8983|9090|9200|15672|8123)\b)\d+)?(?:[/?#].*)?"
)
_CMDLET = (
    r"(?:remove|clear|disable|revoke|unregister|stop|reset)-(?:az|ec2|s3|rds|ddb|lm|iam|sqs|sns|ecr|ecs|eks|cfn|r53|kms|elb|mg|msol|"
    r"azuread|gce|gcs|gcsql|vm|sqldatabase|dnsserver|aduser|adgroup|adcomputer|mailbox)\w*"
)
_CLOUD_LIBRARIES = (
    r"\bboto3?\b|\bgoogle\.cloud\b|\bazure\.|\baws-sdk\b|@aws-sdk|@google-cloud|@azure/"
    r"|\bkubernetes\b|\bdocker\.from_env|digitalocean|algolia|stripe|aws_sdk|Aws::"
)
_DELETING_CALL = (
    r"(?i)[.(]\s*(?:batch_?)?(?:delete|terminate|remove|purge|destroy|stop|deregister|revoke|clear)\w*\s*\("
    r"|\bnew (?:Delete|Terminate|Purge)\w+Command|\.prune\("
)
# With the address.
_DELETING_REQUEST = (
    r"\b(?:requests|httpx|session|client|axios|ky|got|superagent|HTTParty|Faraday|RestClient)\s*+\.\s*+"
    r"(?:delete|del)\(\s*+f?['\"`](https?://[^'\"`\s]{1,300})"
    r"|\b(?:fetch|request|urlopen|Request)\(\s*+f?['\"`](https?://[^'\"`\s]{1,300})['\"`][^;]{0,300}?\bmethod['\"]?\s*+[:=]\s*+['\"]DELETE\b"
    r"|\brequest\(\s*+['\"](?i:delete)['\"]\s*+,\s*+f?['\"](https?://[^'\"\s]{1,300})"
)
_DATABASE_LIBRARIES = (
    r"(?i)psycopg|sqlite3|pymysql|mysql|sqlalchemy|pymongo|mongo|redis|asyncpg"
    r"|\bpg\b|knex|sequelize|cx_Oracle|pyodbc|Sequel\b|ActiveRecord|\bPDO\b|DBI|elasticsearch"
)
_DROPPING_CALL = (
    r"\.(?:drop_database|drop_collection|dropDatabase|drop_all|flushall|flushdb"
    r"|delete_many\(\s*\{\s*\}|deleteMany\(\s*\{\s*\}|drop\(\s*\))"
)
_BY_PROGRAM = by_program(ROWS)


def judge(call: GuardedCall) -> Objection | None:
    """Return the objection to a call whose shell lines would delete something that others use, or None."""
    return judged(call, RULES, lambda line: _of_line(call, line))


def _of_line(call: GuardedCall, line: str | list[str]) -> Iterator[GuardFinding]:
    reading = read(line, call.directory(), call.environment)
    for command in reading.commands:
        if found := decide(command):
            rule, decision = found
            yield GuardFinding(rule, decision, command.shown, f"it {RULES[rule][0]}", command.span)
    for rule in ("cloud", "database", "service"):
        if any(_deletes_by_code(rule, code[:LONGEST]) for code in reading.code):
            yield GuardFinding(rule, "ask", "…", f"it {RULES[rule][0]}")


def decide(command: ShellCommand) -> tuple[str, str] | None:
    """Return the rule and decision for what a command would delete, or None."""
    name, words = _program(command)
    words = words[:MOST]
    rows = _BY_PROGRAM.get(name)
    if rows is None:
        is_cmdlet = "-" in name and re.fullmatch(_CMDLET, name) and "-whatif" not in command.shown.lower()
        return ("cloud", "ask") if is_cmdlet else None
    if any(word[:1] == "-" and re.fullmatch(_NO_EFFECT, word) for word in words):
        return None
    if words[-1:] in (["-h"], ["help"], ["--version"]) or words[:1] == ["help"]:
        return None
    paths = _paths(words)
    for subcommands, decision, kind in rows:
        if any(_matches(phrase, paths, words, command) for phrase in subcommands.split("|")):
            is_stopped = decision != PASS and not (kind == "database" and _is_for_tests(command))
            is_stopped = is_stopped and not (name in _HTTP_CLIENTS and _is_local(command.words))
            return (kind, decision) if is_stopped else None
    return None


def _deletes_by_code(rule: str, code: str) -> bool:
    """Whether code deletes something through a library for clouds or databases, or with an HTTP request."""
    if rule == "service":
        addresses = ("".join(found) for found in re.findall(_DELETING_REQUEST, code))
        return any(not re.fullmatch(_LOCAL, address) for address in addresses)
    if rule == "cloud":
        return bool(re.search(_CLOUD_LIBRARIES, code) and re.search(_DELETING_CALL, code))
    if not re.search(_DATABASE_LIBRARIES, code):
        return False
    literals = re.findall(r"['\"]([^'\"\n]{0,500})['\"]", code)  # the short ones too, for the quotes to pair
    if re.search(FOR_TESTS, " ".join(literals)) or ":memory:" in code:
        return False
    return any(map(_deletes_data, literals)) or bool(re.search(_DROPPING_CALL, code))


def _program(command: ShellCommand) -> tuple[str, list[str]]:
    """Return the program and its arguments: `kubectl` for `k3s kubectl`, `prisma` for `yarn prisma`, a jar's name."""
    name, words = command.name, command.words[1:]
    if name == "java":
        at = next((number for number, word in enumerate(words) if word.endswith(".jar")), -1)
        return (words[at].rpartition("/")[2][: -len(".jar")], words[at + 1 :]) if at >= 0 else (name, words)
    if name in ("k3s", "microk8s", "minikube") and words[:1] == ["kubectl"]:
        return "kubectl", words[1:]
    if name in ("yarn", "pnpm", "bun") and words and words[0] in _BY_PROGRAM:
        return words[0], words[1:]
    return name, words


def _paths(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that are certainly subcommands or operands, and those that may be: all except options."""
    sure = [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-")
        and (before[:1] != "-" or "=" in before or before in _SWITCHES or before[:5] == "--no-" or word in VERBS)
    ]
    return sure, [word for word in words if not word.startswith("-")]


def _matches(phrase: str, paths: tuple[list[str], list[str]], words: list[str], command: ShellCommand) -> bool:
    parts = []
    for item in phrase.split():
        if item == "**":
            if not _deletes(paths[0]):
                return False
        elif item[0] == "<":
            if not _has_special(item[1:-1], words, command):
                return False
        elif item[0] == "~":
            if item[1:] not in map(str.lower, words):
                return False
        elif item[0] in "-!":
            if _has_option(item.lstrip("!"), words) == item.startswith("!"):
                return False
        else:
            parts.append(item)
    return not parts or any(_begins(path, parts) for path in paths)


def _begins(path: list[str], parts: list[str]) -> bool:
    return len(path) >= len(parts) and all(
        word.lower() == part or (part[-1] == "*" and word.lower().startswith(part[:-1]))
        for word, part in zip(path, parts, strict=False)
    )


def _has_option(option: str, words: list[str]) -> bool:
    name, _, value = option.partition("=")
    if value:
        return any(
            word == option or (word == name and after == value) or (len(name) == 2 and word == name + value)
            for word, after in pairwise((*words, ""))
        )
    if name.endswith("*"):
        return any(word.startswith(name[:-1]) for word in words)
    if len(name) == 2:  # a letter, alone or among others
        return any(word[:1] == "-" and word[1:2] != "-" and name[1] in word for word in words)
    return any(word[:1] == "-" and word.lstrip("-").partition("=")[0] == name.lstrip("-") for word in words)


def _deletes(path: list[str]) -> bool:
    """Whether the first verb among subcommands is one that deletes. Words with a dot or slash are not verbs."""
    for word in path[:_DEPTH]:
        if any(mark in word for mark in "/.=@ "):
            continue
        parts = re.split(r"[_-]|(?<=[a-z])(?=[A-Z])", word.rpartition(":")[2])
        first, last = parts[0].lower(), parts[-1].lower()
        if first in VERBS or (last in VERBS and first not in API_VERBS):
            return True
        if first not in API_VERBS and not {"delete", "destroy", "purge"}.isdisjoint(map(str.lower, parts)):
            return True  # apiAccessDeleteKeys
        if first in _BEFORE_VERB and parts[1:2] and parts[1].lower() in VERBS:
            return True
        if word in OTHER_VERBS or first in API_VERBS:
            return False
    return False


def _has_special(kind: str, words: list[str], command: ShellCommand) -> bool:
    if kind == "sql":
        texts = [command.stdin or "", *(word for word in words if " " in word or "(" in word)]
        return any(_deletes_data(text) for text in texts)
    if kind == "stdin":
        return any(
            first.lower() in VERBS or first.lower() in ("flush_all", "deleteall", "delprinc")
            for line in (command.stdin or "")[:LONGEST].splitlines()
            for first in line.removeprefix("update ").replace("\\n", " ").split()[:1]
        )
    if kind == "unknown" and "--filter" in command.shown:  # chosen, though not by name
        return False
    if kind == "unknown":
        return any(mark in word for word in words if len(word) < LONGEST for mark in UNKNOWNS)
    words = [*words, *command.inputs] if kind == "named" else words  # `mysql < drop.sql`
    words = [*words, command.stdin or ""] if kind == "destroy" else words
    return any(re.fullmatch(_SPECIAL[kind], word) for word in words if len(word) < LONGEST)


def _deletes_data(text: str) -> bool:
    """Whether SQL or code of a database shell drops or empties something that is not for tests."""
    text = re.sub(r"(?s)^-{0,2}\w[\w-]*=|--[^\n]*|/\*.*?\*/", " ", decoded(text[:LONGEST]))
    if re.search(_SHELL_CODE, text):
        return True
    for each in text.split(";"):
        statement = re.sub(r"(?i)^-[a-z]", "", " ".join(each.split()))  # -c'drop table t'
        found = re.match(_STATEMENT, statement[:LONGEST_STATEMENT])
        if found and not re.search(FOR_TESTS, " ".join(statement.split()[1:5])):
            return True
    return False


def _is_local(words: list[str]) -> bool:
    """Whether all addresses of an HTTP client are on this machine, and not those of a known database."""
    options, operands = arguments(words, "XHdFuAbcomrTw", _HTTP_OPTIONS)
    addresses = [word for word in operands if word.lower() != "delete"]
    addresses += [value for name, value in options if name == "--url"]
    is_elsewhere = has(options, "-x", "-K", "--proxy", "--config", "--connect-to", "--resolve", "--next")
    return bool(addresses) and not is_elsewhere and all(re.fullmatch(_LOCAL, address) for address in addresses)


def _is_for_tests(command: ShellCommand) -> bool:
    """Whether a database is for tests, according to its name or the environment."""
    if ":memory:" in command.words or re.search(r"\b[A-Z]+_ENV=test", command.shown):
        return True
    if any(name.endswith("_ENV") and value == "test" for name, value in command.assignments):
        return True
    names = (word.rpartition("/")[2] for word in command.words[1:MOST] if " " not in word and word.rfind("/") != 0)
    return any(re.search(FOR_TESTS, name) for name in names)
