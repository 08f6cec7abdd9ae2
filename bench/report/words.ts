/** What the report says whatever was measured. */

export const INTRODUCTION = `How close Sched comes to what the machine can do, and how it compares with others that run work at a given time. Every contender does the same work alone, one after the other in rounds, in one run on one machine: compare figures of this page with each other, not with those of another machine.`;

export const LIMIT = `The *limit* is a timer for each request and the same HTTP client, with nothing stored: no contender can be better, and whatever it had not sent is lost when it ends. The *bare route* is a fastify route that parses and validates the same body and stores nothing.`;

export const REPRODUCE = `The command below installs the peers into \`bench/\` (they are no dependencies of Sched), starts a PostgreSQL of its own and, where \`redis-server\` is installed, Redis, and writes this page and its charts. It is done within four hours, most of which are the works with many schedules stored and with hostile customers; \`--quick\` takes two minutes, \`--work\` and \`--only\` choose, and \`--json FILE\` writes every figure. Nothing else should run on the machine.`;

export const MISSED =
  'What is in the way of those that are missed, and what would have to change, is in [ADR 017](adr/017-cost-of-a-delivery.md).';

export const PACED =
  'One-shots, evenly spaced, stored ahead of their instants. Lateness is the time from the instant a request was asked for to its arrival, by the clock of the receiver, which is that of the same machine.';

export const BURST =
  'All are stored ahead and due at the same instant; the rate counts from that instant to the last arrival. Processor time is that of the contender’s own processes: those of PostgreSQL and Redis come on top, the one of SQLite is inside.';

export const CREATES =
  'Through the interface that users of each have: over HTTP for Sched and for the bare route, by the library’s own call for the others, which need no HTTP. So many at once, one at a time each; what is answered is stored, as durably as the contender stores at all.';

export const RECURRING =
  'Recurring schedules that are all due at the same full minute. Those whose recurring jobs are kept in a file or in a single row, and are not meant to be thousands, do not take part.';

export const STORED =
  'The paced work and a burst, while so many other schedules are stored that are due in a year. They are made of ones created through the interface, multiplied inside the database. Memory is that of Sched’s process; with PostgreSQL the database has its own.';

export const RECOVERY =
  'Sched is started on a database where many schedules wait and thousands became due while nothing was there to send them. *Ready* is when `/readyz` says that it can store and fire. Fresh work is due at 100 a second meanwhile.';

export const HANGING =
  'The same work for a hundred endpoints that answer, alone and beside others that accept a request and never answer.';

export const DASHBOARD =
  'The data of each page of the dashboard, asked for over HTTP, in a store as one is after months: most deliveries have ended, tens of thousands of them badly, a part waits. Then the paced work, in turns with a page open that watches the overview and the list of deliveries, and without.';

export const CAVEATS: readonly string[] = [
  'The contender, its database, the receiver and whoever creates share the processors of one machine. On two cores a burst is mostly a question of how little work each request takes in all these processes together; on more cores all figures rise, and those of contenders that can use several processes rise more.',
  'Everything is on loopback. Over a network each request takes longer and costs the same processor time; the differences between contenders become smaller than the way to the receiver.',
  'The peers are libraries for jobs: their worker is code of their user. Here it sends one HTTP request with the client that the limit uses. Sched does more for each: it checks the address it connects to, signs, keeps a record of every attempt, and defers an endpoint that fails.',
  'Durability differs, see above: who does not wait for the disk has less to do. Redis as it comes may lose the last second on a crash, and without persistence everything.',
  'A peer that looks for due work at intervals is late by up to its interval. Each is set to the shortest one that its documentation allows or advises; most users will run with a longer one, and with less load on their database.',
  'Databases with millions of rows were opened before and lie in the memory of the operating system as far as it reaches. The service reads of them what is due next, not all of it.',
  'A median of few rounds hides rare delays. The range of all rounds stands beside it, and p99.9 is there to be read with care: of a few thousand requests it is the third-latest.',
];
