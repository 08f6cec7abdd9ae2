/** The texts of the report that do not depend on the results. */

export const INTRODUCTION = `This page shows how close Sched comes to what the machine can do. It also compares Sched with other software that runs work at a given time. Every contender does the same work alone. They take turns in rounds, in one run on one machine. Compare the figures of this page with each other, not with those of another machine.`;

export const LIMIT = `The *limit* is a timer for each request and the same HTTP client, with nothing stored. No contender can be better. When the limit's process ends, it loses every request that it has not sent. The *bare route* is a fastify route that parses and validates the same body and stores nothing.`;

export const REPRODUCE = `The command below installs the peers into \`bench/\`. They are not dependencies of Sched. It starts its own PostgreSQL, and Redis if \`redis-server\` is installed. Then it measures, and writes this page and its charts. A full run takes up to four hours. The workloads with many stored schedules and with hostile customers take most of that. \`--quick\` takes two minutes. \`--work\` and \`--only\` choose a part. \`--json FILE\` writes every figure, and \`--page FILE,…\` makes this page from such files. No registry has Citus: where \`SCHED_BENCH_CITUS_URL\` names the coordinator of a cluster, it is measured too. Nothing else should run on the machine.`;

export const MISSED =
  'A *goal* is shown with its figure, and nothing is missed where it is not reached. Beside a missed bar is the figure *per core*: deliveries or creates for each second of processor time, of the contender and its database together. [ADR 028](adr/028-bars.md) has the reasons for the bars. [ADR 017](adr/017-cost-of-a-delivery.md) says why some are missed, and what would have to change.';

export const PACED =
  'These are one-shots, evenly spaced and stored ahead of their instants. Lateness is the time from the requested instant of a request to its arrival. The receiver measures it, with the clock of the same machine.';

export const BURST =
  'All requests are stored ahead and due at the same instant. The rate counts from that instant to the last arrival. Processor time is that of the contender’s own processes. That of its database is beside it: PostgreSQL or Redis, with all its processes. SQLite is part of the contender.';

export const CREATES =
  'Each contender creates through its own public interface. Sched and the bare route use HTTP. The others are called as libraries and need no HTTP. That many clients create at the same time. Each waits for its answer before the next create. What is answered is stored, as durably as the contender stores at all.';

export const NODES =
  'The same work is done by one, two and three nodes on one PostgreSQL. They share the cores of one machine, so the rates say little about nodes on machines of their own. The cost says more: the processor time of all nodes for each delivery or create, that of the database, and both together against one node.';

export const CITUS =
  'A Citus cluster and plain PostgreSQL do the same work in turns, with one node each. The work is spread evenly over many projects, because a project in one mode lives on one worker. The plain PostgreSQL is the benchmark’s own, and its commits wait for the disk. The settings of the cluster are those that it was found with.';

export const RECURRING =
  'All recurring schedules are due at the same full minute. Some peers keep their recurring jobs in a file or in a single row, and do not intend thousands of them. They do not take part.';

export const STORED =
  'This is the paced workload and a burst, while many other schedules are stored. Those are due in a year. Some were created through the interface, then multiplied inside the database. Memory is that of Sched’s process. With PostgreSQL, the database has its own memory.';

export const RECOVERY =
  'Sched starts on a database where many schedules wait. Thousands became due while no process could send them. Sched is *ready* when `/readyz` says that it can store and send. Meanwhile fresh work is due at 100 a second. The *bare client* is the limit’s process, started anew: it gets as many requests at once and sends them. The rate counts from the first to the last arrival.';

export const HANGING =
  'This is the same work for a hundred endpoints that answer. First they are alone, then other endpoints accept requests and never answer.';

export const NOTIFICATIONS =
  'Paced deliveries are sent alone, then beside deliveries that become dead letters, and then beside the same dead letters when the end of each is told to one endpoint profile. A receiver gets at most 50 notifications a second, and the others wait.';

export const DASHBOARD =
  'The data of each page of the dashboard is requested over HTTP. The store looks as it would after months: most deliveries have ended, tens of thousands of them without success, and some wait. After that comes the paced workload, in turns with and without an open page. The page watches the overview and the activity of the deliveries.';

export const START =
  'The program is packed and unpacked, as an installation would do it. Each start is a new process on a store that exists already. The program’s files are in the cache of the operating system. A process is *ready* when `/readyz` says that it can store and send. Then its first delivery is due, over a connection that is not open yet. A client creates it as soon as the process is ready, or an earlier process has stored it. The receiver measures how late it arrives, so the way to the receiver is part of it.';

export const PACKAGE =
  'The package is made by `npm pack` and installed into an empty folder, from the registry of npm. Nothing cached means that npm downloads everything, so the network decides. Each start is a new process, on the runtime that comes with the package. The checkout starts from its sources, with its cache of compiled code.';

export const CAVEATS: readonly string[] = [
  'The contender, its database, the receiver and the load generator share the processors of one machine. On two cores, the rate of a burst depends mostly on how little work each request takes in all these processes together. On more cores all figures rise. They rise more for contenders that can use several processes.',
  'Everything is on loopback. Over a network each request takes longer and costs the same processor time. The time to the receiver then becomes larger than the differences between contenders.',
  'The peers are job libraries: the user writes the code of the worker. Here the worker sends one HTTP request with the client that the limit uses. Sched does more for each request. It checks the address that it connects to, signs, records every attempt, and defers deliveries to an endpoint that fails.',
  'Durability differs, as the table above shows. A contender that does not wait for the disk has less to do. Redis with its default settings may lose the last second on a crash. Without persistence it loses everything.',
  'A peer that polls for due work is late by up to its interval. Each peer uses the shortest interval that its documentation allows or advises. Most users will run a longer one, with less load on their database.',
  'Databases with millions of rows were opened before. They are in the memory of the operating system as far as they fit. The service reads only what is due next, not all rows.',
  'A median of few rounds hides rare delays. The range of all rounds is therefore beside it. Read p99.9 with care: of a few thousand requests it is the third-latest.',
];
