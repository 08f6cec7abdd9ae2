-- Version 3: notifications of outcomes, alerts, signatures of Standard Webhooks.

-- Notifications. `notify` names an endpoint profile and outcomes (`domain/notify.ts`). A delivery keeps what its
-- schedule said when it was materialized. A notification has no schedule.
ALTER TABLE schedules ADD COLUMN notify TEXT;
ALTER TABLE endpoint_profiles ADD COLUMN notify TEXT;
ALTER TABLE deliveries ALTER COLUMN schedule_id DROP NOT NULL;
ALTER TABLE deliveries ADD COLUMN notify TEXT;
ALTER TABLE deliveries ADD COLUMN notification_of TEXT;
CREATE INDEX deliveries_notifications ON deliveries (partition, notification_of, id)
  WHERE notification_of IS NOT NULL;
-- A profile that another object notifies cannot be archived.
CREATE INDEX schedules_notifying ON schedules (partition, notify)
  WHERE notify IS NOT NULL AND state IN ('active', 'paused');
CREATE INDEX endpoint_profiles_notifying ON endpoint_profiles (partition, notify)
  WHERE notify IS NOT NULL AND archived = 0;

-- Standard Webhooks. A flag is 0 or 1.
ALTER TABLE endpoint_profile_versions ADD COLUMN standard_webhooks INTEGER NOT NULL DEFAULT 0;

-- Alerts.
-- Channels, conditions, incidents and messages (`domain/alert.ts`). The URL of a channel is encrypted.
CREATE TABLE alert_channels (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  sealed_url BLOB NOT NULL,
  shown_url TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_conditions (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  threshold INTEGER,
  window_minutes INTEGER,
  -- A JSON list.
  channel_ids TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_incidents (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  condition_id TEXT NOT NULL,
  endpoint TEXT,
  begun_at INTEGER NOT NULL,
  quiet_since INTEGER,
  reminded_at INTEGER,
  ended_at INTEGER,
  detail TEXT NOT NULL,
  revision INTEGER NOT NULL,
  -- Of the endpoint; empty where there is none.
  endpoint_digest TEXT NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;
-- One open incident for each condition and endpoint.
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (partition, condition_id, endpoint_digest)
  WHERE ended_at IS NULL;
-- Retention.
CREATE INDEX alert_incidents_ended ON alert_incidents (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE alert_messages (
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  incident_id TEXT,
  channel_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt_count INTEGER NOT NULL,
  due_at INTEGER,
  status_code INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  revision INTEGER NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;
-- Messages to send, channel by channel.
CREATE INDEX alert_messages_due ON alert_messages (partition, channel_id, due_at, id) WHERE status = 'waiting';
CREATE INDEX alert_messages_of_incident ON alert_messages (partition, incident_id, id);
-- Retention.
CREATE INDEX alert_messages_ended ON alert_messages (ended_at) WHERE ended_at IS NOT NULL;

-- Breakers that are not closed, by the time at which they last changed.
CREATE INDEX gates_open ON gates (partition, saved_at) WHERE state NOT LIKE '%"openUntil":null%';
