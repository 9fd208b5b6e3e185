"""Dangers that the words of one program tell: a table of programs, expressions, and what each means.

An expression is searched in the arguments, joined by blanks; a blank inside an argument is another character there, so
that a text cannot look like options. `DEVICE` stands for a disk. ` <<< ` and what is piped in follow the arguments.
The first row that is found counts.
"""

from __future__ import annotations

import re

from .calls import ASK, DENY

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Iterator

    from ..shell.reader import Command

BLANK = "\u2423"
DEVICE = (
    r"/dev/(?:sd[a-zA-Z]+\d*|hd[a-z]\d*|vd[a-z]+\d*|xvd[a-z]+\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+)?|md\d+|dm-\d+"
    r"|r?disk\d+(?:s\d+)?|sr\d+|nbd\d+|zd\d+|mapper/[^\s/]+|disk/\S+|mtd\w+|ubi\w+|mem|kmem|port|nvram|root"
    "|[a-z0-9]*[\ue004-\ue006]\\S*)"  # a pattern, as in /dev/sd[b-d]
)
FOR_TESTS = r"(?i)(?:^|[_\W])(?:test|tests|testing|tmp|temp|scratch|ci|dummy|sandbox)(?:$|[_\W\d])"
REACHING_OUT = ("database", "cloud", "publish")  # what a container does, too

_GUARDS = r"(?:ufw|firewalld|nftables|ip6?tables|apparmor|auditd|fail2ban|selinux|clamav-daemon|falcon-sensor|r?syslog(?:d|-ng)?|systemd-journald|crowdstrike|osqueryd|wazuh-agent|sysmon)"
_LIFELINES = r"(?:sshd?|NetworkManager|systemd-(?:networkd|resolved|logind)|dbus|networking|network)"
_ENDS_ALL = "it ends everything that runs on this machine"
_OFF_NETWORK = "it cuts this machine off the network"
_NO_FIREWALL = "it takes the firewall's rules away"
_EMPTIES = "it empties the project's database"
_FOR_GOOD = "what it deletes cannot be brought back"
_OF_ACCOUNT = "it deletes resources of the account"
_FILE_SYSTEMS = "ext2 ext3 ext4 xfs btrfs vfat fat ntfs f2fs exfat minix cramfs msdos reiserfs".split()

ROWS = (
    # disks
    (" ".join(f"mkfs.{kind}" for kind in _FILE_SYSTEMS), "DEVICE", "disk", DENY, "it makes a new file system there"),
    ("mkfs mke2fs mkswap mkdosfs newfs newfs_hfs", "DEVICE", "disk", DENY, "it makes a new file system there"),
    ("wipefs", r"(?=.*DEVICE)(?=.*(?:^|\s)(?:-\w*[ao]|--all|--offset))", "disk", DENY, "it erases what is there"),
    ("blkdiscard dban nwipe", "DEVICE", "disk", DENY, "it erases what is there"),
    ("sgdisk gdisk", r"^(?!-[pivV]|--(?:print|info|verify|backup)).*DEVICE", "disk", DENY, "it changes the partitions"),
    ("sfdisk", r"^(?!-[dlJnVs]|--(?:dump|list|json|no-act|verify)).*DEVICE", "disk", DENY, "it changes the partitions"),
    ("fdisk cfdisk", r"^(?!.*-l\b).*DEVICE.*<<<", "disk", DENY, "it changes the partitions"),
    ("parted", r"DEVICE.*\b(?:mklabel|mktable|rm|mkpart|resizepart)\b", "disk", DENY, "it changes the partitions"),
    ("badblocks", r"(?=.*DEVICE)(?=.*(?:^|\s)-[a-z]*[wn])", "disk", DENY, "it overwrites the disk"),
    ("hdparm", r"--(?:security-erase|trim-sector|make-bad|write-sector|format)", "disk", DENY, "it erases the disk"),
    ("nvme", r"^(?:format|sanitize|delete-ns|write-zeroes)\b", "disk", DENY, "it erases the disk"),
    ("cryptsetup", r"(?i)\b(?:luksFormat|erase|luksErase)\b", "disk", DENY, "what is there can no longer be read"),
    ("mdadm", r"--zero-superblock|--create", "disk", DENY, "it takes a disk out of its array"),
    ("zpool zfs", r"^(?:destroy|labelclear|rollback)\b", "disk", DENY, "it destroys a pool, or what is on it"),
    ("btrfs", r"^device (?:delete|remove)|^subvolume delete", "disk", DENY, "it destroys what is on the disk"),
    ("lvremove vgremove pvremove pvcreate", r"\w", "disk", DENY, "it removes a volume and what is on it"),
    ("diskutil", r"(?i)^(?:erase|partition|secureErase|zero|reformat)|^apfs (?:delete|erase)", "disk", DENY,
     "it erases a disk"),
    ("flashrom", r"(?:^|\s)(?:-w|-E|--write|--erase)", "disk", DENY, "it overwrites the firmware"),
    # accounts and rights
    ("setcap", r"cap_(?:setuid|dac_override|sys_admin)", "permissions", DENY, "who starts this gets root's rights"),
    ("visudo vipw vigr", r"^(?!.*-c)", "system-files", DENY, "it edits who may do what on this machine"),
    ("userdel deluser", r"(?:^|\s)[^-\s]", "system-files", DENY, "it deletes an account"),
    ("groupdel", r"\w", "system-files", ASK, "it deletes a group"),
    ("useradd usermod adduser", r"(?:-u|--uid)[= ]?0\b", "system-files", DENY, "it makes another root"),
    ("usermod gpasswd", r"\b(?:sudo|wheel|root|admin)\b", "system-files", DENY, "it gives an account root's rights"),
    ("adduser", r"^\S+ (?:sudo|wheel|root|admin)$", "system-files", DENY, "it gives an account root's rights"),
    ("passwd", r"(?:^|\s)(?:-d|--delete)\b|\broot\b", "system-files", DENY, "it takes away or replaces a password"),
    ("chpasswd", "", "system-files", DENY, "it replaces passwords"),
    ("dscl", r"(?i)-delete /Users", "system-files", DENY, "it deletes an account"),
    # services
    ("shutdown reboot halt poweroff pm-suspend pm-hibernate",
     r"^(?!.*(?:^|\s)(?:-c|-w|--show|--wtmp-only)\b)", "shut-down", DENY, _ENDS_ALL),
    ("init telinit", r"^[016sS]$", "shut-down", DENY, _ENDS_ALL),
    ("kexec", r"(?:^|\s)(?:-e|--exec|-f|--force)\b", "shut-down", DENY, "it starts another kernel"),
    ("loginctl", r"(?:^|\s)(?:terminate-user|terminate-session|kill-user|reboot|poweroff)\b", "shut-down", DENY,
     "it ends a person's session"),
    ("systemctl", r"(?:^|\s)(?:reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|soft-reboot)$|"
     r"(?:^|\s)(?:reboot|poweroff|halt)\b|(?:isolate|set-default) (?:rescue|emergency|poweroff|reboot|halt)",
     "shut-down", DENY, _ENDS_ALL),
    ("systemctl", rf"(?:^|\s)(?:stop|disable|mask|kill)\b.*\s{_GUARDS}(?:\.service)?(?=\s|$)", "security", DENY,
     "that protects this machine"),
    ("systemctl", rf"(?:^|\s)(?:stop|disable|mask|kill)\b.*\s{_LIFELINES}(?:\.service)?(?=\s|$)", "shut-down", DENY,
     "nobody can reach this machine then"),
    ("service rc-service", rf"^{_GUARDS} stop", "security", DENY, "that protects this machine"),
    ("service rc-service", rf"^{_LIFELINES} stop", "shut-down", DENY, "nobody can reach this machine then"),
    ("launchctl", r"^(?:reboot|bootout)\b.*\bsystem\b", "shut-down", DENY, "it takes the system's services away"),
    ("ip", r"\blink set (?:dev )?(?!lo\b)\S+ down|\broute (?:flush|del default)|\baddr flush", "shut-down", DENY,
     _OFF_NETWORK),
    ("ifconfig", r"^(?!lo)\w+ down", "shut-down", DENY, _OFF_NETWORK),
    ("nmcli", r"\bnetworking off|\bradio all off", "shut-down", DENY, _OFF_NETWORK),
    ("systemctl", r"(?:^|\s)(?:stop|disable|mask|kill|isolate|emergency|rescue|default|halt|suspend\S*|hibernate|hybrid-sleep)"
     r"(?=\s|$)(?!.*--user)", "services", ASK, "a service of this machine ends"),
    ("service rc-service", r"^\S+ (?:stop|disable)\b", "services", ASK, "a service of this machine ends"),
    ("launchctl", r"^(?:unload|bootout|disable|remove)\b", "services", ASK, "a service of this machine ends"),
    ("chsh", r"(?:-s|--shell)[= ]\S+ [^-\s]", "system-files", DENY, "it gives an account another shell"),
    ("usermod", r"(?:-p|--password)\b", "system-files", DENY, "it replaces a password"),
    ("useradd adduser", r"(?:-g|--gid)[= ]?0\b|-o\b|(?:-[aG]+|--groups)[= ]?\S*(?:sudo|wheel|root|admin)", "system-files", DENY,
     "it makes an account with root's rights"),
    ("useradd adduser", r"(?:^|\s)[^-\s]", "system-files", ASK, "it makes an account"),
    ("passwd", r"^[^-\s]\S*$", "system-files", ASK, "it replaces a password"),
    ("update-ca-certificates update-ca-trust", "", "security", ASK, "this machine trusts other certificates then"),
    ("security", r"\badd-trusted-cert\b", "security", ASK, "this machine trusts other certificates then"),
    ("iptables ip6tables arptables ebtables", r"(?:^|\s)(?:-[AIDR]|--append|--insert|--delete|--replace)\b", "security", ASK,
     "it changes the firewall"),
    ("mdadm", r"--(?:fail|remove|stop)\b", "disk", ASK, "it takes a disk out of its array"),
    ("hg", r"^(?:update|up|checkout|co)\b.*\s(?:-\w*C|--clean)\b|^purge\b|^strip\b|^revert\b.*--all", "discard-work", ASK,
     "what is not committed is gone"),
    ("svn", r"^(?:revert\b.*-R|cleanup\b.*--remove)", "discard-work", ASK, "what is not committed is gone"),
    ("wajig apt apt-get aptitude", r"^(?:-\S+ )*purge\b", "packages", ASK, "it removes a package with its configuration"),
    # protections
    ("iptables ip6tables", r"(?:^|\s)(?:-F|--flush|-X)\b|(?:-P|--policy) \w+ ACCEPT", "security", DENY, _NO_FIREWALL),
    ("iptables ip6tables", r"(?:-P|--policy) (?:INPUT|OUTPUT) DROP", "security", DENY, "nobody gets through then"),
    ("nft", r"\bflush ruleset|\bdelete table", "security", DENY, _NO_FIREWALL),
    ("ufw", r"\b(?:disable|reset)\b|\bdefault allow incoming", "security", DENY, "it switches the firewall off"),
    ("firewall-cmd", r"--panic-on|--set-default-zone=trusted|--remove-service=ssh", "security", DENY,
     "it opens the firewall, or closes it to everybody"),
    ("pfctl", r"(?:^|\s)-(?:d|F ?all|F ?rules)", "security", DENY, "it switches the firewall off"),
    ("setenforce", r"(?i)^(?:0|permissive)$", "security", DENY, "it switches SELinux off"),
    ("csrutil spctl", r"disable", "security", DENY, "it switches a protection of the system off"),
    ("fdesetup", r"\bdisable\b", "security", DENY, "it decrypts the disk"),
    ("aa-teardown aa-disable", "", "security", DENY, "it switches AppArmor off"),
    ("mokutil", r"--disable-validation", "security", DENY, "it switches secure boot off"),
    ("sysctl", r"kernel\.(?:randomize_va_space|yama\.ptrace_scope|kptr_restrict|panic) ?=", "security", DENY,
     "it takes a protection of the kernel away"),
    ("defaults", r"^write .*com\.apple\.alf", "security", DENY, "it changes the firewall"),
    # what others have
    ("gh glab hub", r"^(?:repo|project) (?:delete|archive)\b", "publish", DENY, "it deletes a repository"),
    ("gh glab hub", r"^(?:release|secret|environment|variable) delete\b", "publish", ASK, "others may use it"),
    ("gh glab", r"^api\b(?=.*(?:-X|--method)[= ]?DELETE)(?=.*\s/?repos/[^/\s]+/[^/\s]+(?=\s|$))", "publish", DENY,
     "it deletes a repository"),
    ("gh glab", r"^api\b.*(?:-X|--method)[= ]?DELETE", "publish", ASK, "it deletes something on the code host"),
    ("npm yarn pnpm pio", r"^(?:\S+ )?unpublish\b", "publish", ASK, "it takes a package away from those who use it"),
    ("cargo gem", r"^yank\b", "publish", ASK, "it takes a package away from those who use it"),
    ("npm yarn pnpm bun cargo poetry uv hatch flit pdm deno jsr vsce ovsx ern lerna gradle gradlew mvnw mvn sbt pio",
     r"^(?:\S+ ){0,3}?(?:publish(?:-container|All\S*)?|deploy:deploy|publishSigned|release:perform)(?=\s|$)"
     r"(?!.*(?:--dry-run|-n\b|ToMavenLocal))", "publish", ASK, "others get it, and may use it at once"),
    ("mvn mvnw", r"^(?:\S+ )*?deploy(?=\s|$)", "publish", ASK, "others get it, and may use it at once"),
    ("twine", r"^upload\b", "publish", ASK, "others get it, and may use it at once"),
    ("gem", r"^push\b", "publish", ASK, "others get it, and may use it at once"),
    ("dotnet nuget", r"^(?:nuget )?(?:push|delete)\b", "publish", ASK, "others get it, and may use it at once"),
    ("pod", r"^trunk push\b", "publish", ASK, "others get it, and may use it at once"),
    ("python", r"^-m twine upload\b", "publish", ASK, "others get it, and may use it at once"),
    # databases
    ("redis-cli valkey-cli", r"(?i)\bflush(?:all|db)\b", "database", DENY, "it empties the database"),
    ("mysqladmin", r"\bdrop\b", "database", DENY, "it drops a database"),
    ("pg_resetwal", "", "database", DENY, "it can leave the database broken"),
    ("influx", r"(?i)\bdrop\b|\bbucket delete\b", "database", ASK, "it deletes measurements"),
    ("bq", r"(?:^|\s)rm\b", "database", ASK, "it deletes a table or a dataset"),
    ("rails rake", r"^(?!.*RAILS_ENV=test).*\bdb:(?:drop|reset|purge|migrate:reset|schema:load)\b(?!:test)", "database",
     ASK, _EMPTIES),
    ("prisma npx bunx", r"\bmigrate reset\b|\bdb push\b.*--force-reset|\bdb:drop\b", "database", ASK, _EMPTIES),
    ("sequelize knex mix", r"\bdb:drop\b|\becto\.(?:drop|reset)\b|\bmigrate:rollback --all\b", "database", ASK,
     _EMPTIES),
    ("python django-admin", r"\bflush\b.*--no-?input|\breset_db\b", "database", ASK, _EMPTIES),
    ("php", r"\bartisan (?:migrate:(?:fresh|reset)|db:wipe)\b", "database", ASK, _EMPTIES),
    ("etcdctl", r"\bdel\b.*--(?:prefix|from-key)", "database", DENY, "it deletes every key"),
    ("consul", r"\bkv delete\b.*-recurse", "database", DENY, "it deletes every key"),
    ("vault", r"^(?:secrets disable|kv metadata delete|delete)\b", "database", ASK, "it deletes secrets"),
    ("curl", r"(?=.*(?:-X|--request)[= ]?DELETE)(?=.*(?::9200|elastic|opensearch)\S*/(?:_all|\*))", "database", DENY,
     "it deletes everything that is there"),
    ("curl", r"(?=.*(?:-X|--request)[= ]?DELETE)(?=.*/repos/[^/\s]+/[^/\s]+(?=\s|$))", "publish", DENY,
     "it deletes a repository"),
    # clusters
    ("kubectl oc k k3s", r"^(?!.*--dry-run).*\bdelete\b.*(?:\s--all\b|--all-namespaces|\s-A\b)", "cloud", DENY,
     "it deletes everything of a kind"),
    ("kubectl oc k k3s", r"^(?!.*--dry-run).*\bdelete (?:\S+ )*?(?:ns|namespaces?|projects?)[ /]", "cloud", DENY,
     "it deletes a namespace with all that is in it"),
    ("kubectl oc k k3s", r"^(?!.*--dry-run).*\bdelete (?:\S+ )*?(?:pvc?|persistentvolume(?:claim)?s?|crds?|sc|no|"
     r"nodes?|customresourcedefinitions?|clusterrole\w*)[ /]", "cloud", ASK, "data or other resources go with it"),
    ("kubectl oc k k3s", r"\bdrain\b.*--(?:delete-emptydir-data|delete-local-data|force)", "cloud", ASK,
     "it empties a node"),
    ("kubectl oc k k3s", r"\bscale\b(?=.*--all\b)(?=.*--replicas[= ]0\b)", "cloud", DENY, "it stops everything"),
    ("helm", r"^(?!.*--dry-run)(?:uninstall|delete|del)\b", "cloud", ASK, "it removes a release from the cluster"),
    ("helmfile", r"\bdestroy\b", "cloud", DENY, "it removes every release from the cluster"),
    ("eksctl", r"\bdelete cluster\b", "cloud", DENY, "it deletes a cluster"),
    ("ansible", r"\brm[ \u2423]-\w*r|state=absent", "cloud", ASK, "it deletes files on many machines"),
    ("vagrant", r"\bdestroy\b.*(?:-f|--force)", "cloud", ASK, "it destroys virtual machines"),
    # infrastructure
    ("terraform tofu terragrunt cdktf",
     r"^(?!(?:\S+ )?plan\b)(?=.*(?:(?:^|\s)destroy\b|-destroy\b))(?=.*-auto-approve)", "cloud", DENY,
     "it destroys everything that this configuration has made"),
    ("terraform tofu terragrunt cdktf", r"^(?!(?:\S+ )?plan\b).*(?:(?:^|\s)destroy\b|-destroy\b)", "cloud", ASK,
     "it destroys everything that this configuration has made"),
    ("terraform tofu terragrunt", r"\bstate rm\b|\bworkspace delete\b|\bforce-unlock\b", "cloud", ASK,
     "what it forgets it can no longer manage"),
    ("pulumi cdk", r"(?=.*(?:(?:^|\s)destroy\b|\bstack rm\b))(?=.*(?:--yes|-y\b|--force|-f\b))", "cloud", DENY,
     "it destroys everything of a stack"),
    ("pulumi cdk", r"(?:^|\s)destroy\b|\bstack rm\b", "cloud", ASK, "it destroys everything of a stack"),
    ("serverless sls", r"(?:^|\s)remove\b", "cloud", ASK, "it removes a deployed service"),
    ("sam", r"(?:^|\s)delete\b", "cloud", ASK, "it removes a deployed service"),
    # containers
    ("docker podman nerdctl", r"^(?:\S+ )*?system prune\b.*--volumes", "cloud", DENY,
     "it deletes every volume that no container uses now"),
    ("docker podman nerdctl", r"^(?:\S+ )*?system reset\b", "cloud", DENY,
     "it deletes every container, image and volume"),
    ("docker podman nerdctl", r"^(?:\S+ )*?volume prune\b", "cloud", ASK, "it deletes volumes, and the data in them"),
    ("docker podman nerdctl", "^(?:\\S+ )*?volume rm\\b.* \ue000", "cloud", ASK, "it deletes volumes it does not name"),
    ("docker podman nerdctl", "^(?:container )?(?:rm\\b.*(?:-\\w*f|--force)|kill\\b).* \ue000", "cloud", ASK,
     "it removes containers that are not named"),
    ("docker podman nerdctl", r"^run\b(?=.*--privileged)(?=.*(?:-v|--volume)[= ]?/:/)", "permissions", DENY,
     "the container has the whole machine and may do anything"),
    ("docker podman nerdctl", r"^(?:swarm leave|stack rm)\b", "cloud", ASK, "it takes services away"),
    # clouds
    ("aws", r"\bs3 rb\b.*--force|\brds delete-db-(?:instance|cluster)\b.*--skip-final|\borganizations (?:delete|close)",
     "cloud", DENY, _FOR_GOOD),
    ("aws", r"\bs3 rm\b(?!.*--dryrun)(?=.*--recursive)(?=.*s3://[^\s/]+/?(?:\s|$))", "cloud", DENY, _FOR_GOOD),
    ("aws", r"\bs3 (?:rm\b(?!.*--dryrun).*--recursive|rb\b|sync\b(?!.*--dryrun).*--delete)", "cloud", ASK, _FOR_GOOD),
    ("aws", r"(?:^|\s)(?:terminate-instances|delete-(?!message|tags?\b|log)[a-z-]+|schedule-key-deletion|purge-queue|"
     r"deregister-image)\b(?!.*--dry-run)", "cloud", ASK, _OF_ACCOUNT),
    ("gsutil s3cmd mc rclone b2 s5cmd", r"(?:^|\s)(?:rb|purge)\b", "cloud", DENY, "it deletes a bucket"),
    ("gsutil s3cmd mc s5cmd", r"(?:^|\s)(?:rm|del)\b(?=.*(?:\s-\w*[rR]|--recursive|--force))(?=.*(?:gs|s3)://[^\s/]+/?"
     r"[*\ue004]*(?:\s|$))", "cloud", DENY, _FOR_GOOD),
    ("gsutil s3cmd mc s5cmd", r"(?:^|\s)(?:rm|del)\b.*(?:\s-\w*[rR]|--recursive|--force)", "cloud", ASK, _FOR_GOOD),
    ("gsutil", r"\brsync\b.*\s-\w*d\b", "cloud", ASK, "it deletes what the other side does not have"),
    ("rclone", r"^(?!.*--dry-run)(?:delete|deletefile|rmdirs|sync)\b", "cloud", ASK, _FOR_GOOD),
    ("gcloud", r"\bprojects delete\b", "cloud", DENY, "it deletes a whole project"),
    ("az", r"\bgroup delete\b", "cloud", DENY, "it deletes a group with all that is in it"),
    ("heroku fly flyctl", r"\bapps?[: ]destroy\b|\bdestroy\b|\bpg:reset\b", "cloud", DENY,
     "it deletes an application and its data"),
    ("firebase", r"\b(?:firestore:delete|database:remove|projects:delete)\b", "cloud", DENY, "it deletes the database"),
    ("supabase", r"\bdb reset\b.*--linked|\bprojects delete\b", "cloud", DENY, "it empties the database"),
    ("vercel netlify", r"(?:^|\s)(?:remove|rm|sites:delete)\b", "cloud", ASK, "it removes a deployment"),
    ("gcloud az doctl hcloud linode-cli ibmcloud oci", r"(?=.*(?:^|\s)(?:delete|destroy|terminate|purge)\b)"
     r"(?=.*(?:cluster|database|sql|project|volume|disk))(?=.*(?:--quiet|-q\b|--yes|-y\b|--force|-f\b))", "cloud", DENY,
     _FOR_GOOD),
    ("gcloud az doctl hcloud linode-cli ibmcloud oci wrangler railway", r"(?:^|\s)(?:delete|destroy|terminate|purge)"
     r"(?:\s|$)", "cloud", ASK, _OF_ACCOUNT),
    # traces
    ("history", r"(?:^|\s)-[a-z]*[cd]", "traces", DENY, "it wipes the shell's history"),
    ("unset", r"\bHISTFILE\b", "traces", DENY, "the shell writes no history then"),
    ("export declare typeset", r"HIST(?:FILE=(?:/dev/null)?(?=\s|$)|SIZE=0|FILESIZE=0)", "traces", DENY,
     "the shell writes no history then"),
    ("journalctl", r"--vacuum-(?:time[= ][01]?[smh]|size[= ]\d{1,2}[KM]?\b|files[= ][01]\b)", "traces", DENY,
     "it deletes the system's journal"),
    ("auditctl", r"(?:^|\s)(?:-D|-e ?0)", "traces", DENY, "it switches the audit off"),
    ("wevtutil", r"^(?:cl|clear-log)\b", "traces", DENY, "it deletes the system's log"),
)  # fmt: skip

_BY_PROGRAM: dict[str, list[tuple[str, str, str, str]]] = {}
for _programs, *_row in ROWS:
    for _name in _programs.split():
        _BY_PROGRAM.setdefault(_name, []).append((_row[0], _row[1], _row[2], _row[3]))


def programs() -> list[str]:
    return list(_BY_PROGRAM)


def joined(words: list[str]) -> str:
    """Words as one text in which every blank stands between two of them."""
    return " ".join("".join(BLANK if char.isspace() else char for char in word) for word in words)


def dangers(command: Command) -> Iterator[tuple[str, str, str]]:
    """The danger that the words of a command tell, if there is one: rule, decision, why."""
    rows = _BY_PROGRAM.get(command.name, ())
    if not rows or "--help" in command.words or "--version" in command.words:
        return
    said = joined(command.words[1:])
    if command.stdin:
        said += " <<< " + " ".join(command.stdin.split())
    for expression, rule, decision, why in rows:
        if command.contained and rule not in REACHING_OUT:
            continue
        if re.search(expression.replace("DEVICE", DEVICE), said):
            if rule != "database" or not _is_for_tests(command):
                yield rule, decision, why
            return


def _is_for_tests(command: Command) -> bool:
    """Whether a database is a test's, by its name or by the environment."""
    return bool(re.search(FOR_TESTS, command.words[-1]) or re.search(r"\b[A-Z]+_ENV=test", command.shown))
