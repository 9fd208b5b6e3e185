"""The guard `protect-secrets`: asks before private keys, credentials, `.env` files or shell history are read.

It denies sending them away. In shell lines, it checks the files that each command reads and where its output goes; for
other tools, the paths in their arguments.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from ..shell import programs, reader
from ..shell.effects import effects
from ..shell.programs import LANGUAGES, SHELLS, program, resolved
from ..shell.syntax import STAR, UNKNOWN
from .calls import ASK, DENY, GuardFinding, judged, path_here, paths_in, read
from .secret_places import LONGEST, prints_secrets, rule_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.reader import ShellCommand
    from .calls import GuardedCall, Objection

MOST_LOADED = 10
LONGEST_LINE = 50_000  # characters of a line that are searched as a text
MOST = 500  # words of a command, and commands of a pipeline, that are checked
_BY_NAME = "use names instead of values: say which secret is needed, and let the user provide it"
_NOTHING_LEAVES = "tell the user what you need it for; nothing private may leave this machine"
# The rules: what each is about, and what to do instead.
RULES = {
    "private-key": ("reads a private key", _BY_NAME),
    "credentials": ("reads stored credentials", _BY_NAME),
    "env-file": ("reads an environment file, usually with secrets", "read .env.example, or ask for the one name"),
    "history": ("reads a shell's history, which may contain secrets", "ask the user which command they mean"),
    "environment": (
        "prints environment variables, including secrets",
        "print only the variable that you need (printenv PATH)",
    ),
    "collect-secrets": ("searches for secrets beyond the project", "search the project; ask the user where else"),
    "credential-tool": ("runs a program that collects passwords", _NOTHING_LEAVES),
    "send-secrets": ("sends secrets or private files to another machine", _NOTHING_LEAVES),
}

# Programs that print, copy or search the content of the files they are given.
_READERS = frozenset(
    "cat bat batcat less more most pg head tail tac nl od xxd hexdump hd hexyl strings base64 base32 basenc uuencode "
    "sort uniq cut paste tr rev fold fmt pr column expand iconv grep egrep fgrep rg ag ack zgrep sed awk gawk mawk "
    "perl jq yq dasel xmllint diff cmp comm sdiff view vim nvim vi nano pico ee emacs code subl open xdg-open cp ditto "
    "scp rsync tar zip 7z gzip zcat xz zstd bzip2 split csplit dd install ln pbcopy xclip xsel wl-copy qrencode curl "
    "wget nc ncat socat cpio ar sqlite3 plutil klist read mapfile readarray xargs mail mutt lp lpr look shuf "
    "join glow get-content gc type select-string sls copy-item copy".split()
)
_SEARCHING = frozenset("grep egrep fgrep rg ag ack zgrep sed awk gawk mawk jq yq select-string sls".split())
_PRINTING_MODULES = (["json.tool"], ["base64"], ["quopri"], ["zipfile"], ["tarfile"])  # of Python
_QUIET = frozenset("--files-with-matches --count --quiet --silent --files-without-match".split())
# Programs that send what they are given, and their options whose values are not sent.
_SENDERS = frozenset(
    "curl wget nc ncat netcat socat telnet ftp sftp scp rsync ssh mail mailx sendmail mutt swaks msmtp http https xh "
    "rclone aws gsutil gcloud az s3cmd s5cmd mc b2 gist transfer croc wormhole ffsend ngrok tftp lftp ncftpput "
    "pastebinit invoke-webrequest invoke-restmethod iwr irm dig nslookup host drill ping gh glab "
    "onionshare-cli openssl smbclient slack telegram-send twurl ntfy".split()
)
_KEPT = frozenset(
    "-i -E --cert --key --cert-key --cacert --netrc-file -K --config -b --cookie -c --cookie-jar -o --output -O "
    "--private-key --rsh --identity-file --kubeconfig --ssh-key".split()
)
_LOGIN = frozenset(
    "-H --header -u --user --oauth2-bearer --proxy-user -A --user-agent -Headers -Authentication".split()
)
_SERVING = ("serve", "http-server", "live-server")
_ARCHIVERS = ("tar", "bsdtar", "zip", "cpio", "7z", "rar")
_LOGS_IN = r"(?i)[\w-]*(?:auth|token|key|cookie|password|secret)[\w-]*\s*[:=]|[^:\s]*:?\S*$"  # a header, or user:…
_COPYING = frozenset("cp install ln ditto copy copy-item rsync scp".split())  # they write to the last operand
_SENT_FILE = r"(?:--(?:post|body|upload)-file=|.*@)"  # the path follows
_TO_OTHERS = r"[\w.@-]+:(?!\\)|\w+://"  # host:path, or a URL
_HERE = r"(?:\w+://)?(?:[^/@]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?=[:/]|$)"
_SENDING = {  # the subcommands that send, of programs with many
    "aws": r"\bs3 (?:cp|mv|sync)\b|\bs3api put-object\b",
    "gsutil": r"\b(?:cp|mv|rsync)\b",
    "gcloud": r"\bstorage (?:cp|mv|rsync)\b|\bcompute scp\b",
    "az": r"\bstorage \S+ upload\S*\b",
    "gh": r"^gist create\b|^(?:issue|pr|release) (?:create|comment|edit|review)\b",
    "glab": r"^snippet create\b|^(?:issue|mr) (?:create|note|update)\b",
    "openssl": r"^s_client\b",
    "rclone": r"^(?:copy|copyto|sync|move|moveto|rcat)\b",
    "ngrok": r"file:",
}
# What a file or the environment has, as the name of a machine: `dig $(base64 notes | head -c 60).example.com`
_IN_A_NAME = r"(?:\$\(|`)[^`]{0,200}\b(?:base64|base32|xxd|od|hexdump|env|printenv)\b[^`]{0,200}[)`][\w\"'}]*\.\w"
_PRIVATE = r"/(?:etc(?:/passwd|/group)?|home|Users|root|var/mail|var/spool/mail)?(?:/[\ue004*])?"
_OF_HOME = (
    r"(?:/(?:Documents|Desktop|Downloads|Pictures|Library|\.config|\.local|\.mozilla|\.thunderbird|Mail|[\ue004*])?)?"
)
_TOOLS = (
    r"(?i)(?:.*/)?(?:mimi(?:katz|penguin)|lazagne|linpeas|winpeas|pypykatz|secretsdump|linikatz|swiftbelt|chainbreaker"
    r"|keychaindump|unshadow|ssh2john|gpg2john|keepass2john|zip2john|truffle(?:snout)|hashdump|creddump\w*|3snake)(?:\.\w+)?"
)
_NAMED = r"\.(?:ssh|aws|gnupg|env|netrc|npmrc|kube)\b|/etc/shadow|id_(?:rsa|ed25519)|credentials"
_NAMES = r"(?i)pass(?:w|phrase)|secret|token|api[_-]?key|private[_ -]?key|credential|AKIA"
_REVEALING = r"\$\{?!?(\w*(?:SECRET|TOKEN|PASSW|API_?KEY|PRIVATE_?KEY|CREDENTIAL|ACCESS_KEY)\w*)"
# Code that prints one variable, by its name a secret.
_PRINTS_ONE = (
    r"(?:\b(?:print|puts|pp?|say|echo|log|write)\b[\s(]*|-p\s+)(?:os\.getenv|os\.environ(?:\.get)?|process\.env|\$?ENV(?:\.fetch)?|getenv)"
    r"[\[({.\s'\"]+\w*(?i:SECRET|TOKEN|PASSW|API_?KEY|PRIVATE_?KEY|CREDENTIAL|ACCESS_KEY)\w*['\"\])}\s]*(?:$|[;,\n])"
)
_WHOLE_ENVIRONMENT = (
    r"\$_ENV\b(?!\s*\[)|"
    r"\bos\.environ(?!\s*(?:\[|\.get\b|\.setdefault))|\bprocess\.env(?!\s*[.\[]|\w)|(?<!\$)\bENV\b(?!\s*[\[.{](?:fetch)?)|\bENV\.(?:to_h|each|inspect)"
    r"|[%@]ENV\b|\bgetenv\(\s*\)|GetEnvironmentVariables\(\)"
)
_SENDS_IN_CODE = (
    r"(?i)requests\.(?:post|put|get)|urlopen|http\.client|httpx|socket\b|fetch\(|axios|net\.connect|smtplib|ftplib|paramiko"
    r"|Net::(?:HTTP|FTP|SMTP)|HTTP::Tiny|LWP|https?['\"]\)|\.(?:request|post)\(|curl_\w+|fsockopen|open-uri|URI\.open"
    r"|(?:get|open|contents)\W{1,3}https?://|boto3|WebClient|Invoke-(?:Rest|Web)"
)
# What .NET reads or sends: `[IO.File]::ReadAllText("…")`, `$client.UploadFile("https://…", "…")`
_DOTNET_FILE = (
    r"(?i)(ReadAll\w+|ReadLines|Open(?:Read|Text)|Upload(?:File|Data)\w*)"
    r"\((?:[^()\n]{1,300},)?[\s\\\"']*([^\s\"'()]{1,300})"
)
_MEMORY = r"(?i)\blsass|comsvcs|(?:ssh|gpg)-agent|\bhklm\\*(?:sam|security|system)\b|ntds\.dit"
_DUMPERS = frozenset("procdump procdump64 rundll32 reg gcore nanodump ntdsutil esentutl out-minidump gdb".split())
_SENDING_TOOL = r"(?i)upload|send|post|share|attach|publish|mail"
_CHANGING_TOOL = r"(?i)write|create|edit|replace|patch|delete|remove|move|rename|mkdir|list|glob|^ls$|exists|stat"


def judge(call: GuardedCall) -> Objection | None:
    """Return the objection to a call that reads or sends secrets, or None."""
    check = _Check(call)
    return judged(call, RULES, check.of_line, check.of_tool)


class _Check:
    def __init__(self, call: GuardedCall) -> None:
        self.call = call
        self._home = reader.agents_home(call.environment)
        self._copies: set[str] = set()  # files to which the line copies secrets
        self._is_exposed = False  # an earlier command of the line read secrets
        self._readers: dict[tuple[str, ...], list[ShellCommand]] = {}  # by a command's words, those of its output
        self._is_staged = False  # an earlier command of the line added secrets to git's index

    def of_tool(self) -> Iterator[GuardFinding]:
        """Yield a finding for each path of a secret in a tool's arguments."""
        name = self.call.tool_name.rpartition("__")[2]  # mcp__server__tool
        sends = bool(re.search(_SENDING_TOOL, name))
        if re.search(_CHANGING_TOOL, name) and not sends:
            return
        for path in paths_in(self.call.tool_input):
            rule = (
                rule_of(resolved(path.replace("\\", "/"), self.call.work_dir, self._home)) if len(path) < 1000 else None
            )
            if rule and sends:
                yield _finding("send-secrets", DENY, path)
            elif rule:
                yield _finding(rule, ASK, path)

    def of_line(self, line: str | list[str]) -> Iterator[GuardFinding]:
        """Yield the findings for each command of a line that reads or sends secrets."""
        reading = read(line, self.call.directory(), self.call.environment)
        readers = self._readers = {}
        for command in reading.commands:
            for words in command.upstream if len(command.upstream) < MOST else ():
                readers.setdefault(tuple(words), []).append(command)
        text = line[:LONGEST_LINE] if isinstance(line, str) else ""
        yield from self._of_text(text)
        loaded = _loaded(text)
        if not reading.is_complete and re.search(_NAMED, text):
            sends = re.search(r"(?i)\b(?:Invoke-(?:RestMethod|WebRequest)|irm|iwr|curl|wget|Upload\w+)\b", text)
            why = "it cannot be parsed completely, and names places of secrets"
            yield GuardFinding("send-secrets" if sends else "credentials", DENY if sends else ASK, "…", why)
        sends_by_code = any(re.search(_SENDS_IN_CODE, code[:LONGEST]) for code in reading.code)
        for command in reading.commands:
            rule = self._read_by(command)
            after = readers.get(tuple(command.words), ())
            if rule == "credentials" and any({"--password-stdin", "--with-token"} & {*each.words} for each in after):
                continue  # `aws ecr get-login-password | docker login --password-stdin`
            if (rule == "environment" and after and _is_filtered(command, after)) or (
                rule and any(each.startswith(command.shown) for each in loaded)
            ):
                continue
            decision = ASK
            if self._takes_passwords(command):
                rule, decision = "credential-tool", DENY
            elif self._sends(command, rule) or (rule and sends_by_code and any(map(LANGUAGES.get, command.through))):
                rule, decision = "send-secrets", DENY
            elif rule and command.name == "find" and self._searches_everything(command):
                rule, decision = "collect-secrets", DENY
            elif command.name == "git" and self._pushes(command):
                rule, decision = "send-secrets", DENY
            if rule or (command.name in _ARCHIVERS and self._reads_private(command)):
                self._is_exposed = True
                self._copies.update(self._path(command, effect.path) for effect in effects(command))
            if rule:
                yield _finding(rule, decision, command.shown, command.span)

    def _of_text(self, line: str) -> Iterator[GuardFinding]:
        """Yield the findings for PowerShell expressions in a line."""
        for found in re.finditer(r"(?i)\[(?:System\.)?Environment\]::GetEnvironmentVariables\(\)", line):
            yield _finding("environment", ASK, found[0])
        for found in re.finditer(r"(?i)(?:^|[\s;|])(?:Get-Content|gc|cat|type)\s.{0,200}\.HistorySavePath", line):
            yield _finding("history", ASK, found[0].strip())
        for found in re.finditer(_DOTNET_FILE, line):
            if rule := rule_of(found[2]):
                sends = found[1].lower().startswith("upload")
                yield _finding("send-secrets" if sends else rule, DENY if sends else ASK, found[0])

    def _read_by(self, command: ShellCommand) -> str | None:
        """Return the rule for what a command reads, or None."""
        name, words = command.name, command.words[1:MOST]
        for path in command.inputs if not name or name in _READERS or name in _SENDERS else ():
            if rule := rule_of(self._path(command, path)):
                return rule
        if not command.words or "--help" in words:
            return None
        if name in ("docker", "podman", "nerdctl") and ("run" in words or "create" in words):
            return self._mounted(command)
        if prints_secrets(name, words):
            return "credentials"
        if _prints_environment(command):
            return "environment"
        has_code = any(word[:2] in ("-c", "-e", "-r", "-p") or word == "--eval" for word in words)
        if name == "python" and words[:1] == ["-m"] and words[1:2] in _PRINTING_MODULES:
            return self._rule_of_words(command, words[2:])
        if name in LANGUAGES and (has_code or (command.stdin and words in ([], ["-"]))):
            return self._read_by_code(command)
        if name == "git" and ("show" in words or "diff" in words or ("log" in words and "-p" in words)):
            return self._rule_of_words(command, [word.rpartition(":")[2] for word in words])
        if name in ("find", "fd"):
            return self._found_by(command)
        if name in _SEARCHING and any(map(_is_quiet, words)):
            return "collect-secrets" if self._is_shown_later(command) and self._searches_for_secrets(command) else None
        if name not in _READERS and not _decrypts(command):
            return None
        if name in _SEARCHING:
            words = _without_program(words)
            if self._searches_for_secrets(command):
                return "collect-secrets"
        if name in _COPYING:
            words = words[:-1]
        elif name == "dd":
            words = [word for word in words if not word.startswith("of=")]
        return self._rule_of_words(command, [*words, *_windows_paths(command)])

    def _rule_of_words(self, command: ShellCommand, words: list[str]) -> str | None:
        """Return the rule for the first secret among arguments, or None. Skips values that a sender does not send."""
        before = ""
        for word in words:
            is_kept = (command.name in _SENDERS and (before in _KEPT or word.partition("=")[0] in _KEPT)) or (
                before == "-e" and command.name == "rsync"
            )
            rule = None if is_kept else self._rule_of_word(command, word)
            if rule:
                return rule
            before = word
        return None

    def _rule_of_word(self, command: ShellCommand, word: str) -> str | None:
        """Return the rule for a path in an argument: `path`, `--file=path`, `@path`, `key=@path`, `if=path`."""
        word = re.sub(r"(?i)^(?:file|g?open):([^?,]*).*", r"\1", word)  # `file:x?mode=ro`, and an address of socat
        if len(word) > 1000 or "://" in word or (word.startswith("--") and "=" not in word):
            return None
        for text in {word, word.partition("=")[2], word.partition("@")[2]}:
            path = self._path(command, text) if text and text[0] != "-" else ""
            rule = rule_of(path) if path else None
            if rule or path in self._copies:
                return rule or "credentials"
        return None

    def _mounted(self, command: ShellCommand) -> str | None:
        """Return the rule for secrets that are mounted into a container, or None."""
        values = [
            re.sub(r"^(?:-v|--volume=|--mount=)", "", word)
            for before, word in zip(("", *command.words), command.words, strict=False)
            if before in ("-v", "--volume", "--mount") or word.startswith(("-v", "--volume=", "--mount="))
        ]
        found = (re.search(r"(?:source|src)=([^,]+)|^([^:]+):", value) for value in values[:MOST])
        paths = (self._path(command, each[1] or each[2]) for each in found if each)
        return next((rule for path in paths if (rule := rule_of(path))), None)

    def _read_by_code(self, command: ShellCommand) -> str | None:
        code = " ".join((*command.words[1:MOST], command.stdin or ""))[:LONGEST]
        if re.search(_WHOLE_ENVIRONMENT, code) or re.search(_PRINTS_ONE, code):
            return "environment"
        if "keyring.get_password" in code:
            return "credentials"
        texts = re.findall(r"['\"]([^'\"\n]{0,300})['\"]", code)
        return next((rule for text in texts if (rule := rule_of(self._path(command, text)))), None)

    def _found_by(self, command: ShellCommand) -> str | None:
        """Return the rule for secrets that a command searches for, and that it or an archiver reads.

        `find / -name id_rsa -exec cp …`, `find ~ -name '*.pem' | cpio -o`
        """
        words = command.words
        at = next((number for number, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-x", "-X")), 0)
        if at and program("".join(words[at + 1 : at + 2])) not in _READERS | _SENDERS:
            return None
        if not at:
            if not any(map(_archives_named, self._readers.get(tuple(words), ()))):
                return None
            at = len(words)
        names = [word.replace("*", STAR) for word in words[1:at] if word[:1] not in ("-", "/")]
        return next((rule for name in names if (rule := rule_of("/" + name))), None)

    def _searches_everything(self, command: ShellCommand) -> bool:
        if any(word in ("cat", "grep", "head", "ls", "stat", "chmod") for word in command.words):
            return False
        return self._is_wide(self._path(command, word) for word in command.words[1:2])

    def _searches_for_secrets(self, command: ShellCommand) -> bool:
        """Whether a command searches for secrets in a whole home or the system: `grep -r password ~`."""
        words = command.words[1:]
        is_recursive = command.name in ("rg", "ag", "ack") or any(
            programs.has_short_option(word, "rR") or word.startswith("--recursive") for word in words
        )
        operands = [word for word in words if not word.startswith("-")]
        return (
            is_recursive
            and bool(re.search(_NAMES, " ".join(operands[:1])))
            and self._is_wide(self._path(command, word) for word in operands[1:])
        )

    def _is_shown_later(self, command: ShellCommand) -> bool:
        """Whether the files that a command names are then read: `grep -rl … | xargs cat`."""
        return any(
            "xargs" in each.through and each.name in _READERS for each in self._readers.get(tuple(command.words), ())
        )

    def _is_wide(self, paths: Iterator[str]) -> bool:
        return any(
            path in ("/", "/home", "/Users", "/root", "/etc", "/var", "/opt", self._home, self._home + "/.config")
            for path in paths
        )

    def _takes_passwords(self, command: ShellCommand) -> bool:
        """Whether a command is a program that collects passwords, or shows a dialog that asks for one."""
        if command.name in ("osascript", "zenity", "kdialog"):
            return bool(re.search(r"hidden answer|--password", " ".join(command.words[:MOST])[:LONGEST]))
        if command.name in _DUMPERS and re.search(_MEMORY, command.shown):
            return True
        words = command.words[:3] if command.name in LANGUAGES or command.name in SHELLS else command.words[:1]
        return any(re.fullmatch(_TOOLS, word) for word in words)

    def _reads_private(self, command: ShellCommand) -> bool:
        """Whether a command archives or sends a whole home, or lists of accounts."""
        for word in command.words[1:MOST]:
            sent = re.sub(_SENT_FILE, "", word) if len(word) < 1000 else "-"
            path = self._path(command, sent) if sent[:1] != "-" else ""
            if path and (re.fullmatch(_PRIVATE, path) or re.fullmatch(re.escape(self._home) + _OF_HOME, path)):
                return True
        return False

    def _sends(self, command: ShellCommand, rule: str | None) -> bool:
        name, words = command.name, command.words[1:MOST]
        if rule and any(target.startswith(("/dev/tcp/", "/dev/udp/")) for _, target in command.redirects):
            return True
        if rule and name in LANGUAGES and re.search(_SENDS_IN_CODE, " ".join((*words, command.stdin or ""))[:LONGEST]):
            return True
        if "http.server" in words or name in _SERVING or (name == "php" and "-S" in words):
            paths = [command.directory, *(self._path(command, word) for word in words if word[:1] in ("/", "~", "."))]
            return any(path == self._home or rule_of(path) for path in paths)
        if name not in _SENDERS or (name in _SENDING and not re.search(_SENDING[name], " ".join(words)[:LONGEST])):
            return False
        if any(re.match(_HERE, word) for word in words) or "--help" in words:
            return False
        if name in ("dig", "nslookup", "host", "drill", "ping") and re.search(_IN_A_NAME, command.shown[:LONGEST]):
            return True
        rule = rule or self._sent_by(command)
        if name in ("scp", "rsync", "sftp"):
            return bool(rule) and (name == "sftp" or any(re.match(_TO_OTHERS, word) for word in words[-1:]))
        others = [reader.ShellCommand(each, [], None, command.directory, "", ()) for each in [*command.upstream][:MOST]]
        if any(self._read_by(other) or _reads_history(other) for other in others):
            return True
        if any(other.name in (*_ARCHIVERS, "cat", "dd") and self._reads_private(other) for other in others):
            return True
        if name == "ssh":
            return bool(rule) and bool(command.inputs)
        if name in ("curl", "wget", "nc", "http", "mail", "mutt", "ftp") and self._reads_private(command):
            return True
        if rule in ("credentials", "environment") and prints_secrets(name, words):
            return False
        return bool(rule) or (self._is_exposed and _carries_unknown(words))

    def _pushes(self, command: ShellCommand) -> bool:
        """Whether a `git push` sends secrets that an earlier `git add` of the line has added."""
        words = command.words[1:MOST]
        if "add" in words[:3]:
            is_forced = any(word in ("-f", "--force") for word in words)
            paths = [self._path(command, word) for word in words if not word.startswith("-")]
            self._is_staged |= any(path in self._copies or (is_forced and rule_of(path)) for path in paths)
        return self._is_staged and "push" in words

    def _sent_by(self, command: ShellCommand) -> str | None:
        """Return the rule for a path among the arguments of a sender, or the commands on its stdin; or None."""
        words = [*command.words[1:MOST], *_windows_paths(command)]
        if command.name in _COPYING:
            words = words[:-1]
        elif command.name in ("sftp", "ftp", "lftp", "smbclient"):  # their commands
            words += re.split(r"[\s;]+", " ".join((*words, command.stdin or ""))[:LONGEST])
        return self._rule_of_words(command, words)

    def _path(self, command: ShellCommand, word: str) -> str:
        return path_here(command, word, self._home) or ""


def _archives_named(command: ShellCommand) -> bool:
    """Whether a command archives the files that are named on its stdin: `tar -cT -`, `cpio -o`, `zip -@`."""
    if command.name in ("cpio", "pax"):
        return True
    words = command.words[1:MOST]
    if command.name == "zip":
        return "-@" in words
    return command.name in _ARCHIVERS and bool(re.search(r" (?:-\w*T|--files-from)[ =]?- ", f" {' '.join(words)} "))


def _finding(rule: str, decision: str, part: str, span: tuple[int, int] | None = None) -> GuardFinding:
    return GuardFinding(rule, decision, part, f"it {RULES[rule][0]}", span)


def _carries_unknown(words: list[str]) -> bool:
    """Whether a sender gets text that is not known, other than for logging in."""
    return any(
        UNKNOWN in word and (before not in _LOGIN or not re.match(_LOGS_IN, word))
        for before, word in zip(("", *words), words, strict=False)
    )


def _windows_paths(command: ShellCommand) -> list[str]:
    """Return the arguments of a PowerShell command, in which a backslash is not an escape."""
    if "\\" not in command.shown:
        return []
    return [word.strip("'\"") for word in command.shown.replace("\\", "/").split()[1:]]


def _without_program(words: list[str]) -> list[str]:
    """Return the arguments of a searching program without its pattern or program."""
    if any(word in ("-e", "-f") or word.startswith("--regexp") for word in words):
        return words
    at = next((number for number, word in enumerate(words) if not word.startswith("-")), 0)
    return [*words[:at], *words[at + 1 :]]


def _reads_history(command: ShellCommand) -> bool:
    return command.name == "history" or (command.name == "fc" and "-l" in command.words)


def _decrypts(command: ShellCommand) -> bool:
    """Whether a program for keys prints the content of a file."""
    words = set(command.words[1:])
    if command.name == "openssl":
        return bool(words & {"enc", "base64", "-text"})
    return command.name in ("gpg", "gpg2") and bool(words & {"-d", "--decrypt"})


def _is_quiet(word: str) -> bool:
    """Whether a search with this option does not print the lines that it finds."""
    letters = programs.letters(word)
    return word in _QUIET or (len(letters) == len(word) - 1 and any(char in letters for char in "lLcq"))


def _prints_environment(command: ShellCommand) -> bool:
    """Whether a command prints all variables, or one with the name of a secret."""
    name, words = command.name, command.words
    if name in ("env", "set", "export") and any(mark in command.shown for mark in "$`"):
        return False  # `env $(cat settings) program`, whose words are not known
    if name in ("env", "printenv"):
        others = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        if name == "printenv":
            return not others or any(re.search(_REVEALING, "$" + word) for word in others)
        return not others and not {"-i", "--ignore-environment", "-", "--help", "--version"} & set(words)
    if name == "set":
        return len(words) == 1
    if name == "systemctl":
        return "show-environment" in words
    if name == "launchctl" and words[1:2] == ["getenv"]:
        return bool(re.search(_REVEALING, "$" + "".join(words[2:3])))
    if name == "ps":  # `ps eww`: e without a dash
        return any(word.isalpha() and "e" in word for word in words[1:2])
    if name in ("export", "declare", "typeset"):
        if words[1:2] == ["-p"] and any(re.search(_REVEALING, "$" + word) for word in words[2:]):
            return True
        return words[1:] in (["-p"], ["-x"], ["-px"], ["-xp"]) or words == ["export"]
    if name in ("echo", "printf"):
        return not command.redirects and bool(re.search(_REVEALING, command.shown))
    return bool(re.match(r"(?:get-childitem|gci|dir|ls|get-item) env:(?:\\?\*)?$", command.shown.lower()))


def _is_filtered(command: ShellCommand, after: list[ShellCommand]) -> bool:
    """Whether the commands after one that prints variables hide the values of secrets: `env | grep NODE`."""
    for each in after:
        if command.name in ("echo", "printf") or each.name == "wc" or (each.name == "cut" and "-f1" in each.words):
            return True
        if each.name in _SEARCHING:
            pattern = next((word for word in each.words[1:MOST] if not word.startswith("-")), "")[:LONGEST]
            is_narrow = bool(re.search(r"\w{2}|\(\w", pattern)) and "-v" not in each.words
            return is_narrow and not re.search(_NAMES + r"|key|aws|auth|cred", pattern)
    return False


def _loaded(text: str) -> list[str]:
    """Return the commands whose output becomes variables and is not shown: `export $(grep -v '^#' .env)`."""
    return re.findall(r"\b(?:export|env|declare -x|eval)\s[\"']?(?:\$\(|`)([^()`]{1,200})", text)[:MOST_LOADED]
