import { Attempts } from './attempts.ts';
import { Deliveries } from './deliveries.ts';
import { Endpoints } from './endpoints.ts';
import { readOptions, type SchedOptions } from './options.ts';
import { Schedules } from './schedules.ts';
import { SYSTEM_DEPENDENCIES, Transport } from './transport.ts';

/**
 * A client of one service. Its API key decides the project and the mode. The address and the key come from the options,
 * or from the environment variables `SCHED_URL` and `SCHED_API_KEY`.
 *
 *     const sched = new Sched();
 *     await sched.schedules.create({ endpoint: 'https://example.com/hook', delay: '5m' });
 *
 * The key is only in private fields, so printing a client or an error never shows it.
 */
export class Sched {
  readonly schedules: Schedules;
  readonly deliveries: Deliveries;
  readonly attempts: Attempts;
  readonly endpoints: Endpoints;

  constructor(options?: SchedOptions) {
    const transport = new Transport(readOptions(options), SYSTEM_DEPENDENCIES);
    this.schedules = new Schedules(transport);
    this.deliveries = new Deliveries(transport);
    this.attempts = new Attempts(transport);
    this.endpoints = new Endpoints(transport);
  }
}
