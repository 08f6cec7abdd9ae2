/**
 * The schema. Migrations only go forward: a released migration never changes, and a change is a new migration.
 *
 * Ids sort by creation (see `domain/id.ts`), so an index that ends in `id` can serve a list newest first. JSON
 * columns hold text, because no SQL reads what is in them.
 */
import { SLOTS } from '#src/domain/slot.ts';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'the first schema',
    sql: `
      CREATE TABLE projects (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        pinned_version TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE partitions (
        partition INTEGER PRIMARY KEY,
        project_id TEXT NOT NULL REFERENCES projects (id),
        mode TEXT NOT NULL,
        UNIQUE (project_id, mode)
      ) STRICT;

      CREATE TABLE api_keys (
        id TEXT PRIMARY KEY,
        partition INTEGER NOT NULL REFERENCES partitions (partition),
        hash TEXT NOT NULL UNIQUE,
        hint TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        revoked_at INTEGER
      ) STRICT;
      CREATE INDEX api_keys_of ON api_keys (partition, id);

      CREATE TABLE signing_secrets (
        id TEXT PRIMARY KEY,
        partition INTEGER NOT NULL REFERENCES partitions (partition),
        sealed BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
      ) STRICT;
      CREATE INDEX signing_secrets_of ON signing_secrets (partition, id);

      CREATE TABLE endpoints (
        partition INTEGER NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        PRIMARY KEY (partition, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX endpoints_unarchived ON endpoints (partition, id) WHERE archived = 0;

      CREATE TABLE endpoint_versions (
        partition INTEGER NOT NULL,
        endpoint_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        url TEXT NOT NULL,
        method TEXT NOT NULL,
        header_names TEXT NOT NULL,
        headers BLOB,
        timeout TEXT,
        retry_policy TEXT NOT NULL,
        retry_budget TEXT,
        rate_limit TEXT,
        breaker_policy TEXT,
        metadata TEXT NOT NULL,
        PRIMARY KEY (partition, endpoint_id, version)
      ) STRICT;

      CREATE TABLE schedules (
        partition INTEGER NOT NULL,
        id TEXT NOT NULL,
        state TEXT NOT NULL,
        kind TEXT NOT NULL,
        endpoint TEXT,
        method TEXT,
        endpoint_id TEXT,
        header_names TEXT NOT NULL,
        fire_at INTEGER,
        cron TEXT,
        timezone TEXT,
        jitter TEXT,
        ttl TEXT,
        idempotency_key TEXT,
        retry_policy TEXT,
        rate_limit TEXT,
        metadata TEXT NOT NULL,
        pending_id TEXT NOT NULL,
        cron_at INTEGER,
        last_occurrence INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        ended_at INTEGER,
        revision INTEGER NOT NULL,
        PRIMARY KEY (partition, id)
      ) STRICT;
      CREATE INDEX schedules_by_state ON schedules (partition, state, kind, id);
      CREATE INDEX schedules_using_endpoint ON schedules (partition, endpoint_id)
        WHERE endpoint_id IS NOT NULL AND state IN ('active', 'paused');

      CREATE TABLE schedule_labels (
        partition INTEGER NOT NULL,
        digest BLOB NOT NULL,
        schedule_id TEXT NOT NULL,
        PRIMARY KEY (partition, digest, schedule_id)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE payloads (
        partition INTEGER NOT NULL,
        schedule_id TEXT NOT NULL,
        sealed BLOB NOT NULL,
        PRIMARY KEY (partition, schedule_id)
      ) STRICT;

      CREATE TABLE deliveries (
        partition INTEGER NOT NULL,
        id TEXT NOT NULL,
        schedule_id TEXT NOT NULL,
        status TEXT NOT NULL,
        occurrence INTEGER NOT NULL,
        scheduled_for INTEGER NOT NULL,
        due_at INTEGER,
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
        retry_policy TEXT NOT NULL,
        claim_node TEXT,
        claim_token TEXT,
        created_at INTEGER NOT NULL,
        finalized_at INTEGER,
        revision INTEGER NOT NULL,
        PRIMARY KEY (partition, id)
      ) STRICT;
      CREATE UNIQUE INDEX deliveries_occurrence ON deliveries (partition, schedule_id, occurrence)
        WHERE replay_of IS NULL;
      CREATE INDEX deliveries_of_schedule ON deliveries (partition, schedule_id, status, id);
      CREATE INDEX deliveries_by_status ON deliveries (partition, status, id);
      CREATE INDEX deliveries_due ON deliveries (due_at)
        WHERE status IN ('scheduled', 'retry_scheduled');
      CREATE INDEX deliveries_claimed ON deliveries (claim_node) WHERE status = 'claimed';

      CREATE TABLE attempts (
        partition INTEGER NOT NULL,
        delivery_id TEXT NOT NULL,
        attempt_no INTEGER NOT NULL,
        id TEXT NOT NULL,
        outcome TEXT NOT NULL,
        status_code INTEGER,
        due_at INTEGER NOT NULL,
        fired_at INTEGER NOT NULL,
        finished_at INTEGER,
        egress_ms INTEGER,
        error TEXT,
        PRIMARY KEY (partition, delivery_id, attempt_no)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE receipts (
        partition INTEGER NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        status INTEGER NOT NULL,
        body TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (partition, key)
      ) STRICT;
      CREATE INDEX receipts_expiring ON receipts (expires_at);

      CREATE TABLE heartbeat (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        at INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE room (bytes BLOB NOT NULL) STRICT;
    `,
  },
  {
    version: 2,
    name: 'looking ahead, gates and retention',
    sql: `
      ALTER TABLE deliveries ADD COLUMN booked INTEGER NOT NULL DEFAULT 0;

      DROP INDEX deliveries_due;
      CREATE INDEX deliveries_due ON deliveries (due_at, id)
        WHERE status IN ('scheduled', 'retry_scheduled');
      CREATE INDEX deliveries_finalized ON deliveries (finalized_at)
        WHERE finalized_at IS NOT NULL;
      CREATE INDEX schedules_ended ON schedules (ended_at, id)
        WHERE ended_at IS NOT NULL;

      CREATE TABLE gates (
        partition INTEGER NOT NULL,
        endpoint TEXT NOT NULL,
        state TEXT NOT NULL,
        saved_at INTEGER NOT NULL,
        PRIMARY KEY (partition, endpoint)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX gates_saved ON gates (saved_at);
    `,
  },
  {
    version: 3,
    name: 'nodes and slots',
    sql: `
      CREATE TABLE nodes (
        node TEXT PRIMARY KEY,
        lease_until INTEGER NOT NULL,
        is_stopping INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE slots (
        slot INTEGER PRIMARY KEY,
        owner TEXT,
        epoch INTEGER NOT NULL
      ) STRICT;
      WITH RECURSIVE every (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM every WHERE slot < ${SLOTS - 1})
      INSERT INTO slots (slot, owner, epoch) SELECT slot, NULL, 0 FROM every;
    `,
  },
  {
    version: 4,
    name: 'the dashboard',
    sql: `
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
        expires_at INTEGER
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
      CREATE INDEX sessions_of ON sessions (user_id);

      CREATE TABLE login_failures (
        subject TEXT PRIMARY KEY,
        failures INTEGER NOT NULL,
        last_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX login_failures_last ON login_failures (last_at);

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
        outcome TEXT NOT NULL,
        code TEXT
      ) STRICT;
      CREATE INDEX audit_of_user ON audit (user_id, id);
      CREATE INDEX audit_of_project ON audit (project_id, id);

      ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
      ALTER TABLE attempts ADD COLUMN timing TEXT;

      DROP INDEX deliveries_due;
      CREATE INDEX deliveries_due ON deliveries (due_at, id, partition, status)
        WHERE status IN ('scheduled', 'retry_scheduled');

      CREATE TABLE tallies (
        partition INTEGER NOT NULL,
        span_ms INTEGER NOT NULL,
        at INTEGER NOT NULL,
        node TEXT NOT NULL,
        counts TEXT NOT NULL,
        PRIMARY KEY (partition, span_ms, at, node)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE endpoint_tallies (
        partition INTEGER NOT NULL,
        endpoint_key TEXT NOT NULL,
        at INTEGER NOT NULL,
        node TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        counts TEXT NOT NULL,
        PRIMARY KEY (partition, endpoint_key, at, node)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX endpoint_tallies_at ON endpoint_tallies (partition, at, endpoint_key);

      CREATE TABLE gate_orders (
        partition INTEGER NOT NULL,
        endpoint_key TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (partition, endpoint_key)
      ) STRICT, WITHOUT ROWID;

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
      CREATE INDEX replay_jobs_open ON replay_jobs (state) WHERE state IN ('gathering', 'running');
      CREATE INDEX replay_jobs_ended ON replay_jobs (ended_at) WHERE ended_at IS NOT NULL;
      CREATE INDEX replay_jobs_left ON replay_jobs (id) WHERE ended_at IS NOT NULL AND cursor IS NOT NULL;

      CREATE TABLE replay_items (
        partition INTEGER NOT NULL,
        job_id TEXT NOT NULL,
        endpoint_key TEXT NOT NULL,
        delivery_id TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        PRIMARY KEY (partition, job_id, endpoint_key, delivery_id)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 5,
    name: 'isolation',
    sql: `
      ALTER TABLE schedules ADD COLUMN payload_bytes INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE deliveries ADD COLUMN payload_bytes INTEGER NOT NULL DEFAULT 0;
      -- Sealing adds 37 bytes.
      UPDATE schedules SET payload_bytes = max(length(p.sealed) - 37, 0) FROM payloads p
        WHERE p.partition = schedules.partition AND p.schedule_id = schedules.id;
      UPDATE deliveries SET payload_bytes = s.payload_bytes FROM schedules s
        WHERE s.partition = deliveries.partition AND s.id = deliveries.schedule_id AND s.payload_bytes > 0;

      -- Labels may be large. They come last, so that reading the other columns does not read past them.
      ALTER TABLE schedules ADD COLUMN label_digests TEXT NOT NULL DEFAULT '';
      ALTER TABLE schedules ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';
      UPDATE schedules SET labels = metadata;
      ALTER TABLE schedules DROP COLUMN metadata;
      ALTER TABLE schedules RENAME COLUMN labels TO metadata;
      UPDATE schedules SET label_digests = d.digests FROM (
        SELECT partition, schedule_id, group_concat(lower(hex(digest)), '') AS digests
        FROM schedule_labels GROUP BY partition, schedule_id
      ) d WHERE schedules.partition = d.partition AND schedules.id = d.schedule_id;

      DROP INDEX deliveries_due;
      CREATE INDEX deliveries_due ON deliveries (due_at, id)
        WHERE status IN ('scheduled', 'retry_scheduled');
      CREATE INDEX deliveries_due_of_partition ON deliveries (partition, due_at, id, status)
        WHERE status IN ('scheduled', 'retry_scheduled');

      CREATE TABLE labels_by_state (
        partition INTEGER NOT NULL,
        digest BLOB NOT NULL,
        state TEXT NOT NULL,
        kind TEXT NOT NULL,
        schedule_id TEXT NOT NULL,
        PRIMARY KEY (partition, digest, state, kind, schedule_id)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO labels_by_state (partition, digest, state, kind, schedule_id)
        SELECT l.partition, l.digest, s.state, s.kind, l.schedule_id FROM schedule_labels l
        CROSS JOIN schedules s ON s.partition = l.partition AND s.id = l.schedule_id
        ORDER BY l.partition, l.digest, s.state, s.kind, l.schedule_id;
      DROP TABLE schedule_labels;
      ALTER TABLE labels_by_state RENAME TO schedule_labels;

      CREATE TABLE trusted_time (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        seen_at INTEGER NOT NULL,
        trusted_at INTEGER NOT NULL,
        believed_from INTEGER
      ) STRICT;
      INSERT INTO trusted_time (one, seen_at, trusted_at) SELECT 1, at, at FROM heartbeat;

      CREATE TABLE sweeps (
        partition INTEGER NOT NULL,
        schedule_id TEXT NOT NULL,
        ordered TEXT NOT NULL,
        ordered_at INTEGER NOT NULL,
        last_id TEXT NOT NULL,
        PRIMARY KEY (partition, schedule_id)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 6,
    name: 'the perimeter',
    sql: `
      ALTER TABLE audit ADD COLUMN peer TEXT;

      CREATE INDEX schedules_sending_through ON schedules (partition, endpoint_id)
        WHERE endpoint_id IS NOT NULL AND payload_bytes > 0;

      -- The invitation of the first admin had no end.
      UPDATE invitations SET expires_at = created_at + 86400000 WHERE expires_at IS NULL;

      -- From alone_from on the project's secrets no longer sign beside this one.
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
    `,
  },
];
