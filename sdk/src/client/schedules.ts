import type {
  Delivery,
  ListScheduleDeliveriesQuery,
  ListSchedulesQuery,
  Plan,
  Schedule,
} from '../api-types.ts';
import { checkBody, encodeId } from './arguments.ts';
import { toApiBody, toApiSchedule } from './convenient.ts';
import type { ScheduleCreate, SchedulePut, ScheduleReschedule, ScheduleUpdate } from './inputs.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import { type DryRun, namedPath, type Put, type PutOptions, put } from './put.ts';
import type { Transport } from './transport.ts';

const SCHEDULES = '/schedules';
const ANSWERS = { answers: 'schedule' } as const;

/** The schedules of the project and mode of the API key. */
export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a schedule. Once this resolves, the schedule is stored: each delivery is attempted, or ends with a recorded
   * status.
   *
   *     await sched.schedules.create({ endpoint: 'https://example.com/hook', delay: 5_000, json: { hello: 'world' } });
   */
  async create(schedule: ScheduleCreate, options?: WriteOptions): Promise<Schedule> {
    const example = "{ endpoint: 'https://example.com/hook', delay: '5m' }";
    const body = toApiSchedule(checkBody('schedules.create', schedule, example));
    return this.#transport.call(
      { method: 'POST', path: SCHEDULES, body, hasIdempotencyKey: true, ...ANSWERS },
      options,
    );
  }

  /** Lists schedules, newest first. */
  list(query?: ListSchedulesQuery, options?: CallOptions): Pages<Schedule> {
    return list(this.#transport, 'schedules.list', () => SCHEDULES, query, options);
  }

  /** Reads one schedule. Rejects with a `NotFoundError` if it does not exist. */
  async get(id: string, options?: CallOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId('schedules.get', id)}`;
    return this.#transport.call({ method: 'GET', path, ...ANSWERS }, options);
  }

  /**
   * Creates the schedule with this name, or makes it equal to `schedule`. Fields that are left out take their defaults. If
   * everything is equal, nothing is written. The call can be repeated at any time, such as at each deployment.
   *
   *     const { putResult } = await sched.schedules.put('nightly-report', {
   *       endpoint: 'https://example.com/report',
   *       cron: '0 3 * * *',
   *     });
   *
   * With `dryRun: true` nothing is written. The call then returns what would happen, with the names of the fields that differ.
   */
  async put(name: string, schedule: SchedulePut, options: DryRun): Promise<Plan>;
  async put(
    name: string,
    schedule: SchedulePut,
    options?: CallOptions & { readonly dryRun?: false | undefined },
  ): Promise<Put<Schedule>>;
  async put(name: string, schedule: SchedulePut, options?: PutOptions): Promise<Put<Schedule> | Plan>;
  async put(name: string, schedule: SchedulePut, options?: PutOptions): Promise<Put<Schedule> | Plan> {
    const example = "{ endpoint: 'https://example.com/hook', cron: '0 9 * * *' }";
    const body = toApiSchedule(checkBody('schedules.put', schedule, example));
    return put(this.#transport, 'schedules', name, body, ANSWERS, options);
  }

  /** Reads the active or paused schedule that has this name. Rejects with a `NotFoundError` if there is none. */
  async getNamed(name: string, options?: CallOptions): Promise<Schedule> {
    return this.#transport.call(
      { method: 'GET', path: namedPath('schedules', 'getNamed', name), ...ANSWERS },
      options,
    );
  }

  /**
   * Changes a schedule. Fields that are left out stay as they are. The change also applies to the pending delivery,
   * unless it is being sent.
   */
  async update(id: string, changes: ScheduleUpdate, options?: WriteOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId('schedules.update', id)}`;
    const body = toApiBody(checkBody('schedules.update', changes, "{ ttl: '1h' }"));
    return this.#transport.call(
      { method: 'PATCH', path, body, hasIdempotencyKey: true, ...ANSWERS },
      options,
    );
  }

  /** Changes the fire time. `cron` replaces the recurrence. */
  async reschedule(id: string, timing: ScheduleReschedule, options?: WriteOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId('schedules.reschedule', id)}/reschedule`;
    const body = toApiBody(checkBody('schedules.reschedule', timing, "{ delay: '5m' }"));
    return this.#transport.call({ method: 'POST', path, body, hasIdempotencyKey: true, ...ANSWERS }, options);
  }

  /** Pauses a schedule. Pending deliveries wait. Pausing a paused schedule changes nothing. */
  async pause(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#changeState(id, 'pause', options);
  }

  /**
   * Resumes a schedule. If the instant of a one-shot schedule has passed, its delivery is sent at once or expires. A
   * recurring schedule skips missed runs.
   */
  async resume(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#changeState(id, 'resume', options);
  }

  /** Cancels a schedule for good. A delivery that is being sent finishes its attempt and is not retried. */
  async cancel(id: string, options?: CallOptions): Promise<Schedule> {
    return this.#changeState(id, 'cancel', options);
  }

  /**
   * Sends a request now. For a recurring schedule it is an additional delivery, and the recurrence does not move. A one-shot
   * schedule that waits fires now. Returns the delivery.
   */
  async trigger(id: string, options?: WriteOptions): Promise<Delivery> {
    const path = `${SCHEDULES}/${encodeId('schedules.trigger', id)}/trigger`;
    return this.#transport.call(
      { method: 'POST', path, hasIdempotencyKey: true, answers: 'delivery' },
      options,
    );
  }

  /** Lists the deliveries of a schedule, newest first. */
  deliveries(id: string, query?: ListScheduleDeliveriesQuery, options?: CallOptions): Pages<Delivery> {
    const path = () => `${SCHEDULES}/${encodeId('schedules.deliveries', id)}/deliveries`;
    return list(this.#transport, 'schedules.deliveries', path, query, options);
  }

  #changeState(id: string, verb: 'pause' | 'resume' | 'cancel', options?: CallOptions): Promise<Schedule> {
    const path = `${SCHEDULES}/${encodeId(`schedules.${verb}`, id)}/${verb}`;
    return this.#transport.call({ method: 'POST', path, ...ANSWERS }, options);
  }
}
