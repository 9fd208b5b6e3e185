"""Places of secrets: files, by the end of their path, and programs that print the secrets they store."""

from __future__ import annotations

from ..basics import lazy_re as re
from ..basics.named_tuples import cached
from ..shell.syntax import PATTERNS
from ..shell.words import pattern_matches
from .calls import by_program

# Rule, and an expression for the end of a path, in any home or project.
PLACES = (
    ("private-key", r"\.ssh/(?!known_hosts|config|authorized_keys|environment$|rc$)[^/]*(?<!\.pub)(?<!\.)"),
    ("credentials", r"\.(?:kube|oci|config/(?:gh|gcloud|rclone|doctl|op))"),
    ("private-key", r"\.ssh|\.gnupg(?:/(?:private-keys-v1\.d.*|secring\.gpg))?|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"),
    ("private-key", r"[^/]*(?:private|privkey|secret|key)[^/]*\.(?:pem|asc|gpg)|[^/]+\.(?:key|ppk|p12|pfx|kdbx?|jks)"),
    ("private-key", r"(?:secrets?|private|keys)/[^/]+\.pem"),
    (
        "private-key",
        r"[^/]+\.keystore|wallet\.dat|\.ethereum/keystore/.*|\.config/solana/id\.json|age/keys\.txt|[^/]+\.ovpn",
    ),
    ("credentials", r"\.aws(?:/(?:credentials|sso/cache/.*|cli/cache/.*))?|\.kube/config|\.oci/(?:config|sessions/.*)"),
    (
        "credentials",
        r"\.azure/(?:accessTokens|msal_token_cache|service_principal_entries).*|\.(?:bluemix|aliyun)/config\.json",
    ),
    ("credentials", r"gcloud/(?:credentials\.db|access_tokens\.db|legacy_credentials.*|application_default_\w+\.json)"),
    ("credentials", r"[._]netrc|\.(?:pgpass|my\.cnf|mylogin\.cnf|npmrc|pypirc|git-credentials|s3cfg|boto|vault-token)"),
    ("credentials", r"\.(?:terraformrc|htpasswd|dockercfg|databrickscfg|Renviron|vault_pass(?:\.txt)?)"),
    (
        "credentials",
        r"\.docker/config\.json|\.terraform\.d/credentials\.tfrc\.json|\.(?:cargo|gem)/credentials(?:\.toml)?",
    ),
    ("credentials", r"\.config/(?:gh/hosts\.yml|hub|git/credentials|rclone/rclone\.conf|op/.*|doctl/config\.yaml)"),
    (
        "credentials",
        r"\.config/(?:glab-cli/config\.yml|hcloud/cli\.toml|linode-cli|configstore/.*|composer/auth\.json)",
    ),
    (
        "credentials",
        r"\.config/(?:github-copilot/\w+\.json|\.wrangler/.*)|com\.vercel\.cli/auth\.json|\.fly/config\.yml",
    ),
    (
        "credentials",
        r"\.m2/settings(?:-security)?\.xml|\.gradle/gradle\.properties|\.subversion/auth/.*|\.dbt/profiles\.yml",
    ),
    (
        "credentials",
        r"\.kaggle/kaggle\.json|\.?huggingface/token|\.password-store(?:/.*)?|\.local/share/keyrings(?:/.*)?",
    ),
    (
        "credentials",
        r"Keychains(?:/.*)?|kwalletd/.*|\.claude/\.credentials\.json|\.codex/auth\.json|opencode/auth\.json|\.?netlify/config\.json",
    ),
    ("credentials", r"\.(?:gemini|qwen)/oauth_creds\.json|tenterhook/(?:hub\.json|hub/person\.json|hub/hub\.db)"),
    (
        "credentials",
        r"\.mozilla(?:/firefox(?:/[^/]+)?)?|\.config/(?:google-chrome|chromium|BraveSoftware|vivaldi)(?:/[^/]+)?",
    ),
    ("credentials", r"Login Data|Cookies|Web Data|key[34]\.db|logins\.json|cookies\.sqlite|signons\.sqlite"),
    (
        "credentials",
        r"client_secret[^/]*\.json|[^/]*service[_-]?account[^/]*\.json|[^/]*credentials?\.(?:json|xml|csv)",
    ),
    (
        "credentials",
        r"\.?secrets?\.(?:ya?ml|json|toml|env|txt)|\.secrets|wp-config\.php|[^/]*\.tfstate|passwords?\.(?:txt|csv|xlsx?)|krb5cc_\w+",
    ),
    ("env-file", r"\.env(?:\.(?!example|sample|template|dist|defaults?|schema|test)[\w.-]+)?|\.envrc"),
    ("env-file", r"(?!example|sample|template|default)[\w-]+\.env"),
    ("history", r"\.(?:bash|zsh|sh|python|mysql|psql|node_repl|sqlite|rediscli|irb|ash|ksh)_?history|fish_history"),
    ("history", r"\.histfile|\.history|\.lesshst|\.viminfo|ConsoleHost_history\.txt"),
)
# Whole paths of the system.
SYSTEM = (
    r"/etc/(?:shadow-?|gshadow-?|master\.passwd|spwd\.db|krb5\.keytab|ssh/ssh_host_\w+_key|ssl/private(?:/.*)?|ppp/chap-secrets"
    r"|wireguard/.*|NetworkManager/system-connections/.*|wpa_supplicant/.*\.conf|security/opasswd)"
    r"|/(?:var/)?run/secrets(?:/.*)?|/proc/[^/]+/(?:environ|mem)|/dev/k?mem|/(?:private/)?var/db/(?:shadow/.*|dslocal/nodes/Default/users.*)"
    r"|/var/lib/(?:kubelet/pki|sss/secrets)/.*|/etc/kubernetes/(?:admin\.conf|pki/.*\.key)|/etc/rancher/k3s/k3s\.yaml"
)
_PROBES = (
    ".env",
    ".env.production",
    "id_rsa",
    "credentials",
    ".netrc",
    "server.key",
    ".bash_history",
    ".npmrc",
    "private.pem",
)

# Programs that print the secrets they store, with an expression that is searched in the arguments.
STORES = (
    ("op", r"^(?:read|item get|document get|get (?:item|document)|signin --raw)\b(?!.*--fields (?:label=)?username)"),
    ("vault bao", r"^(?:read|kv get|token lookup|token create|print token|unwrap)\b"),
    ("aws", r"\bsecretsmanager (?:batch-)?get-secret-value\b|\bssm get-parameters?\S*\b.*--with-decryption"
     r"|\bsts (?:get-session-token|assume-role\S*|get-federation-token)\b|\bconfigure get \S*(?:key|token)"
     r"|\bconfigure export|\becr\S* get-(?:login|authorization)|\bec2 get-password-data"
     r"|\biam create-access-key|\bkms decrypt\b"),
    ("gcloud", r"\bauth print-|\bsql (?:generate-login-token|users describe)|\bsecrets versions access\b"
     r"|\bprint-(?:access|identity)-token\b|\bkeys create\b"),
    ("az", r"\bkeyvault (?:secret|key) (?:show|download)\b|\bget-access-token\b|\bkeys list\b"
     r"|\bshow-connection-string\b|\bcredential (?:list|show)\b|\blist-publishing-\w+\b"),
    ("gh glab", r"^auth (?:token|status .*(?:-t|--show-token))\b"),
    ("kubectl oc k", r"\b(?:get|describe) (?:\S+ )?secrets?[/ ]?(?!.*\.metadata|.*-o[= ]?(?:name|wide))"
     r".*\s(?:-o|--output|--template)"
     r"|\bdescribe secrets?[/ ]\S|\bconfig view\b.*--raw|\bcreate token\b"),
    ("oc", r"^whoami (?:-t|--show-token)"),
    ("pass gopass", r"^(?:show\b|[^-\s]+/\S+$|-c |otp (?!insert|append|validate))"),
    ("security", r"\bfind-(?:generic|internet)-password\b.*-\w*[wg]|\bdump-keychain\b|\bexport\b"),
    ("gpg gpg2", r"--export-secret-(?:sub)?keys?\b"),
    ("ansible-vault", r"^(?:view|decrypt|edit)\b"),
    ("sops", r"^(?:-d|--decrypt|decrypt|edit|exec-env)\b"),
    ("age rage", r"(?:^| )(?:-d|--decrypt)\b"),
    ("doppler", r"^secrets(?:$| (?:-|download|get|--))"),
    ("infisical chamber", r"^(?:secrets(?:$| get| -)|export|read)\b"),
    ("bw lpass", r"^(?:get|show|export|list items)\b"),
    ("dashlane dcli keepassxc-cli rbw", r"^(?:password|show|get|export|clip|note)\b"),
    ("heroku", r"^config(?:$|:get| -)|^pg:credentials:url|^auth:token"),
    ("vercel", r"^env pull\b"),
    ("fly flyctl", r"^(?:auth token|tokens create)\b"),
    ("railway", r"^variables\b(?!.*--set)"),
    ("secret-tool", r"^(?:lookup|search)\b"),
    ("kwallet-query", r"(?:^| )-r\b"),
    ("npm", r"^config (?:get|list|ls)\b.*(?:_auth|_password|//)|^token list"),
    ("git", r"^credential(?:-\S+)? (?:fill|get)\b|\bcredential\.helper store$"),
    ("docker-credential-desktop docker-credential-osxkeychain docker-credential-pass git-credential-osxkeychain",
     r"^get\b"),
    ("cmdkey vaultcmd", r"(?i)/list"),
    ("netsh", r"(?i)wlan show profiles?.*key=clear"),
    ("reg", r"(?i)^(?:save|export) hklm\\?(?:sam|security|system)"),
    ("get-storedcredential get-secret gcore procdump", ""),
    ("keyring", r"^(?:-\S+ \S+ )*get\b"),
    ("rclone", r"^config (?:show|dump|userinfo)\b"),
    ("wg", r"^showconf\b|^show \S+ private-key"),
    ("getent", r"^g?shadow\b"),
    ("openssl", r"^pkcs12\b(?=.* -in\b)(?!.* -nokeys\b)|^(?:rsa|ec|pkey|pkcs8)\b(?!.* -(?:pubout|pubin"
     r"|check)\b)(?!(?=.* -noout\b)(?!.* -text\b))(?=.* -in\b)"),
    ("ibmcloud", r"^iam (?:oauth-tokens|api-key-create)"),
    ("cf", r"^(?:oauth-token|env|service-key)\b"),
    ("doctl", r"--show-token|^kubernetes cluster kubeconfig show|^databases connection\b"),
    ("linode-cli scw hcloud vultr-cli yc aliyun",
     r"\b(?:create-token|get-token|config get secret-key|config dump|show-token)\b"),
    ("oci", r"\bsecret-bundle get\b|\bsession export\b"),
    ("netlify", r"^env:(?:list|get)\b"),
    ("wrangler", r"^(?:auth token|whoami --show)"),
    ("supabase neonctl neon pscale turso", r"\b(?:api-keys|connection-string|db tokens create|password create)\b"),
    ("eksctl", r"\bget (?:iamidentitymapping .*token|token)\b"),
    ("aws-vault saml2aws aws-sso", r"^(?:export|script)\b|^exec\b.*(?:--json| env$)"),
    ("docker podman", r"\binspect\b.*(?:\.Env\b|Config\.Env)|^secret inspect .*--showsecret"),
    ("helm", r"^get (?:values|all)\b.*(?:-a|--all)\b"),
    ("argocd", r"^(?:admin initial-password|account generate-token)"),
    ("rails", r"^(?:credentials|encrypted):(?:show|edit)"),
    ("git-crypt transcrypt", r"^(?:unlock|export-key|--show-raw|--export)"),
    ("chezmoi", r"^secret\b|^decrypt\b"),
    ("dpapi lsadump", ""),
    ("nmcli", r"(?:^| )(?:-s|--show-secrets)\b"),
    ("terraform tofu", r"^(?:-chdir=\S+ )?output\b.*(?i:passw|secret|token|api_?key|private_?key)"),
    ("terraform tofu pulumi", r"^(?:config\b.*--show-secrets|stack output\b.*--show-secrets|state pull)"),
    ("curl wget http https xh invoke-restmethod invoke-webrequest irm iwr",
     r"169\.254\.169\.254\S*/(?:iam/security-credentials|identity/oauth2/token|user-data|api/token)"
     r"|metadata\.google\.internal\S*/token|169\.254\.170\.2|metadata/identity/oauth2"),
)  # fmt: skip


LONGEST = 2_000  # characters of arguments that are searched


@cached(1)
def _expressions() -> tuple[tuple[str, str], ...]:
    by_rule: dict[str, list[str]] = {}
    for rule, ends in PLACES:
        by_rule.setdefault(rule, []).append(ends)
    found = [(rule, f"(?i).*/(?:{'|'.join(ends)})/?") for rule, ends in by_rule.items()]
    return (*found, ("credentials", SYSTEM))


def rule_of(path: str) -> str | None:
    """Return the rule for a path, or a pattern of paths, of secrets; None if it is not one."""
    path = path.replace("\\", "/")
    directory, _, name = path.rpartition("/")
    if any(mark in name for mark in PATTERNS):
        if len([char for char in name if char.isalnum()]) < 2:  # `*` alone: check the directory
            return rule_of(directory) if directory else None
        return next((rule_of(f"{directory}/{probe}") for probe in _PROBES if pattern_matches(name, probe)), None)
    return next((rule for rule, expression in _expressions() if re.fullmatch(expression, path)), None)


_BY_PROGRAM = by_program(STORES)


def prints_secrets(name: str, words: list[str]) -> bool:
    """Whether a program's arguments make it print a secret that it stores."""
    text = " ".join(words[:50])[:LONGEST]
    return any(re.search(expression, text) is not None for (expression,) in _BY_PROGRAM.get(name, ()))
