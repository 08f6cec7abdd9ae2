/** compose.yaml keeps the rules of its linter, and fits what Sched and PostgreSQL need. */
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { graceSeconds, ROOT, read } from './files.ts';

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly build?: { readonly context: string };
        readonly environment: Readonly<Record<string, string>>;
        readonly stop_grace_period?: string;
        readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
        readonly healthcheck?: { readonly test: readonly string[] };
      }
    >
  >;
}

const { services } = parse(read('compose.yaml')) as Compose;

describe('compose.yaml', () => {
  test('has nothing that its linter objects to', () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
    const [result] = linter.lintFiles([join(ROOT, 'compose.yaml')], false);
    expect(result?.messages).toEqual([]);
  });

  test('builds Sched here, and waits for a database that is well', () => {
    expect(services.sched?.build?.context).toBe('.');
    expect(services.sched?.depends_on?.database?.condition).toBe('service_healthy');
    expect(services.database?.healthcheck?.test.join(' ')).toContain('pg_isready');
    expect(services.database?.image).toMatch(/^postgres:\d+\.\d+$/);
  });

  test('holds no secret', () => {
    const values = Object.values(services).flatMap(({ environment }) => Object.entries(environment));
    const secrets = values.filter(([name]) => /PASSWORD|KEY|URL/.test(name));
    expect(secrets.map(([, value]) => /\$\{\w+:\?/.test(value))).toEqual([true, true, true]);
  });

  test('leaves a stop more time than Sched takes for it', () => {
    expect(services.sched?.environment.SCHED_SHUTDOWN_GRACE).toBe(`${graceSeconds()}s`);
    expect(Number.parseInt(services.sched?.stop_grace_period ?? '', 10)).toBeGreaterThan(graceSeconds());
  });
});
