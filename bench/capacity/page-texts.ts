/** The texts of docs/capacity.md that do not depend on what was measured. */
import type { Check, Work } from './costs.ts';
import type { Load } from './model.ts';
import { bytesText, numberText } from './words.ts';

export const INTRODUCTION =
  'This page says what a load needs, what breaks first, and what one does then. It is calculated from what each create, delivery and retry costs. [Benchmarks](benchmarks.md) shows how fast one machine is.';

export const YOUR_FIGURES =
  'This command, in a checkout, answers for your own figures. `--help` lists everything that can be changed. `--core-speed 1.5` is for cores that are half as fast again. `npm run bench -- --work costs` measures the costs on your machine and writes this page again. It takes about five minutes.';

export function loadSentence({ bodyBytes, retries, creates, answerSeconds, newConnections }: Load): string {
  return `The load of this page: bodies of ${bytesText(bodyBytes)}, ${numberText(creates)} create and ${numberText(retries)} retries for each delivery, answers in ${numberText(answerSeconds * 1_000)} ms, and ${numberText(newConnections * 100)} % of the requests on a new connection. All of it lasts: these are not peaks.`;
}

export const SIZES =
  'Stay with SQLite while one process carries the load and one machine is enough. Take PostgreSQL for more, or if a machine may die. Add nodes until the database is the limit. Take Citus when the disk, the log or the vacuum of one database is the limit, and the load comes from many customers: one customer stays on one worker. Citus does not help where the cores of the database are the limit: its coordinator plans every statement, and carries less than one server with as many cores. *Installations* is how many of this size carry the load together.';

export const BREAKS =
  'The limits are in the order in which they break. Each rate is what the limit allows while all others hold.';

export const BEYOND =
  'A second installation has its own nodes, its own database and its own address. Sched does not divide customers between installations: your own service does, by project. Nothing is shared, so installations can be in different regions, and one that fails takes only its customers with it. What one database cannot carry, several installations carry in parts.';

export const DATABASES =
  'The first rate is what the cores carry. The second one also respects every other limit of this page.';

export const NO_CITUS =
  'Citus was not measured in this run, because `SCHED_BENCH_CITUS_URL` named no cluster. With it, this page also shows what the coordinator and the workers carry.';

export const COSTS =
  'Each figure is for one piece of work. What an idle node uses is subtracted, and stands in the last line. Work is done in batches, so it costs less in a burst than at a low rate. The model uses both: between the two rates, the use of a node is a straight line.';

export const COST_WORDS: readonly string[] = [
  '*Main thread*: a node does most of its work on one thread, so this is the limit of a node. *Node* counts all its threads. With SQLite this includes the database.',
  '*Database*: all processes of PostgreSQL. *Workers*: all workers of a Citus cluster; *database* is its coordinator then.',
  '*Written*: the write-ahead log of PostgreSQL, or all that a process with SQLite writes to its disk.',
  '*Commits*: transactions that write. PostgreSQL syncs the log at most once for each, and fewer times when several commit together.',
  '*Round trips*: how often a node sends to the database and waits for its answer. A proxy counts them, and the *statements* and bytes in them.',
  '*Disk*: growth of tables and indexes, with dead row versions that vacuum has not removed yet.',
  'A *retry* and a *new connection* are what they add to a delivery. They were measured in a burst. *Vacuum* removes the dead row versions of one create and one delivery. A *removal* is that of a delivery and its schedule, after their retention. One node removes for all.',
];

export const ORIGINS: readonly string[] = [
  '**Measured:** all costs above, on one machine that also runs the database, the receiver and the load.',
  '**Documented:** 14 connections (39 on Citus) and 2,048 permits of a node, and 256 slots. See [operations](operations.md#sizing).',
  '**Calculated:** everything about more than this machine. The model assumes that a piece of work costs the same on a large server as on a small one. Servers with many cores lose some of that to contention.',
  '**Not in the model:** the number of stored schedules. [Benchmarks](benchmarks.md#with-many-schedules-stored) shows that rates stay within a fifth. A database that does not fit into its memory does more reads, which the model does not count.',
  '**Assumed:** the figures of the table below. Replace them by those of your own servers.',
];

export const WORK_NAMES: Readonly<Record<Work, string>> = {
  create: 'create',
  delivery: 'delivery',
  retry: 'retry',
  connection: 'new connection',
  vacuum: 'vacuum',
  removal: 'removal',
};

export function checkSentence(checks: readonly Check[]): string {
  const loads = checks.map(({ nodes, rate, bodyBytes }) => {
    const on = nodes === 1 ? 'one node' : `${nodes} nodes`;
    return `${numberText(rate)} creates and deliveries a second at once, with bodies of ${bytesText(bodyBytes)}, on ${on}`;
  });
  const mixed = loads.length === 0 ? '' : ` The other loads are: ${loads.join('; ')}.`;
  return `The same run measured some loads as a whole, and the model calculated them. The rate of a burst follows from costs of the same burst, so it only checks whether processor time is the limit.${mixed} These differ in rate, size and mix from everything that was measured for the costs.`;
}
