"""What stands beside the name of a secret: a secret, or code, a type, a placeholder, a sentence."""

from __future__ import annotations

import pytest

from tenterhook.basics.secret_values import PLAIN, RANDOM, STRONG, TOO_MANY, find, is_no_secret, kind_beside, known_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("password", ("password", PLAIN)),
        ("db_password_prod", ("password", PLAIN)),
        ("spring.datasource.password", ("password", PLAIN)),
        ("smtp_pass", ("password", PLAIN)),
        ("requirepass", ("password", PLAIN)),
        ("client-secret", ("secret", PLAIN)),
        ("secret_id", ("secret", PLAIN)),
        ("x-api-key", ("api key", PLAIN)),
        ("aws_secret_access_key", ("aws key", PLAIN)),
        ("access key", ("key", PLAIN)),
        ("authtoken", ("token", PLAIN)),
        ("azure_devops_ext_pat", ("token", PLAIN)),
        ("password_for_replica", ("password", STRONG)),
        ("pwd", ("password", STRONG)),
        ("_auth", ("credentials", RANDOM)),
        *(
            (name, None)
            for name in (
                *("tokens", "max_tokens", "keys", "key", "token_type", "tokenizer", "secretary", "keyboard", "monkey"),
                *("password_length", "password-reset.url", "passwordless", "key_id", "credentialsid", "public_key"),
                *("token_path", "tokenexpiresat", "has_token", "passed", "author", "signal", "session_id", "bypass"),
                *("next_token", "token.ts", "password_reset_template", "discovery-token-ca-cert-hash", "primarykey"),
            )
        ),
    ],
)
def test_a_name_says_which_secret_it_is_of(name: str, expected: tuple[str, int] | None) -> None:
    assert known_name(name) == expected


@pytest.mark.parametrize(
    "value",
    [
        *("$TOKEN", "${TOKEN}", "$(vault read x)", "{{ token }}", "<token>", "%TOKEN%", "[FILTERED]", "(none)", "****"),
        *(
            "xxxxxxxx",
            "your-key",
            "YOUR_API_KEY",
            "changeme",
            "sk-...",
            "__TOKEN__",
            "#{Token}#",
            "test-token",
            "apiKey",
        ),
        *("/run/secrets/db", "https://example.com/x", "arn:aws:secretsmanager:x", "op://vault/item", "sha256", "uuid4"),
        *("2026-03-02T10:00:00Z", "12ms", "1.2.3", "reset.html", "required|min:8", "string", "null", "#ffffff"),
    ],
)
def test_placeholders_references_and_figures_are_no_secrets(value: str) -> None:
    assert is_no_secret(value)


@pytest.mark.parametrize("value", ["hunter2", "MySecret2024", "password123", "my-token-9f8e", "tr0ub4dor&3", "x9Qe4rT"])
def test_passwords_that_contain_words_for_secrets_are_secrets(value: str) -> None:
    assert not is_no_secret(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("PASSWORD=hunter2", "hunter2"),
        ("password = hunter2", "hunter2"),
        ("[db]\npassword = letmein\n", "letmein"),
        ("password: letmein\n", "letmein"),
        ('password: str = "letmein"', "letmein"),
        ("password: |\n  hunter2\n", "hunter2"),
        ("'password' => 'letmein'", "letmein"),
        ("<password>hunter2</password>", "hunter2"),
        ('<add key="DbPassword" value="hunter2"/>', "hunter2"),
        ("define('DB_PASSWORD', 'hunter2');", "hunter2"),
        ('c.setPassword("hunter2");', "hunter2"),
        ("--password letmein", "letmein"),
        ("my password is hunter2, ok", "hunter2"),
        ("password for the demo: hunter2", "hunter2"),
        ('Dim password As String = "letmein"', "letmein"),
        ('{"db_password": {"type": "string", "value": "hunter2"}}', "hunter2"),
        ("?user=me&password=hunter2&x=1", "hunter2"),
        ("Password=hunter2;Encrypt=True", "hunter2"),
        ("?key=0f1e2d3c4b5a69788796", "0f1e2d3c4b5a69788796"),
        ("STRIPE_KEY=0f1e2d3c4b5a69788796", "0f1e2d3c4b5a69788796"),
    ],
)
def test_a_value_is_found_however_it_is_joined_to_its_name(text: str, value: str) -> None:
    (found,) = find(text, text.lower(), 1000)
    assert text[found.start : found.end] == value


@pytest.mark.parametrize(
    "text",
    [
        *("password = response", "password = user.password", "token = get_token()", "token := lexer.Next()"),
        *("password: string;", "password: wrongPassword,", "f(token=token2, password=pw)", "    token=resolved,\n"),
        *("--token TOKEN  the token", "token refreshed", "Password: must have 8 characters", 'input("Password: ")'),
        *('"password": "Password is required"', '"password": "Passwort"', "src/token.ts:3:export x1", "token: Token"),
        *("PWD=/home/me", "token ⟶ x1y2z3", "password\nx1y2z3", "idToken:79,STR:80", "token == x1y2z3"),
        *("x ? token : y", "token_count=12345678"),
    ],
)  # fmt: skip
def test_code_types_and_prose_hold_no_secret(text: str) -> None:
    assert list(find(text, text.lower(), 1000)) == []


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("password", "letmein", "password"),
        ("password", "Passwort", None),
        ("password", "12", None),
        ("apiKey", "0f1e2d3c", "api key"),
        ("token", "identifier", None),
        ("auth", "YWNtZTpkZXBsb3kxMjM=", "credentials"),
        ("auth", "basic", None),
        ("name", "0f1e2d3c", None),
    ],
)
def test_in_a_plain_structure_name_and_value_decide(name: str, value: str, kind: str | None) -> None:
    assert kind_beside(name, value) == kind


def test_when_the_budget_is_used_up_the_rest_is_one_finding() -> None:
    text = "PASSWORD=hunter2\n" * 100
    *found, last = find(text, text.lower(), 100)
    assert {each.kind for each in found} == {"password"}
    assert (last.kind, last.end) == (TOO_MANY, len(text))
