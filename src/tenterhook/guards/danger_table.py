"""Dangers that are apparent from the words of one program: a table of programs, expressions, rules and reasons.

An expression is searched in the arguments, joined by blanks; a blank inside an argument is replaced with another
character, so that a text cannot look like options. `DEVICE` stands for a disk. The arguments are followed by ` <<< `
and what is piped in. An expression that begins with `| ` is searched in the whole pipeline up to the program.
The first row that matches counts.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from ..shell.programs import SHELLS, program
from ..shell.syntax import STAR
from .calls import ASK, DENY, by_program

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Iterator

    from ..shell.reader import ShellCommand

LONGEST = 5_000  # characters of a command's arguments that are searched
BLANK = "\u2423"
DEVICE = (
    r"/dev/(?:sd[a-zA-Z]+\d*|hd[a-z]\d*|vd[a-z]+\d*|xvd[a-z]+\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+)?|md\d+|dm-\d+"
    r"|r?(?:ada|da|nda|nvd|vtbd|mmcsd|wd|sd)\d+(?:[ps]\d+)?[a-p]?"  # of the BSDs
    r"|r?disk\d+(?:s\d+)?|sr\d+|nbd\d+|zd\d+|mapper/[^\s/]+|disk/\S+|mtd\w+|ubi\w+|mem|kmem|port|nvram|root"
    "|[a-z0-9]*[\ue004-\ue006]\\S*)"  # a pattern, as in /dev/sd[b-d]
)
REACHING_OUT = ("publish",)  # rules that also apply inside a container

GUARDS = (  # programs that protect a machine, or log what happens on it
    r"(?:ufw|firewalld|nftables|ip6?tables|apparmor|auditd|fail2ban|selinux|clam(?:d|av\S*)|falcon\S*|r?syslog(?:d|-ng)?"
    r"|systemd-journald|crowdstrike\S*|osquery\S*|wazuh\S*|ossec\S*|sysmon|cbdaemon|cbagentd|carbonblack\S*|mdatp"
    r"|alf|littlesnitch\S*|opendns\S*|umbrella\S*|lulu|blockblock|santa\S*|pf|sentinel(?:one|ctl|d)\S*|ds_agent|esets|sophos\S*|sav-protect|mfe\S*|cylance\S*|aide|tripwire|rkhunter|falco|lkrg"
    r"|filebeat|auditbeat|packetbeat|splunk\S*|WinDefend|Windows-Defender|EventLog|MpsSvc|wscsvc|Sense)"
)
NO_HISTORY = r"\bHIST(?:FILE=(?:/dev/null)?(?=\s|$)|SIZE=0\b|FILESIZE=0\b|IGNORE=[*\ue004])"
_ROOTS = "it gives an account root's rights"
_PROTECTS = "that program protects this machine"
_SERVICE_ENDS = "it stops a service of this machine"
_OVERWRITES = "it overwrites the disk"
_BY_ITSELF = "it makes something run automatically"
_TRUSTS = "it changes which certificates this machine trusts"
_UNCOMMITTED = "uncommitted changes are lost"
_PURGES = "it removes a package with its configuration"
_FIREWALL = "it changes the firewall"
_FIREWALL_OFF = "it switches the firewall off"
_NO_HISTORY = "it keeps the shell from recording its history"
_OTHERS_GET_IT = "it publishes something that others may use at once"
_ENDS_ALL = "it ends everything that runs on this machine"
_OFF_NETWORK = "it cuts this machine off the network"
_STARTS = "it changes how the machine starts"
_FOR_OTHERS = "it mines cryptocurrency on this machine"
_ATTACKS = "it attacks another machine"
_NO_FIREWALL = "it removes the firewall's rules"
# Processes and packages that a machine needs.
_NEEDED = (
    r"(?:init|systemd|launchd|sshd|dbus-daemon|kernel_task|loginwindow|windowserver|gdm|xorg|networkmanager|crond?"
    r"|dockerd|containerd)"
)
_ESSENTIAL = (
    r"(?:libc6|libc-bin|glibc\S*|systemd|bash|dash|coreutils|util-linux|dpkg|apt|rpm|dnf|yum|pacman|sudo|linux-image\S*"
    r"|linux-headers-generic|linux|kernel\S*|openssh-server|grub\S*|python3|python3-minimal|init|login|passwd|mount|tar"
    r"|gzip|e2fsprogs|network-manager|networkmanager|base-files|libssl\S*|openssl|perl-base|filesystem|ubuntu-desktop"
    r"|gnome-shell|xorg)(?=\s|$)"
)
_REMOVES_PACKAGES = (
    r"^(?:-\S+ )*(?:remove|purge|erase|autoremove|uninstall|rm|del|-[eRrPC]\w*|--(?:erase|remove|purge|unmerge))\b"
)
_KILLS = r"^(?!-0 |.*(?:^|\s)-[lL](?=\s|$))"
# A mode with the setuid bit, or a symbolic one that sets setuid or setgid.
SETS_OWNER = r"(?:0?[4-7][0-7]{3}|(?:\S*,)?[ugoa]*[+=][rwxXt]*s[rwxXst]*(?:,\S*)?)"
_SHELLS = " ".join(sorted(SHELLS))
_NETCATS = "nc ncat netcat nc.traditional nc.openbsd"
_FROM_SHELL = rf"| (?:^|\| )(?:{'|'.join(sorted(SHELLS))}) .*\| "
_FILE_SYSTEMS = "ext2 ext3 ext4 xfs btrfs vfat fat ntfs f2fs exfat minix cramfs msdos reiserfs".split()

ROWS = (
    # disks
    (" ".join(f"mkfs.{kind}" for kind in _FILE_SYSTEMS), "DEVICE", "disk", DENY, "it creates a new file system there"),
    ("mkfs mke2fs mkswap mkdosfs newfs newfs_hfs newfs_apfs newfs_exfat newfs_msdos newfs_udf", "DEVICE", "disk", DENY,
     "it creates a new file system there"),
    ("wipefs", r"^(?!.*(?:^|\s)-\w*n)(?=.*DEVICE)(?=.*(?:^|\s)(?:-\w*[ao]|--all|--offset))", "disk", DENY,
     "it erases what is there"),
    ("dc3dd dcfldd", r"\b(?:wipe|of|hof)=DEVICE", "disk", DENY, _OVERWRITES),
    ("asr", r"--erase\b", "disk", DENY, "it erases a disk"),
    ("gio", r"^trash\b.*--empty\b", "delete-outside", ASK, "the content of the trash is lost"),
    ("trash-empty", r"^(?!.*--dry-run)", "delete-outside", ASK, "the content of the trash is lost"),
    ("npx bunx pnpx", r"^(?:-\S+ )*https?://", "run-download", DENY, "it runs code from the network"),
    ("blkdiscard dban nwipe scrub", "DEVICE", "disk", DENY, "it erases what is there"),
    ("sgdisk gdisk", r"^(?!-[pivV]|--(?:print|info|verify|backup)).*DEVICE", "disk", DENY, "it changes the partitions"),
    ("sfdisk", r"^(?!-[dlJnVs]|--(?:dump|list|json|no-act|verify)).*DEVICE", "disk", DENY, "it changes the partitions"),
    ("fdisk cfdisk", r"^(?!.*-l\b).*DEVICE.*<<<", "disk", DENY, "it changes the partitions"),
    ("gpart", r"^(?!show|list|status|backup|commit|undo)\w", "disk", DENY, "it changes the partitions"),
    ("qemu-img bmaptool rpi-imager balena fsarchiver",
     r"^(?:convert|copy|restfs|local flash|--cli)\b.*DEVICE(?: -\S+)*$", "disk", DENY, _OVERWRITES),
    ("ntfsclone partclone.restore " + " ".join(f"partclone.{kind}" for kind in _FILE_SYSTEMS),
     r"(?:-[oO]|--output|--overwrite)[= ]?DEVICE", "disk", DENY, _OVERWRITES),
    ("ddrescue dd_rescue xfs_copy", r"^(?:-\S+ )*[^-\s]\S* DEVICE", "disk", DENY, _OVERWRITES),
    ("sg_format sg_sanitize", r"(?:^|\s)(?:-\w*[FBCO]|--(?:format|block|crypto|overwrite))\b.*/dev/", "disk", DENY,
     "it erases the disk"),
    ("parted", r"DEVICE.*\b(?:mklabel|mktable|rm|mkpart|resizepart)\b", "disk", DENY, "it changes the partitions"),
    ("badblocks", r"^(?=.*DEVICE)(?=.*(?:^|\s)-[a-z]*[wn])", "disk", DENY, _OVERWRITES),
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
    # files
    ("rm", r"(?:^|\s)--no-preserve-root\b", "delete-system", DENY,
     "--no-preserve-root is there to delete the root of the file system"),
    # accounts and rights
    ("install", rf"(?:^|\s)(?:-\w*m ?|--mode[= ]){SETS_OWNER}(?=\s|$)", "permissions", DENY,
     "it then runs with its owner's rights"),
    ("setcap",
     r"(?i)cap_(?:set[ug]id|setfcap|dac_\w+|sys_(?:admin|ptrace|module|rawio)|chown|fowner)|(?:^|\s)(?:all)?[+=]",
     "permissions", DENY, "it then runs with root's rights"),
    ("visudo vipw vigr", r"^(?!.*-c)", "system-files", DENY, "it changes the rights of accounts on this machine"),
    ("userdel deluser", r"(?:^|\s)[^-\s]", "system-files", DENY, "it deletes an account"),
    ("groupadd groupmod chage addgroup delgroup", r"^(?!-l\b|--list).*\w", "system-files", ASK, "it changes accounts"),
    ("passwd", r"(?:^|\s)(?:-[lexi]|--lock|--expire)\b", "system-files", ASK, "it changes an account"),
    ("tccutil", r"^reset\b", "security", ASK, "programs lose the rights that they were given"),
    ("sqlite3", r"TCC\.db\b.*(?i:insert|update|delete|replace)", "security", DENY, "it changes what programs may do"),
    ("ssh-copy-id", r"^(?!.*(?:^|\s)-n\b).*\w", "persistence", ASK, "it lets a key log in there from then on"),
    ("groupdel", r"\w", "system-files", ASK, "it deletes a group"),
    ("useradd usermod adduser", r"(?:-u|--uid)[= ]?0\b", "system-files", DENY, "it creates another root account"),
    ("usermod gpasswd groupmems", r"\b(?:sudo|wheel|root|admin)\b", "system-files", DENY, _ROOTS),
    ("nsenter", r"(?:^|\s)(?:-\w*t|--target|-\w*a|--all)\b", "permissions", ASK,
     "it runs with the rights of another process"),
    ("dscl", r"(?i)(?:^|\s)-?(?:append|merge|create) /Groups/(?:admin|wheel)\b", "system-files", DENY, _ROOTS),
    ("dseditgroup", r"^(?=.*-a )(?=.*\b(?:admin|wheel)$)", "system-files", DENY, _ROOTS),
    ("sysadminctl", r"(?i)-addUser\b.*-admin\b", "system-files", DENY, _ROOTS),
    ("sysadminctl", r"(?i)-deleteUser\b", "system-files", DENY, "it deletes an account"),
    ("sysadminctl", r"(?i)-(?:addUser|resetPasswordFor|guestAccount on)\b", "system-files", ASK, "it changes accounts"),
    ("pwpolicy", r"-disableuser\b", "system-files", ASK, "it changes accounts"),
    ("profiles", r"^(?:remove\b|-[RD]\b)", "system-files", ASK, "it removes settings of this machine's management"),
    ("dsenableroot", r"^(?!-d\b)", "system-files", DENY, _ROOTS),
    ("pw", r"^user ?add\b.*\s-[gG] ?(?:0|wheel)\b", "system-files", DENY, _ROOTS),
    ("pw", r"^user ?del\b", "system-files", DENY, "it deletes an account"),
    ("pw", r"^(?:user|group)(?:add|mod|del)\b|^(?:user|group) (?:add|mod|del)\b", "system-files", ASK,
     "it changes accounts"),
    ("adduser", r"^\S+ (?:sudo|wheel|root|admin)$", "system-files", DENY, _ROOTS),
    ("passwd", r"(?:^|\s)(?:-[du]|--delete|--unlock)\b|\broot\b", "system-files", DENY,
     "it removes or replaces a password"),
    ("chpasswd", "", "system-files", DENY, "it replaces passwords"),
    ("dscl", r"(?i)(?:^|\s)-?create /Users/", "system-files", ASK, "it creates an account"),
    ("dscl", r"(?i)(?:^|\s)-?delete /Users", "system-files", DENY, "it deletes an account"),
    # processes and services
    ("kill", rf"{_KILLS}(?:-1$|.*\s-1(?=\s|$))", "kill", ASK, "-1 means every process"),
    ("kill", rf"{_KILLS}(?:.*(?<!-[sn])\s)?1(?=\s|$)", "kill", ASK, "process 1 is the system itself"),
    ("killall5", "", "kill", ASK, "it ends every process"),
    ("pkill", rf"(?:^|\s)[.*^${STAR}]+(?=\s|$)", "kill", ASK, "it ends every process"),
    ("pkill killall skill slay", r"^(?:-\S+ )*(?:-[uU]|--(?:user|euid|uid))[= ]?\S+(?: -\S+)*$", "kill", ASK,
     "it ends every process of an account"),
    ("pkill killall skill slay", rf"(?:^|\s)\^?(?:\S*/)?{GUARDS}\$?(?=\s|$)", "security", DENY, _PROTECTS),
    ("pkill killall skill slay", rf"(?i)(?:^|\s)\^?(?:\S*/)?{_NEEDED}\$?(?=\s|$)", "kill", ASK,
     "the machine needs that process"),
    ("shutdown reboot halt poweroff pm-suspend pm-hibernate",
     r"^(?!.*(?:^|\s)(?:-c|-w|--show|--wtmp-only)(?:\s|$))", "shut-down", ASK, _ENDS_ALL),
    ("init telinit", r"^[016sS]$", "shut-down", ASK, _ENDS_ALL),
    ("busctl gdbus dbus-send qdbus", r"(?:login1|ConsoleKit)\b.*\b(?:Reboot|PowerOff|Halt|Hibernate|Restart|Stop)\b",
     "shut-down", ASK, _ENDS_ALL),
    ("kexec", r"(?:^|\s)(?:-e|--exec|-f|--force)\b", "shut-down", ASK, "it starts another kernel"),
    ("loginctl", r"(?:^|\s)(?:terminate-user|terminate-session|kill-user|kill-session|reboot|poweroff)\b",
     "shut-down", ASK,
     "it ends a user's session"),
    ("systemctl", rf"(?:^|\s)(?:stop|disable|mask|kill)\b.*\s{GUARDS}(?:\.\w+)?(?=\s|$)", "security", DENY, _PROTECTS),
    ("systemctl",
     r"^(?!.*--when[= ]cancel)(?:.*\s)?(?:reboot|poweroff|halt|kexec|suspend\S*|hibernate|hybrid-sleep|rescue"
     r"|emergency|soft-reboot"
     r"|isolate|default)(?=\s|$)|set-default (?:rescue|emergency|poweroff|reboot|halt)", "shut-down", ASK, _ENDS_ALL),
    ("systemctl", r"(?:^|\s)(?:stop|disable|mask|kill)(?=\s|$)(?!.*--user|.*--signal[= ]help)", "services", ASK,
     _SERVICE_ENDS),
    ("systemctl", r"(?:^|\s)(?:enable|reenable|link|edit)(?=\s|$)", "persistence", ASK, _BY_ITSELF),
    ("loginctl", r"^enable-linger\b", "persistence", ASK, _BY_ITSELF),
    ("npm pnpm yarn", r"^(?:config )?set script-shell[ =]", "persistence", ASK,
     "it runs with every script of every project"),
    ("systemd-run", r"(?:^|\s)--(?:on-\w+|timer-property)", "persistence", ASK, _BY_ITSELF),
    ("service rc-service", rf"^{GUARDS} stop", "security", DENY, _PROTECTS),
    ("service rc-service", r"^\S+ (?:stop|disable)\b", "services", ASK, _SERVICE_ENDS),
    ("chkconfig rc-update update-rc.d", rf"^(?=.*\b{GUARDS}\b)(?=.*\b(?:off|del(?:ete)?|remove|disable)\b)",
     "security", DENY,
     _PROTECTS),
    ("chkconfig rc-update update-rc.d", r"--add\b|^add\b|\b(?:defaults|enable)\b", "persistence", ASK, _BY_ITSELF),
    ("chkconfig rc-update update-rc.d", r"\b(?:off|del(?:ete)?|remove|disable)\b", "services", ASK, _SERVICE_ENDS),
    ("sv s6-svc", r"^(?:stop|down|exit|shutdown|-d|-x) ", "services", ASK, _SERVICE_ENDS),
    ("supervisorctl", r"(?:^|\s)(?:stop|shutdown|remove)\b", "services", ASK, _SERVICE_ENDS),
    ("pm2", r"^(?:delete|del|stop) all\b|^kill\b", "services", ASK, _SERVICE_ENDS),
    ("pm2", r"^startup\b", "persistence", ASK, _BY_ITSELF),
    ("nginx", r"(?:^|\s)-s ?(?:stop|quit)\b", "services", ASK, _SERVICE_ENDS),
    ("apachectl apache2ctl httpd", r"(?:^|\s)(?:graceful-)?stop$", "services", ASK, _SERVICE_ENDS),
    ("haproxy", r"(?:^|\s)-st\b", "services", ASK, _SERVICE_ENDS),
    ("pg_ctl pg_ctlcluster", r"(?:^|\s)stop\b", "services", ASK, _SERVICE_ENDS),
    ("socat nc ncat", r"^(?=.*\.sock\b).*<<< (?:shutdown|disable|clear|del|set server)\b", "services", ASK,
     _SERVICE_ENDS),
    ("brew", r"^services (?:stop|kill|cleanup)\b", "services", ASK, _SERVICE_ENDS),
    ("launchctl", rf"(?i)^(?:unload|bootout|disable|remove|kill)\b.*[./]{GUARDS}", "security", DENY, _PROTECTS),
    ("launchctl", r"^(?:load|bootstrap|submit|enable)\b", "persistence", ASK, _BY_ITSELF),
    ("launchctl", r"^reboot\b", "shut-down", ASK, _ENDS_ALL),
    ("launchctl", r"^(?:unload|bootout|disable|remove)\b", "services", ASK, _SERVICE_ENDS),
    ("ip", r"\blink set (?:dev )?(?!lo\b)\S+ down|\broute (?:flush|del default)|\baddr flush", "shut-down", ASK,
     _OFF_NETWORK),
    ("ifconfig", r"^(?!lo)\w+ down", "shut-down", ASK, _OFF_NETWORK),
    ("route", r"(?:^|\s)(?:del|delete) (?:default|-net (?:default|0\.0\.0\.0))\b|^flush\b", "shut-down", ASK,
     _OFF_NETWORK),
    ("nmcli",
     r"\bnetworking off|\bradio all off|^(?:c|con|connection) (?:down|delete)\b|^(?:d|dev|device) disconnect\b",
     "shut-down", ASK, _OFF_NETWORK),
    ("crontab", r"(?:^|\s)-[^\Wu]*r", "persistence", ASK, "it deletes every scheduled job"),
    ("crontab", r"(?:^|\s)-[^\Wu]*e", "persistence", ASK, "it edits scheduled jobs"),
    ("crontab", r"^(?:-u ?\S+ )?(?!-\w)\S|^ <<<", "persistence", ASK, "it replaces every scheduled job"),
    ("at batch", r"^(?!.*(?:^|\s)-(?:l|c|d|r|V)\b)", "persistence", ASK, _BY_ITSELF),
    ("insmod", r"\w", "system-files", ASK, "it loads code into the kernel"),
    ("modprobe", r"^(?!.*(?:^|\s)(?:-[ncDVR]|--(?:dry-run|show\S*|resolve-alias|version|showconfig))\b).*\w",
     "system-files",
     ASK, "it loads or removes kernel code"),
    ("rmmod kextunload kextload kmutil", rf"(?:^|[\s/.]){GUARDS}\b", "security", DENY, _PROTECTS),
    ("rmmod kextload kextunload kldload kldunload", r"\w", "system-files", ASK, "it loads or removes kernel code"),
    ("date", r"(?:^|\s)(?:-s|--set)\b", "system-files", ASK, "it changes the machine's clock"),
    ("hwclock", r"(?:^|\s)--set\b", "system-files", ASK, "it changes the machine's clock"),
    ("timedatectl", r"^set-(?:time|ntp (?:0|no|false))\b", "system-files", ASK, "it changes the machine's clock"),
    ("hostnamectl", r"^(?:set-hostname|hostname) \S", "system-files", ASK, "it renames the machine"),
    ("nvram", r"(?:^|\s)-[cd]\b|^[^-\s]\S*=", "system-files", ASK, "it changes how the machine starts"),
    ("grubby", r"\b(?:selinux|apparmor|audit|enforcing)=0\b", "security", DENY,
     "it disables a protection of the kernel"),
    ("update-grub update-grub2 grubby", r"^(?!(?:--info|--default-\w+|status|list)\b)",
     "system-files", ASK,
     _STARTS),
    ("grub-mkconfig grub2-mkconfig", r"(?:^|\s)(?:-o|--output)\b", "system-files", ASK, _STARTS),
    ("bootctl", r"(?:^|\s)(?:install|update|remove|set-\w+)\b", "system-files", ASK, _STARTS),
    ("bless", r"--(?:setBoot|mount)", "system-files", ASK, _STARTS),
    ("pmset", r"^(?!-g\b|displaysleepnow).*\S", "system-files", ASK, "it changes when the machine sleeps"),
    ("scutil", r"^--set\b", "system-files", ASK, "it renames the machine"),
    ("systemsetup", r"^-set", "system-files", ASK, "it changes a setting of the system"),
    ("swapoff", r"(?:^|\s)-a\b", "system-files", ASK, "programs may run out of memory"),
    ("umount", r"(?:^|\s)-\w*[alf]\w*(?=\s|$)|(?:^|\s)/$", "system-files", ASK, "files in use become unavailable"),
    ("mount", r"^(?=.*(?:--r?bind|--move|\bbind\b|\boverlay\b)).*\s/(?:etc|usr|s?bin|lib\w*|boot)(?:/\S*)?$",
     "system-files", ASK, "it replaces files of the system"),
    ("mount", r"\bremount\b", "system-files", ASK, "it changes what may be written"),
    ("sysctl", r"\bkernel\.core_pattern ?=.*\|", "persistence", ASK, "the kernel will run that program"),
    ("sysctl", r"\bnet\.ipv[46]\.\S*forward\w* ?=", "system-files", ASK, "it changes the kernel's settings"),
    ("update-alternatives", r"--(?:set|remove|install)\b", "system-files", ASK,
     "that name will run another program"),
    ("networksetup", r"^-set.* off$", "shut-down", ASK, _OFF_NETWORK),
    ("chsh", r"(?:-s|--shell)[= ]\S+ [^-\s]", "system-files", DENY, "it gives an account another shell"),
    ("chsh", r"(?:-s|--shell)[= ](?:[.~]|/(?!(?:usr|s?bin|opt|run|nix|etc)/))", "persistence", ASK, _BY_ITSELF),
    ("usermod", r"(?:-p|--password)\b", "system-files", DENY, "it replaces a password"),
    ("useradd adduser", r"(?:-g|--gid)[= ]?0\b|-o\b|(?:-[aG]+|--groups)[= ]?\S*(?:sudo|wheel|root|admin)",
     "system-files",
     DENY, "it creates an account with root's rights"),
    ("usermod", r"(?:^|\s)(?:-[LUels]|--(?:lock|unlock|expiredate|login|shell))\b", "system-files", ASK,
     "it changes an account"),
    ("useradd adduser newusers", r"(?:^|\s)[^-\s]", "system-files", ASK, "it creates an account"),
    ("winget choco scoop flatpak snap apk port mas nix-env pkg pkgutil",
     r"^(?:uninstall|remove|del|purge|--uninstall|-e|delete|--forget)\b"
     r"(?!.*(?:--simulate|--dry-run|-s\b|--noop|--what-if))", "packages", ASK, "it removes a program"),
    ("gsettings dconf", r"^(?:reset-recursively|reset -f)\b", "system-files", ASK,
     "it deletes settings of the desktop"),
    ("defaults", r"^(?:delete|remove) (?:-g|NSGlobalDomain|com\.apple\.\S+)$", "system-files", ASK,
     "it deletes settings of the desktop"),
    ("passwd", r"^[^-\s]\S*$", "system-files", ASK, "it replaces a password"),
    ("update-ca-certificates update-ca-trust", "", "security", ASK, _TRUSTS),
    ("security", r"\badd-trusted-cert\b", "security", ASK, _TRUSTS),
    ("trust", r"^anchor (?!--remove)", "security", ASK, _TRUSTS),
    ("certutil", r"(?i)-addstore\b|(?=.*-A\b)(?=.*-t\b)", "security", ASK, _TRUSTS),
    ("mdadm", r"--(?:fail|remove|stop)\b", "disk", ASK, "it takes a disk out of its array"),
    ("debugfs", r"(?:^|\s)-w\b.*DEVICE", "disk", DENY, "it writes to the disk below the file system"),
    ("grub-install grub2-install", "DEVICE", "disk", ASK, "it changes how the machine starts"),
    ("efibootmgr", r"(?:^|\s)(?:-\w*B|--delete-bootnum)\b", "disk", ASK, "it changes how the machine starts"),
    ("tmutil", r"^(?:delete\S*|disable|removedestination)\b", "disk", DENY, "it deletes backups, or ends them"),
    ("p4 fossil bzr brz", r"^revert\b(?!.*\s(?:-n|--dry-run)\b)", "discard-work", ASK, _UNCOMMITTED),
    ("svn", r"^(?:delete|del|remove|rm)\b.*\s[\w+]+://", "publish", ASK, "it deletes what others have"),
    ("hg sl", r"^rollback\b", "discard-work", ASK, "it takes the last transaction back"),
    ("hg sl", r"^(?:update|up|checkout|co|goto)\b.*\s(?:-\w*C|--clean)\b|^(?:purge|clean|strip)\b|^revert\b.*--all",
     "discard-work", ASK, _UNCOMMITTED),
    ("svn", r"^(?:revert\b.*(?:-R|--recursive)|cleanup\b.*--remove)", "discard-work", ASK, _UNCOMMITTED),
    ("jj", r"^(?:abandon|op(?:eration)? (?:restore|abandon))\b|^restore$", "discard-work", ASK, "changes are dropped"),
    ("jj", r"^git push\b.*--deleted\b", "publish", ASK, "it deletes branches that others have"),
    ("java", r"-jar (?:\S*/)?bfg[^/\s]*\.jar\b", "discard-work", ASK, "it rewrites the whole history"),
    ("git-filter-repo bfg", r"^(?!.*--analyze\b).*\w", "discard-work", ASK, "it rewrites the whole history"),
    ("apt apt-get aptitude dpkg rpm dnf yum pacman apk",
     rf"^(?=.*(?:^|\s)(?:remove|purge|erase|uninstall|del|-\w*[rPRe]\w*)\b)"
     rf"(?=.*\s{GUARDS}(?:\s|$))", "security", DENY, _PROTECTS),
    ("apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk emerge", rf"{_REMOVES_PACKAGES}.*\s{_ESSENTIAL}",
     "packages", DENY, "the system needs that package"),
    ("wajig apt apt-get aptitude",
     r"^(?!.*(?:^|\s)(?:-s|--simulate|--dry-run|--just-print|--no-act)\b)(?:(?:-\S+ )*purge\b"
     r"|(?:\S+ )*--purge\b)", "packages", ASK, _PURGES),
    ("dpkg", r"(?:^|\s)(?:-P|--purge)\b(?!.*--(?:dry-run|simulate|no-act))", "packages", ASK, _PURGES),
    ("dnf yum", r"^(?:-\S+ )*history (?:undo|rollback)\b", "packages", ASK,
     "it removes or replaces many packages at once"),
    ("pacman", r"^-R\w*n", "packages", ASK, _PURGES),
    ("snap", r"^remove\b.*--purge", "packages", ASK, _PURGES),
    ("brew", r"^(?:uninstall|remove|rm)\b.*--(?:zap|ignore-dependencies)", "packages", ASK, _PURGES),
    ("apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk emerge",
     _REMOVES_PACKAGES + "(?=.*(?:[\ue004-\ue006]|\\s[*](?:\\s|$)))", "packages", ASK,
     "it removes more packages than are named"),
    # protections
    ("iptables ip6tables", r"(?:^|\s)(?:-F|--flush|-X)\b|(?:-P|--policy) \w+ ACCEPT", "security", DENY, _NO_FIREWALL),
    ("iptables ip6tables", r"(?:-P|--policy) (?:INPUT|OUTPUT) DROP", "security", DENY, "it blocks all connections"),
    ("nft", r"\bflush ruleset|\bdelete table", "security", DENY, _NO_FIREWALL),
    ("ufw", r"\b(?:disable|reset)\b|\bdefault allow incoming|\blogging off", "security", DENY, _FIREWALL_OFF),
    ("iptables ip6tables arptables ebtables", r"(?:^|\s)(?:-[AIDR]|--append|--insert|--delete|--replace)\b",
     "security", ASK,
     _FIREWALL),
    ("nft", r"^(?:add|insert|delete|replace|flush)\b", "security", ASK, _FIREWALL),
    ("ufw", r"(?:^|\s)(?:allow|deny|reject|limit|delete|insert|prepend|route)\b", "security", ASK, _FIREWALL),
    ("socketfilterfw", r"--setglobalstate off|--setblockall off|--setstealthmode off", "security", DENY, _FIREWALL_OFF),
    ("firewall-cmd", r"--panic-on|--set-default-zone=trusted|--remove-service=ssh", "security", DENY,
     "it opens the firewall, or closes it completely"),
    ("firewall-cmd", r"--(?:add|remove|set|delete|new|change)-", "security", ASK, _FIREWALL),
    ("pfctl", r"(?:^|\s)-(?:d|F ?all|F ?rules)", "security", DENY, _FIREWALL_OFF),
    ("pfctl", r"(?:^|\s)-f\b", "security", ASK, _FIREWALL),
    ("esxcli", r"\bfirewall set\b.*\b(?:false|0)\b|\bfirewall unload\b", "security", DENY, _FIREWALL_OFF),
    ("setenforce", r"(?i)^(?:0|permissive)$", "security", DENY, "it switches SELinux off"),
    ("setsebool", r"\w", "security", ASK, "it changes the rules of SELinux"),
    ("csrutil spctl", r"disable", "security", DENY, "it switches a protection of the system off"),
    ("fdesetup", r"\bdisable\b", "security", DENY, "it decrypts the disk"),
    ("xattr", r"(?:^|\s)-\w*r\w*(?=\s).*com\.apple\.quarantine", "security", DENY,
     "it removes the mark of files from the network"),
    ("xattr", r"(?:^|\s)-\w*[dc]\w*(?=\s).*com\.apple\.quarantine|^-\w*c", "security", ASK,
     "it removes the mark of a file from the network"),
    ("mdatp", r"\b(?:disabled?|exclusion .*add|uninstall)\b", "security", DENY, _PROTECTS),
    ("kickstart", r"-activate\b", "security", ASK, "it lets others control this machine"),
    ("systemsetup", r"-set(?:remotelogin|remoteappleevents) on", "security", ASK,
     "it lets others log in to this machine"),
    ("networksetup", r"^-set(?:web|secureweb|socksfirewall|autoproxy)\S* \S", "security", ASK,
     "it redirects network traffic"),
    ("falconctl sentinelctl", r"\b(?:unload|uninstall|disable|stop|unprotect)\b|^-d\b", "security", DENY, _PROTECTS),
    ("aa-teardown aa-disable aa-complain", "", "security", DENY, "it switches AppArmor off"),
    ("mokutil", r"--disable-validation", "security", DENY, "it switches secure boot off"),
    ("sysctl", r"kernel\.(?:randomize_va_space|yama\.ptrace_scope|kptr_restrict|panic) ?=", "security", DENY,
     "it disables a protection of the kernel"),
    ("defaults", r"^write .*com\.apple\.alf", "security", DENY, "it changes the firewall"),
    # what others have
    ("gh glab hub", r"^(?:repo|project) (?:delete|archive)\b", "publish", ASK, "it deletes a repository"),
    ("gh glab hub", r"^(?:release|secret|environment|variable) delete\b", "publish", ASK, "others may use it"),
    ("gh glab", r"^api\b(?=.*(?:-X|--method)[= ]?DELETE)(?=.*\s/?repos/[^/\s]+/[^/\s]+(?=\s|$))", "publish", ASK,
     "it deletes a repository"),
    ("gh glab", r"^api\b.*(?:-X|--method)[= ]?DELETE", "publish", ASK, "it deletes something on the code host"),
    ("gh glab", r"^api\b.*\barchived=true\b", "publish", ASK, "it archives a repository"),
    ("npm yarn pnpm pio", r"^(?:\S+ )?(?:unpublish|deprecate)\b", "publish", ASK,
     "it removes a package that others use"),
    ("cargo gem", r"(?:^|\s)yank\b", "publish", ASK, "it removes a package that others use"),
    ("npm yarn pnpm bun cargo poetry uv hatch flit pdm deno jsr vsce ovsx ern lerna nx changeset gradle gradlew rye "
     "maturin mvnw mvn sbt pio opam elm wapm rebar3 dart flutter mix lein clojure spago ko",
     r"^(?!(?:help|search|view|info|show|run|run-script|exec|install|add|config|test)\b)(?:\S+ ){0,4}?(?:\S*:)?"
     r"(?:hex\.)?(?:publish(?!To\w*Local)(?:-container|All\S*|To\S*|Signed|Plugins?)?|deploy:deploy|release:perform)(?=\s|$)"
     r"(?!.*(?:--dry-run|--help|-n\b|ToMavenLocal))", "publish", ASK, _OTHERS_GET_IT),
    ("mvn mvnw", r"^(?:\S+ )*?deploy(?=\s|$)", "publish", ASK, _OTHERS_GET_IT),
    ("lein", r"^deploy\b", "publish", ASK, _OTHERS_GET_IT),
    ("twine maturin luarocks cabal stack conan conda anaconda snapcraft", r"(?:^|\s)(?:upload|push)\b", "publish", ASK,
     _OTHERS_GET_IT),
    ("gem helm oras crane buildah", r"^push\b", "publish", ASK, _OTHERS_GET_IT),
    ("docker podman nerdctl", r"^(?:(?:image|manifest|compose) (?:\S+ )*?)?push\b|^(?:buildx )?build\b.*\s--push\b",
     "publish", ASK,
     _OTHERS_GET_IT),
    ("npm", r"^dist-tags? (?:add|rm|set)\b", "publish", ASK, _OTHERS_GET_IT),
    ("cargo gem", r"^owner\b.*(?:-a|-r|--add|--remove)\b", "publish", ASK, "it changes who may publish a package"),
    ("fastlane", r"(?:^|\s)(?:deliver|supply|pilot upload|upload_to_\w+|release)\b", "publish", ASK, _OTHERS_GET_IT),
    ("jf jfrog", r"^rt (?:u|upload|del|delete|mv|move|cp|copy|bpr|promote)\b", "publish", ASK, _OTHERS_GET_IT),
    ("balena", r"^(?:push|deploy)\b", "publish", ASK, _OTHERS_GET_IT),
    ("web-ext", r"^sign\b", "publish", ASK, _OTHERS_GET_IT),
    ("ansible-galaxy wasm-pack", r"(?:^|\s)publish\b", "publish", ASK, _OTHERS_GET_IT),
    ("clojure clj", r"(?:^|\s)(?:-[TXA]\S+ )?deploy\b", "publish", ASK, _OTHERS_GET_IT),
    ("npm", r"^(?:owner|author) (?:add|rm)\b|^access (?:set|grant|revoke|public|restricted)\b", "publish", ASK,
     "it changes who may publish a package"),
    ("dotnet nuget", r"^(?:nuget )?(?:push|delete)\b", "publish", ASK, _OTHERS_GET_IT),
    ("pod", r"^trunk (?:push|delete|deprecate)\b", "publish", ASK, _OTHERS_GET_IT),
    ("python", r"^-m (?:twine upload|(?:flit|poetry|hatch) publish)\b|^setup\.py .*\bupload\b", "publish",
     ASK,
     _OTHERS_GET_IT),
    ("semantic-release np release-it cpan-upload", r"^(?!.*(?:--dry-run|-d\b|--preview|--help))", "publish", ASK,
     _OTHERS_GET_IT),
    ("goreleaser", r"^release\b(?!.*(?:--snapshot|--skip))", "publish", ASK, _OTHERS_GET_IT),
    ("rake", r"(?:^|\s)release$", "publish", ASK, _OTHERS_GET_IT),
    ("eas", r"^submit\b", "publish", ASK, _OTHERS_GET_IT),
    ("gh glab", r"^release create\b|^release upload\b.*--clobber|^repo edit\b.*--visibility[= ]public", "publish",
     ASK, _OTHERS_GET_IT),
    # connections
    (_SHELLS, r"| (?:^|\| )(?:(?:ncat|telnet|fetch|dig|drill|host|nslookup) |openssl .*s_client\b).*\| ",
     "remote-shell", DENY, "its input comes over the network"),
    (_SHELLS, r"| (?:^|\| )ssh .*\| \S+(?: -[eilx]+)*(?: -s\b.*)?$", "run-download", DENY,
     "it runs code from another machine"),
    (_NETCATS, r"(?:^|\s)(?:-\w*[ec] ?|--(?:sh-)?exec[= ])\S*sh", "remote-shell", DENY,
     "it gives a shell to the remote end"),
    (f"{_NETCATS} telnet", _FROM_SHELL, "remote-shell", DENY, "it sends a shell's output over the network"),
    ("openssl", rf"{_FROM_SHELL}openssl .*s_client\b", "remote-shell", DENY,
     "it sends a shell's output over the network"),
    ("socat", r"(?i)^(?=.*\b(?:exec|system):)(?=.*\b(?:tcp|udp|openssl|ssl)[\w-]*:)", "remote-shell", DENY,
     "it connects a program to the network"),
    # containers that are this machine
    ("docker podman nerdctl", r"^run\b(?=.*--privileged)(?=.*(?:-v|--volume)[= ]?/:/)", "permissions", DENY,
     "the container has full access to this machine"),
    ("docker podman nerdctl",
     r"^(?:container )?(?:run|create)\b.*\s(?:--privileged(?!=false)|--pid[= ]host|(?:-v|--volume)[= ]?/:"
     r"|--mount[= ]\S*(?:src|source)=/,"
     r"|--cap-add[= ](?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE)\b|--security-opt[= ]\S*unconfined)", "permissions", ASK,
     "the container has rights over the whole machine"),
    ("zmodload", r"zsh/net/tcp", "remote-shell", DENY, "it lets a shell connect to the network"),
    ("socket", r"(?:^|\s)-\w*p \S*sh\b", "remote-shell", DENY, "it gives a shell to the remote end"),
    ("xterm", r"-display \S*\d+\.\d+\.\d+\.\d+:\d", "remote-shell", DENY, "it gives a shell to the remote end"),
    ("defaults", r"(?i)^write .*com\.apple\.loginwindow \w*Hook\b", "persistence", ASK, _BY_ITSELF),
    ("altool xcrun", r"--upload-(?:app|package)\b", "publish", ASK, _OTHERS_GET_IT),
    ("osascript", r"(?i)make[\s\u2423](?:new[\s\u2423])?login[\s\u2423]item", "persistence", ASK, _BY_ITSELF),
    # mining
    ("xmrig minerd cpuminer cgminer bfgminer ethminer t-rex nbminer lolminer phoenixminer ccminer xmr-stak", r"\S",
     "mining", DENY, _FOR_OTHERS),
    ("docker podman nerdctl", r"(?i)^run\b.*(?:xmrig|stratum\+tcp:|/\S*miner\b)", "mining", DENY, _FOR_OTHERS),
    # attacks on other machines
    ("hydra medusa ncrack patator crowbar brutespray kerbrute thc-hydra "
     "slowloris slowloris.py slowhttptest goldeneye goldeneye.py hulk hulk.py torshammer loic hoic t50 mdk3 mdk4 "
     "aireplay-ng wifite ettercap arpspoof dnsspoof responder responder.py dhcpstarv yersinia thc-ssl-dos macof",
     r"^(?!-[hdU]$|--?version|.*\s-q$).*\S", "attack", DENY, _ATTACKS),
    ("hping3 hping nping", r"--flood|--faster|--rate[= ]\d{4}", "attack", DENY, _ATTACKS),
    ("ping ping6 fping", r"(?:^|\s)-\w*f(?=\s|$)", "attack", DENY, _ATTACKS),
    ("deno", r"^run\b.*\shttps?://", "run-download", DENY, "it runs code from the network"),
    ("mshta", r"(?i)https?:|vbscript:|javascript:", "run-download", DENY, "it runs code from the network"),
    ("regsvr32", r"(?i)/i:https?:", "run-download", DENY, "it runs code from the network"),
    # traces
    ("set", r"\+o history\b|\+H?o history\b", "traces", DENY, _NO_HISTORY),
    ("shopt", r"-\w*u\w*o? (?:-o )?history\b", "traces", DENY, _NO_HISTORY),
    ("fc", r"^-p /dev/null", "traces", DENY, _NO_HISTORY),
    ("log", r"^erase\b", "traces", DENY, "it deletes the system's log"),
    ("dmesg", r"(?:^|\s)(?:-\w*[cC]\w*|--clear|--read-clear)$", "traces", ASK, "it empties the kernel's log"),
    ("history", r"(?:^|\s)-[a-z]*[cd]", "traces", DENY, "it wipes the shell's history"),
    ("unset", r"\bHISTFILE\b", "traces", DENY, _NO_HISTORY),
    ("export declare typeset readonly", NO_HISTORY, "traces", DENY, _NO_HISTORY),
    ("journalctl", r"--vacuum-(?:time[= ][01]?[smh]|size[= ]\d{1,2}[KM]?\b|files[= ][01]\b)", "traces", DENY,
     "it deletes the system's journal"),
    ("auditctl", r"(?:^|\s)(?:-D|-e ?0)", "traces", DENY, "it switches the audit off"),
    ("wevtutil", r"^(?:cl|clear-log)\b", "traces", DENY, "it deletes the system's log"),
)  # fmt: skip

# A path that cannot be the name of a branch: `./x`, `x/`, `x.py`.
_PATHSPEC = (
    r"(?:\.{1,2}/\S*|:\S+|[^-\s]\S*/|[^-\s]\S*\.(?:py|pyi|ipynb|jsx?|mjs|cjs|tsx?|go|rs|rb|java|kts?|c|h|cc|cpp|hpp|cs|php|swift"
    r"|md|rst|txt|json|ya?ml|toml|lock|html?|s?css|vue|svelte|sql|sh|cfg|ini|xml|csv))(?=\s|$)"
)
_ALL = rf"(?:\.|\./|:/|\*|{STAR}|\.\.)(?=\s|$)"
_UNTRACKED = "files that git does not track are deleted"
_REWRITES = "it rewrites the whole history"
_UNREACHABLE = "lost commits can no longer be restored"
_FORCED = r"\s(?:(?!-[bB])-\w*f\w*|--forc?e?)(?=\s|$)"
_DRY = r"(?!.*\s(?:-\w*n\w*|--dry-run)(?=\s|$))"
_MAKES_BRANCH = r"(?!.*\s(?:-[bBtdl]|--(?:orphan|track|detach))\b)"
_OPERAND = r"(?:\s(?:(?:-U|--(?:conflict|unified|inter-hunk-context)) \S+|-\S+))*+\s[^-\s]\S*"  # after any options
# Subcommands of git: an expression that is searched in the arguments (each after a blank), the rule, the reason. The
# decision is always ASK; the rule `discard-work` is for what git cannot restore.
_GIT = {
    "reset": ((r"\s--(?:h(?:ar?d?)?|merg?e?)(?=\s|$)", _UNCOMMITTED),),
    "clean": ((rf"^{_DRY}.*{_FORCED}", _UNTRACKED),),
    "checkout": (
        (rf"{_FORCED}|\s{_ALL}|\s--\s|\s--(?:pathspec-from-file|ours|theirs)\b", _UNCOMMITTED),
        (rf"^{_MAKES_BRANCH}(?:{_OPERAND}{_OPERAND}|(?:\s-\S+)*+\s{_PATHSPEC})", _UNCOMMITTED),
    ),
    "switch": ((r"^(?!\s--\s).*\s(?:(?!-[cC])-\w*f\w*|--forc?e?|--discard-changes)(?=\s|$)", _UNCOMMITTED),),
    "restore": ((r"^(?:(?!.*\s(?:-S|--staged)\b)|(?=.*\s(?:-W|--worktree)\b))(?=.*\s[^-\s])", _UNCOMMITTED),),
    "stash": ((r"^ (?:clear|drop)\b", "what was stashed is lost"),),
    "reflog": ((rf"^ (?:expire|delete)\b{_DRY}", _UNREACHABLE),),
    "gc": ((r"\s--prune[= ](?:now|all)", _UNREACHABLE),),
    "prune": ((rf"^{_DRY}", _UNREACHABLE),),
    "tag": (("^ (?:-d|--delete) .*[\ue000-\ue006]", "it deletes tags that another command names"),),
    "update-ref": ((r"\s(?:-d|--delete)\b", "it deletes a branch or tag"),),
    "rm": ((rf"^(?!.*\s--cached\b){_DRY}.*(?:{_FORCED}|\s-\w*r.*\s{_ALL})", _UNCOMMITTED),),
    "worktree": ((rf"^ remove\b.*{_FORCED}", "uncommitted changes in it are lost"),),
    "submodule": ((rf"^ (?:deinit|update)\b.*{_FORCED}", "uncommitted changes in submodules are lost"),),
    "read-tree": ((r"^(?=.*\s--reset\b)(?=.*\s-u\b)", _UNCOMMITTED),),
    "branch": (
        (r"\s-\w*D", "it deletes a branch, merged or not"),
        (rf"^(?=.*{_FORCED})(?=.*\s(?:-\w*d|--delete))", "it deletes a branch, merged or not"),
        (r"\s-M \S+ \S", "it overwrites a branch"),
        (rf"^(?=.*{_FORCED})(?!.*\s(?:-[mMcC]|--move|--copy)\b)", "it moves a branch, and its commits may be lost"),
    ),
    "checkout-index": ((rf"^(?!.*\s(?:-n|--no-create)\b).*{_FORCED}", _UNCOMMITTED),),
    "filter-branch": ((r"", _REWRITES),),
    "filter-repo": ((rf"^{_DRY}(?!.*\s--analyze\b)", _REWRITES),),
    "annex": ((rf"^ drop\w*\b.*{_FORCED}", "content that no other repository has is lost"),),
}
# Settings that name a program for git to run: with a path outside the project, or a command.
_GIT_RUNS = (
    r"(?i)(?:core\.(?:hookspath|fsmonitor|pager|editor|askpass|gitproxy)|init\.templatedir|\w+\.external"
    r"|\w+\.\S*(?:program|command|cmd)|sequence\.editor) (?:~|/|!|.*[;|&`$])"
    r"|filter\.\S+\.(?:smudge|clean|process) (?!git-lfs)\S|core\.sshcommand \S"
    r"|(?:alias\.\S+|credential\.\S*helper) !(?!git\b|gh\b|glab\b|/usr/bin/gh\b|aws\b)"
    r"|url\.\S+\.(?:push)?insteadof (?!https?://github\.com/?$|git@)(?=.*://)"
)
GIT_ROWS = {
    **{name: tuple((text, "discard-work", why) for text, why in rows) for name, rows in _GIT.items()},
    "config": ((_GIT_RUNS, "persistence", "git will run the program that it names"),),
    "push": (
        (rf"^{_DRY}.*\s--(?:mirror|prune)\b", "publish",
         "it deletes what only the remote repository has"),
        (rf"^{_DRY}.*\s(?:(?:-\w*d\w*|--de(?:l(?:e(?:te?)?)?)?)(?=\s|$)|:\S)", "publish",
         "it deletes a branch or tag that others have"),
        (rf"^{_DRY}.*\s(?:-\w*f\w*(?=\s|$)|--force|\+\S)", "publish", "it overwrites what others may have pushed"),
    ),
}  # fmt: skip

# A loop that gives one value after another to a program that logs in.
_EACH = r"\$\{?(?:\1|\2)\b"
GUESSING = (
    r"(?s)\b(?:for\s+(\w+)\s+in\b|while\s+(?:IFS=\S*\s+)?read\s+(?:-\w+\s+)*(\w+)).{0,500}"
    rf"(?:\bsshpass\s+-p\s*(?:['\"]?{_EACH}|`[^`]{{0,80}}{_EACH}|['\"]?\$\([^)]{{0,80}}{_EACH})"
    rf"|\becho\s+['\"]?{_EACH}['\"}}]*\s*\|\s*(?:su|sudo\s+-\w*S)\b)"
)
_DOWNLOADS = (
    r"(?:\b(?:irm|iwr|curl|wget|invoke-(?:webrequest|restmethod)|start-bitstransfer)\b|download(?:string|file|data)\b)"
)
_WINDOWS_ROOTS = (
    r"(?:[a-z]:[\\/]?(?:['\"\s*]|$)|[a-z]:[\\/]+(?:windows|users|program\S*)(?:[\\/][^\\/\s]*)?[\\/]?(?:['\"\s*]|$)"
    r"|\$(?:env:(?:userprofile|systemroot|windir|programfiles|appdata)|home)[\\/]?(?:['\"\s*]|$)|\s['\"]?[~/]['\"]?(?:\s|$))"
)
_ELSEWHERE = r"\s['\"]?(?:[a-z]:[\\/]|hk\w+:|%\w+%|~|\$env:|\$home|\\\\)(?!\S*\b(?:temp|tmp|cache)\b)"
_REMOVES = r"\b(?:remove-item|ri|rm(?!\s+-(?:rf|fr)\b)|del|erase|rd|rmdir)\b(?!.*\s-whatif\b)"
_MADE_BY_BUILDS = (
    r"\b(?:build|dist|out|target|bin|obj|node_modules|packages|temp|tmp|cache|coverage|venv|__pycache__|debug|release"
    r"|logs?)\b"
)
_LISTS = r"\b(?:get-childitem|gci|dir|ls|get-item|gi)\b"
_OUTSIDE = "it deletes something outside the project"
_RECURSIVE = r"(?:\s-r\w*\b|\s/s\b)"
# PowerShell and cmd, searched as they are written, since a backslash is not an escape there. An expression takes at
# most quadratic time: of several `.*`, only the last one backtracks.
WINDOWS_ROWS = (
    (rf"{_REMOVES}(?=.*{_RECURSIVE}).*{_WINDOWS_ROOTS}", "delete-system", DENY,
     "it deletes a directory of the system, or a home"),
    (rf"(?:{_WINDOWS_ROOTS}|\s[/~]\S*+)(?>.*?-recurse).*\|\s*(?:remove-item|ri|del)\b", "delete-system", DENY,
     "it deletes a directory of the system"),
    (rf"{_REMOVES}(?=.*{_RECURSIVE}).*{_ELSEWHERE}", "delete-outside", DENY, _OUTSIDE),
    (rf"{_LISTS}(?>.*?{_ELSEWHERE})(?>.*?\|)(?!.*\s-whatif\b).*\b(?:remove-item|ri|rm|del|erase|rd|rmdir)\b",
     "delete-outside", DENY, _OUTSIDE),
    (r"\bio\.(?:directory|file)\]::delete\(\s*['\"]?(?:[a-z]:|~|/|\$(?:env:|home))", "delete-outside", DENY, _OUTSIDE),
    (r"\bio\.directory\]::delete\(", "delete-files", ASK, "it deletes a directory that no build recreates"),
    (rf"{_REMOVES}(?=.*{_RECURSIVE}).*[\s\\/]\.git(?:[\\/'\"\s]|$)", "delete-project", DENY,
     "it deletes the project's .git"),
    (rf"^(?!.*{_MADE_BY_BUILDS})(?>[^|]*?{_LISTS})(?!.*\s-whatif\b)"
     r".*\|\s*(?:(?:%|foreach[^\s|]*)[^|]*)?\b(?:remove-item|ri|del|erase)\b", "delete-files", ASK,
     "it deletes every file that it finds"),
    (r"\bclear-recyclebin\b", "delete-outside", ASK, "the content of the trash is lost"),
    (r"\bpublish-(?:module|script|psresource)\b(?!.*\s-whatif\b)", "publish", ASK, _OTHERS_GET_IT),
    (rf"{_REMOVES}(?=.*{_RECURSIVE})(?!.*{_MADE_BY_BUILDS})(?!.*[a-z]:\\|.*\$env:).*\s[\w.]", "delete-files", ASK,
     "it deletes a directory that no build recreates"),
    (r"\b(?:add|set)-content\b.*\$profile|>\s*\$profile", "persistence", ASK, "it makes something run automatically"),
    (rf"{_REMOVES}.*historysavepath|\bclear-history\b|-historysavestyle\s+savenothing", "traces", DENY,
     "it wipes the history"),
    (r"\bclear-content\b.*[a-z]:\\(?:windows|program)|\(\s*get-item\s+['\"]?[a-z]:\\.*\)\.delete\(", "delete-outside",
     DENY, _OUTSIDE),
    (r"\brobocopy\b.*\s/(?:mir|purge)\b", "delete-outside", DENY, "it deletes files that only the target has"),
    (r"\bformat-volume\b|\b(?:clear|initialize)-disk\b|\bremove-partition\b|\bformat(?:\.com)?\s+[a-z]:|\bcipher\s+/w"
     r"|\bdiskpart\b", "disk", DENY,
     "it erases a disk"),
    (r"\bvssadmin\s+delete|\bshadowcopy\s+delete|\bwbadmin\s+delete|recoveryenabled\s+no|win32_shadowcopy.*(?:delete|remove)",
     "disk", DENY, "it deletes backups, or ends them"),
    (rf"\b(?:iex|invoke-expression)\b(?=.*{_DOWNLOADS})|{_DOWNLOADS}.*\|\s*(?:iex|invoke-expression)\b",
     "run-download", DENY,
     "it runs code from the network"),
    (rf"\[scriptblock\]::create\(.*{_DOWNLOADS}|assembly\]::load\w*\(.*{_DOWNLOADS}|\bmsiexec\b.*\shttps?:"
     rf"|{_DOWNLOADS}(?>.*?-outfile\s+)['\"]?(\S+?\.(?:exe|ps1|bat|cmd|msi))['\"]?\s*;.*(?:[\s;&.\\/]|^)\1\b",
     "run-download", DENY,
     "it runs code from the network"),
    (r"\bcertutil(?:\.exe)?\b.*-urlcache|\bbitsadmin(?:\.exe)?\b.*/transfer|\brundll32(?:\.exe)?\s+javascript:",
     "run-download", DENY,
     "it downloads a program the way attackers do"),
    (rf"{_DOWNLOADS}(?>.*?[;\n])(?s:.*)\b(?:iex|invoke-expression)\b"
     rf"|{_DOWNLOADS}.*(?:\s-o\s+|,\s*)['\"]?([^\s'\"]+?\.(?:exe|ps1|bat|cmd|msi))['\"]?\s*(?:\)\s*)?(?:;|&&?).*"
     r"(?:[\s;&.\\/]|^)\1\b", "run-download", DENY, "it runs code from the network"),
    (r"(?:^|[\s'\"])-e(?:c|nc?\w*)?\s+['\"]?[a-z0-9+/]{8,}={0,2}['\"]?(?:\s|$)|frombase64string.*\b(?:iex|invoke)|"
     r"\b(?:iex|invoke-expression)\b.*frombase64string", "run-decoded", DENY, "it runs encoded text"),
    (r"net\.sockets\.tcp(?:client|listener).*\b(?:iex|invoke-expression|cmd|powershell|start-process)\b",
     "remote-shell", DENY,
     "it connects a shell to the network"),
    (r"\badvfirewall\s+set\b.*state\s+off|set-netfirewallprofile\b.*-enabled\s+(?:\$?false|0)|-disable(?:realtime|behavior|"
     r"ioav|script)\w*\s+(?:\$?true|1)|add-mppreference\b.*-exclusion|uninstall-windowsfeature\b.*defender|"
     r"disableanti\w+.*\b1\b|\benablelua\b.*\b0\b|\btestsigning\s+on|\bnointegritychecks\s+on|\bfirewall\s+set\s+opmode\s+disable|"
     r"\btaskkill\b.*\b(?:msmpeng|mssense|\w*defend\w*|csfalcon\w*|sysmon\w*)|\bamsiinitfailed\b|set-executionpolicy\s+(?:-\S+\s+)*(?:bypass|unrestricted)",
     "security", DENY, "it switches a protection off"),
    (rf"\b(?:sc(?:\.exe)?\s+(?:stop|delete|config)|net\s+stop|stop-service|set-service)\b.*\b{GUARDS}\b", "security",
     DENY, "that program protects this machine"),
    (r"\bwevtutil(?:\.exe)?\s+(?:cl|clear-log)\b|\bclear-eventlog\b|\b(?:remove|limit)-eventlog\b|\bauditpol\b.*/(?:clear|remove)|usn\s+deletejournal",
     "traces", DENY, "it deletes the system's log"),
    (r"\blocalgroup\s+['\"]?admin\w*['\"]?.*/add|add-localgroupmember\b.*admin", "system-files", DENY,
     "it gives an account an administrator's rights"),
    (r"\btakeown\b.*\s/r\b|\bicacls\b.*/(?:grant|reset|setowner)\b.*\s/t\b", "permissions", DENY,
     "it changes the permissions of everything in a directory"),
    (r"\bwsl(?:\.exe)?\s+--unregister\b", "disk", DENY, "it deletes a Linux system and the files in it"),
    (r"\bbcdedit(?:\.exe)?\s+/(?:set|delete\w*|default|import)\b", "system-files", ASK, _STARTS),
    (r"\bnet\s+user\b.*/(?:add|delete|active:no)|\b(?:new|remove|disable|set)-localuser\b", "system-files", ASK,
     "it changes accounts"),
    (r"\badvfirewall\s+firewall\s+(?:add|delete|set)\b|\b(?:new|remove|set|disable)-netfirewallrule\b", "security",
     ASK, _FIREWALL),
    (r"\b(?:taskkill|stop-process)\b.*\b(?:explorer|winlogon|csrss|lsass|svchost|services)\b", "kill", ASK,
     "the machine needs that process"),
    (r"\bdisable-netadapter\b|\binterface\s+set\b.*\bdisabled?\b", "shut-down", ASK, _OFF_NETWORK),
    (r"\b(?:stop|restart)-computer\b", "shut-down", ASK, "it ends everything that runs on this machine"),
    (r"\bsc(?:\.exe)?\s+(?:stop|delete)\b|\bnet\s+stop\b|\bstop-service\b|\bset-service\b.*\bdisabled\b", "services",
     ASK,
     "it stops a service of this machine"),
    (r"\bschtasks\b.*/(?:create|change)|\bregister-scheduledtask\b|\bsc(?:\.exe)?\s+create\b|\bnew-service\b|"
     r"\breg(?:\.exe)?\s+add\b.*\b(?:run|runonce|winlogon|services)\b|\bstart menu\b.*\bstartup\b|"
     r"\b(?:set|new)-itemproperty\b.*\b(?:run|runonce|winlogon|services)\b", "persistence", ASK,
     "it makes something run automatically"),
    (r"\breg(?:\.exe)?\s+delete\b", "system-files", ASK, "it deletes settings of the system"),
)  # fmt: skip
_WINDOWS = frozenset(
    "powershell pwsh cmd remove-item ri del erase rd rmdir format cipher diskpart vssadmin wmic wbadmin bcdedit iex "
    "% certutil bitsadmin rundll32 netsh sc net robocopy msiexec taskkill schtasks reg wevtutil auditpol "
    "fsutil irm iwr takeown icacls wsl".split()
)

BY_PROGRAM = by_program(ROWS)
# Options with which a program only shows what it would do, or undoes it.
_NO_EFFECT = frozenset("--help --dry-run --no-act --simulate --just-print --undo --whatif -WhatIf /?".split())


def found(expression: str, text: str) -> bool:
    """Whether an expression of a row is found in a text."""
    return re.search(expression.replace("DEVICE", DEVICE), text) is not None


def matches(expression: str, text: str) -> bool:
    """Whether an expression matches a whole text."""
    return re.fullmatch(expression.replace("DEVICE", DEVICE), text) is not None


def joined(words: list[str]) -> str:
    """Return words as one text, in which blanks only occur between words."""
    return " ".join("".join(BLANK if char.isspace() else char for char in word) for word in words)


def dangers(command: ShellCommand) -> Iterator[tuple[str, str, str]]:
    """Yield the rule, decision and reason for a command's words, if they match a row."""
    rows = BY_PROGRAM.get(command.name, ())
    if not rows or command.words[1:] == ["--version"] or not _NO_EFFECT.isdisjoint(command.words):
        return
    said = joined(command.words[1:])
    if command.stdin:
        said += " <<< " + " ".join(command.stdin.split())
    if len(said) > LONGEST:
        yield "unreadable", ASK, "its arguments are too long to be checked"
        return
    pipeline = " | ".join(joined([program(words[0]), *words[1:]]) for words in (*command.upstream, command.words))
    for expression, rule, decision, why in rows:
        if command.contained and rule not in REACHING_OUT:
            continue
        is_piped = expression.startswith("| ")
        if found(expression[2:], pipeline[-LONGEST:]) if is_piped else found(expression, said):
            yield rule, decision, why
            return


def is_of_windows(name: str) -> bool:
    """Whether a name is a program of Windows or a PowerShell command, which is a verb and a noun."""
    return name.lower() in _WINDOWS or (
        name[:1].isupper() and "-" in name and re.fullmatch(r"[A-Z][A-Za-z]+-[A-Z]\w+", name) is not None
    )


def of_windows(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the rule, decision and reason for a PowerShell or cmd text, if it matches a row."""
    if len(text) > LONGEST:
        yield "unreadable", ASK, "it is too long to be checked"
        return
    for expression, rule, decision, why in WINDOWS_ROWS:
        if found("(?i)" + expression, text):
            yield rule, decision, why
            return
