"""Programs that manage what others use: clouds, clusters, containers, databases, queues, services, DNS, backups.

A row is (programs, subcommands, decision, rule). The first row of a program with a matching subcommand counts; rows
with `PASS` are for what only changes this machine. Subcommands are phrases separated by `|`. A phrase is compared with
the words of a command that are not options, from the first on; all of its items must be present:

    **           a verb that deletes (`VERBS`) comes before any other verb: `compute instances delete`, `apps:destroy`
    volume rm    these words, in lower case; `*` stands for one word, `x*` for a word that begins with x
    ~db:drop     this word, anywhere
    -f  --force  this option, anywhere; `--replicas=0` also as `--replicas 0`; `!--force` is an option that is not there
    <sql>        SQL, or code of a database shell, that deletes: as an argument or on stdin
    <delete>     an HTTP request that deletes
    <stdin>      a line on stdin that begins with a verb that deletes
    <unknown>    an argument that is known only when the line runs: `$(docker ps -q)`

Dry runs, `--help` and `help` always pass.
"""

from __future__ import annotations

from .calls import ASK, DENY

PASS = "pass"  # noqa: S105  # a decision

# Verbs that delete, stop or revoke. Words are split, as in `delete-db-instance`, `pg:reset`, `purge_queue`.
VERBS = frozenset(
    "delete del deleteall deletefile destroy remove rm rb rmdir rmdirs purge terminate drop dropall wipe erase reset "
    "flush flushall flushdb truncate prune uninstall unpublish revoke deregister disable decommission kill evict drain "
    "unset untag unsubscribe disassociate detach expunge nuke teardown obliterate shutdown abandon offboard unlink "
    "unregister deprovision cleanup clean clear deactivate undefine undeploy forget release-address".split()
)
# Other verbs, which are followed by a name. Without words that are also nouns (logs, run, deploy).
API_VERBS = frozenset(  # also at the beginning of a word: `create-tags`
    "list get describe create put update add modify start stop register associate attach authorize enable import "
    "export invoke send publish".split()
)
OTHER_VERBS = API_VERBS | frozenset(
    "ls lists show view info inspect wait clone init apply set edit new cp copy mv restart reboot read write upload "
    "download cat validate lint login logout whoami use select open tail diff preview explain help version lookup ping "
    "exec ssh scale resize push pull serve dev rename find fetch verify trigger receive mirror listen forward promote "
    "rollback upgrade install comment merge close reopen checkout snapshots".split()
)

ROWS = (
    # clouds
    ("aws", "configure|cloudtrail lookup-events", PASS, "cloud"),
    ("aws",
     "cloudtrail stop-logging|cloudtrail delete-*|guardduty delete-detector|"
     "guardduty update-detector --no-enable|ec2 delete-flow-logs|configservice stop-*|"
     "configservice delete-*|securityhub disable-*|securityhub delete-*|macie2 disable-*|"
     "cloudtrail update-trail --no-*|cloudtrail put-event-selectors|inspector2 disable|accessanalyzer delete-*"
     "|detective delete-*", DENY, "audit"),
    ("aws",
     "rds delete-db-snapshot|rds delete-db-cluster-snapshot|ec2 delete-snapshot|backup delete-*|"
     "fsx delete-backup|dynamodb delete-backup|redshift delete-cluster-snapshot", ASK, "backup"),
    ("aws",
     "iam delete-*|iam remove-*|iam detach-*|iam deactivate-*|iam attach-*|iam put-*|"
     "iam create-access-key|iam create-user|iam create-policy-version|iam create-login-profile|"
     "iam update-login-profile|iam update-assume-role-policy|iam add-user-to-group|"
     "iam update-access-key|identitystore delete-*|sso-admin delete-*|cognito-idp admin-delete-*", ASK, "iam"),
    ("aws",
     "sqs delete-*|sqs purge-queue|sns delete-*|sns unsubscribe|kinesis delete-*|kafka delete-*|"
     "mq delete-*", ASK, "queue"),
    ("aws", "rds-data * <sql>|redshift-data * <sql>|athena * <sql>|dynamodb execute-statement <sql>", ASK, "database"),
    ("aws",
     "**|s3 sync --delete|* release-address|* release-hosts|kms schedule-key-deletion|"
     "organizations close-account|organizations leave-organization|"
     "route53 change-resource-record-sets|dynamodb * <delete>|* cancel-*|* stop-*|"
     "* authorize-security-group-*|* revoke-security-group-*|* put-bucket-policy|* put-key-policy"
     "|* put-resource-policy|* set-repository-policy|* put-public-access-block|"
     "* put-bucket-acl|* put-object-acl|* put-bucket-website|* put-bucket-lifecycle*|"
     "* put-bucket-versioning ~status=suspended|lambda update-function-code|"
     "lambda add-permission|* modify-*-attribute --attribute-type=launchPermission|* modify-snapshot-attribute|"
     "* modify-image-attribute|* modify-instance-attribute --no-disable-api-termination|s3 mv --recursive"
     "|* modify-db-* --publicly-accessible|* failover-*|* reboot-*|* leave-*|"
     "lambda put-function-concurrency --reserved-concurrent-executions=0"
     "|autoscaling set-desired-capacity --desired-capacity=0|"
     "autoscaling update-auto-scaling-group --max-size=0|s3 cp --acl=public-read|s3 sync --acl=public-read|"
     "secretsmanager update-secret|secretsmanager put-secret-value|ssm put-parameter --overwrite|"
     "ssm send-command|* replace-*|* suspend-*|* update-* --no-deletion-protection*"
     "|* modify-* --no-deletion-protection*|"
     "ecs update-service --desired-count=0|* modify-* --skip-final-snapshot|* admin-delete-*", ASK, "cloud"),
    ("gcloud", "config|components|auth|info|topic", PASS, "cloud"),
    ("gcloud",
     "logging sinks delete|logging buckets delete|logging logs delete|"
     "logging sinks update --disabled|scc * delete", DENY, "audit"),
    ("gcloud",
     "* add-iam-policy-binding|* * add-iam-policy-binding|* remove-iam-policy-binding|"
     "* * remove-iam-policy-binding|* set-iam-policy|iam service-accounts keys create|"
     "iam service-accounts create|iam roles create|iam roles update|iam * delete|iam * * delete", ASK, "iam"),
    ("gcloud", "pubsub subscriptions seek", ASK, "queue"),
    ("gcloud", "spanner databases execute-sql <sql>|alloydb * <sql>|sql * <sql>", ASK, "database"),
    ("gcloud",
     "compute firewall-rules create|compute firewall-rules update|compute instances stop|compute instances reset|"
     "compute instances suspend|compute instances add-access-config|sql instances restart|sql instances failover|"
     "sql backups restore|sql instances patch --no-deletion-protection|sql instances patch --authorized-networks*|"
     "app versions stop|dns record-sets transaction execute|dns record-sets update|"
     "container clusters resize --num-nodes=0|services disable|* * add-access-config", ASK, "cloud"),
    ("gcloud", "**|storage rsync --delete-unmatched-destination-objects|storage mv", ASK, "cloud"),
    ("az", "account clear|extension|cache|config|logout|cloud unregister|bicep uninstall", PASS, "cloud"),
    ("az",
     "monitor diagnostic-settings delete|monitor log-profiles delete|security * delete|"
     "sentinel * delete|network watcher flow-log delete", DENY, "audit"),
    ("az",
     "role assignment *|ad sp create-for-rbac|ad user create|ad * delete|ad * credential *|"
     "ad * owner remove|ad group member *|keyvault delete-policy|keyvault set-policy", ASK, "iam"),
    ("az",
     "**|vm stop|vm deallocate|vm redeploy|vm run-command invoke|* failover|* stop|* * stop|"
     "network nsg rule create|network nsg rule update|storage account update --allow-blob-public-access*"
     "|storage container set-permission|"
     "sql server firewall-rule create|sql db restore|webapp stop|functionapp stop|aks stop|aks scale --node-count=0|"
     "keyvault update|deployment group create --mode=complete|webapp deployment slot swap", ASK, "cloud"),
    ("doctl", "auth|completion", PASS, "cloud"),
    ("ibmcloud", "api|plugin|config|logout", PASS, "cloud"),
    ("pulumi", "config|plugin|policy|logout|about", PASS, "cloud"),
    ("vagrant", "plugin|box|global-status", PASS, "cloud"),
    ("heroku", "plugins:*|auth:*|logout|autocomplete", PASS, "cloud"),
    ("heroku", "ps:scale <zero>|maintenance:on", ASK, "cloud"),
    ("heroku", "pg:psql <sql>|pg:reset|pg:backups:restore|pg:killall|redis:cli <stdin>", ASK, "database"),
    ("vercel netlify wrangler railway firebase supabase flyctl fly",
     "logout|login|link|unlink|telemetry|whoami|types", PASS, "cloud"),
    ("wrangler", "rollback|deployments rollback|versions deploy", ASK, "cloud"),
    ("wrangler", "d1 execute <sql> !--local|d1 delete", ASK, "database"),
    ("supabase", "db reset|stop --no-backup", ASK, "database"),
    ("railway", "down", ASK, "cloud"),
    ("virsh", "destroy|undefine|vol-delete|vol-wipe|pool-delete|pool-destroy|pool-undefine|net-destroy|net-undefine|"
     "snapshot-delete|snapshot-revert", ASK, "cloud"),
    ("govc", "vm.destroy|vm.unregister|vm.power -off|pool.destroy|object.destroy|snapshot.remove|datastore.rm|disk.rm|"
     "host.remove|library.rm|folder.destroy", ASK, "cloud"),
    ("oci ibmcloud aliyun tccli hcloud linode-cli vultr-cli scw exo civo openstack nova doctl "
     "upctl yc cf ntnx-cli govc prlctl vboxmanage virsh multipass lxc incus vagrant packer ovhai ovhcloud ionosctl "
     "stackit nebius metal runpodctl vastai modal",
     "**", ASK, "cloud"),
    ("wrangler vercel netlify fly flyctl heroku railway render koyeb northflank porter firebase "
     "supabase amplify ampx eb copilot appwrite nhost gigalixir scalingo clever deta surge dokku "
     "caprover eas expo terminus upsun platform zeabur qovery kamal ddev lando",
     "**", ASK, "cloud"),
    ("fly flyctl", "scale count 0", ASK, "cloud"),
    ("dokku", "apps:destroy|*:destroy|*:unlink|*:unset", ASK, "cloud"),
    ("terraform tofu terragrunt terramate cdktf",
     "destroy|apply --destroy|apply -destroy|* destroy|run --all destroy|run -- destroy|"
     "destroy-all|state rm|state push|state replace-provider|workspace delete|force-unlock|taint|"
     "apply --replace|apply --auto-approve|* apply --auto-approve|"
     "run --all apply|run-all apply", ASK, "cloud"),
    ("pulumi", "destroy|down|dn|stack rm|state delete|stack import|env rm|cancel|up --yes|up -y|update --yes"
     "|up --skip-preview|up -f|refresh --yes|** !--help", ASK, "cloud"),
    ("cdk sam serverless sls sst chalice zappa up nixops juju okteto skaffold garden "
     "openshift-install architect",
     "**|undeploy|deploy --require-approval=never|rollback", ASK, "cloud"),
    ("ansible", "* -m=file <absent>|<absent>", ASK, "cloud"),
    ("ansible-playbook", "<named>", ASK, "cloud"),
    ("salt salt-call salt-ssh",
     "~system.reboot|~system.shutdown|~system.poweroff|~system.halt|~file.remove|~service.stop|~service.disable|"
     "~pkg.remove|~pkg.purge|~user.delete|~state.single <absent>", ASK, "cloud"),
    ("knife puppet", "module|plugin|exec", PASS, "cloud"),
    ("knife puppet chef-server-ctl", "**|cleanse|resource * * ensure=absent", ASK, "cloud"),
    ("vboxmanage", "unregistervm --delete|closemedium --delete|controlvm * poweroff", ASK, "cloud"),
    ("modal", "app stop", ASK, "cloud"),
    ("aws-nuke", "--no-dry-run", ASK, "cloud"),
    ("cloud-nuke", "aws|azure|defaults-aws", ASK, "cloud"),
    ("qm pct", "destroy|rollback|delsnapshot|stop", ASK, "cloud"),
    ("pvesh", "delete", ASK, "cloud"),
    # storage
    ("rclone", "config|-n|-i|--interactive", PASS, "cloud"),
    ("rclone", "sync|bisync|move|moveto|dedupe|**", ASK, "cloud"),
    ("gsutil", "rsync -d|iam ch|iam set|acl set|acl ch|defacl *|web set|lifecycle set", ASK, "cloud"),
    ("gsutil", "rsync|config|help|version", PASS, "cloud"),
    ("mc mcli", "alias|config|ls|mirror !--remove", PASS, "cloud"),
    ("mc mcli", "mirror --remove", ASK, "cloud"),
    ("s3cmd s4cmd s5cmd", "sync --delete-removed|sync --delete", ASK, "cloud"),
    ("azcopy", "jobs|login|logout|sync !--delete-destination", PASS, "cloud"),
    ("azcopy", "sync --delete-destination=true|sync --delete-destination=prompt", ASK, "cloud"),
    ("swift", "package|build|test|run|format", PASS, "cloud"),  # the language
    ("gsutil s3cmd s4cmd s5cmd mc mcli b2 azcopy swift storj uplink ossutil ossutil64 coscmd "
     "qshell",
     "**", ASK, "cloud"),
    ("hdfs hadoop", "* --rm|* -rm|* -rmr|* -expunge|namenode -format", ASK, "database"),
    # clusters
    ("kubectl oc k kubecolor", "config|plugin|krew|completion", PASS, "cluster"),
    ("kubectl oc k kubecolor", "create clusterrolebinding|create rolebinding|adm policy *|policy *", ASK, "iam"),
    ("kubectl oc k kubecolor",
     "delete|drain|cordon|adm drain|adm cordon|replace --force|apply --prune|taint <noexecute>|"
     "scale --replicas=0|rollout undo|adm prune *|evict|patch <finalizers>|patch <stopped>|apply --force|"
     "run <privileged>|proxy --address=0.0.0.0|debug node/*", ASK, "cluster"),
    ("helm helm3", "repo|plugin|registry|dependency|env|search", PASS, "cluster"),
    ("minikube", "addons|config|cache|image|profile", PASS, "cluster"),
    ("argocd", "context|logout|account|app sync --prune", PASS, "cluster"),
    ("helm helm3 helmfile argocd argo tkn flux kops eksctl kubeadm k3d kind minikube rancher "
     "talosctl rke rke2 k0s k0sctl microk8s vcluster clusterctl crossplane istioctl linkerd "
     "cilium hubble werf devspace",
     "**|suspend", ASK, "cluster"),
    ("helm helm3", "rollback|upgrade --force|upgrade --reset-values", ASK, "cluster"),
    ("argocd", "app rollback|app terminate-op|app sync --force|app sync --replace", ASK, "cluster"),
    ("flux", "delete *|suspend *|uninstall", ASK, "cluster"),
    ("k3s-uninstall.sh k3s-agent-uninstall.sh rke2-uninstall.sh", "", ASK, "cluster"),
    ("vault bao", "audit disable", DENY, "audit"),
    ("vault bao",
     "operator seal|operator generate-root|operator step-down|operator rekey|operator raft remove-peer|token revoke|"
     "lease revoke|**", ASK, "cluster"),
    ("consul", "force-leave|leave|snapshot restore|kv delete|acl * delete|**", ASK, "cluster"),
    ("nomad", "job stop|stop|system gc|alloc stop|**", ASK, "cluster"),
    ("boundary waypoint etcdctl crictl ctr zkcli zkcli.sh zookeepercli", "**", ASK, "cluster"),
    ("zkcli zkcli.sh hbase", "<stdin>", ASK, "database"),
    # containers
    ("docker podman nerdctl",
     "system prune|system reset|volume rm|volume prune|volume remove|swarm leave|stack rm|"
     "stack remove|stack down|service rm|service remove|node rm|node remove|secret rm|config rm|"
     "container prune|rm -v|rm --volumes|container rm -v|compose rm -v|compose rm --volumes|"
     "~compose ~down -v|~compose ~down --volumes|~compose ~down --rmi*|builder prune -a|builder prune --all"
     "|buildx prune -a|buildx prune --all|image prune -a|"
     "image prune --all|swarm init --force-new-cluster|rm -f <unknown>|container rm -f <unknown>|"
     "kill <unknown>|container kill <unknown>|stop <unknown>|context rm -f|buildx rm --all-inactive|pod rm -a"
     "|pod prune|rm -a|rm --all|pod rm --all|"
     "service scale <zero>|service update --replicas=0|node update --availability=drain|rmi -a|rmi --all|plugin rm -f|"
     "machine rm|machine reset|buildx history rm|volume rm <unknown>|rmi <unknown>|"
     "image rm <unknown>|network rm <unknown>|network prune|scout cache prune", ASK, "container"),
    ("docker-compose podman-compose", "~rm -v|~down -v|~down --volumes|~down --rmi*", ASK, "container"),
    ("crictl", "rmi --prune|rmi -a|rmi --all|rmp -a|rmp --all|rm -a|rm --all|stopp", ASK, "container"),
    ("buildah", "rm --all|rm -a|rmi --all|rmi -a|prune", ASK, "container"),
    ("ctr", "* * rm|* rm|* prune", ASK, "container"),
    ("singularity apptainer", "cache|remote|key|capability", PASS, "container"),
    ("skopeo crane regctl oras apptainer singularity colima lima limactl", "**", ASK, "container"),
    # databases
    ("psql pgcli mysql mariadb mycli sqlite3 sqlite litecli duckdb usql mongosh mongo cqlsh "
     "clickhouse clickhouse-client sqlcmd mssql-cli snowsql snow bq trino presto beeline hive "
     "invoke-sqlcmd impala-shell spark-sql cockroach sqlplus isql db2 isql-fb vsql rqlite influx arangosh "
     "couchbase cypher-shell cbq surreal ksql questdb turso edgedb gel osqueryi tsql ysqlsh ycqlsh iredis dolt",
     "<sql>|<named>", ASK, "database"),
    ("db2", "drop|delete from|force application|uncatalog", ASK, "database"),
    ("redis-cli valkey-cli keydb-cli iredis",
     "~flushall|~flushdb|~del|~unlink|~shutdown|~swapdb|cluster reset|cluster forget|script flush|"
     "function flush|~eval <flush>|config set|debug segfault|xtrim|<stdin>", ASK, "database"),
    ("mysqladmin mariadb-admin", "~drop|~shutdown|~flush-privileges", ASK, "database"),
    ("bq", "rm|remove|cp -f|load --replace", ASK, "database"),
    ("influx couchbase-cli cockroach dolt surreal mongocli atlas nodetool solr pscale planetscale "
     "neonctl neon turso xata upstash algolia typesense meilisearch weaviate qdrant "
     "opensearch-cli ccloud confluent aiven avn tidb-cloud ticloud scylla-manager sctool pinecone "
     "edgedb gel databricks snow meilisearch-cli couchdb-cli",
     "**", ASK, "database"),
    ("nodetool", "assassinate|removenode|scrub|clearsnapshot", ASK, "database"),
    ("dropdb dropuser pg_resetwal pg_dropcluster", "", ASK, "database"),
    ("pg_restore", "--clean|-c", ASK, "database"),
    ("mongorestore", "--drop", ASK, "database"),
    ("elasticdump multielasticdump", "--deleteIndex|--delete", ASK, "database"),
    ("initdb pg_ctl", "stop -m=immediate|destroy", ASK, "database"),
    ("gitlab-rake gitlab-ctl gitlab-backup",
     "~gitlab:backup:restore|~dry_run=false|restore|cleanse|uninstall|~gitlab:setup", ASK, "database"),
    ("rails rake",
     "~db:drop|~db:reset|~db:purge|~db:migrate:reset|~db:schema:load|~db:structure:load|"
     "~db:drop:all|~db:truncate_all|~db:seed:replant|~db:setup|~db:migrate ~version=0", ASK, "database"),
    ("prisma", "migrate reset|db push --force-reset|db push --accept-data-loss|db execute <sql>", ASK, "database"),
    ("sequelize sequelize-cli", "db:drop|db:migrate:undo:all", ASK, "database"),
    ("knex", "migrate:rollback --all|migrate:down --all", ASK, "database"),
    ("typeorm typeorm-ts-node-commonjs mikro-orm", "schema:drop|schema:fresh|migration:fresh", ASK, "database"),
    ("drizzle-kit", "drop|push --force", ASK, "database"),
    ("mix", "ecto.drop|ecto.reset", ASK, "database"),
    ("python manage.py django-admin",
     "~flush|~reset_db|* migrate * zero|migrate * zero|~reset_schema|~shell <destroy>|~shell_plus <destroy>", ASK,
     "database"),
    ("alembic flask", "downgrade base|db downgrade base|downgrade -- base|* * * downgrade base", ASK, "database"),
    ("aerich tortoise piccolo", "downgrade|drop|* backwards *", ASK, "database"),
    ("php artisan symfony",
     "~migrate:fresh|~migrate:reset|~migrate:refresh|~db:wipe|~doctrine:database:drop|"
     "~doctrine:schema:drop|~doctrine:fixtures:load|~queue:clear|~queue:flush|~horizon:clear|~tinker <destroy>", ASK,
     "database"),
    ("console", "doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load !--append", ASK, "database"),
    ("dotnet dotnet-ef", "ef database drop|database drop|ef database update 0|database update 0", ASK, "database"),
    ("flyway", "clean|~clean", ASK, "database"),
    ("liquibase", "~dropall|~drop-all|rollback *", ASK, "database"),
    ("sqitch", "revert !--to*", ASK, "database"),
    ("neo4j-admin", "database load --overwrite-destination*|**", ASK, "database"),
    ("elasticsearch-node opensearch-node", "unsafe-bootstrap|detach-cluster|repurpose|remove-*", ASK, "database"),
    ("sqlx diesel dbmate", "database drop|database reset|drop", ASK, "database"),
    ("migrate goose", "~drop|~reset|down -all|down --all|down-to 0|* * down-to 0", ASK, "database"),
    ("wp",
     "db reset|db drop|db clean|site empty|site delete|search-replace !--dry-run|post delete *|"
     "user delete *", ASK, "database"),
    ("drush",
     "~sql-drop|~sql:drop|~site-install|~entity:delete|~sql-query <sql>|~sqlq <sql>|"
     "~sql:query <sql>", ASK, "database"),
    ("nc ncat netcat telnet socat", "<stdin>", ASK, "database"),
    ("hf huggingface-cli", "cache|delete-cache|logout", PASS, "service"),
    ("hf huggingface-cli kaggle convex", "**", ASK, "service"),
    ("airflow prefect dagster mlflow", "**|gc", ASK, "database"),
    # queues
    ("kafka-topics kafka-topics.sh kafka-acls kafka-acls.sh kafka-configs kafka-configs.sh "
     "kafka-consumer-groups kafka-consumer-groups.sh kcat",
     "--delete|--remove|--delete-config|--delete-offsets|--reset-offsets --execute", ASK, "queue"),
    ("kafka-delete-records kafka-delete-records.sh kafka-streams-application-reset", "", ASK, "queue"),
    ("kafka-storage kafka-storage.sh", "format", ASK, "queue"),
    ("rabbitmqctl", "stop_app|stop|shutdown|forget_cluster_node|change_cluster_node_type|**", ASK, "queue"),
    ("rabbitmqadmin nats nsc rpk pulsar-admin kafkactl kaf kcctl artemis activemq", "**", ASK, "queue"),
    ("celery", "~purge|~shutdown|~amqp", ASK, "queue"),
    ("rq rqworker", "empty|~empty", ASK, "queue"),
    ("temporal tctl", "**|workflow terminate", ASK, "queue"),
    # services
    ("gh glab", "alias|extension|config|auth|search|completion|issue list|pr list|cache list|help", PASS, "service"),
    ("gh glab", "ssh-key add|gpg-key add|deploy-key add|repo deploy-key add", ASK, "iam"),
    ("gh glab", "api <delete>|api <protection> --method*|api <protection> -X|pr merge --admin|repo archive"
     "|project archive|repo sync --force|run cancel --all|pr close --delete-branch", ASK, "service"),
    ("gh glab tea bb hub", "**", ASK, "service"),
    ("gitlab-runner buildkite-agent", "unregister|stop", ASK, "service"),
    ("gitlab-rails rails", "runner <destroy>", ASK, "service"),
    ("curl curlie wget http https xh xhs", "<sql>", ASK, "database"),
    ("curl curlie wget http https xh xhs invoke-restmethod invoke-webrequest irm iwr hurl",
     "<delete>|<endpoint> -X|<endpoint> --request|<endpoint> -d|<endpoint> --data*|<endpoint> --json|"
     "<endpoint> --post-*|<endpoint> ~post", ASK, "service"),
    ("circleci buildkite-agent bk drone woodpecker-cli travis jenkins-cli concourse-cli tkn "
     "teamcity codefresh semaphore sem appcenter bitrise codemagic spacelift spacectl",
     "**", ASK, "service"),
    ("stripe paddle square twilio sendgrid postmark mailgun braintree", "**|* cancel|api_keys roll", ASK, "service"),
    ("ldcli ffcli flipt unleash growthbook optimizely posthog statsig devcycle dvc configcat",
     "**|* archive|* toggle-off|* off", ASK, "service"),
    ("split", "splits kill|* delete *|* remove *|* archive *|splits delete", ASK, "service"),
    ("pd opsgenie opsgenie-lamp grafana-cli grizzly grr gr newrelic nr1 datadog-ci dog dogshell "
     "sentry-cli honeycomb splunk promtool amtool mimirtool cortextool logcli",
     "**|* archive|silence expire|silence add", ASK, "service"),
    ("op doppler infisical bws chamber teller lastpass lpass bw akeyless conjur phase dotenv-vault",
     "**|rm *|user suspend", ASK, "service"),
    ("deck kong", "sync|gateway sync|config db_import|**", ASK, "service"),
    ("apigeecli tyk krakend apisix ngrok zerotier-cli auth0 okta fga ory clerk workos stytch "
     "descope fusionauth",
     "**", ASK, "service"),
    ("tailscale headscale netbird", "logout|down|**", ASK, "service"),
    ("shopify contentful sanity strapi n8n hasura directus storyblok prismic ghost hubspot sfdx "
     "sf zapier slack jira acli",
     "**", ASK, "service"),
    ("sf sfdx", "~force:org:delete|~org:delete|project delete *", ASK, "service"),
    ("nginx haproxy caddy traefik", "-s=stop|-s=quit|stop", ASK, "service"),
    # DNS
    ("fastly akamai cloudflared flarectl lexicon namecheap dnsimple gandi porkbun route53 godaddy", "**", ASK, "dns"),
    ("fastly", "service version activate|service-version activate|service version deactivate", ASK, "dns"),
    ("cli53", "rrdelete|rrpurge|delete|import --replace", ASK, "dns"),
    ("octodns-sync", "--doit", ASK, "dns"),
    ("dnscontrol", "push", ASK, "dns"),
    ("nsupdate", "<stdin>", ASK, "dns"),
    ("pdnsutil rndc knotc samba-tool unbound-control",
     "delzone|zone-purge|conf-unset|local_zone_remove|**", ASK, "dns"),
    # backups: deleting them is denied; removing old ones is asked about
    ("borg borgmatic restic rustic kopia",
     "backup|create|snapshot create|restore|mount|check|list|snapshots", PASS, "backup"),
    ("borg borgmatic", "prune|compact|recreate|break-lock", ASK, "backup"),
    ("restic rustic", "forget --keep-*|prune|unlock", ASK, "backup"),
    ("kopia", "snapshot expire|maintenance run", ASK, "backup"),
    ("velero", "backup delete|restore delete|schedule delete|backup-location delete|uninstall", DENY, "backup"),
    ("velero", "**", ASK, "backup"),
    ("duplicity duplicati duplicati-cli", "remove-all-but-n-full|remove-older-than|cleanup|**", ASK, "backup"),
    ("tarsnap", "-d|--nuke", DENY, "backup"),
    ("timeshift", "--delete|--delete-all", DENY, "backup"),
    ("tmutil", "delete|deletelocalsnapshots|disable|thinlocalsnapshots|disablelocal|removedestination", DENY, "backup"),
    ("vssadmin wbadmin", "**", DENY, "backup"),
    ("pgbackrest", "stanza-delete|expire|stop", ASK, "backup"),
    ("wal-g wal-e", "delete *", ASK, "backup"),
    ("borg restic rustic kopia bup snapper rsnapshot zfs-autobackup sanoid barman backrest "
     "rdiff-backup attic proxmox-backup-client bareos bconsole",
     "**", DENY, "backup"),
    # accounts
    ("ldapdelete ldapmodrdn", "", ASK, "iam"),
    ("gam m365", "**|suspend *|create admin|add admin", ASK, "iam"),
    ("ipa kadmin kadmin.local keycloak kcadm kcadm.sh kc.sh authentik zitadel", "~delprinc|**|<stdin>", ASK, "iam"),
)  # fmt: skip
