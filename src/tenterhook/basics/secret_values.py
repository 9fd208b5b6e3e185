"""Finds values beside the names of secrets, in text of any kind: configuration, code, command lines, logs, prose.

`DB_PASSWORD=hunter2` and `"apiKey": "…"` contain a secret; `token = get_token()`, `password: string`,
`API_KEY=<your-key>` and `"password": "Password is required"` do not. The names are in `secret_formats`.
"""

from __future__ import annotations

import re

from . import secret_formats
from .named_tuples import NamedTuple, cached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN, STRONG, RANDOM = range(3)  # how a value beside a name must look to be a secret
_LONGEST_NAME = 48  # characters before its first sign
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
_BLANKS = " \t\n\v"

# The name of a secret from its first sign on, in lower case, and what is between it and the value.
_NAMED = re.compile(
    r"(?:pass(?=[wpc]|[^a-z])|pwd|pw|psk|secret(?!ar)|token(?!i[sz])|key(?![a-z])|cred(?=s|ential)|auth(?![a-z])|cookie"
    r"|sig(?:nature)?(?![a-z])|sess(?:ion)?id|connect\.sid|[_-]pat(?![a-z])|mnemonic|phrase)[a-z0-9_.-]{0,60}+"
    r"([\"'][ \t]*+:\s*+\{(?:[^{}\"]|\"(?!value)){0,200}\"value\"[ \t]*+:[ \t]*+"  # "name": {"type": …, "value": …
    r"|\\{0,4}+[\"'`]?\]?[ \t]*+(?:=>|<-|[:?+]?=(?!=)|:(?![:/=]))[ \t]*+"  # NAME=, "name": , name := , 'name' =>
    r"|[\"']?,?\s{1,60}+[\"']?(?:value|content)[\"']?[ \t]*+[:=][ \t]*+"  # name: NAME, value: …
    r"|[\"'][ \t]*+,[ \t]*+(?=[\"'])"  # define('NAME', 'value')
    r"|\([ \t]*+(?=[\"'])"  # setName("value")
    r"|>(?=[^<\s])"  # <name>value
    r"|[ \t]++(?:is|was):?[ \t]++"
    r"|[ \t]++(?:for|of)[ \t]++[\w .'-]{1,40}?(?:[ \t]is|:)[ \t]++"  # password for the demo: …
    r"|[ \t]++(?:as[ \t]++)?string[ \t]*+=[ \t]*+"
    r"|[ \t]*+\|[ \t]++"  # in a table
    r"|[ \t]++(?=[^\s=:,.;)<>|&-]))"  # --name value
)
_VALUE = re.compile(
    r"(?:[|>][+-]?[ \t]*+\n[ \t]*+)?"  # a block of YAML
    r"(?:\\++[\"'](?P<escaped>[^\"'\n]*+)"
    r"|[bfru@$]{0,2}\"(?P<double>(?:[^\"\\\n]|\\.)*+)"
    r"|[bfru@$]{0,2}'(?P<single>(?:[^'\\\n]|\\.)*+)"
    r"|(?P<bare>(?:[^\s\"'`;&|\\<]++|&(?![\w.%-]{0,80}+=|[&\s]|\Z)|\\(?![\"']))+))"
)
_AFTER_TYPE = re.compile(r"[ \t]*+=[ \t]*+(?=[\"'])")  # password: str = "…"

# Values that are not secrets. Words that placeholders, labels and test data consist of, alone or joined:
_WORDS = frozenset(
    """
    str string int integer number bool boolean bytes text any object none null nil undefined true false yes no on
    off optional required include omit same origin inherit auto default empty void char varchar password passwd pass
    passphrase pwd token tokens secret secrets key keys api apikey auth credential credentials access refresh bearer
    basic csrf xsrf jwt id session cookie private public client header name value type field your my the a an some
    this that new old current another other user users username login account database test tests testing fake dummy
    mock sample example demo placeholder invalid valid wrong expired missing bad good correct incorrect expected
    actual first second temp tmp foo bar baz changeme change me here insert replace enter redacted hidden masked
    todo tbd fixme xxx env variable var generate generated random long with file path url in of to for is not and or
    from identifier keyword option options argument flag
    """.split()
)
_PLACEHOLDERS = (
    *(
        "changeme",
        "change-me",
        "change_me",
        "replaceme",
        "replace-",
        "replace_",
        "placeholder",
        "redacted",
        "xxxx",
        "...",
    ),
    *("…", "-your", "_your", "example.", "example-", "example_"),
)
_NO_SECRET = re.compile(
    # $NAME, ${NAME}, {{ name }}, <name>, %NAME%, (none), [none], !tag name, ****, #ffffff, __NAME__, @name@, id=name
    r"\$\w+\$?$|\$[{(]|#?\{|<|%[\w(]|\[|\(|!\w++ |[*.:xX•_#?-]+$|#[0-9a-fA-F]{3,8}$|(.)\1+$|__\w+__$|@[\w.]+@$|id="
    # paths, addresses, and references to secrets elsewhere
    r"|(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]+)*/?$|[a-z][a-z0-9+.-]{1,20}://(?![^/\s]{0,200}:[^/\s]{0,200}@)|(?:[A-Za-z]:)?\\\w"
    r"|arn:|projects/|secret/|kv/|vault:|op:|env:|file:|ENC\[|sha\d{3}[:-]|[\w.-]{1,40}/[\w./-]{1,60}#\w"
    # validation rules of forms, versions, times and numbers
    r"|(?:required|nullable|string|sometimes|bail|min|max)[|:]|[A-Za-z][\w-]{0,40}-v?\d+\.\d+[\w.-]*$"
    r"|\d+:|(?!\d+$)(?:\d{4}-\d\d-\d\d[\dT:.Z+ -]*|[\d.,:+-]+[A-Za-z%]{0,3}|v?\d+(?:\.\d+)+(?:[-+][\w.]{1,12})?)$"
)
_ALGORITHMS = tuple(
    "sha1 sha2 sha3 sha5 sha-1 sha-2 sha-3 sha-5 md5 aes1 aes2 aes-1 aes-2 rsa2 rsa4 rsa-2 rsa-4 ed25519 ed448 hs256 "
    "hs384 hs512 rs256 rs512 es256 ps256 utf8 utf-8 utf16 utf-16 iso8 iso-8 oauth1 oauth2 pbkdf2 argon2 base64 base32 "
    "uuid1 uuid4 uuid7 int32 int64 uint float32 float64 http1 http2 ipv4 ipv6".split()
)
_EXTENSIONS = tuple(
    ".html .htm .txt .json .yaml .yml .toml .py .js .ts .md .pem .crt .cer .key .jks .p12 .cfg .conf .ini .xml "
    ".sh .sql .log .tpl .env".split()
)
_PARTS = re.compile("[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
_TEMPLATE = re.compile(r"\$\{|\{[^{}\s]*\}|#\{|%[sd](?![A-Za-z0-9])|\{\{")
_LETTERS = re.compile("[A-Za-z][A-Za-z._-]*$")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_IDENTIFIERS = re.compile(r"[&*@$!]{0,2}[A-Za-z_]\w*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_]\w*)*[?!]?$")
_CALL = re.compile(r"[&*!]{0,2}[\w.$:?>-]{0,80}+[(\[{]")
_SYMBOL = re.compile(r"[^\w.,:=/+-]")
_TOKEN_LIKE = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=.~%:-]{16,}$")
_MIXED_RUN = re.compile(r"(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z0-9]{8}")


class Found(NamedTuple):
    """The position and kind of a value that is a secret by its name."""

    start: int
    end: int
    kind: str
    is_bare: bool  # not in quotes


class _Site(NamedTuple):
    """The name and surroundings of a value."""

    name: str
    kind: str
    needs: int  # PLAIN, STRONG or RANDOM
    joint: str  # the text between the name and the value
    before: str  # the text before the name
    after: str  # the text after the value, on the same line
    is_bare: bool
    in_sections: bool  # the text has sections, as INI files have


def find(text: str, lowered: str, budget: int) -> Iterator[Found]:
    """Yield the secrets beside names, in order. `lowered` is the text in lower case.

    If the budget is used up, the last one is the rest of the text, of kind `TOO_MANY`: checking every value of a text
    that consists of names would take too long.
    """
    in_sections = text.startswith("[") or "\n[" in text
    names: dict[str, tuple[str, int] | None] = {}
    place = 0
    while (found := _NAMED.search(lowered, place)) is not None:
        start, place = found.span()
        budget -= 1
        if budget < 0:
            yield Found(start, len(text), TOO_MANY, is_bare=False)
            return
        left = lowered[max(start - _LONGEST_NAME, 0) : start]
        before = left.rstrip(_NAME_CHARACTERS)
        begins, ends = found.span(1)
        name = lowered[start - len(left) + len(before) : begins]
        if before.endswith(" ") and name.startswith(("key", "phrase")):  # `access key: `
            name = f"{before.rstrip().rpartition(' ')[2]} {name}"
        joint = lowered[begins:ends]
        if joint.isspace() and name[:1] != "-":  # mostly prose
            word = text[place : place + 80].split(None, 1)[0]
            if "=" in word[:-2] or not _has_digit(word):
                continue
        if name not in names:
            names[name] = known_name(name.lstrip("-"))
            budget -= 4
        known = names[name] or _key_by_its_place(text, name, before, joint, begins)
        if known is None or (value := _VALUE.match(text, place)) is None:
            continue
        budget -= 3
        group = str(value.lastgroup)
        if group == "bare" and (typed := _AFTER_TYPE.match(text, value.end())):
            value = _VALUE.match(text, typed.end()) or value
            group = str(value.lastgroup)
        start, end = value.span(group)
        said = text[start:end]
        if group != "bare":
            said = said.rstrip("\\")
        elif not said.endswith(("...", "…")):
            said = said.rstrip(",)]}>:.")
        end = start + len(said)
        after = text[end : end + 60].partition("\n")[0].partition("\v")[0]
        kind, needs = known
        if said and _is_secret(_Site(name, kind, needs, joint, before, after, group == "bare", in_sections), said):
            yield Found(start, end, kind, group == "bare")
            place = end


TOO_MANY = "too many possible secrets"


def kind_beside(name: str, value: str, *, quoted: bool = True) -> str | None:
    """Return the kind of secret that a value of a key or field is, or None if it is not one."""
    known = known_name(name.lower())
    if known is None or not value or is_no_secret(value):
        return None
    kind, needs = known
    looks = _looks_random(value) if needs == RANDOM else needs == PLAIN or _is_strong(value)
    return kind if looks and _is_literal_secret(kind, value, quoted=quoted) else None


@cached(maxsize=1024)
def known_name(name: str) -> tuple[str, int] | None:
    """Return the kind of secret that a name in lower case is for, and how its value must look; None if it is none."""
    parts = name.replace("-", "_").replace(".", "_").split("_")
    if name in secret_formats.WEAK_NAMES or parts[-1] == "auth":
        return "credentials", RANDOM
    if name in ("pwd", "oldpwd"):  # a password, or a directory
        return "password", STRONG
    rest = _after_last_word(name)
    if len(name) > 128 or rest is None or _is_other_name(name, parts, rest):
        return None
    kind = next((kind for kind, expression in secret_formats.NAMES if re.search(expression, name)), None)
    is_plain = all(part in secret_formats.SAME_ENDINGS for part in re.split("[_.-]+", rest) if part)
    return None if kind is None else (kind, PLAIN if is_plain else STRONG)


def _after_last_word(name: str) -> str | None:
    """Return what follows the last word for a secret in a name; None if it has none."""
    ends = [place + len(word) for word in secret_formats.WORDS_OF_NAMES if (place := name.rfind(word)) >= 0]
    return name[max(ends) :] if ends else None


def _is_other_name(name: str, parts: list[str], rest: str) -> bool:
    """Whether a name is for something else than a secret: `token_type`, `max_tokens`, `password-reset.url`."""
    rest = rest.lstrip("_.-")
    if rest == "s" and name.endswith(("tokens", "keys")):
        return True
    singular = rest.removeprefix("s").lstrip("_.-") if rest.startswith("s") else rest
    if rest == "id" or singular == "id":
        return not name.endswith(("secret_id", "secret-id", "secretid"))
    return (
        any(
            each in secret_formats.OTHER_ENDINGS or each.startswith(secret_formats.OTHER_BEGINNINGS)
            for each in (rest, singular)
        )
        or name in secret_formats.OTHER_NAMES
        or parts[-1] in secret_formats.OTHER_LAST_PARTS
        or parts[0] in secret_formats.OTHER_FIRST_PARTS
        or not secret_formats.OTHER_PARTS.isdisjoint(parts)
    )


def _key_by_its_place(text: str, name: str, before: str, joint: str, end: int) -> tuple[str, int] | None:
    """Return what `known_name` does, for a key in the query of a URL or a variable such as `STRIPE_KEY`; or None."""
    if joint == "=" and before[-1:] in ("?", "&") and name.endswith(("key", "sig", "signature")):
        return ("key" if name.endswith("key") else "signature"), RANDOM
    return ("key", RANDOM) if text.startswith("_KEY", end - 4) else None


def _is_secret(site: _Site, value: str) -> bool:
    """Whether the value beside a name is a secret, and not code, prose or a placeholder."""
    joint = site.joint.strip("\\\"'`] \t")
    is_option = site.name.startswith("-") and (not site.before or site.before[-1] in f"{_BLANKS}\"'[")
    if (joint == "" and not is_option) or joint in ("|", ",", "(") or joint.startswith(("is", "was", "for ", "of ")):
        is_secret = _is_secret_in_passing(site, joint, value)
    elif site.needs == RANDOM:
        is_secret = joint in (":", "=") and _looks_random(value)
    elif site.needs == STRONG and not _is_strong(value):
        is_secret = False
    elif joint == "":
        is_metavar = site.is_bare and value.isupper() and not _has_digit(value)  # --token TOKEN
        is_secret = not is_metavar and _is_literal_secret(site.kind, value, quoted=False)
    elif not site.is_bare:  # not the end of a label: "Password: ")
        is_secret = value[0] not in ");,]}+ " and _is_literal_secret(site.kind, value, quoted=True)
    elif joint == ">" or "value" in joint or "content" in joint:
        is_secret = _is_literal_secret(site.kind, value, quoted=True)
    elif _CALL.match(value):
        is_secret = False
    elif site.joint.strip("\\\"'`]") == "=" and (is_option or not _is_argument(site)):
        is_secret = _is_literal_secret(site.kind, value, quoted=False)
    else:
        is_secret = _is_secret_in_code(site, joint, value)
    return is_secret and value.lower() != site.name and not is_no_secret(value)


def _is_secret_in_passing(site: _Site, joint: str, value: str) -> bool:
    """Whether a value beside a name in prose, a list, a table or a call is a secret."""
    if site.needs == RANDOM:
        return False
    if joint == "" and not site.is_bare and site.name.endswith("password"):  # ALTER USER me PASSWORD 'x'
        return " " not in value and _is_literal_secret(site.kind, value, quoted=True)
    if not _is_strong(value) or " " in value or value.lower().rstrip("0123456789") in _WORDS:
        return False
    if joint == "(":
        return site.name.rpartition(".")[2].startswith(("set", "with", "pass", "token", "api"))
    if joint == "" and site.is_bare:
        is_named = site.kind == "password" or "_" in site.name or site.joint.startswith(("  ", "\t"))
        return is_named and value[0] not in "}])" and not site.after.strip()
    return True


def _is_argument(site: _Site) -> bool:
    """Whether `name=value` is an argument of a call, on one line or several: f(token=token)."""
    return site.before.rstrip(" \t")[-1:] in ("(", ",") or (site.after[:1] == "," and site.before.endswith(" "))


def _is_secret_in_code(site: _Site, joint: str, value: str) -> bool:
    """Whether an unquoted value in code, a configuration file or prose is a secret."""
    if joint == ":=" or "," in value:
        return False
    if value.isdigit():
        return site.kind == "password" and site.name.endswith(("password", "passwd", "pass")) and len(value) >= 4
    is_identifier = _IDENTIFIERS.match(value) is not None
    if is_identifier and known_name(value.rpartition(".")[2].lower()):
        return False
    if _looks_random(value):
        return True
    if is_identifier:
        if "." in value or not value[0].isalnum():
            return False
        if not _has_digit(value):
            if site.kind != "password" or not value.islower() or site.after.strip():
                return False
            at_start = not site.before.rpartition("\n")[2].strip(" \t-")
            return site.in_sections if joint == "=" else joint == ":" and at_start  # of INI, of YAML
        if known_name(value.lower().rstrip("0123456789")):  # token2
            return False
        if joint == ":" and site.after[:1] in (",", ";"):
            return False
    elif not _has_digit(value) and not _SYMBOL.search(value):
        return False
    after = site.after.strip(" \t,;})]\"'")
    return not after or after[0] in "#/" or _is_strong(value)


def _is_literal_secret(kind: str, value: str, *, quoted: bool) -> bool:
    """Whether a literal beside the name of a secret is one, and not a label or the name of something."""
    if len(value) < (3 if kind == "password" else 4):
        return False
    if value.isdigit():
        return len(value) >= (4 if kind == "password" else 10)
    if kind == "seed phrase":
        return value.count(" ") > 6
    if any(map(value.__contains__, _BLANKS)):  # prose has no digits; sentences with figures are long
        is_prose = len(value) > 40 or "\\" in value or _TEMPLATE.search(value) is not None
        return not is_prose and any(map(_is_strong, value.split()))
    if quoted and _TEMPLATE.search(value):
        return False
    if _LETTERS.match(value):
        return "." not in value and (not quoted or (kind == "password" and not value.istitle()))
    return not _DOTTED.match(value) or _looks_random(value)


def is_no_secret(value: str) -> bool:
    """Whether a value is a placeholder, a reference, a number, or consists of words used in place of secrets."""
    lowered = value.lower()
    is_placeholder = lowered.startswith("your") or any(map(lowered.__contains__, _PLACEHOLDERS))
    is_technical = lowered.endswith(_EXTENSIONS) or (len(value) < 20 and lowered.startswith(_ALGORITHMS))
    if is_placeholder or is_technical or lowered.endswith("example") or _NO_SECRET.match(value):
        return not _looks_random(value) or value[0] in "${<"
    if len(value) > 60 or _has_digit(value):
        return False
    words = _PARTS.findall(value)
    letters = sum(map(len, words)) + sum(map(value.count, "-_. "))
    return letters == len(value) and all(word.lower() in _WORDS for word in words)


def _looks_random(value: str) -> bool:
    """Whether a value is long, has no blanks, and mixes letters and digits."""
    return _TOKEN_LIKE.match(value) is not None and _MIXED_RUN.search(value) is not None


def _is_strong(value: str) -> bool:
    """Whether a value has both letters and digits, unlike words."""
    return len(value) >= 6 and _has_digit(value) and any(map(str.isalpha, value))


def _has_digit(value: str) -> bool:
    return any(map(value.__contains__, "0123456789"))
