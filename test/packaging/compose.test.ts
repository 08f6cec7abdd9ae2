/** Tests that the compose files pass their linter and fit the needs of Sched and PostgreSQL. */
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { COMPOSE, graceSeconds, ROOT, read } from './files.ts';

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string };
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas?: number };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ulimits?: { readonly core: number };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const SECRET_NAME = /PASSWORD|KEY|URL|SECRET/;

function compose(path: string): Compose {
  return parse(read(path)) as Compose;
}

describe.each(COMPOSE)('%s', (path) => {
  const { services, secrets } = compose(path);
  const sched = services.sched ?? expect.fail();

  test('passes the linter', () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
    const [result] = linter.lintFiles([join(ROOT, path)], false);
    expect(result?.messages).toEqual([]);
  });

  test('builds Sched from the checkout, and publishes it to this machine only', () => {
    expect(sched.build?.context).toBe('.');
    expect(sched.ports?.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  test('contains no secret: each is a file outside the repository and the image', () => {
    for (const { environment, secrets: mounted = [] } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (!SECRET_NAME.test(name)) continue;
        expect(name).toMatch(/_FILE$/);
        const secret = value.replace('/run/secrets/', '');
        expect(mounted).toContain(secret);
        expect(secrets[secret]?.file).toBe(`./secrets/${secret}`);
      }
    }
    expect(read('.gitignore').split('\n')).toContain('/secrets/');
    expect(read('.dockerignore').split('\n')).not.toContain('!secrets');
  });

  test('lets every service write only to its volumes and to memory, without more privileges', () => {
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      expect(service.tmpfs).toContain('/tmp');
    }
    expect(sched.cap_add).toBeUndefined();
    expect(sched.ulimits?.core).toBe(0);
  });

  test('gives a stop more time than Sched needs', () => {
    expect(sched.environment.SCHED_SHUTDOWN_GRACE).toBe(`${graceSeconds()}s`);
    expect(Number.parseInt(sched.stop_grace_period ?? '', 10)).toBeGreaterThan(graceSeconds());
  });
});

test('compose.yaml waits until the database is healthy', () => {
  const { sched, database } = compose('compose.yaml').services;
  expect(sched?.depends_on?.database?.condition).toBe('service_healthy');
  expect(sched?.environment).toHaveProperty('SCHED_DATABASE_URL_FILE');
  expect(database?.healthcheck?.test.join(' ')).toContain('pg_isready');
  expect(database?.image).toMatch(/^postgres:\d+\.\d+$/);
  // The socket is outside the volume.
  expect(database?.tmpfs).toContain('/run/postgresql');
});

test('compose.sqlite.yaml has one node, and keeps the master key apart from the data', () => {
  const { services, secrets } = compose('compose.sqlite.yaml');
  expect(Object.keys(services)).toEqual(['sched']);
  expect(services.sched?.deploy?.replicas ?? 1).toBe(1);
  expect(services.sched?.volumes).toEqual(['data:/data']);
  expect(services.sched?.environment).not.toHaveProperty('SCHED_DATABASE_URL_FILE');
  expect(Object.keys(secrets)).toEqual(['master_key']);
});
