"""No secret is in the bytes of a segment unless its owner wants it there; what is none stays as it is."""

from __future__ import annotations

import json
import random
import string
from typing import TYPE_CHECKING, Any

import pytest

from journal import journals
from support import folder_hook, shell_call, table_hook, tenterhook, until, user_hooks, write_config
from tenterhook import Decision, Engine
from tenterhook.basics.redaction import MARK, redacted
from tenterhook.journal.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Event

_random = random.Random(20260)  # made up, and the same at every run


def made(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """A secret of no known shape, with a digit in it."""
    return "".join(_random.choices(alphabet, k=length - 1)) + "7"


HEX, UPPER, URL_SAFE = "0123456789abcdef", string.ascii_uppercase + string.digits, string.ascii_letters + "0123456789-_"
PEM = "\n".join(made(64, string.ascii_letters + string.digits + "+/") for _ in range(4))


def key_block(kind: str) -> tuple[str, str]:
    return f"-----BEGIN {kind}-----\n{PEM}\n-----END {kind}-----\n", PEM.splitlines()[2]


def jwt() -> str:
    return f"eyJ{made(20)}.eyJ{made(40)}.{made(43, URL_SAFE)}"


def in_text(before: str, secret: str, after: str = "") -> tuple[str, str]:
    return f"{before}{secret}{after}", secret


# A text or a tool's input that holds a secret, and the secret.
SECRETS: dict[str, tuple[Any, str]] = {
    # tokens known by their shape, wherever they stand
    "aws key id": in_text("aws configure set aws_access_key_id ", "AKIA" + made(16, UPPER)),
    "aws temporary key id": in_text("used ASIA key ", "ASIA" + made(16, UPPER), " today"),
    "github token": in_text("git clone https://", "ghp_" + made(36), "@github.com/a/b"),
    "github app token": in_text("echo ", "ghs_" + made(36), " | gh auth login --with-token"),
    "github fine-grained": in_text("see ", "github_pat_" + made(22) + "_" + made(59), "."),
    "gitlab token": in_text("curl --header 'PRIVATE-TOKEN: ", "glpat-" + made(20), "' https://gitlab.com/api/v4"),
    "openai key": in_text("I use ", "sk-" + made(48)),
    "openai project key": in_text("key: ", "sk-proj-" + made(20) + "-" + made(9) + "_" + made(5)),
    "anthropic key": in_text("x ", "sk-ant-api03-" + made(30, URL_SAFE) + "-" + made(6) + "-" + made(8) + "AA"),
    "stripe live": in_text('stripe.api_key = "', "sk_live_" + made(24), '"'),
    "stripe restricted": in_text("rk: ", "rk_live_" + made(24)),
    "slack bot": in_text("SLACK=", f"xoxb-{made(12, '0123456789')}-{made(24)}"),
    "slack webhook": in_text("curl -d @m https://hooks.slack.com/services/", f"T{made(8, UPPER)}/B01/{made(24)}"),
    "google api key": in_text("https://maps.googleapis.com/maps/api/js?key=", "AIza" + made(35, URL_SAFE), "&v=3"),
    "google access token": in_text("gcloud: ", "ya29." + made(60, URL_SAFE)),
    "npm token": in_text("//registry.npmjs.org/:_authToken=", "npm_" + made(36)),
    "npm token alone": in_text("the token is ", "npm_" + made(36)),
    "pypi token": in_text("twine upload -u __token__ -p ", "pypi-" + made(70, URL_SAFE), " dist/*"),
    "hugging face": in_text("huggingface-cli login --token ", "hf_" + made(34)),
    "sendgrid": in_text("mail: ", f"SG.{made(22, URL_SAFE)}.{made(43, URL_SAFE)}"),
    "shopify": in_text("X-Shopify-Access-Token: ", "shpat_" + made(32, HEX)),
    "digital ocean": in_text("doctl auth init -t ", "dop_v1_" + made(64, HEX)),
    "age key": in_text("# created\n", "AGE-SECRET-KEY-1" + made(58, UPPER), "\n"),
    "jwt": in_text("document.cookie = 't=", jwt(), "'"),
    "jwt in prose": in_text("It says ", jwt(), " and then fails."),
    # private keys
    "rsa key": key_block("RSA PRIVATE KEY"),
    "pkcs8 key": key_block("PRIVATE KEY"),
    "openssh key": key_block("OPENSSH PRIVATE KEY"),
    "ec key": key_block("EC PRIVATE KEY"),
    "encrypted key": key_block("ENCRYPTED PRIVATE KEY"),
    "pgp key": key_block("PGP PRIVATE KEY BLOCK"),
    "key that is cut off": (key_block("RSA PRIVATE KEY")[0][:200], PEM.splitlines()[1]),
    "key in a here document": in_text("cat <<E\n-----BEGIN PRIVATE KEY-----\n", PEM, "\n-----END PRIVATE KEY-----\nE"),
    "key in one line of JSON": in_text(
        '{"private_key": "-----BEGIN PRIVATE KEY-----\\n', PEM.replace("\n", "\\n"), '\\n-----END PRIVATE KEY-----\\n"}'
    ),
    # passwords in addresses
    "postgres url": in_text("psql postgres://app:", made(12), "@db.example.com:5432/app"),
    "redis url": in_text("redis-cli -u redis://:", made(14), "@cache:6379/0"),
    "https url": in_text("git remote add o https://me:", made(20), "@git.example.com/r.git"),
    "amqp url": in_text("BROKER=amqps://u:", made(9), "@mq.example.com/%2f"),
    "mongodb url": in_text('client("mongodb+srv://root:', made(10), '@c0.mongodb.net/?w=majority")'),
    "password with an @": in_text("mysql://root:", "p@" + made(8), "@localhost/app"),
    "proxy": in_text("export https_proxy=http://me:", made(8), "@proxy:3128"),
    "smtp url in JSON": ({"url": "smtp://m:x9Qe4rT@mail:587"}, "x9Qe4rT"),
    # headers
    "bearer": in_text("curl -H 'Authorization: Bearer ", made(40), "' https://api.example.com"),
    "bearer in JSON": ({"headers": {"Authorization": "Bearer " + "q8" * 16}}, "q8" * 16),
    "basic": in_text('-H "Authorization: Basic ', "YWRtaW46" + made(12) + "==", '"'),
    "github's word": in_text("Authorization: token ", made(40, HEX)),
    "no scheme": ({"headers": {"Authorization": "0f1e2d3c4b5a69788796a5b4"}}, "0f1e2d3c4b5a69788796a5b4"),
    "proxy-authorization": in_text("Proxy-Authorization: Basic ", made(24)),
    "api key header": in_text("-H 'X-Api-Key: ", made(32), "'"),
    "cookie": in_text("curl -H 'Cookie: theme=dark; sid=", made(26), "; lang=en'"),
    "set-cookie": in_text("< Set-Cookie: session=", made(30), "; HttpOnly; Path=/"),
    # variables and options that are named like secrets
    "export": in_text("export AWS_SECRET_ACCESS_KEY=", made(40, string.ascii_letters + "0123456789/+")),
    "before a command": in_text("PGPASSWORD=", made(10), " psql -h db"),
    "quoted": in_text("MYSQL_PWD='", "two words " + made(6), "' mysqldump app"),
    "double quotes": in_text('export DB_PASSWORD="', made(11), '"; ./run'),
    "dotenv": in_text("DEBUG=1\nSECRET_KEY_BASE=", made(64, HEX), "\nPORT=3000\n"),
    "pass": in_text("SMTP_USER=me\nSMTP_PASS=", made(12), "\n"),
    "docker -e": in_text("docker run -e POSTGRES_PASSWORD=", made(9), " postgres:16"),
    "ini": in_text("[default]\naws_access_key_id = x\naws_secret_access_key = ", made(40), "\n"),
    "yaml": in_text("db:\n  user: app\n  password: ", made(12), "\n  host: db\n"),
    "toml": in_text('[api]\ntoken = "', made(30), '"\n'),
    "python": in_text('client = Client(api_key="', made(32), '", timeout=3)'),
    "javascript": in_text("const config = { clientSecret: '", made(32), "', port: 3 }"),
    "properties": in_text("spring.datasource.password=", made(10)),
    "json text": in_text('curl -d \'{"user": "me", "password": "', made(10), '"}\' https://x.example.com/login'),
    "escaped json text": in_text('curl -d "{\\"password\\":\\"', made(10), '\\"}" https://x.example.com'),
    "json value": ({"user": "me", "password": "zx81-" + "spectrum"}, "zx81-spectrum"),
    "nested json": ({"auth": {"db": {"clientSecret": "c64" + "-basic"}}}, "c64-basic"),
    "numeric password": ({"pin": 1, "password": 87654321}, "87654321"),
    "list of passwords": ({"passwords": ["amiga" + "500", "st" + "520"]}, "amiga500"),
    "name and value": ({"env": [{"name": "DB_PASSWORD", "value": "atari" + "800"}]}, "atari800"),
    "option": in_text("vault login --token ", "s." + made(24)),
    "option with =": in_text("mysql --password=", made(9), " app"),
    "option in a list": ({"argv": ["tool", "--api-key", "spectrum" + "48k", "--verbose"]}, "spectrum48k"),
    "passphrase": in_text("gpg --batch --passphrase ", made(12), " -d file.gpg"),
    "azure storage": in_text("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", made(86) + "==", ";Suffix=x"),
    "encryption key": in_text("ENCRYPTION_KEY=", made(32, HEX)),
    "master key": in_text("RAILS_MASTER_KEY=", made(32, HEX), " bin/rails s"),
    "query": in_text("curl 'https://api.example.com/v1/me?access_token=", made(32), "&fields=id'"),
    "signed address": in_text("https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=", made(64, HEX)),
    "kubernetes": in_text("kubectl create secret generic s --from-literal=password=", made(10)),
    "netrc": in_text("machine api.example.com login me password ", made(12), "\n"),
    "curl -u": in_text("curl -s -u admin:", made(10), " https://ci.example.com/job"),
}  # fmt: skip

HARMLESS: tuple[Any, ...] = (
    # names of things
    "git show 9bdba445f1c2d3e4a5b60718293a4b5c6d7e8f90",
    "git diff bce1618..012d704 -- src/key.py",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "session 01975f3a-6a5c-7c1e-9b1f-0242ac120002 has ended",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "docker pull alpine@sha256:c5b1261d6d3e43071626931fc004f70149baeba2c8ec672bd4f27761f8e1ad6b",
    "ls -la ~/.ssh/id_ed25519.pub ~/.config/tokens/ /etc/ssl/private",
    "cat src/auth/session_key.py tests/test_token.py",
    "/home/me/projects/passwords/secrets/README.md",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8 me@host",
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "PWD=/home/me/work OLDPWD=/tmp",
    # figures
    "token_count: 12",
    "max_tokens=4096, temperature=0.2",
    '{"input_tokens": 1200, "output_tokens": 30}',
    "tokens: 31337 of 200000",
    {"usage": {"input_tokens": 12, "total_tokens": 50, "token_count": 12}},
    {"max_tokens": 4096, "keys": ["a", "b"]},
    "PASSWORD_MIN_LENGTH=12",
    "the tokenizer has 32000 tokens",
    "tokenizer: gpt2",
    {"tokenizer": "cl100k_base"},
    # code that names secrets and holds none
    "def login(user, password):\n    return check(user, password)",
    "def connect(host: str, password: str, token: str | None = None) -> None: ...",
    "password = getpass.getpass()",
    "token = get_token()",
    "self.token = token",
    "if password == confirmation:\n    save()",
    "if token != expected: raise Denied",
    "const { password, token } = req.body",
    "client = Client(password=password, token=self.token)",
    "secret = os.environ['SECRET']",
    "token = os.environ.get(\"TOKEN\")",
    "api_key = process.env.API_KEY",
    "interface Login { user: string; password: string }",
    "password: ${{ secrets.DB_PASSWORD }}",
    "export TOKEN=$(vault read -field=token secret/x)",
    'curl -H "Authorization: Bearer $TOKEN" https://api.example.com',
    "PGPASSWORD=$PGPASSWORD psql",
    "docker login -u me --password-stdin registry.example.com",
    "kubectl create secret generic db --from-file=password.txt",
    "fetch(url, { credentials: 'include' })",
    "git config credential.helper store",
    'headers["Authorization"] = f"Bearer {token}"',
    "password: null",
    'password = ""',
    "token=",
    "<input type=password name=password>",
    "grep -rn 'password' src | head",
    "s/token/key/g",
    # addresses
    "https://example.com/a/b?page=2&sort=key",
    "curl http://localhost:8080/users/me@example.com",
    "npm view http://localhost:4873/@scope/pkg",
    "git clone git@github.com:me/repo.git",
    "ssh://git@example.com:2222/repo.git",
    "postgres://localhost:5432/app",
    "mailto:me@example.com",
    "https://example.com/reset-password",
    "see https://docs.example.com/auth#tokens: it says how",
    # prose
    "A basic understanding of authentication is enough.",
    "The basic authentication scheme sends what you type.",
    "Token validation failed because the key was rotated.",
    "token generation is slow",
    "The bearer certificates are gone.",
    "Write the session handling first, then the cookie banner.",
    "Please add a private key field to the form.",
    "The secret of good tests is that they can fail.",
    "risk-management-and-task-scheduling-for-beginners",
    "a sk-learn-like-interface-for-everything",
    "Keep your password to yourself.",
    {"file_path": "/w/auth.py", "content": "# the token is read from the keyring\n"},
    {"properties": {"password": {"type": "string"}, "token": {"type": "string"}}, "required": ["password"]},
    {"passwordless": True, "secret": None, "token": "", "has_token": False},
)  # fmt: skip


def in_segments(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in journals.folder(home).glob("*.jsonl"))


def fire(value: Any, function: Any = lambda _: None) -> None:
    """Have an event with this in its input decided."""
    given = {"command": value} if isinstance(value, str) else value
    journals.engine(function).decide(shell_call(tool_input=given, session_id="s"))


def told(home: Path) -> dict[str, Any]:
    """The one verdict there is."""
    (record,) = journals.recorded(journals.folder(home))
    return record


def test_there_are_enough_of_both() -> None:
    assert len(SECRETS) >= 60
    assert len(HARMLESS) >= 60


# ---- secrets


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_never_reaches_a_segment(home: Path, name: str) -> None:
    value, secret = SECRETS[name]
    assert json.dumps(secret)[1:-1] in json.dumps(value)  # it is there to be found
    fire(value)
    written = in_segments(home).decode()
    assert MARK in written
    for piece in (secret, *secret.splitlines(), *(secret[at : at + 8] for at in range(0, len(secret) - 8, 4))):
        assert json.dumps(piece)[1:-1] not in written
    assert told(home)["payload"] == "redacted"


@pytest.mark.parametrize("name", ["github token", "postgres url", "json value", "rsa key"])
def test_a_secret_that_a_hook_repeats_is_not_kept_either(home: Path, project: Path, name: str) -> None:
    value, secret = SECRETS[name]
    text = value if isinstance(value, str) else json.dumps(value)
    (project / "secret").write_text(text)
    say = "import json, sys; t = open('secret').read(); print(t, file=sys.stderr); "
    say += "print(json.dumps({'decision': 'ask', 'reason': t, 'modified_input': {'command': t}, "
    say += "'additional_context': t, 'message': t, 'log': t}))"
    folder_hook(user_hooks(home), "loud", f"#!/usr/bin/env python3\n{say}\n")
    Engine.load().decide(shell_call())
    record = told(home)
    assert record["decision"] == "ask"
    assert json.dumps(secret.splitlines()[0])[1:-1] not in in_segments(home).decode()
    assert MARK in record["reason"]
    assert MARK in record["runs"][0]["stderr"]


@pytest.mark.parametrize("much", [0, 3000, 300_000])
def test_a_secret_in_an_output_that_a_hook_replaced_is_not_kept_and_a_long_one_is_cut(home: Path, much: int) -> None:
    secret = "ghp_" + made(36)
    engine = Engine(journal=Journal("library"))
    engine.on("post-tool-call")(lambda _: {"modified_output": f"token {secret} " + "x" * much})
    engine.decide(shell_call(event="post-tool-call", tool_output="token"))
    record = told(home)
    assert secret.encode() not in in_segments(home)
    assert record["modified_output"].startswith(f"token {MARK}")
    assert len(record["modified_output"]) <= 256 * 1024
    assert len(record["runs"][0]["modified_output"]) <= 2000


def test_a_secret_in_what_a_function_raises_is_not_kept(home: Path) -> None:
    _, secret = SECRETS["github app token"]

    def fail(_: Event) -> None:
        raise ValueError(f"cannot log in with {secret}")

    fire("ls", fail)
    assert told(home)["runs"][0]["outcome"] == "failed"
    assert secret.encode() not in in_segments(home)
    assert MARK in told(home)["runs"][0]["why"]


def test_a_secret_in_an_answer_that_makes_no_sense_is_not_kept(home: Path) -> None:
    secret = "ghp_" + made(30)
    fire("ls", lambda _: {"decision": secret})
    assert told(home)["runs"][0]["why"]
    assert secret.encode() not in in_segments(home)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_secret_at_the_end_of_what_is_kept_of_the_output_is_not_cut_out_of_sight(
    home: Path, project: Path, stream: str
) -> None:
    """What is kept ends in the middle of it, where its shape is no longer to be seen."""
    target = ">&2" if stream == "stderr" else ""
    for shown in (6, 12, 25, 34):
        before = "x" * (1999 - shown) + "\n"
        token, password = "ghp_" + made(36), made(30)
        for text in (f"{before}{token}", f"{before[11:]}https://me:{password}@example.com"):
            (project / "said").write_text(text)
            config = write_config(project / "hooks.toml", table_hook(f"cat said {target}"))
            Engine.load(configs=[config]).decide(shell_call())
        written = in_segments(home).decode()
        assert token[:10] not in written
        assert password[:8] not in written


@pytest.mark.parametrize("length", [2000, 2000 + 8192])
def test_a_secret_at_the_beginning_of_what_is_kept_of_stderr_is_not_cut_out_of_sight(
    home: Path, project: Path, length: int
) -> None:
    """What is kept of stderr is its end, which begins in the middle of the secret."""
    for hidden in (5, 12, 25):
        token = "ghp_" + made(36)
        (project / "said").write_text(f"before {token} " + "x" * (length - len(token) + hidden - 5) + " end")
        Engine.load(configs=[write_config(project / "hooks.toml", table_hook("cat said >&2; exit 1"))]).decide(
            shell_call()
        )
        written = in_segments(home).decode()
        assert " end" in written
        assert token[-10:] not in written


def test_what_an_asynchronous_hook_prints_is_redacted(home: Path, project: Path) -> None:
    secret = "ghp_" + made(36)
    config = write_config(
        project / "hooks.toml", table_hook(f"echo {secret}; echo PASSWORD=zx81spectrum >&2", async_=True)
    )
    Engine.load(configs=[config]).decide(shell_call())
    (record,) = until(lambda: journals.recorded(journals.folder(home), "async"))
    assert (record["stdout"], record["stderr"]) == ("[redacted: github token]\n", "PASSWORD=[redacted: password]\n")
    assert secret.encode() not in in_segments(home)


# ---- what is none


@pytest.mark.parametrize("value", HARMLESS, ids=lambda value: str(value)[:40].encode("unicode_escape").decode())
def test_what_is_no_secret_stays_as_it_is(home: Path, value: Any) -> None:
    assert redacted(value) is value
    fire(value)
    given = {"command": value} if isinstance(value, str) else value
    assert told(home)["fields"]["tool_input"] == given
    assert told(home)["payload"] == "full"


# ---- as its owner wants it


def test_with_full_payloads_everything_is_kept(home: Path, project: Path) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", '[journal]\npayloads = "full"\n')
    secret = "ghp_" + made(36)
    fire(f"echo {secret}", lambda _: Decision("ask", f"why {secret}?", {"command": secret}, secret))  # type: ignore[arg-type]
    record = told(home)
    assert record["payload"] == "full"
    assert record["fields"]["tool_input"] == {"command": f"echo {secret}"}
    assert record["reason"] == f"why {secret}?"
    assert record["modified_input"] == {"command": secret}
    assert record["additional_context"] == [secret]


def test_without_payloads_nothing_of_them_is_kept(home: Path, project: Path) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", '[journal]\npayloads = "none"\n')
    folder_hook(user_hooks(home), "loud", 'echo "seen on stdout"; echo "seen on stderr" >&2; exit 2')
    Engine.load().decide(shell_call("very private", context={"also": "private"}))
    record = told(home)
    assert (record["payload"], record["decision"], record["tool_name"]) == ("none", "deny", "Shell")
    assert record["runs"][0]["meaning"] == "blocked"
    assert b"private" not in in_segments(home)
    assert b"seen on" not in in_segments(home)
    assert "loud" in tenterhook("log").stdout


@pytest.mark.parametrize(
    ("payloads", "stdout"),
    [("redacted", "[redacted: github token]\n"), ("full", "ghp_abcdefghijklmnopqrstuvwxyz01\n"), ("none", None)],
)
def test_the_setting_holds_for_asynchronous_hooks_too(
    home: Path, project: Path, payloads: str, stdout: str | None
) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", f'[journal]\npayloads = "{payloads}"\n')
    line = table_hook("echo ghp_abcdefghijklmnopqrstuvwxyz01", async_=True)
    Engine.load(configs=[write_config(project / "hooks.toml", line)]).decide(shell_call())
    (record,) = until(lambda: journals.recorded(journals.folder(home), "async"))
    assert record["stdout"] == stdout


def test_a_large_event_is_cut_and_says_so(home: Path) -> None:
    fire({"content": "x" * 400_000, "file_path": "/w/a"})
    assert told(home)["payload"] == "cut"
    assert len(in_segments(home)) < 10_000
