"""Tables of the formats of secrets: tokens of providers, other shapes, options of programs, names of secrets.

The formats of tokens are documented by the providers; the rules of gitleaks (MIT licence) helped to collect them. To
add one, add a row. An expression must take linear time: it begins with a literal, for which `re` searches quickly, its
repetitions are possessive, and lookaheads and backtracking are bounded.
"""

from __future__ import annotations

# Kind, signs, expression. A text without any of the signs does not match. Signs should be rare in other texts, because
# they cause the import of `re`, and few, because every event is searched for them: rows may have the same one. A match
# counts only at the beginning of a word.
TOKENS: tuple[tuple[str, str, str], ...] = (
    (
        "aws key",
        "AKIA ASIA ABIA ACCA",
        r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])(?:[,:][A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?",
    ),
    ("aws key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}+={0,2}"),
    ("aws key", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/]{30,}+={0,2}"),
    ("aws key", "IQoJb3JpZ2lu", r"IQoJb3JpZ2lu[A-Za-z0-9+/%]{80,}+={0,2}"),  # of a session
    ("aws key", "FwoGZXIvYXdz", r"FwoGZXIvYXdz[A-Za-z0-9+/%]{80,}+={0,2}"),
    ("google key", "AIza", r"AIza[\w-]{35,}+"),
    ("google token", "ya29.", r"ya29\.[\w.-]{20,}+"),
    ("google token", "1//0", r"1//0[\w.-]{20,}+"),
    ("google token", "GOCSPX-", r"GOCSPX-[\w-]{20,}+"),
    ("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}+"),
    ("github token", "github_pat_", r"github_pat_\w{20,}+"),
    (
        "gitlab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\w.-]{16,}+",
    ),
    ("gitlab token", "GR1348941", r"GR1348941[\w-]{20}"),
    ("atlassian token", "TT3xFf", r"AT[A-Z]TT3xFf[\w=-]{20,}+"),
    ("bitbucket token", "ATBB", r"ATBB[\w=-]{20,}+"),
    ("slack token", "xox", r"xox[a-z][.-](?:xox[bp]-)?(?=[A-Za-z-]{0,8}\d)[\w%-]{14,}+"),
    ("slack token", "xapp-", r"xapp-\d-[\w-]{20,}+"),
    ("stripe key", "sk_live_ sk_test_ sk_prod_", r"sk_(?:live|test|prod)_[A-Za-z0-9]{16,}+"),
    ("stripe key", "rk_live_ rk_test_ rk_prod_", r"rk_(?:live|test|prod)_[A-Za-z0-9]{16,}+"),
    ("stripe key", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}+"),
    ("anthropic key", "sk-", r"sk-ant-[\w-]{20,}+"),
    ("openai key", "sk-", r"sk-(?:proj-|svcacct-|admin-|None-|(?=\w{20}T3Blbk))[\w-]{20,}+"),
    ("openrouter key", "sk-", r"sk-or-[\w-]{20,}+"),
    ("langfuse key", "sk-", r"sk-lf-[\w-]{20,}+"),
    ("langsmith key", "lsv2_", r"lsv2_(?:pt|sk)_\w{20,}+"),
    ("api key", "sk-", r"sk-(?=[A-Za-z-]{0,40}+\d)[A-Za-z0-9-]{20,}+[\w-]*+"),
    ("groq key", "gsk_", r"gsk_[A-Za-z0-9]{30,}+"),
    ("xai key", "xai-", r"xai-[A-Za-z0-9]{40,}+"),
    ("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{30,}+"),
    ("replicate token", "r8_", r"r8_[A-Za-z0-9]{30,}+"),
    ("hugging face token", "hf_", r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9_])"),
    ("nvidia key", "nvapi-", r"nvapi-[\w-]{40,}+"),
    ("pinecone key", "pcsk_", r"pcsk_\w{40,}+"),
    ("fireworks key", "fw_", r"fw_(?=[A-Za-z]{0,21}+\d)[A-Za-z0-9]{22,}+"),
    ("jina key", "jina_", r"jina_[A-Za-z0-9]{40,}+"),
    ("cerebras key", "sk-", r"csk-[a-z0-9]{40,}+"),
    ("tavily key", "tvly-", r"tvly-[A-Za-z0-9-]{20,}+"),
    ("e2b key", "e2b_", r"e2b_[a-f0-9]{32,}+"),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    ("pypi token", "pypi-", r"pypi-[\w-]{50,}+"),
    ("rubygems key", "rubygems_", r"rubygems_[a-f0-9]{40,}+"),
    ("nuget key", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{40,}+"),
    ("docker token", "dckr_", r"dckr_[po]at_[\w-]{20,}+"),
    ("artifactory key", "AKCp", r"AKCp[A-Za-z0-9]{40,}+"),
    ("artifactory key", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{40,}+"),
    ("sendgrid key", "SG.", r"SG\.(?<![\w-]SG\.)[\w-]{16,}+\.[\w-]{16,}+"),
    ("brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{40,}+(?:-[A-Za-z0-9]++)?"),
    ("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,}+"),
    ("heroku key", "HRKU-", r"HRKU-[\w-]{30,}+"),
    ("fly.io token", "fm2_ fo1_ fm1", r"f(?:m2|o1|m1[ar])_[\w+/=,-]{30,}+"),
    ("netlify token", "nfp_ nfc_", r"nf[pc]_[A-Za-z0-9]{30,}+"),
    ("vercel token", "vercel_blob_rw_", r"vercel_blob_rw_\w{24,}+"),
    ("render key", "rnd_", r"rnd_[A-Za-z0-9]{24,}+"),
    ("supabase key", "sbp_ sb_secret_", r"sb(?:p|_secret)_[A-Za-z0-9_-]{30,}+"),
    ("neon key", "napi_", r"napi_[a-z0-9]{40,}+"),
    ("planetscale token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{30,}+"),
    ("cloudflare token", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}+"),
    ("shopify token", "shp", r"shp(?:at|ca|pa|ss|ua)_[A-Fa-f0-9]{30,}+"),
    ("square token", "sq0", r"sq0[a-z]{3}-[\w-]{20,}+"),
    ("square token", "EAA", r"EAAA[\w-]{55,}+"),
    ("facebook token", "EAA", r"EAA[A-Z][A-Za-z0-9]{90,}+"),
    ("twitter token", "AAAAAAAAAAAAAAAAAAAAA", r"A(?<!AA)A{20,24}+[A-Za-z0-9]{0,60}+%[A-Za-z0-9%]{20,}+"),
    ("plaid token", "access-production-", r"access-production-[a-f0-9]{8}-[a-f0-9-]{27}"),
    ("paypal token", "access_token$", r"access_token\$(?:production|sandbox)\$[\w$]{30,}+"),
    ("razorpay key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}+"),
    ("flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}+"),
    ("shippo token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    ("easypost key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])"),
    ("duffel token", "duffel_", r"duffel_(?:live|test)_[\w=-]{43}"),
    ("linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}+"),
    ("notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,}+"),
    ("notion token", "secret_", r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("figma token", "figd_ figo_", r"fig[do]_[\w-]{30,}+"),
    ("dropbox token", "sl.A sl.B sl.C sl.u.", r"sl\.(?:u\.)?[\w-]{100,}+"),
    ("postman key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("readme key", "rdme_", r"rdme_[a-z0-9]{60,}+"),
    ("hubspot token", "pat-na1- pat-eu1-", r"pat-(?:na|eu)1-[a-f0-9]{8}-[a-f0-9-]{27}"),
    ("intercom token", "dG9rO", r"dG9rO[A-Za-z0-9+/]{40,}+={0,2}"),
    ("typeform token", "tfp_", r"tfp_[\w.=-]{40,}+"),
    ("contentful token", "CFPAT-", r"CFPAT-[\w-]{40,}+"),
    ("databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("snowflake token", "ver:1-hint:", r"ver:1-hint:[\w:+/=-]{30,}+"),
    ("vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}+"),
    ("pulumi token", "pul-", r"pul-[a-f0-9]{40}(?![A-Za-z0-9])"),
    ("doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.(?:pt|st|ct|sa)\.[\w.-]{40,}+"),
    ("1password token", "eyJ", r"ops_eyJ[A-Za-z0-9+/]{100,}+={0,3}"),
    ("1password key", "A3-", r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"),
    ("bitcoin key", "xprv", r"xprv[A-Za-z0-9]{100,}+"),
    ("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+"),
    ("new relic key", "NRAK- NRII- NRJS-", r"NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,}+"),
    ("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    ("grafana token", "glc_", r"glc_[A-Za-z0-9+/]{32,}+={0,3}"),
    ("grafana token", "eyJ", r"eyJrIjoi[A-Za-z0-9]{60,}+={0,3}"),
    ("sentry token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,}+"),
    ("dynatrace token", "dt0c01. dt0s", r"dt0[cs]\d\d\.[A-Z0-9]{8,24}+\.[A-Z0-9]{30,}+"),
    ("honeycomb key", "hcaik_ hcbik_", r"hc[ab]ik_[a-z0-9]{40,}+"),
    ("posthog key", "phx_", r"phx_[A-Za-z0-9]{30,}+"),
    ("sonar token", "sqp_ squ_ sqa_", r"sq[pua]_[a-f0-9]{40}"),
    ("sourcegraph token", "sgp_", r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    ("buildkite token", "bkua_", r"bkua_[a-f0-9]{40,}+"),
    ("circleci token", "CCIPAT_", r"CCIPAT_\w{30,}+"),
    ("openshift token", "sha256~", r"sha256~[\w-]{43}"),
    ("tailscale key", "tskey-", r"tskey-[a-z]{3,10}-[\w-]{16,}+"),
    ("prefect key", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
    ("mapbox token", "eyJ", r"sk\.eyJ(?<![\w.-]sk\.eyJ)[\w-]{30,}+\.[\w-]{16,}+"),
    ("alibaba key", "LTAI", r"LTAI[A-Za-z0-9]{17,21}(?![A-Za-z0-9])"),
    ("yandex key", "AQVN", r"AQVN[\w-]{35,}+"),
    ("jwt", "eyJ", r"eyJ(?<![\w-]eyJ)[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+(?:\.[\w-]++\.[\w-]++)?"),
    ("credentials", "eyJ", r"eyJhdXRocy[A-Za-z0-9+/]{20,}+={0,2}"),  # of Docker, in base64
    ("jwt", "ZXlKaGJHY2lPaU", r"ZXlKaGJHY2lPaU[A-Za-z0-9+/]{30,}+={0,2}"),  # in base64
    (
        "private key",  # in base64: `-----BEGIN`, then `PRIVATE KEY`, `RSA PRIVATE KEY` and so on
        "LS0tLS1CRUdJTi",
        r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUFJJVkFUR)"
        r"[A-Za-z0-9+/]{20,}+={0,2}(?:\s++[A-Za-z0-9+/]{40,}+={0,2})*",
    ),
    ("password hash", "$2a$ $2b$ $2y$", r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"),
    (
        "password hash",
        "$1$ $5$ $6$ $y$ $apr1$ $argon2 $scrypt$ $pbkdf2",
        r"\$(?:[156y]|apr1|argon2i?d?|scrypt|pbkdf2[\w-]{0,10})\$[\w./$,=+-]{20,}+",
    ),
)

# A possessive group must not contain a lookahead: Python before 3.11.5 goes on after what the lookahead has matched.
# Kind, signs, expression. The signs are in lower case; of `a&b` both must be present. The expression is searched in the
# text in lower case, unless it begins with `(?-i:`. The last group that matches is the secret, else the whole match.
SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private key",
        ("private key",),
        r"(?-i:-----BEGIN (?:[A-Z0-9]++ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-{1,4}+[^-]){30,}+-----END (?:[A-Z0-9]++ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[^A-Za-z]{0,60}+(?:Proc-Type:[^\n]{0,60}+|DEK-Info:[^\n]{0,90}+|[A-Za-z0-9+/=]{16,}+))+))",
    ),
    ("private key", ("private-lines:",), r"private-lines: \d++\s++([a-z0-9+/=]{16,80}+(?:\s[a-z0-9+/=]{16,80}+)*)"),
    ("private key", ('"kty"', '\\"kty'), r"\"(?:d|p|q|dp|dq|qi|k)\\?+\"\s{0,10}:\s{0,10}\\?+\"([\w-]{20,}+)"),  # JWK
    ("slack webhook", ("hooks.slack.",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/]{20,}+)"),
    ("discord webhook", ("/api/webhooks/",), r"/api/webhooks/\d{10,}+/([\w-]{30,}+)"),
    ("teams webhook", (".webhook.office.",), r"\.webhook\.office\.com/webhookb2/([\w@/-]{30,}+)"),
    ("zapier webhook", ("hooks.zapier.",), r"hooks\.zapier\.com/hooks/catch/([\w/]{10,}+)"),
    ("discord token", ("discord", ".login(", ".run("), r"(?-i:[MNO][A-Za-z0-9]{23,27}+\.[\w-]{6}\.[\w-]{27,}+)"),
    ("telegram token", (":aa",), r"(?-i::(AA(?<=\d{8}:AA)[\w-]{32,34})(?![\w-]))"),
    ("azure key", ("q~",), r"(?-i:Q~(?<=[\w~.]{3}\dQ~)[\w~.-]{31,34}(?![\w~.-]))"),
    ("twilio key", ("twilio",), r"(?-i:SK[0-9a-f]{32}(?![A-Za-z0-9]))"),
    ("mailgun key", ("mailgun",), r"key-[0-9a-f]{32}(?![a-z0-9])"),
    ("airtable token", ("airtable",), r"(?-i:pat[A-Za-z0-9]{14}\.[a-f0-9]{64})"),
    ("terraform token", (".atlasv1.",), r"(?-i:\.atlasv1\.(?<=\w{4}\.atlasv1\.)[\w=-]{50,}+)"),
    ("okta token", ("ssws ",), r"ssws[ \t]++([\w-]{30,}+)"),
    # user:password@host; the password ends at the last @ before the path
    ("url password", ("://",), r"://[^\s/:@'\"]{0,200}+:([^\s/?#'\"]{1,300})@"),
    ("url password", ("://",), r"://(?=[a-z_-]{0,60}+\d)([a-z0-9_-]{20,}+)@"),
    ("password", ("auth=(",), r"auth=\([ \t]*+[\"'][^\"'\n]{0,80}+[\"'][ \t]*+,[ \t]*+[\"']([^\"'\n]{3,}+)[\"']"),
    (
        "basic auth",
        ("basic&auth",),
        r"basic[_-]?auth[\"']?\]?[ \t]*+[:=][ \t]*+[\"']?[\w.@-]{1,60}+:(?!//)([^\s\"',;]{4,}+)",
    ),
    ("basic auth", ("basic ",), r"basic[ \t]++(?=[a-z+/]{0,60}+[\d=])([a-z0-9+/]{8,}+={0,2})(?![\w-])"),
    ("bearer token", ("bearer ",), r"bearer[ \t]++(?=[a-z._~+/=-]{0,60}+\d)([a-z0-9._~+/=-]{16,}+)"),
    ("token", ("token ",), r"token[ \t]++(?=[a-z._~+/=-]{0,60}+\d)([a-z0-9._~+/=-]{20,}+)"),
    (
        "bearer token",
        ("authorization",),
        r"authorization[\"']?\]?[ \t]*+[:=][ \t]*+[\"']?(?:(?:bearer|basic|token|negotiate|apikey|api-key|key)[ \t]++"
        r"([^\s\"'$<{\[(][^\s\"'(]{5,}+)(?!\()|((?=[a-z._~+/=-]{0,60}+\d)[\w.~+/=-]{8,}+)(?![ \t]*\())",
    ),
    ("cookie", ("set-cookie",), r"set-cookie[\"']?[ \t]*+[:=,][ \t]*+[\"']?[^\s\"'=;]{1,60}+=([^\s\"';,]{4,}+)"),
    ("cookie", ("cookie",), r"cookie(?<!set-cookie)[\"']?:[ \t]*+[\"']?([^\s\"'={};]{1,60}+=[^\"'\n\v]{4,}+)"),
    ("password", ("login&password ",), r"login[ \t]++\S{1,200}+\s{1,100}+password[ \t]++(\S++)"),  # .netrc
    (
        "password",  # .pgpass
        (":5432:", ":5433:", ":6432:", ":*:"),
        r":(?:5432|5433|6432|\*):[\w*.-]{1,64}+:[\w*.@-]{1,64}+:([^\s:]{1,200}+)(?!\S)",
    ),
    (
        "password",
        ("convertto-securestring",),
        r"convertto-securestring(?:[ \t]++-(?:string|asplaintext|force))*[ \t]++(?:\"([^\"\n]++)|'([^'\n]++))",
    ),
    (
        "password",  # SQL
        ("identified ",),
        r"identified[ \t]++(?:with[ \t]++\S{1,60}+[ \t]++)?by[ \t]++(?:password[ \t]++)?(?:\"([^\"\n]++)|'([^'\n]++))",
    ),
    (
        "password",  # the default of a variable of Terraform
        ('variable "&default',),
        r"variable \"(?=[^\"\n]{0,80}?(?:passw|secret|token|_key))[^\"\n]{1,80}+\"\s{0,9}+\{"
        r"(?:(?!default\b)[^{}\"]|\"[^\"\n]{0,200}+\"){0,300}default\s{0,9}+=\s{0,9}+\"([^\"\n]{3,200}+)\"",
    ),
    (
        "seed phrase",
        ("mnemonic", "phrase&seed", "phrase&recovery"),
        r"(?:mnemonic|(?:seed|recovery)[ _]phrase)[a-z _-]{0,20}+[\"']?[ \t]*+[:=][ \t]*+[\"']?"
        r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b",
    ),
    ("password", ("auth plain ", "auth login "), r"auth (?:plain|login) ([a-z0-9+/]{8,}+={0,2})"),  # SMTP
    ("password", ("net use&/user:",), r"/user:[^\s]{1,80}+[ \t]++([^\s/][^\s]*+)"),
    ("password", ("pass:",), r"-pass(?:in|out)?[ \t]++pass:([^\s\"'|;&]++)"),  # openssl
    ("password", ("sqlplus",), r"sqlplus[ \t]++(?:-\w{1,20}+[ \t]++){0,9}\w{1,60}+/([^\s@\"'/]++)@"),
    ("password", ("add_user ",), r"add_user[ \t]++\S{1,80}+[ \t]++[\"']?([^\s\"'|;&]++)"),
    (
        "password",
        ("echo&sudo -s", "echo&login", "echo&passwd", "echo&kinit"),
        r"echo[ \t]++(?:-\w[ \t]++)?[\"']?([^\s\"'|]{1,200}+)[\"']?[ \t]*+\|[ \t]*+"
        r"(?:sudo[ \t]++-[a-z]{0,9}s|(?:docker|podman|registry)[ \t]++login|(?:sudo[ \t]++)?(?:ch)?passwd|kinit)\b",
    ),
    (
        "password",
        (" -u & -p ",),
        r" -u[ \t]++[^\s-]\S{0,80}+[ \t]++-p[ \t]++[\"']?((?=[^\s\d]{0,60}+\d)(?=[^\sa-z]{0,60}+[a-z])[^\s\"'|;&]++)",
    ),
    ("secret", ("--from-literal",), r"--from-literal[= \t]++[\"']?[\w.-]{1,80}+=([^\s\"'|;&]++)"),
)

# Kind, programs, options, and an expression for what is between option and secret, in lower case; `~` is a blank.
OPTIONS: tuple[tuple[str, str, str, str], ...] = (
    # in `mysql -p x`, x is a database; but people also write passwords there, which do not look like a name
    (
        "password",
        "mysql mariadb mysqldump mysqladmin mysqlimport mariadb-dump mariadb-admin",
        "-p",
        r"(?:[ \t]++(?=[a-z_]{0,60}+[^a-z_\s|;&-])|(?![ \t]++[a-z_]{0,60}+[^a-z_\s|;&-]))(?!\d{1,5}(?!\S))",
    ),
    ("password", "sshpass twine", "-p", r"[ \t=]*+"),
    ("password", "login mongo", "-p", r"[ \t]++"),
    ("password", "plink pscp", "-pw", r"[ \t]++"),
    ("password", "redis-cli", "-a", r"[ \t]++"),
    ("password", "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami", "-w", r"[ \t]++"),
    ("password", "sqlcmd zip", "-p", r"[ \t]++(?!-)"),
    ("password", "7z", "-p", ""),
    ("password", "ssh-keygen", "-n -p", r"[ \t]++"),
    ("password", "add-generic-password add-internet-password", "-w", r"[ \t]++"),
    ("password", "curl wget", "-u --user --proxy-user", r"[ \t=]*+[\"']?(?!\d+:)[^\s:'\"/<]{0,80}+:"),
    ("password", "http", "-a --auth", r"[ \t=]++[\"']?[^\s:'\"/<]{0,80}+:"),
    ("password", "smbclient rpcclient", "-u", r"[ \t]++[\"']?[^\s%'\"]{0,80}+%"),
    ("cookie", "curl wget", "-b --cookie", r"[ \t=]*+(?=[\"']?[^\s\"'=]{1,200}+=)"),
    ("secret", "secret~set", "-b --body --value", r"[ \t=]++"),
    ("secret", "put-parameter", "--value", r"[ \t=]++"),
)


def of_option(program: str, option: str, between: str) -> str:
    """Return an expression for the secret in a program's option, as its last group."""
    gap, word = r"(?:[ \t]|\\\n)++", r"(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|[^\s|;&\"']){1,200}+"
    taken = rf"(?:{option}){between}(?:\"([^\"\n]++)\"|'([^'\n]++)'|([^\s\"'|;&<>]++))"
    program = program.replace("~", r"[ \t]++")
    return rf"{program}\b(?:{gap}(?!{taken})(?!{program}\b){word}){{0,25}}{gap}{taken}"


# Kinds of secrets, with expressions for their names in lower case; the first that matches counts.
NAMES: tuple[tuple[str, str], ...] = (
    (
        "password",
        r"passw(?:or)?d|passphrase|passcode|pwd|(?:^|[_.-]|bind|root)pw$|(?:^|[_.-])psk$"
        r"|(?:^|[_.-]|store|key|user|db|root|admin|smtp|mail|ftp|sudo|become|ssh|require)pass$",
    ),
    ("aws key", r"aws[a-z_.-]*secret|secret[ _.-]?access[ _.-]?key"),
    ("azure key", r"^(?:account|shared[_-]?access)[_-]?key$|azure.*secret"),
    ("api key", r"api[ _.-]?key"),
    ("private key", r"private[ _.-]?key|client[_.-]key[_.-]data"),
    ("secret", r"(?:secret|signing)[ _.-]?key"),
    (
        "key",
        r"(?:access|auth|encryption|master|account|storage|shared|subscription|licen[cs]e|service|deploy|app|application"
        r"|admin|client|security|crypto|hmac|jwt|session|cookie|consumer|functions?|webhook|ingest|ssh|rsa|integration"
        r"|unseal|recovery|sdk)[ _.-]?key",
    ),
    ("token", "token|[_.-]pat$"),
    ("secret", "secret"),
    ("credentials", r"credential|(?:^|[_.-])creds?$|^masterauth$"),
    ("cookie", r"^(?:cookie|phpsessid|jsessionid|connect\.sid)$"),
    ("seed phrase", r"mnemonic|(?:seed|recovery)[ _.-]?phrase"),
)
# The words in such names, and endings that may follow the last of them. With any other ending, the value must have both
# letters and digits.
WORDS_OF_NAMES = tuple(
    "password passwd passphrase passcode pass pwd pw psk secret token key credential cred cookie auth _pat -pat "
    "mnemonic phrase sessid sessionid .sid sig signature".split()
)
SAME_ENDINGS = frozenset(
    (
        "s prod production dev development stage staging live main base data value string default old new backup "
        "plain plaintext raw confirm confirmation again repeat b64 base64 hex id 1 2 3 v1 v2"
    ).split()
)
# Endings that make it the name of something else, such as the length of a password or the type of a token.
OTHER_ENDINGS = frozenset(
    (
        "count counts length len limit size type types kind name names url uri urls endpoint file files path dir "
        "stdin prompt policy policies field fields domain ttl helper format regex pattern hint header headers less "
        "version arn ref refs required enabled rounds encoding label placeholder message messages error errors "
        "title text input icon manager provider store scope scopes role roles group groups index start end stream "
        "list map cache budget estimate usage stats status state rule rules strength parser reader source service "
        "template mode level option options config params param schema model used set is sent accessor duration "
        "renewable selector handler bucket callback event check for in at on timeout lifetime interval seconds "
        "minutes hours days attempts retries cost iterations score spec info salt fd env var test tests ary ids"
    ).split()
)
OTHER_BEGINNINGS = tuple(  # the beginnings of such endings
    "expir valid alg desc class visib pos mask hash max min izer ization ized iser ing board word frame code "
    "stone note pad press down up hole chain ring vault pair space mesh file".split()
)
OTHER_PARTS = frozenset(  # of a name that is split at `_`, `-` and `.`
    "hash ca cert sum checksum fingerprint public primary foreign partition sort idempotency".split()
)
OTHER_LAST_PARTS = frozenset(
    (
        "url uri path file dir name type template timeout lifetime interval seconds minutes hours days ttl expiry "
        "expires expiration count limit length size enabled required policy prefix suffix format regex pattern "
        "header field form view page route email subject title label message class ts tsx js jsx py go rs rb java "
        "php json yaml yml toml html css md txt pem pub crt"
    ).split()
)
OTHER_FIRST_PARTS = frozenset("is has no un expected invalid wrong missing".split())
OTHER_NAMES = frozenset("next_token nexttoken next_page_token nextpagetoken publickey primarykey foreignkey".split())
WEAK_NAMES = ("auth", "authorization", "proxy-authorization")  # only if the value looks random
