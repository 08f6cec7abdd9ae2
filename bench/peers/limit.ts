/** What the machine can do: a timer for each order and the client, no store. No contender can be faster. */
import { NO_GROUND, peer } from './peer.ts';

export const limit = peer({
  id: 'limit',
  name: 'limit: timers and client',
  version: '',
  settings: 'a timer for each request and undici with 64 connections, no store',
  durability: 'nothing is stored',
  can: ['orders', 'recurring'],
  file: 'limit-process.ts',
  ground: async () => NO_GROUND,
});
