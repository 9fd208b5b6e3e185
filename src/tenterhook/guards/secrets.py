"""Ask before private keys, credentials, `.env` files or shell history are read; refuse to send them away.

Shell lines are judged by the files that each command reads and by where its output goes; file tools by their paths.
"""

from __future__ import annotations

import os
import re

from ..shell import reader
from ..shell.programs import resolved
from ..shell.syntax import UNKNOWN
from .calls import ASK, DENY, Objection, paths_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.reader import Command
    from .calls import GuardedCall

RULES = {
    "private-key": "a private key",
    "credentials": "stored credentials",
    "env-file": "an environment file, which mostly holds secrets",
    "history": "the shell's history, in which secrets may stand",
    "environment": "all variables, and the secrets among them",
    "send-secrets": "secrets or private files would leave this machine",
    "collect-secrets": "it searches the whole machine for secrets and copies them",
    "credential-tool": "a program that collects passwords",
}
# Rule, and the end of a path to which it applies, in any home or project.
_ENDS = (
    ("private-key", r"\.ssh/(?!known_hosts|config|authorized_keys|environment$)[^/]*(?<!\.pub)"),
    ("private-key", r"\.ssh|\.gnupg/(?:private-keys-v1\.d/.*|secring\.gpg)|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"),
    ("private-key", r"[^/]*(?:private|privkey|secret)[^/]*\.(?:pem|asc|gpg)|[^/]*\.(?:ppk|p12|pfx|kdbx|keystore)"),
    ("credentials", r"\.aws/credentials|\.azure/(?:accessTokens|msal_token_cache|azureProfile).*|\.kube/config"),
    (
        "credentials",
        r"gcloud/(?:credentials\.db|access_tokens\.db|legacy_credentials/.*|application_default_\w+\.json)",
    ),
    ("credentials", r"\.(?:netrc|pgpass|my\.cnf|npmrc|pypirc|git-credentials|s3cfg|boto|vault-token|terraformrc)"),
    (
        "credentials",
        r"\.(?:htpasswd|dockercfg|yarnrc\.yml)|\.docker/config\.json|\.terraform\.d/credentials\.tfrc\.json",
    ),
    ("credentials", r"\.config/(?:gh/hosts\.yml|hub|git/credentials|rclone/rclone\.conf|op/.*|doctl/config\.yaml)"),
    (
        "credentials",
        r"\.(?:cargo|gem)/credentials(?:\.toml)?|\.m2/settings(?:-security)?\.xml|\.gradle/gradle\.properties",
    ),
    ("credentials", r"\.password-store/.*|\.local/share/keyrings/.*|Keychains/.*|\.config/glab-cli/config\.yml"),
    ("credentials", r"\.claude/\.credentials\.json|\.codex/auth\.json|\.gemini/oauth_creds\.json"),
    ("credentials", r"Login Data|Cookies|Web Data|key4\.db|logins\.json|cookies\.sqlite"),
    ("credentials", r"tenterhook/(?:hub\.json|hub/person\.json|hub/hub\.db)"),
    ("env-file", r"\.env(?:\.(?!example|sample|template|dist|defaults?|schema|test)[\w.-]+)?|[\w-]+\.env|\.envrc"),
    ("history", r"\.(?:bash|zsh|sh|python|mysql|psql|node_repl|sqlite|rediscli|irb)_?history|fish_history"),
)
_SECRET = [(rule, re.compile(f".*/(?:{expression})")) for rule, expression in _ENDS]
# Places of the system, from the root on.
_SECRET.append(
    (
        "credentials",
        re.compile(
            r"/etc/(?:shadow-?|gshadow-?|master\.passwd|sudoers|krb5\.keytab|ssh/ssh_host_\w+_key)"
            r"|/(?:var/)?run/secrets/.*|/proc/(?:\d+|self|\*)/environ"
        ),
    )
)

# Programs that print, copy or search what is in the files they are given.
_READERS = frozenset(
    "cat bat batcat less more most head tail tac nl od xxd hexdump hd strings base64 base32 uuencode openssl sort uniq "
    "cut paste tr rev fold fmt column grep egrep fgrep rg ag ack sed awk gawk mawk perl jq yq dasel xmllint diff cmp comm "
    "sdiff view vim nvim vi nano emacs code subl open xdg-open cp scp rsync tar zip 7z gzip xz zstd bzip2 split dd tee "
    "install pbcopy xclip xsel wl-copy qrencode curl wget nc ncat socat cpio ar gpg age sqlite3 plutil dotenv "
    "get-content gc type select-string copy-item".split()
)
_SEARCHING = ("grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "jq", "yq")  # a program first
_LISTING = frozenset(("-l", "-L", "-c", "-q", "--files-with-matches", "--count", "--quiet", "--files-without-match"))
_SENDERS = frozenset(
    "curl wget nc ncat netcat socat telnet ftp sftp scp rsync ssh mail mailx sendmail mutt swaks msmtp http https xh "
    "rclone aws gsutil gcloud az s3cmd mc gist transfer croc wormhole ngrok invoke-webrequest invoke-restmethod iwr "
    "irm tftp lftp".split()
)
_STORES = (
    ("op", r"^(?:read|item get|document get)\b"),
    ("vault", r"^(?:read|kv get|token lookup)\b"),
    (
        "aws",
        r"\bsecretsmanager get-secret-value\b|\bssm get-parameters?\b.*--with-decryption|\bsts get-session-token\b",
    ),
    ("gcloud", r"\bsecrets versions access\b|\bauth print-(?:access|identity)-token\b"),
    ("az", r"\bkeyvault secret (?:show|download)\b|\baccount get-access-token\b"),
    ("gh glab", r"^auth (?:token|status .*(?:-t|--show-token))\b"),
    ("kubectl oc", r"\bget secrets?\b.*(?:-o|--output)"),
    ("pass gopass", r"^(?:show\b|[^-\s]+/\S+$)"),
    ("security", r"\b(?:find-(?:generic|internet)-password|dump-keychain|export)\b"),
    ("gpg gpg2", r"--export-secret-(?:sub)?keys?\b"),
    ("ssh-keygen", r"(?:^| )-y\b"),
    ("ansible-vault sops", r"^(?:view|decrypt|-d|--decrypt)\b"),
    ("doppler infisical chamber", r"^(?:secrets(?: download| get|$)|export|read)\b"),
    ("bw lpass", r"^(?:get|show|export)\b"),
    ("heroku", r"^config(?:$|:get| -)"),
    ("secret-tool", r"^(?:lookup|search)\b"),
)
_BY_STORE = {name: expression for names, expression in _STORES for name in names.split()}
_TOOLS = re.compile(
    r"(?i)(?:mimi(?:katz|penguin)|lazagne|linpeas|winpeas|pypykatz|secretsdump|trufflehog_dump)(?:\.\w+)?"
)
_INSTEAD = {
    ASK: "use names and not values: say which secret is needed, and let the person provide it",
    DENY: "nothing private may leave this machine; tell the person what you need it for",
}


def judge(call: GuardedCall) -> Objection | None:
    """Ask about reading secrets and refuse sending them, in shell lines and in file tools."""
    line = call.line() if call.argument("file_path") is None else None
    check = _Check(call)
    found = list(check.of_line(line) if line is not None else check.of_file_tool())
    off = call.settings.get("allow", ())
    found = [each for each in found if each[0] not in off]
    if not found:
        return None
    decision = DENY if any(each[1] == DENY for each in found) else ASK
    said = dict.fromkeys(
        f"`{shown}`: {RULES[rule]} [{rule}]" for rule, _, shown in sorted(found, key=lambda each: each[1] != DENY)
    )
    return Objection(decision, "\n".join(list(said)[:3]) + f". Instead: {_INSTEAD[decision]}.")


class _Check:
    def __init__(self, call: GuardedCall) -> None:
        self.call = call
        self._home = reader.agents_home(call.environment)

    def of_file_tool(self) -> Iterator[tuple[str, str, str]]:
        """Yield rule, decision and path for each secret that a file tool is given."""
        for path in paths_in(self.call.tool_input):
            rule = secret(resolved(path.replace("\\", "/"), self.call.work_dir, self._home))
            if rule:
                yield rule, ASK, path

    def of_line(self, line: str | list[str]) -> Iterator[tuple[str, str, str]]:
        """Yield rule, decision and the part of the line for each command that reads or sends secrets."""
        directory, variables = self.call.directory(), self.call.environment
        reading = (
            reader.read_words(line, directory, variables)
            if isinstance(line, list)
            else reader.read(line, directory, variables)
        )
        exposed = False
        for command in reading.commands:
            if not command.words:
                continue
            rule = self._read_by(command)
            before = self._exposed_before(command) or (exposed and any(UNKNOWN in word for word in command.words))
            if _TOOLS.fullmatch(os.path.basename(command.words[0])) or any(
                _TOOLS.search(word) for word in command.words[1:3]
            ):
                yield "credential-tool", DENY, command.shown
            if self._sends(command, rule, before):
                yield "send-secrets", DENY, command.shown
            elif rule and command.name == "find" and self._searches_everything(command):
                yield "collect-secrets", DENY, command.shown
            elif rule:
                yield rule, ASK, command.shown
            exposed = exposed or bool(rule)

    def _read_by(self, command: Command) -> str | None:
        """Return the rule about what a command reads, or None."""
        name = command.name.lower()
        said = " ".join(command.words[1:])
        if command.name in _BY_STORE and re.search(_BY_STORE[command.name], said):
            return "credentials"
        if _prints_environment(command):
            return "environment"
        if name == "find":
            return self._found_by(command)
        if name not in _READERS or (name.endswith("grep") and set(command.words) & _LISTING):
            return None
        words = command.words[1:]
        if name in _SEARCHING and not any(word in ("-e", "-f") or word.startswith("--regexp") for word in words):
            pattern = next((number for number, word in enumerate(words) if not word.startswith("-")), 0)
            words = [*words[:pattern], *words[pattern + 1 :]]
        if "\\" in command.shown:  # PowerShell's paths
            words = [*words, *(word.strip("'\"") for word in command.shown.replace("\\", "/").split()[1:])]
        for word in words:
            for text in (word, word.partition("=")[2], word.lstrip("@"), word.partition("@")[2]):
                rule = (
                    secret(self._path(command, text))
                    if text and not text.startswith("-") and len(text) < 1000
                    else None
                )
                if rule:
                    return rule
        return None

    def _found_by(self, command: Command) -> str | None:
        """`find / -name id_rsa -exec cp …`: a search for secrets of which something is done."""
        if not set(command.words) & {"-exec", "-execdir", "-ok", "-fprint"}:
            return None
        return next((rule for word in command.words[1:] if (rule := secret("/" + word.strip("*")))), None)

    def _searches_everything(self, command: Command) -> bool:
        roots = [self._path(command, word) for word in command.words[1:2]]
        return any(root in ("/", "/home", "/Users", "/root", self._home) for root in roots)

    def _exposed_before(self, command: Command) -> bool:
        """Whether a command reads what another one of its pipeline took from secrets."""
        for words in command.upstream:
            other = reader.Command(words, [], None, command.directory, " ".join(words), ())
            if self._read_by(other):
                return True
        return False

    def _sends(self, command: Command, rule: str | None, exposed: bool) -> bool:
        name = command.name.lower()
        if name not in _SENDERS:
            return False
        if name in ("scp", "rsync", "sftp"):
            return bool(rule) and any(re.match(r"[\w.@-]+:(?!\\)|\w+://", word) for word in command.words[1:])
        return bool(rule) or exposed

    def _path(self, command: Command, word: str) -> str:
        if command.contained and not command.mounts:
            return ""
        return resolved(word, command.directory, self._home)


def secret(path: str) -> str | None:
    """Return the rule about a path that holds secrets, or None."""
    path = path.replace("\\", "/")
    for rule, expression in _SECRET:
        if expression.fullmatch(path):
            return rule
    return None


def _prints_environment(command: Command) -> bool:
    words = command.words
    if command.name in ("env", "printenv", "set"):
        return len(words) == 1
    if command.name in ("export", "declare", "typeset"):
        return words[1:] in (["-p"], ["-x"], ["-px"], ["-xp"])
    said = " ".join(words).lower()
    return bool(re.match(r"(?:get-childitem|gci|dir|ls|get-item) env:(?:\\?\*)?$", said))
