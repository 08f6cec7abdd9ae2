/** What the machine can do: no contender can be faster. */
import { cpuMsOf } from '../processes.ts';
import { endChild, messageFrom, startChild } from './child.ts';
import type { Contender } from './contender.ts';

const STORE_MS_MAX = 30_000;

export const limit: Contender = {
  name: 'limit: timers and client',
  start: async () => {
    const child = startChild('limit-process.ts');
    return {
      store: async (orders) => {
        child.send(orders);
        await messageFrom(child, STORE_MS_MAX);
      },
      cpuMs: () => cpuMsOf(child.pid ?? -1),
      [Symbol.asyncDispose]: () => endChild(child),
    };
  },
};
