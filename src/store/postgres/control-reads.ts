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
import type { Reader } from './read-pool.ts';

const PROJECTS = `SELECT p.id, p.name, p.pinned_version, p.created_at, t.partition AS test,
    l.partition AS live FROM projects p
  JOIN partitions t ON t.project_id = p.id AND t.mode = 'test'
  JOIN partitions l ON l.project_id = p.id AND l.mode = 'live'`;

export class ControlReads {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async project(name: string): Promise<Project | null> {
    const rows = await this.#reader.query<ProjectRow>(`${PROJECTS} WHERE p.name = $1`, name);
    return rows.map(toProject)[0] ?? null;
  }

  async projects(): Promise<readonly Project[]> {
    return (await this.#reader.query<ProjectRow>(`${PROJECTS} ORDER BY p.id`)).map(toProject);
  }

  async keys(partition: Partition): Promise<readonly ApiKey[]> {
    const rows = await this.#reader.query<KeyRow>(
      `SELECT k.id, k.partition, k.hash, k.hint, k.created_at, k.revoked_at, k.last_used_at, p.mode
       FROM api_keys k JOIN partitions p USING (partition)
       WHERE k.partition = $1 ORDER BY k.id`,
      partition,
    );
    return rows.map(toKey);
  }

  async tenant(keyHash: string): Promise<Tenant | null> {
    const [row] = await this.#reader.query<Tenant>(
      `SELECT p.project_id AS "projectId", k.partition, p.mode, k.hash AS "keyHash", j.pinned_version AS "pinnedVersion"
       FROM api_keys k JOIN partitions p USING (partition) JOIN projects j ON j.id = p.project_id
       WHERE k.hash = $1 AND k.revoked_at IS NULL`,
      keyHash,
    );
    return row ?? null;
  }

  async secrets(partition: Partition, now: Instant): Promise<readonly SigningSecret[]> {
    const rows = await this.#reader.query<SecretRow>(
      `SELECT id, partition, sealed, created_at, expires_at FROM signing_secrets
       WHERE partition = $1 AND (expires_at IS NULL OR expires_at > $2)
       ORDER BY id DESC`,
      partition,
      now,
    );
    return rows.map(toSecret);
  }

  async hasEndpointSecrets(partition: Partition, now: Instant): Promise<boolean> {
    const rows = await this.#reader.query(
      `SELECT 1 FROM endpoint_secrets
       WHERE partition = $1 AND (expires_at IS NULL OR expires_at > $2) LIMIT 1`,
      partition,
      now,
    );
    return rows.length > 0;
  }

  async endpointSecrets(
    partition: Partition,
    endpointId: EndpointId,
    now: Instant,
  ): Promise<readonly EndpointSecret[]> {
    const rows = await this.#reader.query<EndpointSecretRow>(
      `SELECT id, partition, endpoint_id, sealed, created_at, expires_at, alone_from FROM endpoint_secrets
       WHERE partition = $1 AND endpoint_id = $2 AND (expires_at IS NULL OR expires_at > $3)
       ORDER BY id DESC`,
      partition,
      endpointId,
      now,
    );
    return rows.map(toEndpointSecret);
  }
}
