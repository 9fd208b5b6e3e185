BEGIN TRANSACTION;
CREATE TABLE answers (
            number integer primary key autoincrement, attempt text not null unique, request text not null, who text not null, via text not null,
            approved integer not null, scope text not null, message text, hash text not null, at real not null,
            became text not null);
INSERT INTO "answers" VALUES(1,'3295f4ccd4db4f30b8ee34e77456015d','permission_35d8c440e9bb','root','api',1,'once',NULL,'4141d2dd2633826afbd7c054918af59b3f14a7e2ec7d5602ff5bb91a2dc830a3',1.79494227136550116535e+09,'won');
CREATE TABLE attempts (who text primary key, failures integer not null, next real not null);
CREATE TABLE changes (
            number integer primary key autoincrement, kind text not null, about text not null, what text not null, time real not null);
INSERT INTO "changes" VALUES(1,'people','root','added',1.79494225957434415819e+09);
INSERT INTO "changes" VALUES(2,'people','inbox on this machine','token added',1.79494225957745623585e+09);
INSERT INTO "changes" VALUES(3,'people','machine','token added',1.79494226500545883172e+09);
INSERT INTO "changes" VALUES(4,'people','ada','added',1.79494226525665831568e+09);
INSERT INTO "changes" VALUES(5,'rules','1','added',1.79494226526652264595e+09);
INSERT INTO "changes" VALUES(6,'request','permission_35d8c440e9bb','open',1.79494226729524278644e+09);
INSERT INTO "changes" VALUES(7,'request','permission_35d8c440e9bb','approved',1.7949422713655340672e+09);
INSERT INTO "changes" VALUES(8,'record','vm/kept','added',1.79494227148833155631e+09);
CREATE TABLE deliveries (
            webhook bigint not null references webhooks (number) on delete cascade,
            request text not null references requests (id), tries integer not null, due real not null,
            primary key (webhook, request));
CREATE TABLE grants (
            agent_token bigint not null references tokens (id), machine text not null, session text not null,
            grant_key text not null, who text not null, at real not null,
            primary key (agent_token, machine, session, grant_key));
CREATE TABLE hub (key text primary key, value text not null);
INSERT INTO "hub" VALUES('version','1');
CREATE TABLE links (
            hash text primary key, person text not null references people (name), created real not null,
            expires real not null, used real);
INSERT INTO "links" VALUES('80a9043e6915807d558990cae21c46833c7cd35acf25e3b4bd824cd98eec97b5','root',1.79494225957438397409e+09,1.79494285957438397412e+09,NULL);
CREATE TABLE people (
            name text primary key, password_hash text, role text not null, created real not null,
            disabled integer not null default 0);
INSERT INTO "people" VALUES('root',NULL,'admin',1.79494225957429909702e+09,0);
INSERT INTO "people" VALUES('ada','$argon2id$v=19$m=65536,t=3,p=4$kiow7tvtDG/9iEPFo2UUFA$OsVqZH4ut0Z7USX9MzmOOBWsvNGh7stRCpfKTZk0gz8','admin',1.7949422652565875054e+09,0);
CREATE TABLE records (
            number integer primary key autoincrement, agent_token bigint not null references tokens (id), machine text not null,
            segment text not null, line bigint not null, hash text not null, time real not null, type text, by text,
            session text, event text, decision text, tool text, waited real, body text not null,
            unique (agent_token, machine, hash));
INSERT INTO "records" VALUES(1,2,'vm','000001.jsonl',5,'46e94dc8df9cf8c04499ee51d7f998bd',1794942271.36977,'approval','claude-code','kept','permission-request','approve','Bash',4082.264,'{"schema": 1, "type": "approval", "time": 1794942271.36977, "by": "claude-code", "session_id": "kept", "event": "permission-request", "work_dir": "/tmp/v01/project", "tool_name": "Bash", "request": "permission_35d8c440e9bb", "request_hash": "4141d2dd2633826afbd7c054918af59b3f14a7e2ec7d5602ff5bb91a2dc830a3", "fields": {"tool_input": {"command": "make deploy"}}, "payload": "full", "why": null, "decision": "approve", "reason": null, "answered_by": "root (hub)", "scope": "once", "waited_ms": 4082.264, "prev": "f8a088b6010938a9386bc450de8931c5", "hash": "46e94dc8df9cf8c04499ee51d7f998bd"}');
CREATE TABLE requests (
            id text primary key, agent_token bigint not null references tokens (id), machine text not null,
            agent text not null, session text not null, work_dir text not null, tool_name text not null,
            tool_input text not null, display text not null, action text not null, why text, hash text not null,
            grant_key text, opened real not null, expires real not null, lease real not null,
            state text not null, approved integer, answered_by text, answered_via text, scope text, message text,
            answered real);
INSERT INTO "requests" VALUES('permission_35d8c440e9bb',2,'vm','claude-code','kept','/tmp/v01/project','Bash','{"command": "make deploy"}','{"kind": "command", "command": "make deploy", "cwd": "/tmp/v01/project"}','run command',NULL,'4141d2dd2633826afbd7c054918af59b3f14a7e2ec7d5602ff5bb91a2dc830a3','18147.2648093 ["Shell", "make deploy", "/tmp/v01/project"]',1.79494226729507040975e+09,1.79494285843807029729e+09,1.79494230729870319369e+09,'approved',1,'root','api','once',NULL,1.79494227136538290982e+09);
CREATE TABLE rules (
            number integer primary key autoincrement, answer text not null, tool text, command text, pattern text, directory text, agent text,
            reason text, expires real, created_by text not null, created real not null);
INSERT INTO "rules" VALUES(1,'approve','Shell','git status',NULL,NULL,NULL,NULL,NULL,'root',1.79494226526644754405e+09);
CREATE TABLE runs (
            record bigint not null references records (number), time real not null, hook text not null,
            source text, event text, outcome text, meaning text, decision text, shadow integer not null,
            duration real, changes integer not null, tells integer not null);
CREATE TABLE sessions (
            machine text not null, session text not null, by text, records bigint not null, denied bigint not null,
            first real not null, last real not null, primary key (machine, session));
INSERT INTO "sessions" VALUES('vm','kept','claude-code',1,0,1794942271.36977,1794942271.36977);
CREATE TABLE sign_ins (
            hash text primary key, person text not null references people (name), created real not null,
            expires real not null, csrf text not null);
CREATE TABLE tokens (
            id integer primary key autoincrement, name text not null, kind text not null, person text references people (name),
            hash text not null unique, created real not null, last_used real, revoked real);
INSERT INTO "tokens" VALUES(1,'inbox on this machine','person','root','8205a8627b57fd6642ee3cf134a1566a54f3862313f13a56677ef69fc90af9c0',1.7949422595774071217e+09,1.79494226500484514233e+09,NULL);
INSERT INTO "tokens" VALUES(2,'machine','agent',NULL,'339636cdcf50b0ec41be07aa910924789da6243f4ab9a3b39d893b932a819802',1.79494226500542283057e+09,1.79494226582212471968e+09,NULL);
CREATE TABLE webhooks (
            number integer primary key autoincrement, kind text not null, url text not null, created_by text not null, created real not null);
CREATE INDEX requests_state on requests (state, opened);
CREATE INDEX requests_answered on requests (answered);
CREATE INDEX answers_request on answers (request);
CREATE INDEX records_session on records (machine, session, number);
CREATE INDEX sessions_last on sessions (last);
CREATE INDEX records_time on records (time);
CREATE INDEX runs_time on runs (time);
CREATE INDEX runs_record on runs (record);
CREATE INDEX changes_time on changes (time);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('changes',8);
INSERT INTO "sqlite_sequence" VALUES('tokens',2);
INSERT INTO "sqlite_sequence" VALUES('rules',1);
INSERT INTO "sqlite_sequence" VALUES('answers',1);
INSERT INTO "sqlite_sequence" VALUES('records',1);
COMMIT;
