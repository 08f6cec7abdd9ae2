-- Version 3: notifications of outcomes, alerts, signatures of Standard Webhooks. Its indexes on tables with rows are in
-- migrations.ts.

-- Notifications. `notify` names an endpoint profile and outcomes (`domain/notify.ts`). A delivery keeps what its
-- schedule said when it was materialized. A notification has no schedule.
ALTER TABLE schedules ADD COLUMN notify text COLLATE "C";
ALTER TABLE endpoint_profiles ADD COLUMN notify text COLLATE "C";
ALTER TABLE deliveries ALTER COLUMN schedule_id DROP NOT NULL;
ALTER TABLE deliveries ADD COLUMN notify text COLLATE "C";
ALTER TABLE deliveries ADD COLUMN notification_of text COLLATE "C";
-- A profile that another object notifies cannot be archived.
CREATE INDEX endpoint_profiles_notifying ON endpoint_profiles (partition, notify)
  WHERE notify IS NOT NULL AND archived = 0;

-- Standard Webhooks. A flag is 0 or 1.
ALTER TABLE endpoint_profile_versions ADD COLUMN standard_webhooks integer NOT NULL DEFAULT 0;

-- Alerts.
-- Channels, conditions, incidents and messages (`domain/alert.ts`). The URL of a channel is encrypted.
CREATE TABLE alert_channels (
  partition bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text NOT NULL,
  sealed_url bytea NOT NULL,
  shown_url text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  revision bigint NOT NULL,
  PRIMARY KEY (partition, id)
);

CREATE TABLE alert_conditions (
  partition bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  threshold bigint,
  window_minutes bigint,
  -- A JSON list.
  channel_ids text NOT NULL,
  enabled integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  revision bigint NOT NULL,
  PRIMARY KEY (partition, id)
);

CREATE TABLE alert_incidents (
  partition bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  condition_id text COLLATE "C" NOT NULL,
  endpoint text,
  begun_at bigint NOT NULL,
  quiet_since bigint,
  reminded_at bigint,
  ended_at bigint,
  detail text NOT NULL,
  revision bigint NOT NULL,
  -- Of the endpoint; empty where there is none.
  endpoint_digest text COLLATE "C" NOT NULL,
  PRIMARY KEY (partition, id)
);
-- One open incident for each condition and endpoint.
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (partition, condition_id, endpoint_digest)
  WHERE ended_at IS NULL;
-- Retention.
CREATE INDEX alert_incidents_ended ON alert_incidents (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE alert_messages (
  partition bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  incident_id text COLLATE "C",
  channel_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  content text NOT NULL,
  status text COLLATE "C" NOT NULL,
  attempt_count integer NOT NULL,
  due_at bigint,
  status_code integer,
  error text,
  created_at bigint NOT NULL,
  ended_at bigint,
  revision bigint NOT NULL,
  PRIMARY KEY (partition, id)
);
-- Messages to send, channel by channel.
CREATE INDEX alert_messages_due ON alert_messages (partition, channel_id, due_at, id) WHERE status = 'waiting';
CREATE INDEX alert_messages_of_incident ON alert_messages (partition, incident_id, id);
-- Retention.
CREATE INDEX alert_messages_ended ON alert_messages (ended_at) WHERE ended_at IS NOT NULL;
