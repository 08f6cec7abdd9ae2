/**
 * `npm run bench:cluster -- [--deliveries 5000] [--rounds 3] [--rate 300] [--seconds 10] [--only NAME]
 * [--profile DIR] [--json]`
 *
 * Sched on PostgreSQL with one, two and three nodes, beside the limit (timers and a client, no store) and
 * Graphile Worker: how fast a burst that is due at one instant has arrived, and how late requests arrive at a
 * steady pace. The database, whose commits reach the disk, the receiver and the contender in turn share this
 * machine: where it has fewer processors than processes, more nodes cannot be faster. Rounds take turns.
 */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from '#test/postgres/server.ts';
import { Arrivals } from './cluster/arrivals.ts';
import type { Contender } from './cluster/contender.ts';
import { graphile } from './cluster/graphile.ts';
import { limit } from './cluster/limit.ts';
import { lineOf, perSecondOf, print } from './cluster/report.ts';
import { schedNodes } from './cluster/sched-nodes.ts';
import { type Load, type Turn, takeTurn } from './cluster/turn.ts';
import { readProfiles } from './cpu-profile.ts';

const { values } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    profile: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

const DELIVERIES_MAX = 100_000;
const ROUNDS_MAX = 20;
const PROFILED_FUNCTIONS = 40;

function count(name: 'deliveries' | 'rounds' | 'rate' | 'seconds', max: number): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1 || number > max) {
    throw new Error(`--${name} must be a whole number from 1 to ${max}.`);
  }
  return number;
}

const rounds = count('rounds', ROUNDS_MAX);
const seconds = count('seconds', DELIVERIES_MAX);
const load: Load = {
  deliveries: count('deliveries', DELIVERIES_MAX),
  rate: count('rate', Math.floor(DELIVERIES_MAX / seconds)),
  seconds,
};

const profileDir = values.profile;
if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
const contenders: readonly Contender[] = [
  limit,
  schedNodes({ count: 1, profileDir }),
  schedNodes({ count: 2, profileDir }),
  schedNodes({ count: 3, profileDir }),
  graphile('one by one'),
  graphile('in batches'),
].filter(({ name }) => name.includes(values.only));
const turns = new Map(contenders.map((contender) => [contender, [] as Turn[]]));

async function measure(): Promise<number> {
  await using server = await startPostgres({ durable: true });
  await using arrivals = await Arrivals.start();
  for (let round = 1; round <= rounds; round++) {
    for (const [contender, taken] of turns) {
      const turn = await takeTurn(contender, { server, arrivals, load });
      taken.push(turn);
      const perSecond = perSecondOf(turn).toFixed(0);
      process.stderr.write(`round ${round}, ${contender.name}: ${perSecond} a second\n`);
    }
  }
  return server.majorVersion;
}

const postgres = await measure();
const lines = [...turns].map(([{ name }, taken]) => lineOf(name, taken, turns.get(limit) ?? []));
const processors = availableParallelism();
if (values.json) {
  console.log(JSON.stringify({ ...load, rounds, processors, postgres, results: lines }, null, 2));
} else {
  console.log(`\nPostgreSQL ${postgres}, ${processors} processors; medians (and range) of ${rounds} rounds`);
  print(lines, load);
}

if (profileDir !== undefined) {
  for (const { file, busyMs, top } of readProfiles(profileDir, PROFILED_FUNCTIONS)) {
    console.log(`\n${file}: ${busyMs.toFixed(0)} ms busy, by self time`);
    for (const { where, share } of top) console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
  }
}
