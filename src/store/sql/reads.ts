/** Reads by key, which are one text for every database. */

import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import type { FiringSchedule } from '#src/domain/schedule.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { ClusterState } from '#src/ports/cluster-store.ts';
import type { ControlStore, Tenant } from '#src/ports/control-store.ts';
import type { NamedIds, NamedKind, Receipt, Store } from '#src/ports/store.ts';
import { SEALED_HEAD_BYTES } from '#src/ports/vault.ts';
import { LIST_ATTEMPTS, type ResponseRow, toAttempt, toResponse } from './attempt-rows.ts';
import { ENDPOINT_SECRET, JOINED_KEY, JOINED_PROJECT, SECRET, toKey, toProject } from './control-rows.ts';
import type { SqlReader, Syntax } from './dialect.ts';
import {
  FIRING_PROFILE_COLUMNS,
  JOINED_DELIVERY,
  JOINED_SCHEDULE,
  PROFILE_COLUMNS,
  profileIn,
  viewIn,
} from './joined-rows.ts';
import type { Row } from './mapping.ts';
import { DELIVERY, FIRING_SCHEDULE } from './rows.ts';

export const FIND_FIRING_SCHEDULE = `SELECT ${FIRING_SCHEDULE.columns.join(', ')} FROM schedules
  WHERE partition = $1 AND id = $2`;
export const FIND_DELIVERY = `SELECT ${DELIVERY.columns.join(', ')} FROM deliveries WHERE partition = $1 AND id = $2`;
const PROFILE_HEADERS = `SELECT sealed_headers FROM endpoint_profile_versions
  WHERE partition = $1 AND endpoint_id = $2 AND version = $3`;
const NAMED = 'SELECT id FROM names WHERE partition = $1 AND kind = $2 AND name = $3';
const RESPONSE = `SELECT status_code, content_type, is_truncated, sealed FROM attempt_responses
  WHERE partition = $1 AND delivery_id = $2 AND attempt_no = $3`;
const RECEIPT = `SELECT key, fingerprint, status_code AS status, body, created_at AS "createdAt", expires_at AS "expiresAt"
  FROM receipts WHERE partition = $1 AND key = $2`;

/** Joins a schedule `s` with what the API shows with it. The partition is a parameter for every table, as Citus needs. */
export const VIEW_JOINS = `LEFT JOIN deliveries d ON d.partition = $1 AND d.id = s.pending_id
  LEFT JOIN endpoint_profiles p ON p.partition = $2 AND p.id = s.endpoint_id
  LEFT JOIN endpoint_profile_versions v ON v.partition = $3 AND v.endpoint_id = p.id AND v.version = p.version`;

/** `longText`: see `Syntax`. */
export function objectTexts(longText: Syntax['longText']) {
  const withLabels = (columns: string) => columns.replace(/\b[sv]\.metadata\b/, (column) => longText(column));
  const profileColumns = withLabels(PROFILE_COLUMNS);
  const viewColumns = `${withLabels(JOINED_SCHEDULE.columns)}, ${JOINED_DELIVERY.columns}, ${FIRING_PROFILE_COLUMNS}`;
  return {
    profileColumns,
    viewColumns,
    scheduleView: `SELECT ${viewColumns} FROM schedules s ${VIEW_JOINS} WHERE s.partition = $4 AND s.id = $5`,
    profile: `SELECT ${profileColumns} FROM endpoint_profiles p
      JOIN endpoint_profile_versions v ON v.partition = $1 AND v.endpoint_id = p.id AND v.version = p.version
      WHERE p.partition = $2 AND p.id = $3`,
  };
}

interface KeyedReads
  extends Pick<
    Store,
    | 'findNamed'
    | 'findSchedule'
    | 'findProfile'
    | 'findDelivery'
    | 'listAttempts'
    | 'findResponse'
    | 'findProfileHeaders'
    | 'findReceipt'
  > {
  readonly firingSchedule: (partition: Partition, id: ScheduleId) => Promise<FiringSchedule | null>;
}

export function keyedReads(reader: SqlReader, longText: Syntax['longText']): KeyedReads {
  const texts = objectTexts(longText);
  return {
    findNamed: async <Kind extends NamedKind>(partition: Partition, kind: Kind, name: string) => {
      const [row] = await reader.lookUp<{ readonly id: NamedIds[Kind] }>(NAMED, partition, kind, name);
      return row?.id ?? null;
    },
    findSchedule: async (partition, id) => {
      const key = [partition, partition, partition, partition, id] as const;
      const [row] = await reader.lookUp<Row>(texts.scheduleView, ...key);
      return row === undefined ? null : viewIn(row);
    },
    findProfile: async (partition, id) => {
      const [row] = await reader.lookUp<Row>(texts.profile, partition, partition, id);
      return row === undefined ? null : profileIn(row);
    },
    firingSchedule: async (partition, id) => {
      const [row] = await reader.lookUp<Row>(FIND_FIRING_SCHEDULE, partition, id);
      return row === undefined ? null : FIRING_SCHEDULE.from(row);
    },
    findDelivery: async (partition, id) => {
      const [row] = await reader.lookUp<Row>(FIND_DELIVERY, partition, id);
      return row === undefined ? null : DELIVERY.from(row);
    },
    listAttempts: async (partition, id, after, limit) => {
      const from = [partition, id, after] as const;
      const rows = await reader.lookUp<Row>(LIST_ATTEMPTS, ...from, ...from, limit);
      return rows.map(toAttempt);
    },
    findResponse: async (partition, id, attemptNo) => {
      const [row] = await reader.lookUp<ResponseRow>(RESPONSE, partition, id, attemptNo);
      return row === undefined ? null : toResponse(row);
    },
    findProfileHeaders: async (partition, id, version) => {
      const [row] = await reader.lookUp<{ readonly sealed_headers: Uint8Array | null }>(
        PROFILE_HEADERS,
        partition,
        id,
        version,
      );
      return row?.sealed_headers ?? null;
    },
    findReceipt: async (partition, key, now) => {
      const [row] = await reader.lookUp<Receipt>(RECEIPT, partition, key);
      return row !== undefined && row.expiresAt > now ? row : null;
    },
  };
}

const PROJECTS = `SELECT ${JOINED_PROJECT.columns}, t.partition AS test, l.partition AS live
  FROM projects p
  JOIN partitions t ON t.project_id = p.id AND t.mode = 'test'
  JOIN partitions l ON l.project_id = p.id AND l.mode = 'live'`;
const PROJECT = `${PROJECTS} WHERE p.name = $1`;
const PROJECTS_IN_ORDER = `${PROJECTS} ORDER BY p.id`;
const KEYS = `SELECT ${JOINED_KEY.columns}, p.mode
  FROM api_keys k JOIN partitions p ON p.partition = k.partition WHERE k.partition = $1 ORDER BY k.id`;
const TENANT = `SELECT p.project_id AS "projectId", k.partition, p.mode, k.hash AS "keyHash",
    j.pinned_version AS "pinnedVersion"
  FROM api_keys k JOIN partitions p ON p.partition = k.partition JOIN projects j ON j.id = p.project_id
  WHERE k.hash = $1 AND k.revoked_at IS NULL`;
const MODE = 'SELECT mode FROM partitions WHERE partition = $1';
const SECRETS = `SELECT ${SECRET.columns.join(', ')} FROM signing_secrets
  WHERE partition = $1 AND (expires_at IS NULL OR expires_at > $2) ORDER BY id DESC`;
const SECRET_OF_EACH_MASTER_KEY = `SELECT ${SECRET.columns.join(', ')} FROM signing_secrets WHERE id IN
  (SELECT min(id) FROM signing_secrets WHERE expires_at IS NULL OR expires_at > $1
   GROUP BY substr(sealed, 1, ${SEALED_HEAD_BYTES})) ORDER BY id`;
const PARTITIONS_WITHOUT_SECRET = `SELECT p.partition FROM partitions p
  WHERE NOT EXISTS (SELECT 1 FROM signing_secrets s
    WHERE s.partition = p.partition AND (s.expires_at IS NULL OR s.expires_at > $1)) ORDER BY p.partition`;
const STANDARD_PROFILE = `SELECT p.id FROM endpoint_profiles p
  JOIN endpoint_profile_versions v ON v.partition = $1 AND v.endpoint_id = p.id AND v.version = p.version
  WHERE p.partition = $2 AND p.archived = 0 AND v.standard_webhooks = 1 LIMIT 1`;
const ANY_ENDPOINT_SECRET = `SELECT 1 FROM endpoint_secrets
  WHERE partition = $1 AND (expires_at IS NULL OR expires_at > $2) LIMIT 1`;
const ENDPOINT_SECRETS = `SELECT ${ENDPOINT_SECRET.columns.join(', ')} FROM endpoint_secrets
  WHERE partition = $1 AND endpoint_id = $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY id DESC`;

type ControlReads = Pick<
  ControlStore,
  | 'findProject'
  | 'listProjects'
  | 'listKeys'
  | 'findTenant'
  | 'findMode'
  | 'listSecrets'
  | 'listSecretOfEachMasterKey'
  | 'listPartitionsWithoutSecret'
  | 'findStandardProfile'
  | 'hasEndpointSecrets'
  | 'listEndpointSecrets'
>;

export function controlReads(reader: SqlReader): ControlReads {
  return {
    findProject: async (name) => (await reader.query<Row>(PROJECT, name)).map(toProject)[0] ?? null,
    listProjects: async () => (await reader.query<Row>(PROJECTS_IN_ORDER)).map(toProject),
    listKeys: async (partition) => (await reader.query<Row>(KEYS, partition)).map(toKey),
    findTenant: async (keyHash) => (await reader.query<Tenant>(TENANT, keyHash))[0] ?? null,
    findMode: async (partition) =>
      (await reader.query<{ readonly mode: Mode }>(MODE, partition))[0]?.mode ?? null,
    listSecrets: async (partition, now) =>
      (await reader.query<Row>(SECRETS, partition, now)).map(SECRET.from),
    listSecretOfEachMasterKey: async (now) =>
      (await reader.query<Row>(SECRET_OF_EACH_MASTER_KEY, now)).map(SECRET.from),
    listPartitionsWithoutSecret: async (now) =>
      (await reader.query<{ readonly partition: Partition }>(PARTITIONS_WITHOUT_SECRET, now)).map(
        ({ partition }) => partition,
      ),
    findStandardProfile: async (partition) =>
      (await reader.query<{ readonly id: EndpointId }>(STANDARD_PROFILE, partition, partition))[0]?.id ??
      null,
    hasEndpointSecrets: async (partition, now) =>
      (await reader.query(ANY_ENDPOINT_SECRET, partition, now)).length > 0,
    listEndpointSecrets: async (partition, endpointId, now) =>
      (await reader.query<Row>(ENDPOINT_SECRETS, partition, endpointId, now)).map(ENDPOINT_SECRET.from),
  };
}

export async function listVersions(reader: SqlReader): Promise<readonly string[]> {
  const rows = await reader.query<{ readonly program_version: string }>(
    'SELECT DISTINCT program_version FROM nodes',
  );
  return rows.map(({ program_version: version }) => version);
}

const CLUSTER_STATE = `SELECT CAST(NULL AS integer) AS slot, node, lease_until AS number, is_stopping, program_version
    FROM nodes
  UNION ALL SELECT slot, owner, epoch, 0, '' FROM slots
  ORDER BY slot, node`;

/** Either a node with its lease and no slot, or a slot with its epoch and owner. */
interface ClusterRow {
  readonly slot: Slot | null;
  readonly node: string | null;
  readonly number: number;
  readonly is_stopping: number;
  readonly program_version: string;
}

export async function readCluster(reader: SqlReader): Promise<ClusterState> {
  const rows = await reader.query<ClusterRow>(CLUSTER_STATE);
  return {
    nodes: rows.flatMap(({ slot, node, number, is_stopping, program_version: version }) =>
      slot === null && node !== null
        ? [{ node, leaseUntil: instant(number), isStopping: is_stopping === 1, version }]
        : [],
    ),
    slots: rows.flatMap(({ slot, node, number }) =>
      slot === null ? [] : [{ slot, owner: node, epoch: number }],
    ),
  };
}
