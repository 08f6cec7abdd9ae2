/**
 * `npm run bench:lateness -- [--rounds 3] [--rate 500] [--seconds 10] [--pending 1000000] [--hanging 100] [--json]`
 * `npm run bench:lateness -- --chart docs/lateness.svg` draws what was measured as well, unless the machine was
 * busy: where the bare timer is late, a chart would show that and nothing else.
 *
 * How late requests arrive, at a steady rate on loopback: Sched on SQLite beside the limit, a bare timer and
 * the same client without a store. Rounds take turns; each is warmed up by a second of the same. Then, where
 * asked for, the same with many schedules pending; and 100 healthy endpoints alone and beside hanging ones.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { latenessChart } from './chart-lateness.ts';
import type { LimitOrder } from './lateness-limit.ts';
import type { ReceiverReport } from './lateness-receiver.ts';
import { API_KEY, type Server, startService } from './processes.ts';
import { median, quantile } from './statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '10' },
    pending: { type: 'string', default: '0' },
    hanging: { type: 'string', default: '0' },
    chart: { type: 'string' },
    profile: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const rate = Number(values.rate);
const seconds = Number(values.seconds);

const CA_FILE = 'test/certificates/ca.pem';
const SERVICE_ENV = { SCHED_EGRESS_ALLOW: '127.0.0.0/8', SCHED_EGRESS_CA_FILE: CA_FILE };
/** What creating everything before its instant may take. */
const LEAD_MS = 8_000;
const CREATES_AT_ONCE = 32;
const SETTLE_MS = 1_500;
const HEALTHY = 100;
const HANGING_EACH = 8;
/** On a machine with nothing else to do, a bare timer is a few milliseconds late. */
const BARE_P99_MS_MAX = 30;

const here = import.meta.dirname;
const receiver = fork(join(here, 'lateness-receiver.ts'), { execArgv: [] });
const [receiverUrl] = (await once(receiver, 'message')) as [string];
const limit = fork(join(here, 'lateness-limit.ts'), { execArgv: [] });
const client = new Agent();

async function report(): Promise<ReceiverReport['lateness']> {
  receiver.send('report');
  const [{ lateness }] = (await once(receiver, 'message')) as [ReceiverReport];
  return lateness;
}

function sleepUntil(at: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, at - Date.now()));
}

/** Evenly spaced instants: a second to warm up, then what counts. */
function plan(startAt: number): { readonly warmUp: readonly number[]; readonly counted: readonly number[] } {
  const at = (n: number) => Math.round(startAt + (n * 1_000) / rate);
  const all = Array.from({ length: rate * (seconds + 1) }, (_, n) => at(n));
  return { warmUp: all.slice(0, rate), counted: all.slice(rate) };
}

interface Order {
  readonly path: string;
  readonly due: number;
}

async function create(service: Server, { path, due }: Order): Promise<void> {
  const { statusCode, body } = await client.request({
    origin: service.url,
    path: '/v1/schedules',
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: `${receiverUrl}/${path}`,
      fire_at: new Date(due).toISOString(),
      headers: { 'X-Due': String(due) },
      body: '{"n":1}',
    }),
  });
  await body.dump();
  if (statusCode !== 201) throw new Error(`A create was answered ${statusCode}.`);
}

async function createAll(service: Server, orders: readonly Order[]): Promise<void> {
  const queue = orders.toReversed();
  const work = async () => {
    for (let order = queue.pop(); order !== undefined; order = queue.pop()) await create(service, order);
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, work));
}

async function limitRound(): Promise<readonly number[]> {
  const { warmUp, counted } = plan(Date.now() + 500);
  const both = [
    { url: `${receiverUrl}/warm`, dues: warmUp },
    { url: `${receiverUrl}/counted`, dues: counted },
  ] satisfies LimitOrder[];
  for (const order of both) limit.send(order);
  await sleepUntil((counted.at(-1) ?? 0) + SETTLE_MS);
  return (await report()).counted ?? [];
}

async function schedRound(service: Server): Promise<readonly number[]> {
  const { warmUp, counted } = plan(Date.now() + LEAD_MS);
  await createAll(service, [
    ...warmUp.map((due) => ({ path: 'warm', due })),
    ...counted.map((due) => ({ path: 'counted', due })),
  ]);
  if (Date.now() > (warmUp[0] ?? 0)) throw new Error('The creates took too long: this round says nothing.');
  await sleepUntil((counted.at(-1) ?? 0) + SETTLE_MS);
  return (await report()).counted ?? [];
}

/** Many healthy endpoints in turn; `hanging` others get several each while it warms up, and never answer. */
async function healthyRound(service: Server, hanging: number): Promise<readonly number[]> {
  const { warmUp, counted } = plan(Date.now() + LEAD_MS);
  const hangs = Array.from({ length: hanging * HANGING_EACH }, (_, n) => ({
    path: `hang/${n % hanging}`,
    due: warmUp[n % warmUp.length] ?? 0,
  }));
  const healthy = (group: string, dues: readonly number[]) =>
    dues.map((due, n) => ({ path: `${group}/${n % HEALTHY}`, due }));
  const orders = [
    ...healthy('warm', warmUp),
    ...(hanging === 0 ? [] : hangs),
    ...healthy('healthy', counted),
  ].sort((a, b) => a.due - b.due);
  await createAll(service, orders);
  await sleepUntil((counted.at(-1) ?? 0) + SETTLE_MS);
  return (await report()).healthy ?? [];
}

interface Line {
  readonly name: string;
  readonly arrived: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  readonly early: number;
  readonly memoryMb: number | null;
}

function lineOf(name: string, done: readonly (readonly number[])[], memoryMb: number | null): Line {
  const medianOf = (q: number) => median(done.map((round) => quantile(round, q)));
  return {
    name,
    arrived: done.reduce((sum, round) => sum + round.length, 0),
    p50Ms: medianOf(0.5),
    p99Ms: medianOf(0.99),
    p999Ms: medianOf(0.999),
    maxMs: medianOf(1),
    early: done.flat().filter((late) => late < 0).length,
    memoryMb,
  };
}

function print(lines: readonly Line[]): void {
  console.log(
    `${rate} a second for ${seconds} s, medians of ${rounds} rounds; ${rate * seconds * rounds} each\n`,
  );
  console.log(`${''.padEnd(34)}  arrived   p50 ms   p99 ms  p99.9 ms   max ms   early   memory MB`);
  for (const line of lines) {
    const ms = (value: number) => value.toFixed(2).padStart(8);
    console.log(
      line.name.padEnd(34),
      String(line.arrived).padStart(8),
      ms(line.p50Ms),
      ms(line.p99Ms),
      ms(line.p999Ms),
      ` ${ms(line.maxMs)}`,
      String(line.early).padStart(6),
      (line.memoryMb?.toFixed(0) ?? '-').padStart(11),
    );
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}

async function inRounds(contenders: readonly { name: string; run: () => Promise<readonly number[]> }[]) {
  const done = contenders.map(() => [] as (readonly number[])[]);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { name, run }] of contenders.entries()) {
      const lateness = await run();
      done[index]?.push(lateness);
      if (!values.json) process.stderr.write(`round ${round + 1}, ${name}: ${lateness.length} arrived\n`);
    }
  }
  return done;
}

const lines: Line[] = [];
const empty = await startService({ env: SERVICE_ENV, profileDir: values.profile });
const first = await inRounds([
  { name: 'limit', run: limitRound },
  { name: 'Sched', run: () => schedRound(empty) },
]);
lines.push(lineOf('limit: timers and client', first[0] ?? [], null));
lines.push(lineOf('Sched on SQLite', first[1] ?? [], empty.memoryMb()));
if (values.chart !== undefined) {
  const [bare = [], sched = []] = first;
  const measured = [
    { name: 'Sched on SQLite', latenessMs: sched.flat() },
    { name: 'A bare timer, nothing stored', latenessMs: bare.flat() },
  ];
  const bareP99Ms = quantile(bare.flat(), 0.99);
  if (bareP99Ms <= BARE_P99_MS_MAX) {
    writeFileSync(values.chart, latenessChart(measured, { rate, seconds, rounds }));
  } else {
    process.stderr.write(
      `No chart: a bare timer was ${bareP99Ms.toFixed(0)} ms late, the machine is busy.\n`,
    );
    process.exitCode = 1;
  }
}

const hanging = Number(values.hanging);
if (hanging > 0) {
  const [alone = [], beside = []] = await inRounds([
    { name: 'healthy alone', run: () => healthyRound(empty, 0) },
    { name: 'healthy beside hanging', run: () => healthyRound(empty, hanging) },
  ]);
  lines.push(lineOf(`${HEALTHY} healthy endpoints alone`, alone, null));
  lines.push(lineOf(`the same beside ${hanging} hanging`, beside, empty.memoryMb()));
}
await empty.stop();

const pending = Number(values.pending);
if (pending > 0) {
  const full = await startService({ env: SERVICE_ENV, pending });
  const [done = []] = await inRounds([{ name: `${pending} pending`, run: () => schedRound(full) }]);
  lines.push(lineOf(`Sched with ${pending} pending`, done, full.memoryMb()));
  await full.stop();
}

await client.close();
await Promise.all([stopChild(receiver), stopChild(limit)]);
if (values.json) console.log(JSON.stringify({ rate, seconds, rounds, results: lines }, null, 2));
else print(lines);
