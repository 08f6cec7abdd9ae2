/**
 * The package as a user gets it: packed, installed into an empty project without a registry, and used as modules, as
 * CommonJS and from TypeScript. If the machine has another Node, the package runs on that one too.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sched } from '#sdk/index.ts';
import { packageVersion } from '#src/app/process.ts';
import { type ServiceInThread, startInThread } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, '../..');
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const TEST_KEY = 'sk_test_packagePACKAGE0123456789';

const ERRORS = [
  'Api',
  'Authentication',
  'Connection',
  'Idempotency',
  'InvalidRequest',
  'NotFound',
  'RateLimit',
];
const ADAPTER = ['MemoryStore', 'ReceivedDelivery', 'receiver'];

/** Every entry point of the package, with its exports except types. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  '@sched/sdk': [
    ...ERRORS.map((name) => `${name}Error`),
    'ERROR_CODES',
    'SECRETS_MAX',
    'Sched',
    'SchedError',
    'isAlert',
    'isNotification',
    'verify',
  ],
  '@sched/sdk/receiver': [
    'MemoryStore',
    'ReceivedDelivery',
    'SECRETS_MAX',
    'isAlert',
    'isNotification',
    'verify',
  ],
  '@sched/sdk/fetch': ADAPTER,
  '@sched/sdk/express': [...ADAPTER, 'keepRawBody'],
  '@sched/sdk/fastify': ADAPTER,
  '@sched/sdk/hono': ADAPTER,
};

const project = temporaryDirectory();
let service: ServiceInThread | null = null;

beforeAll(async () => {
  const start = startInThread({ env: { SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY, SCHED_ROLE: 'api' } });
  writeFileSync(join(project, 'package.json'), '{ "name": "a-user-of-sched", "type": "module" }\n');
  const packed = await run('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: join(ROOT, 'sdk'),
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: project });
  service = await start;
});
afterAll(() => service?.[Symbol.asyncDispose]());

const installed = () => join(project, 'node_modules/@sched/sdk');

/** A Node of the machine that the package supports, or null if there is only ours. */
function anotherNode(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    if (folder.includes('node_modules') || node === process.execPath || !existsSync(node)) continue;
    const major = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')[0];
    if (Number(major) >= 20) return node;
  }
  return null;
}

const another = anotherNode();
const nodes: readonly (readonly [string, string])[] = [
  ['its own Node', process.execPath],
  ...(another === null ? [] : [["the machine's Node", another] as const]),
];

/** Creates a schedule and verifies every vector. */
const SCRIPT = `
  const has = Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, Object.keys(entry)]));
  const sched = new entries['@sched/sdk'].Sched();
  const { id } = await sched.schedules.create({ endpoint: 'https://receiver.example/', delay: 3_600_000, json: { n: 1 } });
  const listed = await sched.schedules.list().toArray(1);
  const vectors = JSON.parse(await readFile(process.env.VECTORS, 'utf8')).vectors;
  const wrong = [];
  for (const { name, expected, now, secrets, request } of vectors) {
    const body = Buffer.from(request.body, 'base64');
    const result = await entries['@sched/sdk/receiver'].verify({ ...request, body }, secrets, { now: now * 1000 });
    if ((result.ok ? 'verified' : result.reason) !== expected) wrong.push(name);
  }
  const refused = await sched.schedules.get('sch_unknown').catch((error) => error);
  // Older Nodes warn of many listeners on one signal.
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 20 }, () => sched.schedules.get(id, { signal })));
  const isTyped = refused instanceof entries['@sched/sdk'].NotFoundError;
  console.log(JSON.stringify({ has, id, listed: listed[0].id, vectors: vectors.length, wrong, isTyped }));
`;

const NAMES = Object.keys(ENTRIES);
const MODULE = `
  import { readFile } from 'node:fs/promises';
  ${NAMES.map((name, i) => `import * as entry${i} from '${name}';`).join('\n')}
  const entries = { ${NAMES.map((name, i) => `'${name}': entry${i}`).join(', ')} };
  ${SCRIPT}`;
const COMMON_JS = `
  const { readFile } = require('node:fs/promises');
  const entries = { ${NAMES.map((name) => `'${name}': require('${name}')`).join(', ')} };
  (async () => { ${SCRIPT} })();`;

interface Said {
  readonly has: Readonly<Record<string, readonly string[]>>;
  readonly id: string;
  readonly listed: string;
  readonly vectors: number;
  readonly wrong: readonly string[];
  readonly isTyped: boolean;
}

describe.each(nodes)('on %s', (_name, node) => {
  test.each([
    ['modules', 'user.mjs', MODULE],
    ['CommonJS', 'user.cjs', COMMON_JS],
  ])('as %s, the package creates a schedule and verifies every vector', async (_kind, file, text) => {
    writeFileSync(join(project, file), text);
    const url = service?.url ?? '';
    const env = { SCHED_URL: url, SCHED_API_KEY: TEST_KEY, VECTORS: join(ROOT, 'sdk/vectors.json') };
    const { stdout, stderr } = await run(node, [file], { cwd: project, env });
    expect(stderr).toBe('');
    const said = JSON.parse(stdout) as Said;
    expect(said).toMatchObject({ listed: said.id, wrong: [], isTyped: true });
    expect(said.vectors).toBeGreaterThan(10);
    for (const [name, members] of Object.entries(ENTRIES))
      expect(said.has[name]?.toSorted()).toEqual(members.toSorted());
    const schedule = await new Sched({ url, apiKey: TEST_KEY }).schedules.get(said.id);
    expect(schedule.state).toBe('active');
  });
});

/** Uses every entry point with its types. Lines that must not compile are marked. */
const TYPED = `
  import { type Alert, type ErrorCode, isNotification, type NotifyInput, type Schedule, Sched, SchedError, type Timing } from '@sched/sdk';
  import { type DeduplicationStore, MemoryStore, type ReceivedDelivery, verify } from '@sched/sdk/receiver';
  import { type Notification, receiver as fetchReceiver } from '@sched/sdk/fetch';
  import { receiver as expressReceiver } from '@sched/sdk/express';
  import { receiver as fastifyReceiver } from '@sched/sdk/fastify';
  import { receiver as honoReceiver } from '@sched/sdk/hono';

  export const receivers = [fetchReceiver, expressReceiver, fastifyReceiver, honoReceiver];

  export const store: DeduplicationStore = {
    async begin() {
      return 'new';
    },
    done: () => {},
    forget: async () => {},
  };
  export const bounded: DeduplicationStore = new MemoryStore({ ttlMs: undefined, keysMax: undefined, now: undefined });
  export const plugin: Parameters<typeof fastifyReceiver>[1] = {
    secret: 'whsec_a',
    url: undefined,
    handle: (delivery: ReceivedDelivery) => ({ status: delivery.attempt > 1 ? 200 : 202 }),
    onRejected: async ({ message }) => message,
  };

  export async function use(sched: Sched, request: Request): Promise<Schedule['state']> {
    const schedule = await sched.schedules.create({ endpoint: 'https://a.example', delay: '1h', ttl: undefined });
    for await (const { status } of sched.schedules.deliveries(schedule.id)) if (status === 'expired') break;
    // @ts-expect-error: no such state
    if (schedule.state === 'sleeping') throw new Error();
    const timing: Timing = schedule.cron === null ? { fire_at: new Date() } : { cron: schedule.cron };
    await new Sched().schedules.create({ endpoint_id: 'ep_1', ...timing, ttl: 5_000, json: { n: 1 } });
    // @ts-expect-error: true is no duration
    await sched.schedules.create({ endpoint: 'https://a.example', delay: true });
    // @ts-expect-error: a schedule has one timing
    await sched.schedules.create({ endpoint: 'https://a.example', delay: 5_000, cron: '0 9 * * *' });
    // @ts-expect-error: answers are not to be written to
    schedule.metadata = {};
    const result = await verify(request, ['whsec_a', 'whsec_b'], { toleranceSeconds: 60 });
    if (!result.ok) throw new TypeError(result.message);
    return schedule.state;
  }

  export function outcomeOf(delivery: ReceivedDelivery): Notification['type'] | Alert['type'] | null {
    const { notification, alert } = delivery;
    // @ts-expect-error: the type of the notification is not known
    const status: 'dead_letter' | undefined = notification?.data.delivery.status;
    if (notification?.type === 'delivery.dead_letter') status satisfies typeof notification.data.delivery.status | undefined;
    return notification?.type ?? alert?.type ?? null;
  }
  export const reads = (body: unknown): string | null => (isNotification(body) ? body.data.schedule.id : null);
  export const told: readonly NotifyInput[] = [{ endpoint_id: 'ep_1', on: ['expired'] }, { on: [] }];
  // @ts-expect-error: nobody to tell
  export const toldNobody: NotifyInput = { on: ['expired'] };

  export function codeOf(error: unknown): ErrorCode | null {
    return error instanceof SchedError ? error.code : null;
  }
`;

/** The code blocks of the README, each as its own program. */
function blocksOfReadme(): readonly string[] {
  const readme = readFileSync(join(installed(), 'README.md'), 'utf8');
  return [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block);
}

test('TypeScript accepts every entry point, as modules and as CommonJS, and the code of the README', async () => {
  const folder = join(project, 'typed');
  mkdirSync(folder);
  const blocks = blocksOfReadme();
  expect(blocks.length).toBeGreaterThan(5);
  const files = { 'user.mts': TYPED, 'user.cts': TYPED };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  for (const [i, block] of blocks.entries())
    writeFileSync(join(folder, `readme-${i}.mts`), `${block}\nexport {};\n`);
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'];
  const globals = ['--lib', 'es2022,dom,dom.iterable', '--types', ''];
  const resolutions = [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ];
  const sources = [...Object.keys(files), ...blocks.map((_, i) => `readme-${i}.mts`)];
  const compiled = resolutions.map(async (resolution) => {
    const args = [COMPILER, ...options, ...globals, ...resolution, ...sources];
    return run(process.execPath, args, { cwd: folder }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  });
  expect(await Promise.all(compiled)).toEqual(['', '']);
});

test('the package contains the build output and nothing else', () => {
  // Compilers older than ours do not find a declaration by the name of its source.
  const declarations = readFileSync(join(installed(), 'dist/cjs/index.d.ts'), 'utf8');
  expect(declarations).toContain("'./client/sched.js'");
  expect(declarations).not.toContain(".ts'");
  const { dependencies, version } = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as {
    readonly dependencies?: object;
    readonly version: string;
  };
  expect({ dependencies, version }).toEqual({ dependencies: undefined, version: packageVersion() });
  for (const file of ['README.md', 'LICENSE']) expect(existsSync(join(installed(), file))).toBe(true);
  for (const file of ['src', 'tsconfig.json', 'vectors.json', 'dist/esm/client/retry.test.js']) {
    expect(existsSync(join(installed(), file))).toBe(false);
  }
});
