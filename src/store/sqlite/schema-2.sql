-- Version 2: names, versions of payloads, kept answers, and indexes for lists.

-- Names of schedules and endpoint profiles that have not ended.
CREATE TABLE names (
  partition INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (partition, kind, name)
) STRICT, WITHOUT ROWID;
ALTER TABLE schedules ADD COLUMN name TEXT;
ALTER TABLE endpoint_profiles ADD COLUMN name TEXT;

-- `payloads` has the present version of each payload. An earlier version is kept while a delivery names it. Such a
-- delivery has an id from since_id to last_id, or has not ended. At check_at it is looked for again; null: when one is
-- removed.
ALTER TABLE schedules ADD COLUMN payload_version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE deliveries ADD COLUMN payload_version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE payloads ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE payloads ADD COLUMN since_id TEXT NOT NULL DEFAULT '';
CREATE TABLE earlier_payloads (
  partition INTEGER NOT NULL,
  schedule_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  since_id TEXT NOT NULL,
  last_id TEXT NOT NULL,
  check_at INTEGER,
  sealed BLOB NOT NULL,
  PRIMARY KEY (partition, schedule_id, version)
) STRICT;
CREATE INDEX earlier_payloads_to_check ON earlier_payloads (check_at) WHERE check_at IS NOT NULL;

-- A triggered delivery is of no occurrence. A moved one keeps the instant of the recurrence that it was moved from.
ALTER TABLE deliveries ALTER COLUMN occurrence DROP NOT NULL;
ALTER TABLE deliveries ADD COLUMN moved_from INTEGER;

-- The first bytes of answers that were not 2xx.
ALTER TABLE endpoint_profile_versions ADD COLUMN response_excerpt INTEGER;
CREATE TABLE attempt_responses (
  partition INTEGER NOT NULL,
  delivery_id TEXT NOT NULL,
  attempt_no INTEGER NOT NULL,
  status_code INTEGER NOT NULL,
  content_type TEXT,
  is_truncated INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (partition, delivery_id, attempt_no)
) STRICT;

-- Lists.
ALTER TABLE attempts ADD COLUMN endpoint_id TEXT;
UPDATE attempts SET endpoint_id = (
    SELECT d.endpoint_id FROM deliveries d WHERE d.partition = attempts.partition AND d.id = attempts.delivery_id)
  WHERE EXISTS (SELECT 1 FROM endpoint_profiles);
CREATE INDEX attempts_by_time ON attempts (partition, outcome, finished_at, id);
CREATE INDEX attempts_of_endpoint ON attempts (partition, endpoint_id, outcome, finished_at, id)
  WHERE endpoint_id IS NOT NULL;
CREATE INDEX deliveries_of_endpoint ON deliveries (partition, endpoint_id, status, id)
  WHERE endpoint_id IS NOT NULL;
CREATE INDEX deliveries_replays ON deliveries (partition, replay_of, id) WHERE replay_of IS NOT NULL;
CREATE INDEX schedules_of_endpoint ON schedules (partition, endpoint_id, state, kind, id)
  WHERE endpoint_id IS NOT NULL;
