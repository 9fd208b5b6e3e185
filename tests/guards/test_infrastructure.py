"""`infrastructure`: what deletes in clouds, clusters, databases, queues and services is asked about; reading passes."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.guards import infrastructure
from tenterhook.guards.calls import ASK, DENY, GuardedCall, Objection

ENVIRONMENT = {"HOME": "/home/dev", "PATH": "/usr/bin:/bin"}

# By class: lines that are asked about, or refused where it says so.
STOPPED = {
    "cloud": """
        aws ec2 reboot-instances --instance-ids i-0a1
        aws secretsmanager update-secret --secret-id shop --secret-string x
        aws ssm put-parameter --name /shop/key --value x --overwrite
        heroku ps:scale worker=0 --app shop
        heroku maintenance:on --app shop
        ansible web -b -m systemd -a 'name=nginx state=stopped'
        aws ec2 terminate-instances --instance-ids i-0abc
        aws rds reboot-db-instance --db-instance-identifier main --force-failover
        aws rds stop-db-instance --db-instance-identifier main
        aws ec2 authorize-security-group-ingress --group-id sg-1 --port 3389 --cidr 0.0.0.0/0
        aws s3api put-bucket-acl --bucket photos --acl public-read
        aws s3api put-bucket-versioning --bucket photos --versioning-configuration Status=Suspended
        gcloud compute instances stop web
        gcloud compute firewall-rules create open --allow=tcp --source-ranges=0.0.0.0/0
        az vm deallocate -g web -n vm-1
        terraform apply -auto-approve
        pulumi up --yes --stack prod
        Stop-AzVM -Name web -ResourceGroupName prod
        python3 -c "import boto3; boto3.resource('ec2').instances.filter().terminate()"
        qm destroy 100
        aws --profile prod --region eu-west-1 rds delete-db-instance --db-instance-identifier main
        aws logs delete-log-group --log-group-name /app/web
        aws events remove-targets --rule nightly --ids 1
        aws deploy delete-application --application-name shop
        aws s3 rb s3://photos --force
        aws s3 rm s3://photos/2024 --recursive
        aws s3api delete-objects --bucket photos --delete file://keys.json
        aws dynamodb delete-table --table-name orders
        aws lambda delete-function --function-name resize
        aws cloudformation delete-stack --stack-name web
        aws kms schedule-key-deletion --key-id abc --pending-window-in-days 7
        aws ecr batch-delete-image --repository-name web --image-ids imageTag=v1
        aws ec2 release-address --allocation-id eipalloc-1
        aws ec2 detach-volume --volume-id vol-1
        aws organizations close-account --account-id 123456789012
        aws elasticache delete-cache-cluster --cache-cluster-id sessions
        aws dynamodb batch-write-item --request-items '{"t":[{"DeleteRequest":{"Key":{}}}]}'
        sudo aws efs delete-file-system --file-system-id fs-1
        gcloud projects delete my-project --quiet
        gcloud compute instances delete web-1 --zone europe-west1-b
        gcloud run services delete api --region us-central1
        gcloud sql instances delete main
        gcloud -q container clusters delete prod
        gcloud storage rm -r gs://backups-old
        gcloud services disable compute.googleapis.com
        gcloud dns record-sets delete www.example.com. --type=A --zone=main
        gcloud app versions delete v1
        gsutil -m rm -r gs://photos/**
        az group delete --name web-rg --yes --no-wait
        az vm delete -g rg -n web
        az appservice plan delete -n plan -g rg
        az search service delete -n docs -g rg
        az keyvault secret delete --vault-name v --name n
        az keyvault purge --name v
        az webapp config appsettings delete -g rg -n web --setting-names KEY
        az aks delete -n prod -g rg
        az ad sp delete --id 0000
        doctl compute droplet delete 12345 -f
        doctl kubernetes cluster delete prod
        hcloud server delete web-1
        linode-cli linodes delete 1234
        linode-cli volumes rm 42
        scw instance server terminate 1111
        oci compute instance terminate --instance-id ocid1
        ibmcloud ks cluster rm --cluster prod -f
        openstack server delete web
        flyctl apps destroy my-app --yes
        fly volumes destroy vol_123
        heroku apps:destroy --app shop --confirm shop
        heroku pg:reset DATABASE_URL --confirm shop
        heroku addons:destroy redis-curly-1
        heroku config:unset SECRET_KEY -a shop
        vercel rm my-site --yes
        vercel env rm API_KEY production
        netlify sites:delete 1234
        netlify env:unset TOKEN
        npx wrangler r2 bucket delete photos
        wrangler d1 delete main-db
        railway down
        firebase firestore:delete --all-collections
        firebase hosting:disable
        supabase projects delete abc
        terraform destroy
        terraform -chdir=infra apply -destroy -auto-approve
        terraform state rm aws_instance.web
        terraform workspace delete staging
        tofu destroy -target=module.db
        terragrunt run-all destroy
        pulumi destroy --yes
        pulumi stack rm prod
        cdk destroy --all --force
        sam delete --stack-name web --no-prompts
        serverless remove --stage prod
        eb terminate prod-env
        copilot app delete
        juju destroy-model prod
        vagrant destroy -f
        virsh undefine web --remove-all-storage
        multipass delete --purge primary
        lxc delete web --force
        s3cmd del --recursive s3://photos/
        s3cmd sync --delete-removed ./ s3://site/
        mc mirror --remove ./site minio/site
        mc rm --recursive --force minio/photos
        azcopy remove 'https://acc.blob.core.windows.net/c' --recursive
        azcopy sync ./a 'https://acc.blob.core.windows.net/c' --delete-destination=true
        rclone purge remote:photos
        rclone move remote:a remote:b
        b2 delete-bucket photos
        ansible web -m shell -a 'rm -rf /srv/app'
        ansible all -m file -a 'path=/srv/app state=absent'
        Remove-AzResourceGroup -Name web -Force
        Remove-S3Bucket -BucketName photos -DeleteBucketContent
        ovhcloud cloud project delete abc
        ionosctl server delete --datacenter-id a --server-id b --force
        govc vm.destroy db
        salt '*' system.reboot
        salt '*' cmd.run 'kubectl delete ns prod'
        knife node delete web1 -y
        puppet node purge web1
        kamal remove -y
        ddev delete -O shop
        modal app stop web
        cloud-nuke aws --force
    """,
    "cluster": """
        vault operator generate-root -init -otp=abc
        kubectl delete deployment web
        kubectl -n prod delete pod --all
        kubectl --context prod delete -f k8s/
        kubectl get pods -o name | xargs kubectl delete
        kubectl drain node-1 --ignore-daemonsets --force
        kubectl scale deploy/web --replicas=0
        kubectl scale --replicas 0 statefulset db
        kubectl replace --force -f pod.yaml
        kubectl apply --prune -f k8s/ -l app=web
        kubectl taint nodes node-1 key=value:NoExecute
        kustomize build . | kubectl delete -f -
        oc delete project shop
        helm uninstall web -n prod
        helm -n prod delete web
        helmfile destroy
        argocd app delete web --cascade
        flux delete kustomization apps
        eksctl delete cluster --name prod
        kops delete cluster --name k.example.com --yes
        kubeadm reset -f
        k3d cluster delete dev
        kind delete cluster --name dev
        minikube delete --all
        talosctl reset --nodes 10.0.0.2
        nomad job stop -purge web
        nomad node drain -enable abc
        consul kv delete -recurse config/
        consul force-leave node1
        istioctl uninstall --purge
        vault token revoke abc
        vault secrets disable kv/
        vault operator seal
        vault kv metadata delete secret/app
        etcdctl del --prefix /registry
        zkCli.sh deleteall /brokers
        kubectl patch deploy api -p '{"spec":{"replicas":0}}'
    """,
    "container": """
        docker system prune -af --volumes
        docker volume rm pgdata
        docker volume prune -f
        docker --context prod volume rm data
        docker rm -v web
        docker rm -f $(docker ps -aq)
        docker ps -q | xargs docker kill
        docker swarm leave --force
        docker stack rm web
        docker service rm api
        docker secret rm db-password
        docker container prune --force
        docker compose rm -fsv db
        podman system reset --force
        podman volume rm data
        nerdctl volume prune
        podman pod rm -fa
        skopeo delete docker://registry.example.com/web:v1
        crane delete registry.example.com/web:v1
        regctl tag rm registry.example.com/web:v1
        oras manifest delete registry.example.com/web:v1
        apptainer delete library://me/default/image:1
    """,
    "database": """
        sqitch revert --target db:pg:shop
        neo4j-admin database load shop --overwrite-destination=true --from-path=/dumps
        elasticsearch-node detach-cluster
        psql shop -c 'alter table orders disable trigger all'
        psql -c 'DROP TABLE users'
        psql -h db -U app prod -c "truncate orders cascade"
        psql -d shop -c 'delete from carts;'
        psql -c "DELETE FROM users WHERE true"
        psql prod --command="ALTER TABLE users DROP COLUMN email"
        echo 'drop schema public cascade' | psql prod
        psql prod <<< 'update users set admin = true'
        mysql -u root -pxyz shop -e 'DROP DATABASE shop'
        mysql -e "DELETE FROM orders" shop
        mysqladmin -h db drop shop
        mariadb -e 'truncate table logs' shop
        sqlite3 app.db 'drop table users;'
        sqlite3 app.db ".read x.sql" "DELETE FROM users"
        duckdb data.duckdb -c 'DROP VIEW v'
        mongosh shop --eval 'db.dropDatabase()'
        mongosh "mongodb://db/shop" --eval 'db.users.deleteMany({})'
        mongo shop --eval "db.orders.drop()"
        mongorestore --drop dump/
        psql shop < sql/drop_orders.sql
        elasticdump --input=new.json --output=http://search.example:9200/shop --deleteIndex
        cypher-shell -a neo4j://graph.example 'MATCH (n:User) DETACH DELETE n'
        snow object drop database SALES
        databricks clusters permanent-delete --cluster-id 12
        couchdb-cli delete db sales
        meilisearch-cli index delete films
        redis-cli -h cache.internal flushall
        redis-cli -n 3 FLUSHDB
        redis-cli --scan --pattern 'sess:*' | xargs redis-cli del
        valkey-cli shutdown nosave
        cqlsh -e 'DROP KEYSPACE shop'
        clickhouse-client -q 'TRUNCATE TABLE events'
        clickhouse client --query 'drop table events'
        sqlcmd -S db -Q "DROP DATABASE shop"
        bq rm -r -f -d proj:dataset
        bq query --use_legacy_sql=false 'DELETE FROM ds.t WHERE true'
        snowsql -q 'drop table orders'
        trino --execute 'DROP TABLE hive.web.logs'
        dropdb shop
        dropuser app
        pg_restore --clean -d shop dump.pgc
        influx bucket delete -n metrics
        cockroach sql -e 'DROP DATABASE bank'
        nodetool decommission
        hdfs dfs -rm -r /data
        bin/rails db:drop
        bundle exec rake db:reset
        npx prisma migrate reset --force
        npx prisma db push --accept-data-loss
        python manage.py flush --noinput
        ./manage.py reset_db
        python manage.py migrate shop zero
        alembic downgrade base
        npx knex migrate:rollback --all
        npx sequelize-cli db:drop
        npx typeorm schema:drop -d ds.js
        php artisan migrate:fresh --seed
        php bin/console doctrine:database:drop --force
        dotnet ef database drop -f
        mix ecto.reset
        flyway clean
        liquibase dropAll
        sqlx database drop
        diesel database reset
        supabase db reset --linked
        wrangler d1 execute main --command 'DROP TABLE users'
        turso db destroy main
        pscale database delete shop
        neonctl branches delete main
        atlas clusters delete prod
        aws rds-data execute-statement --resource-arn a --sql 'drop table users'
        curl -XPOST localhost:9200/logs/_delete_by_query -d '{"query":{"match_all":{}}}'
        curl -XDELETE http://localhost:9200/logs-2024
        echo flush_all | nc localhost 11211
        drush sql-drop -y
        wp db reset --yes
        php artisan tinker --execute="DB::table('users')->truncate();"
        python manage.py shell -c "from shop.models import Order; Order.objects.all().delete()"
        airflow dags delete etl -y
        mlflow gc --backend-store-uri sqlite:///mlflow.db
        db2 drop database sales
        curl -G metrics.example:8086/query --data-urlencode "q=DROP DATABASE metrics"
        python3 -c "import psycopg2; c = psycopg2.connect('x'); c.cursor().execute('DROP TABLE users')"
        node -e "new (require('pg').Client)().query('DELETE FROM users')"
        rake db:migrate VERSION=0
    """,
    "queue": """
        gcloud pubsub subscriptions seek mails --time=2024-05-01T00:00:00Z
        kafka-topics --bootstrap-server k:9092 --delete --topic orders
        kafka-topics.sh --zookeeper z --topic orders --delete
        kafka-consumer-groups.sh --bootstrap-server k:9092 --delete --group g
        kafka-consumer-groups --bootstrap-server k:9092 --group g --reset-offsets --to-earliest --all-topics --execute
        kafka-delete-records.sh --bootstrap-server k:9092 --offset-json-file f.json
        rpk topic delete orders
        rabbitmqctl delete_queue jobs
        rabbitmqctl purge_queue jobs
        rabbitmqctl delete_vhost /shop
        rabbitmqctl forget_cluster_node rabbit@b
        rabbitmqadmin delete exchange name=events
        nats stream purge ORDERS -f
        nats stream rm ORDERS
        pulsar-admin topics delete persistent://public/default/t
        celery -A shop purge -f
        aws sqs purge-queue --queue-url https://sqs/q
        gcloud pubsub subscriptions delete s
        rq empty default
    """,
    "service": """
        kong config db_import empty.yaml
        buildkite-agent stop --force
        hf repo delete me/model
        kaggle kernels delete me/notebook -y
        npx convex env remove KEY
        curl -X POST https://api.flags.example/v2/flags/new-page/kill
        gh repo delete me/site --yes
        gh release delete v1.0
        gh secret delete TOKEN
        gh workflow disable ci.yml
        gh api -X DELETE repos/me/site/branches/x/protection
        gh api --method DELETE /repos/me/site/hooks/1
        glab repo delete me/site
        glab variable delete TOKEN
        curl -X DELETE https://api.example.com/v1/users/7
        curl -X DELETE http://localhost.example.com/x
        curl -X DELETE http://localhost@example.com/x
        curl -X DELETE http://localhost:3000/x example.com/y
        curl -x proxy:80 -X DELETE http://localhost:3000/x
        curl -s -XDELETE "https://api.example.com/zones/1"
        curl --request=DELETE https://api.example.com/x
        http DELETE https://api.example.com/x
        xh delete https://api.example.com/x
        wget --method=DELETE https://api.example.com/x
        Invoke-RestMethod -Method Delete -Uri https://api.example.com/x
        stripe customers delete cus_1
        stripe delete /v1/customers/cus_1
        twilio api:core:incoming-phone-numbers:remove --sid PN1
        ldcli flags delete --flag f --project p
        ldcli flags archive --flag f
        ldcli flags toggle-off --flag f --environment production
        auth0 apps delete abc
        auth0 users delete x
        okta apps delete abc
        pd service delete -i P1
        sentry-cli releases delete v1
        splunk remove index main
        splunk clean eventdata -index main
        circleci context delete github me ctx
        jenkins-cli delete-node agent1
        java -jar /opt/jenkins-cli.jar -s http://ci/ delete-builds web 1-9
        op item delete 'AWS'
        op vault delete Prod
        doppler projects delete shop --yes
        tailscale logout
        ngrok api reserved-domains delete rd_1
        shopify theme delete -t 1
        contentful space delete --space-id x
        hasura metadata clear
        gitlab-runner unregister --all-runners
        echo 'disable server web/s1' | socat stdio /run/haproxy/admin.sock
        nginx -s stop
        python3 -c "import requests; requests.delete('https://api.example.com/users/7')"
        node -e "fetch('https://api.example.com/users/7', {method: 'DELETE'})"
        python3 -c "import httpx; httpx.request('DELETE', 'https://api.example.com/users/7')"
        curl -X POST https://api.example.com/v1/projects/7/delete -H "Authorization: Bearer $T"
        curl --data id=7 "https://chat.example.com/api/channels.delete?channel=C1"
        http POST https://api.example.com/v1/cache/purge
        curl -X POST https://api.example.com/graphql -d '{"query": "mutation { issueDelete(id: 7) { success } }"}'
        gh repo sync --force
    """,
    "dns": """
        flarectl dns delete --zone example.com --id 1
        cli53 rrdelete example.com www A
        cli53 delete --purge example.com
        pdnsutil delete-zone example.com
        printf 'update delete www.example.com A\\nsend\\n' | nsupdate -k key
        octodns-sync --config-file=c.yaml --doit
        dnscontrol push
        doctl compute domain records delete example.com 1
        knotc zone-purge example.com
    """,
    "iam": """
        aws iam attach-user-policy --user-name dev --policy-arn arn:aws:iam::aws:policy/AdministratorAccess
        aws iam create-access-key --user-name root-like
        aws iam delete-role --role-name web
        aws iam put-role-policy --role-name web --policy-name p --policy-document file://p.json
        gcloud projects add-iam-policy-binding p --member user:x@example.com --role roles/owner
        gcloud projects remove-iam-policy-binding p --member user:x@example.com --role roles/owner
        gcloud iam service-accounts keys create k.json --iam-account a
        az role assignment create --assignee x --role Owner
        az ad sp create-for-rbac --role Contributor
        kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=dev
        ldapdelete -x cn=dev,dc=example,dc=com
        kadmin.local delprinc dev
        kcadm.sh delete realms/shop
        ipa user-del dev
        gh ssh-key add new.pub
        gh repo deploy-key add deploy.pub -w
        gam delete user ann@example.com
    """,
    "backup": """
        borg delete /backup/repo::monday
        restic forget latest --prune
        velero backup delete nightly --confirm
        kopia snapshot delete abc --delete
        duplicity remove-all-but-n-full 1 file:///backup
        tmutil delete /Volumes/B/x
        tarsnap --nuke
        snapper delete 1-20
        timeshift --delete-all
        pgbackrest stanza-delete --stanza=main
        wal-g delete everything FORCE
        barman delete main oldest
        aws backup delete-recovery-point --backup-vault-name v --recovery-point-arn a
        aws rds delete-db-snapshot --db-snapshot-identifier before-migration
    """,
    "audit": """
        aws cloudtrail stop-logging --name main
        aws cloudtrail delete-trail --name main
        aws guardduty delete-detector --detector-id d
        aws ec2 delete-flow-logs --flow-log-ids fl-1
        aws configservice stop-configuration-recorder --configuration-recorder-name default
        vault audit disable file/
        gcloud logging sinks delete audit
        az monitor diagnostic-settings delete --name d --resource r
    """,
}
PASSED = """
    aws ssm put-parameter --name /shop/new --value x --type String
    heroku ps:scale worker=2 --app shop
    ansible web -b -m systemd -a 'name=nginx state=restarted'
    sqitch status db:pg:shop
    neo4j-admin database dump shop --to-path=/dumps
    gcloud pubsub subscriptions list
    kong config parse kong.yaml
    huggingface-cli delete-cache
    hf download me/model
    kaggle datasets list
    psql shop -c 'alter table orders enable trigger all'
    aws s3 ls s3://photos/delete/
    aws s3 cp remove-me.txt s3://photos/
    aws s3 rm s3://photos/2024 --recursive --dryrun
    aws ec2 create-tags --resources i-1 --tags Key=purge,Value=true
    aws ec2 describe-instances --filters Name=tag:Name,Values=delete-me
    aws ec2 terminate-instances help
    aws ec2 terminate-instances --instance-ids i-1 --dry-run
    aws logs tail /app/web --follow
    aws configure list
    aws sts get-caller-identity
    aws lambda invoke --function-name delete-user out.json
    aws iam list-users
    gcloud config unset project
    gcloud components remove beta
    gcloud compute instances list --filter='name~delete'
    gcloud auth list
    az account clear
    az extension remove --name aks-preview
    az vm list -o table
    az group create --name delete-later --location westeurope
    doctl compute droplet list
    heroku logs --tail -a delete-app
    heroku config:get KEY
    flyctl deploy --remote-only
    fly status
    vercel deploy --prod
    netlify deploy --dir=dist
    wrangler dev
    wrangler tail purge-worker
    terraform plan -destroy
    terraform plan -out=destroy.tfplan
    terraform apply
    terraform state list
    aws ses delete-receipt-rule --rule-set-name r --rule-name n --generate-cli-skeleton
    bq query --dry_run 'DELETE FROM shop.orders WHERE true'
    virsh pool-list --details
    python3 -c "import boto3; print(boto3.client('ec2').describe_instances())"
    terraform fmt -recursive
    pulumi preview
    pulumi config rm key
    pulumi up
    cdk diff
    kubectl get pods -n delete
    kubectl delete pod web --dry-run=client
    kubectl wait --for=delete pod/web
    kubectl describe node node-1
    kubectl config delete-context old
    kubectl logs delete-job-1
    kubectl apply -f k8s/
    kubectl rollout restart deploy/web
    kubectl scale deploy/web --replicas=3
    helm list -A
    helm repo remove bitnami
    helm plugin uninstall diff
    helm upgrade --install web ./chart
    helm uninstall web --dry-run
    minikube addons disable ingress
    minikube stop
    docker ps -a
    docker rm web
    docker rmi web:old
    docker image prune
    docker builder prune -f
    docker compose down
    docker compose up -d
    docker run --rm -it alpine sh
    docker volume ls
    docker build -t purge .
    docker exec web ls
    docker rm -f web
    docker context rm old
    podman images
    psql -c 'select * from users'
    psql -c "select 'drop table users'"
    psql -h localhost -d app_test -c 'drop table users'
    psql -c 'delete from users where id = 7'
    psql -c "insert into notes values ('delete from x')"
    psql --help
    psql -f schema.sql
    mysql -e 'show tables' shop
    mysqldump shop > dump.sql
    sqlite3 app.db '.tables'
    sqlite3 :memory: 'drop table if exists t; create table t(a)'
    mongosh --eval 'db.users.find()'
    redis-cli get key
    redis-cli -h cache info
    dropdb app_test
    RAILS_ENV=test bin/rails db:drop
    bin/rails db:migrate
    npx prisma generate
    npx prisma migrate dev
    python manage.py migrate
    alembic upgrade head
    alembic downgrade -1
    php artisan migrate
    bq ls
    kafka-topics --bootstrap-server k:9092 --list
    kafka-topics --bootstrap-server k:9092 --describe --topic delete-events
    kafka-consumer-groups --bootstrap-server k:9092 --group g --reset-offsets --to-earliest --topic t --dry-run
    rabbitmqctl list_queues
    nats stream ls
    gh pr list --search 'delete'
    gh pr create --title 'Remove old code' --body 'delete it'
    gh issue close 5
    gh alias delete co
    gh extension remove gh-dash
    gh search issues purge
    gh run view 1 --log
    gh api repos/me/site
    gh repo clone me/site
    gh label list
    curl https://api.example.com/delete
    curl -X DELETE http://localhost:3000/users/7
    curl -s -XDELETE 127.0.0.1:8080/x -H 'Accept: a/b'
    curl --request DELETE "http://[::1]:3000/x"
    http DELETE localhost:3000/x
    curl -X POST https://api.example.com/x -d '{"action":"DELETE"}'
    stripe listen --forward-to localhost:3000
    stripe logs tail
    ldcli flags get --flag f
    op item get AWS --fields label=username
    sentry-cli releases new v1
    vault status
    vault kv list secret/
    consul kv get x
    consul members
    nomad status
    etcdctl get /x --prefix
    velero backup get
    borg list repo
    borg create repo::delete-me src
    restic snapshots
    restic backup --tag prune src
    rclone ls remote:
    rclone copy a remote:delete
    rclone sync a remote:b --dry-run
    gsutil ls
    gsutil rsync -r a gs://b
    s3cmd ls
    mc ls minio
    mc alias remove old
    vagrant up
    vagrant plugin uninstall vbguest
    virsh list --all
    ansible web -m ping
    ansible-playbook site.yml --check
    packer build .
    nginx -s reload
    nginx -t
    dnscontrol preview
    octodns-sync --config-file=c.yaml
    echo 'show stat' | socat stdio /run/haproxy/admin.sock
    echo quit | nc localhost 11211
    java -jar app.jar delete
    tailscale status
    firebase deploy
    supabase start
    eksctl get cluster
    pg_restore -l dump.pgc
    split -l 100 remove.txt
    echo kubectl delete namespace prod
    git commit -m 'terraform destroy'
    swift package clean
    pulumi destroy --preview-only
    wrangler d1 execute shop --local --command 'DELETE FROM users'
    salt '*' cmd.run uptime
    puppet module uninstall ntp
    knife node show web1
    govc vm.info db
    airflow dags list-runs -d etl
    python manage.py shell -c "print(User.objects.filter(deleted=True).count())"
    php artisan tinker --execute="echo User::count();"
    python3 -c "import requests; requests.delete('http://localhost:8000/api/items/1')"
    python3 -c "import requests; print(requests.get('https://api.example.com/deleted').json())"
    node -e "new (require('pg').Client)().query('SELECT 1')"
    gh ssh-key list
    db2 connect to sales
    ddev start
    curl -d "select 1" metrics.example:8123
    kubectl patch deploy api -p '{"spec":{"replicas":3}}'
    curl https://docs.example.com/api/projects/delete
    curl -X POST localhost:3000/api/projects/7/delete
    gh repo sync
    rake db:migrate VERSION=20240101
"""


def judged(line: str, **settings: Any) -> Objection | None:
    return infrastructure.judge(GuardedCall("Shell", {"command": line}, "/home/dev/project", ENVIRONMENT, settings))


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("line", [line for text in STOPPED.values() for line in lines(text)])
def test_what_deletes_is_stopped(line: str) -> None:
    assert judged(line) is not None


@pytest.mark.parametrize("line", lines(PASSED))
def test_what_reads_plans_or_changes_only_this_machine_passes(line: str) -> None:
    assert judged(line) is None


def test_backups_and_audit_records_are_refused_and_the_rest_is_asked_about() -> None:
    decisions = {line: found.decision for line in lines(STOPPED["audit"]) if (found := judged(line))}
    assert set(decisions.values()) == {DENY}
    assert judged("borg delete /backup/repo::monday").decision == DENY  # type: ignore[union-attr]
    assert judged("borg prune --keep-daily 7 /backup/repo").decision == ASK  # type: ignore[union-attr]
    assert judged("terraform destroy").decision == ASK  # type: ignore[union-attr]


def test_the_reason_names_the_part_the_rule_and_another_way() -> None:
    found = judged("cd infra && sudo terraform destroy -auto-approve && echo done")
    assert found is not None
    assert found.reason == (
        "`sudo terraform destroy -auto-approve`: it deletes or ends resources of an account [cloud]. Instead: list "
        "what it would delete and show that to the user; use a dry run if there is one."
    )


def test_a_rule_that_is_off_does_not_count() -> None:
    assert judged("kubectl delete pod web", allow=["cluster"]) is None
    assert judged("vault audit disable file/", ask="all").decision == ASK  # type: ignore[union-attr]


def test_commands_inside_of_others_are_found() -> None:
    for line in (
        "ssh ops@bastion 'kubectl delete ns prod'",
        "docker compose exec db psql -U app -c 'drop table users'",
        "for t in a b; do aws dynamodb delete-table --table-name $t; done",
        "echo prod | xargs -I{} helm uninstall {}",
        "bash -c \"mysql -e 'DROP DATABASE shop'\"",
        "cat <<END | psql shop\nBEGIN;\nTRUNCATE orders;\nEND",
    ):
        assert judged(line) is not None, line


def test_other_tools_are_not_looked_at() -> None:
    call = GuardedCall("WriteFile", {"file_path": "x.sh", "content": "terraform destroy"}, "/tmp", ENVIRONMENT)
    assert infrastructure.judge(call) is None


def test_a_row_may_leave_out_names_that_only_look_like_verbs() -> None:
    for line in ("gh ssh-key list", "aws ec2 create-tags --resources delete-me", "helm search repo remove"):
        assert judged(line) is None, line
    for line in ("gh ssh-key delete 1", "terraform apply -replace=aws_instance.web", "redis-cli config set dir /tmp"):
        assert judged(line) is not None, line
