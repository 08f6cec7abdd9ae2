/** The queries of the control plane. */
import type { EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ApiKey, EndpointSecret, Project, SigningSecret, Tenant } from '#src/ports/control-store.ts';
import {
  type EndpointSecretRow,
  type KeyRow,
  type ProjectRow,
  type SecretRow,
  toEndpointSecret,
  toKey,
  toProject,
  toSecret,
} from '#src/store/sql/control-rows.ts';
import type { Db } from './connection.ts';

const PROJECTS = `SELECT p.*, t.partition AS test, l.partition AS live FROM projects p
  JOIN partitions t ON t.project_id = p.id AND t.mode = 'test'
  JOIN partitions l ON l.project_id = p.id AND l.mode = 'live'`;

export function prepareControlReads(db: Db) {
  const project = db.prepare(`${PROJECTS} WHERE p.name = ?`);
  const projects = db.prepare(`${PROJECTS} ORDER BY p.id`);
  const keys = db.prepare(
    'SELECT k.*, p.mode FROM api_keys k JOIN partitions p USING (partition) WHERE k.partition = ? ORDER BY k.id',
  );
  const tenant = db.prepare(
    `SELECT p.project_id AS projectId, k.partition, p.mode, k.hash AS keyHash, j.pinned_version AS pinnedVersion
     FROM api_keys k JOIN partitions p USING (partition) JOIN projects j ON j.id = p.project_id
     WHERE k.hash = ? AND k.revoked_at IS NULL`,
  );
  const secrets = db.prepare(
    `SELECT * FROM signing_secrets WHERE partition = ? AND (expires_at IS NULL OR expires_at > ?)
     ORDER BY id DESC`,
  );
  const anyEndpointSecret = db.prepare(
    'SELECT 1 FROM endpoint_secrets WHERE partition = ? AND (expires_at IS NULL OR expires_at > ?) LIMIT 1',
  );
  const endpointSecrets = db.prepare(
    `SELECT * FROM endpoint_secrets
     WHERE partition = ? AND endpoint_id = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id DESC`,
  );
  return {
    project(name: string): Project | null {
      const row = project.get(name) as ProjectRow | undefined;
      return row === undefined ? null : toProject(row);
    },
    projects(): readonly Project[] {
      return (projects.all() as ProjectRow[]).map(toProject);
    },
    keys(partition: Partition): readonly ApiKey[] {
      return (keys.all(partition) as KeyRow[]).map(toKey);
    },
    tenant(keyHash: string): Tenant | null {
      return (tenant.get(keyHash) as Tenant | undefined) ?? null;
    },
    secrets(partition: Partition, now: Instant): readonly SigningSecret[] {
      return (secrets.all(partition, now) as SecretRow[]).map(toSecret);
    },
    hasEndpointSecrets(partition: Partition, now: Instant): boolean {
      return anyEndpointSecret.get(partition, now) !== undefined;
    },
    endpointSecrets(partition: Partition, endpointId: EndpointId, now: Instant): readonly EndpointSecret[] {
      return (endpointSecrets.all(partition, endpointId, now) as EndpointSecretRow[]).map(toEndpointSecret);
    },
  };
}
