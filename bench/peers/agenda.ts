/** Agenda on PostgreSQL, one process. */
import { CONNECTIONS_MAX } from '../post.ts';
import { versionOf } from '../versions.ts';
import { databaseGround, peer } from './peer.ts';

/** It locks what is due until the next time, and sets timers. */
export const PROCESS_EVERY_MS = 100;
/** Without one it locks a whole burst before it begins, and is slower. */
export const LOCK_LIMIT = 256;

export const agenda = peer({
  id: 'agenda',
  name: 'agenda on PostgreSQL',
  version: `${versionOf('agenda')} (@agendajs/postgres-backend ${versionOf('@agendajs/postgres-backend')})`,
  settings: `processEvery ${PROCESS_EVERY_MS} ms, concurrency ${CONNECTIONS_MAX}, lock limit ${LOCK_LIMIT}, its LISTEN/NOTIFY channel`,
  durability: 'on disk (fsync) before the answer',
  can: ['orders', 'creates'],
  file: 'agenda-process.ts',
  ground: databaseGround,
});
