/**
 * `npm run bench:creates -- [--rounds 5] [--seconds 5] [--connections 64] [--json] [--profile DIR]`
 *
 * Creates per second over HTTP, durably stored, beside a bare route that only parses and validates the same
 * body. The rounds of the three take turns, so that whatever else the machine does hits all of them; what
 * counts is the ratio of the medians. Processor time per request is of the serving process, all threads.
 */
import { parseArgs } from 'node:util';
import { readProfiles } from './cpu-profile.ts';
import type { LoadResult } from './load.ts';
import { API_KEY, type Loader, type Server, startBareRoute, startLoader, startService } from './processes.ts';
import { median } from './statistics.ts';

const WARM_UP_SECONDS = 2;
const PROFILED_FUNCTIONS = 25;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);

interface Round extends LoadResult {
  readonly cpuMicrosPerRequest: number | null;
}

interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly keyed: boolean;
  readonly rounds: Round[];
}

interface Line {
  readonly name: string;
  readonly perSecond: number;
  readonly ofBareRoute: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicrosPerRequest: number | null;
  readonly failed: number;
}

async function measure(loader: Loader, { server, keyed }: Contender, duration: number): Promise<Round> {
  const before = server.cpuMs();
  const result = await loader.run({
    url: server.url,
    apiKey: API_KEY,
    connections,
    seconds: duration,
    keyed,
  });
  const after = server.cpuMs();
  const cpuMicrosPerRequest =
    before === null || after === null ? null : ((after - before) * 1000) / result.answered;
  return { ...result, cpuMicrosPerRequest };
}

function lineOf({ name, rounds: done }: Contender, bare: Contender): Line {
  const perSecond = median(done.map((round) => round.perSecond));
  const cpu = done.map((round) => round.cpuMicrosPerRequest).filter((each) => each !== null);
  return {
    name,
    perSecond,
    ofBareRoute: perSecond / median(bare.rounds.map((round) => round.perSecond)),
    p50Ms: median(done.map((round) => round.p50Ms)),
    p99Ms: median(done.map((round) => round.p99Ms)),
    cpuMicrosPerRequest: cpu.length === 0 ? null : median(cpu),
    failed: done.reduce((sum, round) => sum + round.failed, 0),
  };
}

function printTable(lines: readonly Line[]): void {
  console.log(
    `${connections} connections, medians of ${rounds} rounds of ${seconds} s each, taken in turns\n`,
  );
  console.log(
    '                              per second   of bare   p50 ms   p99 ms   cpu us/request   failed',
  );
  for (const line of lines) {
    console.log(
      [
        line.name.padEnd(28),
        line.perSecond.toFixed(0).padStart(12),
        line.ofBareRoute.toFixed(2).padStart(9),
        line.p50Ms.toFixed(0).padStart(8),
        line.p99Ms.toFixed(0).padStart(8),
        (line.cpuMicrosPerRequest?.toFixed(0) ?? '-').padStart(16),
        String(line.failed).padStart(8),
      ].join(' '),
    );
  }
}

const bareRoute = await startBareRoute();
const service = await startService({ profileDir: values.profile, env: { SCHED_ROLE: 'api' } });
const loader = startLoader();
const bare: Contender = { name: 'bare route', server: bareRoute, keyed: false, rounds: [] };
const contenders: readonly Contender[] = [
  bare,
  { name: 'creates', server: service, keyed: false, rounds: [] },
  { name: 'creates, Idempotency-Key', server: service, keyed: true, rounds: [] },
];
try {
  for (const contender of contenders) await measure(loader, contender, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) contender.rounds.push(await measure(loader, contender, seconds));
  }
} finally {
  loader.stop();
  await bareRoute.stop();
  await service.stop();
}

const lines = contenders.map((contender) => lineOf(contender, bare));
if (values.json) console.log(JSON.stringify({ connections, rounds, seconds, results: lines }, null, 2));
else printTable(lines);

if (values.profile !== undefined) {
  for (const { file, busyMs, top } of readProfiles(values.profile, PROFILED_FUNCTIONS)) {
    console.log(`\n${file}: ${busyMs.toFixed(0)} ms busy, by self time`);
    for (const { where, share } of top) console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
  }
}
