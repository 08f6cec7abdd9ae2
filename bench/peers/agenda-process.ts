/** `node agenda-process.ts DATABASE_URL` */
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda } from 'agenda';
import type { Job } from '../contender.ts';
import { CONNECTIONS_MAX, post } from '../post.ts';
import { addConcurrently } from './adding.ts';
import { AGENDA_LOCK_LIMIT, AGENDA_PROCESS_EVERY_MS } from './postgres-peers.ts';
import { servePeer } from './protocol.ts';

const CONNECTIONS = 20;
const NAME = 'post';

const [connectionString = ''] = process.argv.slice(2);
const agenda = new Agenda({
  backend: new PostgresBackend({ poolConfig: { connectionString, max: CONNECTIONS } }),
  processEvery: AGENDA_PROCESS_EVERY_MS,
  maxConcurrency: CONNECTIONS_MAX,
  defaultConcurrency: CONNECTIONS_MAX,
  defaultLockLimit: AGENDA_LOCK_LIMIT,
  removeOnComplete: true,
});
agenda.on('error', (error) => console.error(error));
agenda.define<Job>(NAME, ({ attrs }) => post(attrs.data));
await agenda.start();

const add = (job: Job) => agenda.schedule(new Date(job.due), NAME, job);

servePeer({
  // Agenda has no call that adds several jobs.
  addAll: (jobs) => addConcurrently(jobs, add),
  addOne: async (job) => void (await add(job)),
  end: () => agenda.stop(),
});
