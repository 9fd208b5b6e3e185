BEGIN TRANSACTION;
CREATE TABLE answers (
            number integer primary key autoincrement, attempt text not null unique, request text not null, who text not null, via text not null,
            approved integer not null, scope text not null, message text, hash text not null, at real not null,
            became text not null);
INSERT INTO "answers" VALUES(1,'attempt-1','permission_answered','anna','page',1,'session',NULL,'6f3f2b328dd28922137400cf4a6b5613b36427d90ef58202b457820663e944ce',4000000000.0,'won');
CREATE TABLE attempts (who text primary key, failures integer not null, next real not null);
CREATE TABLE changes (
            number integer primary key autoincrement, kind text not null, about text not null, what text not null, time real not null);
INSERT INTO "changes" VALUES(1,'people','anna','added',1.79498122188207364082e+09);
INSERT INTO "changes" VALUES(2,'people','terminal','token added',1794981221.88231);
INSERT INTO "changes" VALUES(3,'people','laptop','token added',1.79498122188236117367e+09);
INSERT INTO "changes" VALUES(4,'request','permission_answered','open',1.79498122188285446168e+09);
INSERT INTO "changes" VALUES(5,'request','permission_answered','approved',1.79498122188315296175e+09);
INSERT INTO "changes" VALUES(6,'request','permission_open','open',1.79498122188333177561e+09);
INSERT INTO "changes" VALUES(7,'record','desk/s-1','added',1.79498122188355207443e+09);
CREATE TABLE deliveries (
            webhook bigint not null references webhooks (number) on delete cascade,
            request text not null references requests (id), tries integer not null, due real not null,
            primary key (webhook, request));
CREATE TABLE grants (
            agent_token bigint not null references tokens (id), machine text not null, session text not null,
            grant_key text not null, who text not null, at real not null,
            primary key (agent_token, machine, session, grant_key));
INSERT INTO "grants" VALUES(2,'desk','s-1','1.1 make','anna',4000000000.0);
CREATE TABLE hub (key text primary key, value text not null);
INSERT INTO "hub" VALUES('version','1');
CREATE TABLE links (
            hash text primary key, person text not null references people (name), created real not null,
            expires real not null, used real);
CREATE TABLE people (
            name text primary key, password_hash text, role text not null, created real not null,
            disabled integer not null default 0);
INSERT INTO "people" VALUES('anna','$argon2id$v=19$m=65536,t=3,p=4$pfjIx6yiScqe+cU7E/Igvw$mTEAuWgexQIpxT++mADCOvPrk5M3xCuM4zABdQbXqLI','admin',1.79498122188202357293e+09,0);
CREATE TABLE records (
            number integer primary key autoincrement, agent_token bigint not null references tokens (id), machine text not null,
            segment text not null, line bigint not null, hash text not null, time real not null, type text, by text,
            session text, event text, decision text, tool text, waited real, body text not null,
            unique (agent_token, machine, hash));
INSERT INTO "records" VALUES(1,2,'desk','1',1,'h',4000000000.0,'verdict',NULL,'s-1','pre-tool-call','deny',NULL,NULL,'{"type": "verdict", "hash": "h", "time": 1794981221.883344, "session_id": "s-1", "decision": "deny", "event": "pre-tool-call", "runs": []}');
CREATE TABLE requests (
            id text primary key, agent_token bigint not null references tokens (id), machine text not null,
            agent text not null, session text not null, work_dir text not null, tool_name text not null,
            tool_input text not null, display text not null, action text not null, why text, hash text not null,
            grant_key text, opened real not null, expires real not null, lease real not null,
            state text not null, approved integer, answered_by text, answered_via text, scope text, message text,
            answered real);
INSERT INTO "requests" VALUES('permission_answered',2,'desk','agent','s-1','/work/here','Shell','{"command": "make"}','{"kind": "command", "command": "make", "cwd": "/work/here"}','run command',NULL,'6f3f2b328dd28922137400cf4a6b5613b36427d90ef58202b457820663e944ce','1.1 make',4000000000.0,1.79498482188267850876e+09,1.79498125188267850871e+09,'approved',1,'anna','page','session',NULL,4000000000.0);
INSERT INTO "requests" VALUES('permission_open',2,'desk','agent','s-1','/work/here','Shell','{"command": "make test"}','{"kind": "command", "command": "make test", "cwd": "/work/here"}','run command',NULL,'d08da41d40588131e16b5728e274f4b209bc6297695170d42a21bd36cb5f1ca3','1.1 make test',4000000000.0,1.79498482188328266143e+09,1.79498125188328266138e+09,'open',NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE rules (
            number integer primary key autoincrement, answer text not null, tool text, command text, pattern text, directory text, agent text,
            reason text, expires real, created_by text not null, created real not null);
CREATE TABLE runs (
            record bigint not null references records (number), time real not null, hook text not null,
            source text, event text, outcome text, meaning text, decision text, shadow integer not null,
            duration real, changes integer not null, tells integer not null);
CREATE TABLE sessions (
            machine text not null, session text not null, by text, records bigint not null, denied bigint not null,
            first real not null, last real not null, primary key (machine, session));
INSERT INTO "sessions" VALUES('desk','s-1',NULL,1,1,4000000000.0,4000000000.0);
CREATE TABLE sign_ins (
            hash text primary key, person text not null references people (name), created real not null,
            expires real not null, csrf text not null);
INSERT INTO "sign_ins" VALUES('a267d91ba3a840269cf6c9cb8ea205c9e144253ce978f1fd77ad4a2f5b4047c3','anna',1.0,9000000000.0,'csrf-of-version-1');
CREATE TABLE tokens (
            id integer primary key autoincrement, name text not null, kind text not null, person text references people (name),
            hash text not null unique, created real not null, last_used real, revoked real);
INSERT INTO "tokens" VALUES(1,'terminal','person','anna','a421b07362e4ec4886c6e9312c62341a3fd52ed4a7eac9753074e07f2902d618',1.79498122188224911691e+09,NULL,NULL);
INSERT INTO "tokens" VALUES(2,'laptop','agent',NULL,'897f30b8951402dc560932fe065f83d81a511f048e5faef6688822495d6c6e00',1.79498122188234424589e+09,NULL,NULL);
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
INSERT INTO "sqlite_sequence" VALUES('changes',7);
INSERT INTO "sqlite_sequence" VALUES('tokens',2);
INSERT INTO "sqlite_sequence" VALUES('answers',1);
INSERT INTO "sqlite_sequence" VALUES('records',1);
COMMIT;
