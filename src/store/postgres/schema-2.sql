-- Version 2: names, versions of payloads, kept answers. Its indexes on tables with rows are in migrations.ts.

-- Names of schedules and endpoint profiles that have not ended.
CREATE TABLE names (
  partition bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (partition, kind, name)
);
ALTER TABLE schedules ADD COLUMN name text COLLATE "C";
ALTER TABLE endpoint_profiles ADD COLUMN name text COLLATE "C";

-- `payloads` has the present version of each payload. An earlier version is kept while a delivery names it. Such a
-- delivery has an id from since_id to last_id, or has not ended. At check_at it is looked for again; null: when one is
-- removed.
ALTER TABLE schedules ADD COLUMN payload_version integer NOT NULL DEFAULT 1;
ALTER TABLE deliveries ADD COLUMN payload_version integer NOT NULL DEFAULT 1;
ALTER TABLE payloads ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE payloads ADD COLUMN since_id text COLLATE "C" NOT NULL DEFAULT '';
CREATE TABLE earlier_payloads (
  partition bigint NOT NULL,
  schedule_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  since_id text COLLATE "C" NOT NULL,
  last_id text COLLATE "C" NOT NULL,
  check_at bigint,
  sealed bytea NOT NULL,
  PRIMARY KEY (partition, schedule_id, version)
);
ALTER TABLE earlier_payloads ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX earlier_payloads_to_check ON earlier_payloads (check_at) WHERE check_at IS NOT NULL;

-- A triggered delivery is of no occurrence. A moved one keeps the instant of the recurrence that it was moved from.
ALTER TABLE deliveries ALTER COLUMN occurrence DROP NOT NULL;
ALTER TABLE deliveries ADD COLUMN moved_from bigint;

-- The first bytes of answers that were not 2xx.
ALTER TABLE endpoint_profile_versions ADD COLUMN response_excerpt integer;
CREATE TABLE attempt_responses (
  partition bigint NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  attempt_no integer NOT NULL,
  status_code integer NOT NULL,
  content_type text,
  is_truncated integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (partition, delivery_id, attempt_no)
);
ALTER TABLE attempt_responses ALTER COLUMN sealed SET STORAGE EXTERNAL;

-- The endpoint profile of the delivery: the list of attempts by endpoint.
ALTER TABLE attempts ADD COLUMN endpoint_id text COLLATE "C";
