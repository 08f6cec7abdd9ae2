import type {
  Delivery,
  ListScheduleDeliveriesQuery,
  ListSchedulesQuery,
  Schedule,
  ScheduleCreate,
  ScheduleReschedule,
  ScheduleUpdate,
} from '../api-types.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import { encodeId, type Transport } from './transport.ts';

const SCHEDULES = '/schedules';
const ANSWERS = { answers: 'schedule' } as const;

export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Once this resolves, the delivery will be tried or end in a recorded status. */
  async create(body: ScheduleCreate, options?: WriteOptions): Promise<Schedule> {
    return this.#transport.call(
      { method: 'POST', path: SCHEDULES, body, isKeyed: true, ...ANSWERS },
      options,
    );
  }

  /** Newest first. */
  list(query?: ListSchedulesQuery, options?: CallOptions): Pages<Schedule> {
    return list(this.#transport, () => SCHEDULES, { ...query }, options);
  }

  async get(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#transport.call({ method: 'GET', path: `${SCHEDULES}/${encodeId(id)}`, ...ANSWERS }, options);
  }

  /** What is left out stays. Reaches the pending delivery too, unless it is being sent. */
  async update(id: string, body: ScheduleUpdate, options?: WriteOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId(id)}`;
    return this.#transport.call({ method: 'PATCH', path, body, isKeyed: true, ...ANSWERS }, options);
  }

  /** Moves the fire time; `cron` replaces the recurrence. */
  async reschedule(id: string, body: ScheduleReschedule, options?: WriteOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId(id)}/reschedule`;
    return this.#transport.call({ method: 'POST', path, body, isKeyed: true, ...ANSWERS }, options);
  }

  /** What is pending waits. Pausing again changes nothing. */
  async pause(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#order(id, 'pause', options);
  }

  /** A one-shot whose instant passed fires at once, or is expired; a recurring schedule skips what it missed. */
  async resume(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#order(id, 'resume', options);
  }

  /** For good. A delivery that is being sent finishes its attempt and is not retried. */
  async cancel(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#order(id, 'cancel', options);
  }

  /** Newest first. */
  deliveries(id: string, query?: ListScheduleDeliveriesQuery, options?: CallOptions): Pages<Delivery> {
    return list(this.#transport, () => `${SCHEDULES}/${encodeId(id)}/deliveries`, { ...query }, options);
  }

  #order(id: string, verb: 'pause' | 'resume' | 'cancel', options?: CallOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId(id)}/${verb}`;
    return this.#transport.call({ method: 'POST', path, ...ANSWERS }, options);
  }
}
