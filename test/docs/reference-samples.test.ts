/**
 * Runs every sample of `/docs` against the real service, as a reader who pastes it: curl in a shell, TypeScript with the
 * SDK, and Python. A machine without curl or Python leaves those out. The ids of the examples are replaced by ids of objects that exist.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '#src/api/contract/openapi.ts';
import { type Operation, ReferenceDocument } from '#src/api/reference/document.ts';
import { type Sample, samplesOf } from '#src/api/reference/samples.ts';
import { SERVER_ERROR } from '#test/e2e/drive.ts';
import { TEST_KEY, useSched } from '#test/e2e/harness.ts';
import type { Delivery } from '#test/e2e/resources.ts';
import { readersProject, write } from './project.ts';

const { api, url, drive } = useSched();
const run = promisify(execFile);

const document = new ReferenceDocument(openApiDocument());
const EXAMPLE_ID = /\b(sch|ep|dlv)_01m7f3gs00zqgw5m2r7n9x0abc\b/g;
const FAILED = { outcome: 'terminal', statusCode: 500, error: 'status 500' } as const;

interface Runnable {
  readonly name: string;
  readonly code: string;
}

/** Every sample in a language, with ids of new objects. */
async function samplesIn(language: Sample['language']): Promise<readonly Runnable[]> {
  const [ended, waiting] = [await endedDelivery(), await waitingDelivery()];
  const samples = document.operations.flatMap((operation) =>
    examplesOf(operation).flatMap((example, at) =>
      samplesOf(document, operation, example)
        .filter((sample) => sample.language === language)
        .map(({ code }) => ({
          name: `${operation.id}-${at}`,
          code,
          delivery: operation.id === 'cancelDelivery' ? waiting : ended,
        })),
    ),
  );
  return Promise.all(
    samples.map(async ({ name, code, delivery }) => {
      const [schedule, endpoint] = await Promise.all([newSchedule(), newEndpoint()]);
      const ids: Readonly<Record<string, string>> = { sch: schedule, ep: endpoint, dlv: delivery };
      return { name, code: code.replaceAll(EXAMPLE_ID, (_id, kind: string) => ids[kind] ?? '') };
    }),
  );
}

function examplesOf({ body }: Operation): readonly unknown[] {
  return body === null ? [undefined] : document.examplesOf(body).map(({ value }) => value);
}

async function newSchedule(): Promise<string> {
  const body = { endpoint: 'https://example.com/', cron: '0 9 * * *', metadata: { team: 'billing' } };
  return (await api.post<{ readonly id: string }>('/v1/schedules', body)).json.id;
}

async function newEndpoint(): Promise<string> {
  return (await api.post<{ readonly id: string }>('/v1/endpoints', { url: 'https://example.com/' })).json.id;
}

/** Only an ended delivery can be replayed. The answer of its attempt was kept. */
async function endedDelivery(): Promise<string> {
  const schedule = { endpoint: 'https://example.com/', delay: '1h', retry_policy: { max_attempts: 1 } };
  const { json } = await api.post<{ readonly id: string }>('/v1/schedules', schedule);
  const list = await api.get<{ readonly data: readonly Delivery[] }>(`/v1/schedules/${json.id}/deliveries`);
  const id = list.json.data[0]?.id ?? '';
  await drive.claim(id);
  await drive.settle(id, FAILED, 0, 'upstream timed out');
  return id;
}

/** Only a delivery that waits for a retry can be canceled. */
async function waitingDelivery(): Promise<string> {
  const { json } = await api.post<Delivery>(`/v1/schedules/${await newSchedule()}/trigger`);
  await drive.fire(json.id, SERVER_ERROR);
  return json.id;
}

function environment() {
  return { env: { ...process.env, SCHED_URL: url(), SCHED_API_KEY: TEST_KEY }, encoding: 'utf8' as const };
}

async function has(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}

describe('every sample of the reference works as it is', () => {
  test('in curl', async ({ skip }) => {
    if (!(await has('curl'))) skip();
    const samples = await samplesIn('curl');
    expect(samples.length).toBeGreaterThan(18);
    for (const { name, code } of samples) {
      const { stdout } = await run('sh', ['-euc', `${code} --silent --show-error`], environment());
      expect(JSON.parse(stdout), name).toHaveProperty('object');
    }
  });

  test('in TypeScript', async () => {
    const folder = readersProject();
    const samples = await samplesIn('typescript');
    for (const { name, code } of samples) write(join(folder, `${name}.ts`), `${code}\n`);
    const imports = samples.map(({ name }) => `console.log('${name}');\nawait import('./${name}.ts');`);
    write(join(folder, 'all.ts'), imports.join('\n'));
    const { stdout } = await run(process.execPath, [join(folder, 'all.ts')], environment());
    for (const { name } of samples)
      expect(stdout).toMatch(
        new RegExp(`^${name}\\n((sch|ep|dlv|att)_|created|changed|unchanged|upstream timed out)`, 'm'),
      );
  });

  test('in Python', async ({ skip }) => {
    if (!(await has('python3'))) skip();
    const folder = readersProject();
    const samples = await samplesIn('python');
    const paths = samples.map(({ name }) => join(folder, `${name}.py`));
    for (const [at, { code }] of samples.entries()) write(paths[at] ?? '', code);
    const all = 'import sys\nfor path in sys.argv[1:]: exec(compile(open(path).read(), path, "exec"), {})';
    const { stdout } = await run('python3', ['-c', all, ...paths], environment());
    const answers = stdout.trim().split('\n');
    expect(answers).toHaveLength(samples.length);
    for (const answer of answers) expect(answer).toContain("'object': '");
  });
});
