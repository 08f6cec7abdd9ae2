/** The bare route shows the cost of HTTP, JSON and validation alone. Creates are compared with it. */
import { profilingFlags } from '../child.ts';
import type { Contender } from '../contender.ts';
import { createOverHttp } from './load.ts';
import { startServer } from './process.ts';

const nothing = () => Promise.reject(new Error('The bare route stores nothing, so it sends nothing.'));

export const bareRoute: Contender = {
  id: 'bare-route',
  name: 'bare fastify route',
  version: '',
  settings: 'parses and validates the same body, keeps nothing',
  durability: 'nothing is stored',
  can: ['creates'],
  start: async ({ profileDir }) => {
    const server = await startServer([...profilingFlags(profileDir), 'bench/sched/bare-route-process.ts']);
    return {
      store: nothing,
      storeRecurring: nothing,
      create: (load) => createOverHttp({ ...load, urls: [server.url], apiKey: '' }),
      cpuMs: () => server.cpuMs(),
      databaseCpuMs: () => 0,
      memoryMb: () => server.memoryMb(),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};
