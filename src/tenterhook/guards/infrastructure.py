"""Ask before something is deleted in a cloud, a cluster, a database, a queue or a service that others use.

`PROGRAMS` is a table of data: a row names programs, what they manage, and the subcommands that delete. Most programs
have subcommands that are verbs (`delete`, `terminate-instances`, `apps:destroy`), which `VERBS` knows; what only lists,
shows or plans is never asked about.
"""

from __future__ import annotations

import re

from ..shell import reader
from .calls import ASK, Objection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.reader import Command
    from .calls import GuardedCall

# A word of a subcommand that deletes, ends or takes away: alone, or beside an object as in `delete-bucket`.
VERBS = re.compile(
    r"(?:[\w.]+[:_-])*?(?:force[_-])?(?:batch-)?(?:delete|deleteall|del|destroy|remove|rm|rb|rmdir|rmdirs|deletefile|purge|"
    r"terminate|drop|dropall|wipe|erase|reset|flush|flushall|flushdb|truncate|prune|uninstall|unpublish|revoke|deregister|"
    r"disable|decommission|kill|evict|drain|unset|untag|unsubscribe|disassociate|detach|expunge|nuke|teardown|obliterate|"
    r"shutdown|abandon|offboard|unlink|unregister|deprovision|cleanup|clean|clear)(?:[:_-][\w.:-]*)?"
)
_READING = frozenset(
    "help version list ls get show describe status plan diff logs log view info inspect search wait clone create init "
    "apply deploy top explain history events watch validate lint fmt completion configure config login "
    "logout whoami".split()
)
_NO_EFFECT = re.compile(
    r"(?:--?(?:help|dry-?run|dryrun|what-?if|noop|simulate|preview|check|plan)(?:=(?!none|false).*)?|-h)"
)
_DEPTH = 5  # words of a subcommand that are looked at

# Class, programs, and the subcommands that delete: `*` are VERBS; others are phrases, of which one must be there.
PROGRAMS = (
    ("cloud", "aws gcloud az oci ibmcloud aliyun tccli hcloud linode-cli vultr-cli scw exo civo openstack nova", "*"),
    ("cloud", "doctl upctl ovhai yc cf ntnx-cli govc prlctl virsh multipass lxc incus vagrant packer", "*"),
    ("cloud", "wrangler vercel netlify fly flyctl heroku railway render firebase supabase amplify eb copilot", "*"),
    ("cloud", "rclone", "sync|bisync|move|moveto"),
    ("cloud", "gsutil", "rsync -d"),
    ("cloud", "gsutil s3cmd s4cmd s5cmd mc b2 azcopy rclone swift storj uplink", "*"),
    ("cloud", "fastly akamai cloudflared flarectl cli53 octodns-sync dnscontrol lexicon namecheap", "*"),
    ("cloud", "terraform tofu terragrunt cdktf pulumi cdk sam serverless sls sst",
     "destroy|remove|delete|state rm|stack rm|workspace delete|workspace rm|force-unlock|"
     "apply -destroy|apply --destroy|untaint|taint"),
    ("cluster", "kubectl oc k k3s microk8s",
     "delete|drain|cordon|replace --force|taint|scale --replicas=0|scale --replicas 0"),
    ("cluster", "helm helmfile helm3 argocd flux velero kops eksctl kubeadm k3d kind minikube rancher talosctl", "*"),
    ("cluster", "nomad consul vault boundary waypoint istioctl linkerd cilium etcdctl crictl ctr", "*"),
    ("container", "docker podman nerdctl",
     "system prune|system reset|volume rm|volume prune|volume remove|swarm leave|stack rm|stack remove|"
     "service rm|service remove|node rm|secret rm|config rm|context rm|rm -v|rm -fv|rm -vf|rm --volumes|"
     "compose rm -v|compose rm -fv"),
    ("container", "skopeo crane regctl oras reg", "delete|remove|rm|untag"),
    ("database", "redis-cli valkey-cli", "flushall|flushdb|del|unlink|shutdown|cluster reset|script flush|config set"),
    ("database", "mysqladmin", "drop|shutdown|flush-tables"),
    ("database", "bq influx cockroach clickhouse-client cqlsh mongosh mongo couchbase-cli couchbase arangosh", "*"),
    ("database", "gitlab-rake pg_restore mongorestore", "gitlab:backup:restore|--clean|--drop"),
    ("database", "dropdb dropuser pg_resetwal", ""),
    ("database", "planetscale pscale neonctl turso atlas xata algolia typesense meilisearch", "*"),
    ("queue", "rabbitmqctl rabbitmqadmin nats rpk pulsar-admin", "*"),
    ("queue", "kafka-topics kafka-topics.sh kafka-acls kafka-acls.sh kafka-configs kafka-configs.sh", "--delete"),
    ("queue", "kafka-delete-records kafka-delete-records.sh", ""),
    ("queue", "celery", "purge"),
    ("service", "gh glab tea bb hub", "*|repo archive"),
    ("service", "circleci buildkite-agent bk drone woodpecker-cli travis jenkins-cli concourse-cli argo tkn", "*"),
    ("service", "stripe paddle square twilio sendgrid postmark mailgun", "*"),
    ("service", "ldcli flipt split unleash growthbook optimizely posthog statsig", "*|archive"),
    ("service", "pd opsgenie grafana-cli grizzly gr newrelic datadog-ci dog sentry-cli honeycomb", "*"),
    ("service", "op doppler infisical bws chamber sops-cli teller lastpass lpass bw", "*"),
    ("service", "apigeecli deck kong tyk krakend ngrok tailscale zerotier-cli auth0 okta fga", "*"),
    ("service", "shopify contentful sanity strapi wp drush n8n hasura", "*"),
    ("dns", "nsupdate pdnsutil rndc knotc", "*"),
    ("backup", "borg restic duplicity tarsnap kopia bup snapper timeshift rsnapshot zfs-autobackup", "*|forget"),
    ("iam", "ipa ldapdelete ldapmodrdn kadmin kadmin.local gpg-connect-agent keycloak kcadm kcadm.sh", "*|delprinc"),
)  # fmt: skip

_HTTP = {
    "curl": r"(?:^| )(?:-X ?|--request[= ])['\"]?DELETE\b",
    "wget": r"(?:^| )--method[= ]DELETE\b",
    "http": r"^(?:\S+ )*?DELETE\b",
    "https": r"^(?:\S+ )*?DELETE\b",
    "xh": r"(?i)^(?:\S+ )*?DELETE\b",
    "xhs": r"(?i)^(?:\S+ )*?DELETE\b",
    "curlie": r"^(?:\S+ )*?DELETE\b",
    "gh": r"^api\b.*(?:-X|--method)[= ]?DELETE\b",
    "glab": r"^api\b.*(?:-X|--method)[= ]?DELETE\b",
    "Invoke-RestMethod": r"(?i)-Method ['\"]?Delete\b",
    "Invoke-WebRequest": r"(?i)-Method ['\"]?Delete\b",
    "irm": r"(?i)-Method ['\"]?Delete\b",
    "iwr": r"(?i)-Method ['\"]?Delete\b",
}
_WHAT = {
    "cloud": "it deletes or ends resources of an account",
    "cluster": "it deletes or empties parts of a cluster",
    "container": "it deletes containers' data",
    "database": "it deletes data",
    "queue": "it deletes queues, topics or messages",
    "service": "it deletes or switches off something in a service that others use",
    "dns": "it deletes names that others look up",
    "backup": "it deletes backups",
    "iam": "it takes accounts or rights away",
    "http": "it asks a server to delete something",
}
_INSTEAD = "list what it would delete and show it to the person; use a dry run where there is one"

_BY_PROGRAM: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
for _class, _names, _subcommands in PROGRAMS:
    for _name in _names.split():
        _phrases = tuple(_subcommands.split("|")) if "|" in _subcommands else tuple(_subcommands.split())
        _BY_PROGRAM.setdefault(_name, []).append((_class, _phrases))


def judge(call: GuardedCall) -> Objection | None:
    """Ask about a call whose shell line would delete something outside this machine."""
    line = call.line()
    if line is None:
        return None
    reading = reader.read_any(line, call.directory(), call.environment)
    off = call.settings.get("allow", ())
    found = [(command, kind) for command in reading.commands for kind in kinds(command) if kind not in off]
    if not found:
        return None
    said = dict.fromkeys(f"`{command.shown}`: {_WHAT[kind]} [{kind}]. Instead: {_INSTEAD}." for command, kind in found)
    return Objection(ASK, "\n".join(list(said)[:3]))


def kinds(command: Command) -> Iterator[str]:
    """Yield the classes of what a command would delete."""
    words = command.words[1:]
    name = command.name
    if name == "java" and any(word.endswith("jenkins-cli.jar") for word in words):
        at = next(number for number, word in enumerate(words) if word.endswith("jenkins-cli.jar"))
        name, words = "jenkins-cli", words[at + 1 :]
    if not words or any(_NO_EFFECT.fullmatch(word) for word in words):
        return
    said = " ".join(words)
    if name in _HTTP and re.search(_HTTP[name], said):
        yield "http"
        return
    for kind, phrases in _BY_PROGRAM.get(name, ()):
        if not phrases or _deletes(words, phrases):
            yield kind
            return


def _deletes(words: list[str], phrases: tuple[str, ...]) -> bool:
    path = [word for word in words if not word.startswith("-")][:_DEPTH]
    reading = next((at for at, word in enumerate(path) if word in _READING), _DEPTH)
    path = path[:reading]  # `kubectl wait --for delete`: the first verb says what is done
    for phrase in phrases:
        if phrase == "*":
            if any(VERBS.fullmatch(word) for word in path) or _changes_to_delete(words):
                return True
        elif phrase.startswith("-"):
            if any(word == phrase or word.startswith(phrase + "=") for word in words):
                return True
        elif _has(phrase.split(), path, words):
            return True
    return False


def _has(parts: list[str], path: list[str], words: list[str]) -> bool:
    """Whether the words of a phrase are there: subcommands in order, options and their values anywhere."""
    at = 0
    for part in parts:
        if part.startswith("-") or "=" in part:
            short = part[1:] if len(part) > 1 and part[0] == "-" and part[1] != "-" else ""
            if part not in words and not (short and any(_has_letters(word, short) for word in words)):
                return False
        elif part in path[at:]:
            at = path.index(part, at) + 1
        elif part in words and part.isdigit():  # the value of an option, as in `--replicas 0`
            continue
        else:
            return False
    return True


def _has_letters(word: str, letters: str) -> bool:
    return word[:1] == "-" and word[1:2] != "-" and all(letter in word for letter in letters)


def _changes_to_delete(words: list[str]) -> bool:
    """`aws s3 sync … --delete`, `aws route53 change-resource-record-sets … "Action":"DELETE"`."""
    return any(
        word in ("--delete", "--delete-removed", "--delete-destination=true")
        or re.search(r"\"Action\"\s*:\s*\"DELETE\"", word)
        for word in words
    )
