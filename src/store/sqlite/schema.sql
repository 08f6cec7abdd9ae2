-- The whole schema of the SQLite store: version 1. Later versions are in migrations.ts.
--
-- Ids sort by creation (see domain/id.ts), so an index that ends in the id serves a list newest first. Times and
-- spans are milliseconds. JSON columns hold text, because no SQL reads what is in them. Flags are 0 or 1.
--
-- Tables of customers refer to other tables by value only, as in PostgreSQL, where they can be distributed.


-- Projects ---------------------------------------------------------------------------------------------------------

CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  pinned_version TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Each project has one partition for test data and one for live data.
CREATE TABLE partitions (
  partition INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  mode TEXT NOT NULL,
  UNIQUE (project_id, mode)
) STRICT;

-- A request is recognised by the hash of its key.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  partition INTEGER NOT NULL REFERENCES partitions (partition),
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_of_partition ON api_keys (partition, id);

CREATE TABLE signing_secrets (
  id TEXT PRIMARY KEY,
  partition INTEGER NOT NULL REFERENCES partitions (partition),
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX signing_secrets_of_partition ON signing_secrets (partition, id);


-- Endpoint profiles ------------------------------------------------------------------------------------------------

CREATE TABLE endpoint_profiles (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoint_profiles_unarchived ON endpoint_profiles (partition, id) WHERE archived = 0;

-- A version never changes. A delivery keeps the version that it was made with.
CREATE TABLE endpoint_profile_versions (
  partition INTEGER NOT NULL,
  endpoint_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  url TEXT NOT NULL,
  method TEXT NOT NULL,
  header_names TEXT NOT NULL,
  sealed_headers BLOB,
  timeout TEXT,
  retry_policy TEXT NOT NULL,
  retry_budget TEXT,
  rate_limit TEXT,
  breaker_policy TEXT,
  metadata TEXT NOT NULL,
  PRIMARY KEY (partition, endpoint_id, version)
) STRICT;

-- From alone_from on, the project's secrets no longer sign beside this one.
CREATE TABLE endpoint_secrets (
  partition INTEGER NOT NULL,
  endpoint_id TEXT NOT NULL,
  id TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  alone_from INTEGER,
  PRIMARY KEY (partition, endpoint_id, id)
) STRICT, WITHOUT ROWID;


-- Schedules --------------------------------------------------------------------------------------------------------

-- Labels may be large. They come last, so that reading the other columns does not read past them.
CREATE TABLE schedules (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  url TEXT,
  method TEXT,
  endpoint_id TEXT,
  header_names TEXT NOT NULL,
  payload_bytes INTEGER NOT NULL,
  fire_at INTEGER,
  cron TEXT,
  timezone TEXT,
  jitter TEXT,
  ttl TEXT,
  idempotency_key TEXT,
  retry_policy TEXT,
  rate_limit TEXT,
  pending_id TEXT NOT NULL,
  cron_at INTEGER,
  last_occurrence INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER,
  revision INTEGER NOT NULL,
  label_digests TEXT NOT NULL,
  metadata TEXT NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT;
-- Lists of schedules.
CREATE INDEX schedules_by_state ON schedules (partition, state, kind, id);
-- A profile that a schedule still uses cannot be archived.
CREATE INDEX schedules_using_profile ON schedules (partition, endpoint_id)
  WHERE endpoint_id IS NOT NULL AND state IN ('active', 'paused');
-- Whether any schedule sends a body through a profile.
CREATE INDEX schedules_with_body_by_profile ON schedules (partition, endpoint_id)
  WHERE endpoint_id IS NOT NULL AND payload_bytes > 0;
-- Retention.
CREATE INDEX schedules_ended ON schedules (ended_at, id) WHERE ended_at IS NOT NULL;

-- One row for each label of a schedule: the search by metadata. State and kind are here, because a search with them
-- must not read every schedule that has the label.
CREATE TABLE schedule_labels (
  partition INTEGER NOT NULL,
  digest BLOB NOT NULL,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  schedule_id TEXT NOT NULL,
  PRIMARY KEY (partition, digest, state, kind, schedule_id)
) STRICT, WITHOUT ROWID;

-- Payloads may be large. Apart from their schedules they are read only when they are needed.
CREATE TABLE payloads (
  partition INTEGER NOT NULL,
  schedule_id TEXT NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (partition, schedule_id)
) STRICT;

-- Actions on schedules with more waiting deliveries than one transaction changes. Those up to last_id still wait for
-- the action.
CREATE TABLE sweeps (
  partition INTEGER NOT NULL,
  schedule_id TEXT NOT NULL,
  action TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  last_id TEXT NOT NULL,
  PRIMARY KEY (partition, schedule_id)
) STRICT, WITHOUT ROWID;


-- Deliveries -------------------------------------------------------------------------------------------------------

CREATE TABLE deliveries (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  schedule_id TEXT NOT NULL,
  status TEXT NOT NULL,
  occurrence INTEGER NOT NULL,
  scheduled_for INTEGER NOT NULL,
  due_at INTEGER,
  reserved INTEGER NOT NULL,
  ttl TEXT,
  deadline INTEGER,
  attempt_count INTEGER NOT NULL,
  last_status_code INTEGER,
  error TEXT,
  idempotency_key TEXT NOT NULL,
  replay_of TEXT,
  url TEXT NOT NULL,
  method TEXT NOT NULL,
  endpoint_id TEXT,
  endpoint_version INTEGER,
  payload_bytes INTEGER NOT NULL,
  retry_policy TEXT NOT NULL,
  -- The attempt in flight. Its number is attempt_count.
  claim_node TEXT,
  claim_attempt_id TEXT,
  claim_due_at INTEGER,
  claim_fired_at INTEGER,
  created_at INTEGER NOT NULL,
  finalized_at INTEGER,
  revision INTEGER NOT NULL,
  PRIMARY KEY (partition, id),
  CHECK ((claim_node IS NOT NULL) + (claim_attempt_id IS NOT NULL) + (claim_due_at IS NOT NULL)
    + (claim_fired_at IS NOT NULL) = CASE status WHEN 'claimed' THEN 4 ELSE 0 END)
) STRICT;
-- An occurrence of a schedule has one delivery. Replays are further deliveries.
CREATE UNIQUE INDEX deliveries_occurrence ON deliveries (partition, schedule_id, occurrence)
  WHERE replay_of IS NULL;
-- Lists of deliveries.
CREATE INDEX deliveries_of_schedule ON deliveries (partition, schedule_id, status, id);
CREATE INDEX deliveries_by_status ON deliveries (partition, status, id);
-- Due work of all customers, and of one customer.
CREATE INDEX deliveries_due ON deliveries (due_at, id)
  WHERE status IN ('scheduled', 'retry_scheduled');
CREATE INDEX deliveries_due_of_partition ON deliveries (partition, due_at, id, status)
  WHERE status IN ('scheduled', 'retry_scheduled');
-- Attempts that a crash interrupted.
CREATE INDEX deliveries_claimed ON deliveries (claim_node) WHERE status = 'claimed';
-- Retention.
CREATE INDEX deliveries_finalized ON deliveries (finalized_at) WHERE finalized_at IS NOT NULL;

-- Attempts that ended.
CREATE TABLE attempts (
  partition INTEGER NOT NULL,
  delivery_id TEXT NOT NULL,
  attempt_no INTEGER NOT NULL,
  id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  status_code INTEGER,
  due_at INTEGER NOT NULL,
  fired_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  egress_ms INTEGER NOT NULL,
  error TEXT,
  timing TEXT,
  PRIMARY KEY (partition, delivery_id, attempt_no)
) STRICT, WITHOUT ROWID;

-- Answers to requests with an idempotency key.
CREATE TABLE receipts (
  partition INTEGER NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status_code INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (partition, key)
) STRICT;
-- Retention.
CREATE INDEX receipts_expiring ON receipts (expires_at);


-- Gates and stats of endpoints -------------------------------------------------------------------------------------

-- Breaker, retry budget and rate limits of an endpoint, as JSON (domain/gate.ts).
CREATE TABLE gates (
  partition INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  state TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  PRIMARY KEY (partition, endpoint)
) STRICT, WITHOUT ROWID;
-- Retention.
CREATE INDEX gates_by_saved_at ON gates (saved_at);

-- Breakers that a person asked to close. The owner of the endpoint's slot does it and removes the row.
CREATE TABLE breaker_resets (
  partition INTEGER NOT NULL,
  endpoint_digest TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (partition, endpoint_digest)
) STRICT, WITHOUT ROWID;

-- Each node has rows of its own, so that nodes never wait for each other.
CREATE TABLE stats (
  partition INTEGER NOT NULL,
  span_ms INTEGER NOT NULL,
  at INTEGER NOT NULL,
  node TEXT NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (partition, span_ms, at, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint_stats (
  partition INTEGER NOT NULL,
  endpoint_digest TEXT NOT NULL,
  at INTEGER NOT NULL,
  node TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (partition, endpoint_digest, at, node)
) STRICT, WITHOUT ROWID;
-- All endpoints in a span of time.
CREATE INDEX endpoint_stats_by_time ON endpoint_stats (partition, at, endpoint_digest);


-- Replay jobs ------------------------------------------------------------------------------------------------------

CREATE TABLE replay_jobs (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  filter TEXT NOT NULL,
  cursor TEXT,
  gathered INTEGER NOT NULL,
  replayed INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  expected INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER,
  runner TEXT,
  lease_until INTEGER,
  revision INTEGER NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;
-- Jobs that a node must run.
CREATE INDEX replay_jobs_open ON replay_jobs (state) WHERE state IN ('gathering', 'running');
-- Retention.
CREATE INDEX replay_jobs_ended ON replay_jobs (ended_at) WHERE ended_at IS NOT NULL;
-- Ended jobs whose items are still to be removed.
CREATE INDEX replay_jobs_with_items ON replay_jobs (id) WHERE ended_at IS NOT NULL AND cursor IS NOT NULL;

-- Deliveries that a job will replay, in the order in which it does: endpoint by endpoint.
CREATE TABLE replay_items (
  partition INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  endpoint_digest TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  PRIMARY KEY (partition, job_id, endpoint_digest, delivery_id)
) STRICT, WITHOUT ROWID;


-- Cluster and time -------------------------------------------------------------------------------------------------

-- A node is live while it renews its lease.
CREATE TABLE nodes (
  node TEXT PRIMARY KEY,
  lease_until INTEGER NOT NULL,
  is_stopping INTEGER NOT NULL,
  program_version TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The slots exist from the beginning (SLOTS in domain/slot.ts). A new owner begins a new epoch.
CREATE TABLE slots (
  slot INTEGER PRIMARY KEY,
  owner TEXT,
  epoch INTEGER NOT NULL
) STRICT;
WITH RECURSIVE every (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM every WHERE slot < 255)
INSERT INTO slots (slot, owner, epoch) SELECT slot, NULL, 0 FROM every;

-- One row: the time by which retention removes history (domain/trusted-time.ts). A clock that was set ahead is trusted
-- from believed_from on.
CREATE TABLE trusted_time (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seen_at INTEGER NOT NULL,
  trusted_at INTEGER NOT NULL,
  believed_from INTEGER
) STRICT;

-- The health check writes these two tables (statements.ts).
CREATE TABLE heartbeat (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at INTEGER NOT NULL
) STRICT;
CREATE TABLE disk_probe (bytes BLOB NOT NULL) STRICT;


-- Dashboard --------------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  projects TEXT,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  password_changed_at INTEGER NOT NULL,
  revision INTEGER NOT NULL
) STRICT;

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  projects TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_user ON sessions (user_id);

-- Failed logins and requests that a role refused, by a digest of the name, the address or the route. Both are limited
-- by these counts.
CREATE TABLE failure_counts (
  subject TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Retention.
CREATE INDEX failure_counts_by_last_at ON failure_counts (last_at);

-- Rows name people and projects by value, because both may be removed.
CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  user_id TEXT,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  project_id TEXT,
  mode TEXT,
  detail TEXT NOT NULL,
  address TEXT,
  peer TEXT,
  outcome TEXT NOT NULL,
  code TEXT
) STRICT;
CREATE INDEX audit_of_user ON audit (user_id, id);
CREATE INDEX audit_of_project ON audit (project_id, id);
