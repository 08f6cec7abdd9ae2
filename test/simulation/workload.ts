/**
 * The customers. They create, put by name, edit, move, pause, resume, trigger, cancel and replay, often at the very
 * instant when a delivery is due.
 */
import { cancelDelivery, replayDelivery } from '#src/commands/deliveries.ts';
import { archiveProfile, createProfile, editProfile } from '#src/commands/profiles.ts';
import {
  applyScheduleAction,
  createSchedule,
  editSchedule,
  type NewSchedule,
  rescheduleSchedule,
} from '#src/commands/schedules.ts';
import { triggerSchedule } from '#src/commands/trigger.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { isEnded, type Schedule } from '#src/domain/schedule.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import { ClientCalls, type Clients } from './client-calls.ts';
import { floodOf } from './flood.ts';
import { bodyAndLabels, InputGenerator } from './input-generator.ts';
import { NamedRequests } from './named-requests.ts';
import { shortId, TERMINAL } from './observer.ts';
import type { Plan } from './plan.ts';
import { delivered, profiled, type Request, type Service, viewed } from './request.ts';

type ScheduleOrder = 'put' | 'trigger' | 'pause' | 'resume' | 'cancel' | 'edit' | 'move';

/** More than the permits of one endpoint, and more than one page of the scanner. */
const BURST_MAX = 600;
/** More deliveries of one schedule than an action changes in one step. */
const REPLAYS_MAX = 8;
/** The deployments of one schedule in a row. */
const DEPLOYMENTS_MAX = 5;
const ACTIONS_WITHIN_MS = 30_000;
const BURST_BODY_BYTES_MAX = 2_000;
/** The other customers' share of the work. */
const OTHERS_SHARE = 0.15;

export class Workload {
  readonly #clients: Clients;
  readonly #prng: Prng;
  readonly #inputs: InputGenerator;
  readonly #named: NamedRequests;
  readonly #calls: ClientCalls;
  #made = 0;

  constructor(clients: Clients, prng: Prng, plan: Pick<Plan, 'calls' | 'spanMs' | 'bursts' | 'floods'>) {
    this.#clients = clients;
    this.#prng = prng;
    this.#inputs = new InputGenerator(prng, plan.spanMs);
    this.#calls = new ClientCalls(clients, prng);
    this.#named = new NamedRequests(prng, this.#inputs, clients.contents, () => this.#label());
    for (let at = 0; at < plan.calls; at++) {
      // Many calls come at the beginning, so that the later ones find something to change.
      const share = prng.chance(0.25) ? prng.int(60_000) : prng.int(plan.spanMs);
      clients.later(share, () => this.#act());
    }
    for (let at = 0; at < plan.bursts; at++) clients.later(prng.int(plan.spanMs), () => this.#burst());
    for (let at = 0; at < plan.floods; at++) clients.later(prng.int(plan.spanMs), () => this.#flood());
  }

  /** The first two customers have most of the work, so that many deliveries meet at their endpoints. */
  #customer(): Partition {
    const [first, second, ...others] = this.#clients.partitions;
    const isOther = first === undefined || second === undefined || this.#prng.chance(OTHERS_SHARE);
    return isOther ? this.#prng.pick(others) : this.#prng.pick([first, second]);
  }

  /** One customer floods hanging endpoints. Another has a few deliveries meanwhile, to a healthy endpoint. */
  #flood(): void {
    const { time, partitions } = this.#clients;
    const now = time.now();
    const isSwapped = this.#prng.chance(0.5);
    const [hostile, quiet] = isSwapped ? partitions.slice(-2) : partitions.slice(-2).toReversed();
    if (hostile === undefined || quiet === undefined) return;
    for (const order of floodOf(this.#prng, now, () => this.#label())) {
      this.#create(order.isHostile ? hostile : quiet, order.label, order.schedule, 'flood');
    }
  }

  #create(partition: Partition, label: string, order: NewSchedule, what: string): void {
    this.#clients.contents.add(label, order);
    this.#sendNew({
      what: `create ${label} of a ${what}`,
      label,
      partition,
      contentOf: label,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createSchedule(commands, partition, () => order, viewed(show), keep),
    });
  }

  /** Creates many deliveries to one endpoint at the same instant. */
  #burst(): void {
    const { time } = this.#clients;
    const prng = this.#prng;
    const partition = this.#customer();
    const alike = this.#inputs.schedule('', time.now(), null);
    const bytes = prng.chance(0.5) ? prng.int(BURST_BODY_BYTES_MAX) : null;
    const elsewhere = this.#inputs.schedule('', time.now(), null).destination;
    const fireAt = instant(time.now() + prng.between(2_000, 60_000));
    const count = prng.weighted([
      [3, prng.between(10, 60)],
      [2, prng.between(60, 200)],
      [1, prng.between(200, BURST_MAX)],
    ]);
    this.#clients.maybeCrashAround(fireAt);
    for (let left = count; left > 0; left--) {
      const label = this.#label();
      const timing = { kind: 'one_shot', fireAt, timezone: null } as const;
      const order = {
        ...alike,
        destination: count > 60 && left % 3 > 0 ? elsewhere : alike.destination,
        timing,
        jitter: null,
        idempotencyKey: null,
        ...bodyAndLabels(label, bytes),
      };
      this.#create(partition, label, order, 'burst');
    }
  }

  /** The service ended. Clients that wait for its answers retry. */
  serviceEnded(service: Service): void {
    this.#calls.serviceEnded(service);
  }

  /**
   * Replays many deliveries of one schedule, and changes the schedule while some of them wait for a retry.
   */
  #replayMany(): void {
    const { observer } = this.#clients;
    const prng = this.#prng;
    const ended = [...observer.deliveries.values()].filter(({ status, scheduleId }) => {
      const state = observer.schedules.get(scheduleId)?.state;
      return status !== 'canceled' && TERMINAL.has(status) && (state === 'active' || state === 'paused');
    });
    if (ended.length === 0) return;
    const original = prng.pick(ended);
    for (let left = prng.between(3, REPLAYS_MAX); left > 0; left--) this.#sendNew(this.#replay(original));
    for (let left = prng.between(1, 4); left > 0; left--) {
      this.#clients.later(prng.int(ACTIONS_WITHIN_MS), () => {
        const schedule = observer.schedules.get(original.scheduleId);
        if (schedule !== undefined) this.#sendNew(this.#scheduleChange(schedule));
      });
    }
  }

  /**
   * Deploys a named schedule several times, and meanwhile triggers it, replays what it has sent, and changes it in
   * other ways.
   */
  #deployOften(): void {
    const { observer } = this.#clients;
    const prng = this.#prng;
    const later = (act: () => void) => this.#clients.later(prng.int(ACTIONS_WITHIN_MS), act);
    const named = [...observer.schedules.values()].filter((one) => one.name !== null && !isEnded(one));
    if (named.length === 0) return;
    const { id } = prng.pick(named);
    for (let left = prng.between(2, DEPLOYMENTS_MAX); left > 0; left--) {
      later(() => {
        const schedule = observer.schedules.get(id);
        if (schedule === undefined || isEnded(schedule) || schedule.name === null) return;
        const request = prng.weighted<() => Request>([
          [6, () => this.#put(schedule)],
          [3, () => this.#trigger(schedule)],
          [2, () => this.#scheduleChange(schedule)],
        ]);
        this.#sendNew(request());
      });
    }
    for (let left = prng.int(4); left > 0; left--) {
      later(() => {
        const own = [...(observer.deliveriesOf.get(id) ?? [])].map((one) => observer.deliveries.get(one));
        const ended = own.filter(
          (one) => one !== undefined && TERMINAL.has(one.status),
        ) as readonly Delivery[];
        if (ended.length > 0) this.#sendNew(this.#replay(prng.pick(ended)));
      });
    }
  }

  #act(): void {
    const prng = this.#prng;
    if (prng.chance(0.05)) this.#replayMany();
    if (prng.chance(0.1)) this.#deployOften();
    if (prng.chance(0.5)) {
      this.#sendNew(this.#creation());
      return;
    }
    const aimed = prng.chance(0.6) ? this.#aboutToFire() : null;
    if (aimed === null) {
      this.#sendNew(this.#change(null));
      return;
    }
    const { time } = this.#clients;
    const inMs = time.elapsedAt(aimed.dueAt ?? time.now()) - time.elapsedMs + prng.between(-12, 12);
    this.#clients.later(Math.max(inMs, 0), () => this.#sendNew(this.#change(aimed)));
  }

  #aboutToFire(): Delivery | null {
    const { observer, time } = this.#clients;
    const soon = time.now() + 600_000;
    const waiting = [...observer.open]
      .map((id) => observer.deliveries.get(id))
      .filter((delivery) => delivery !== undefined)
      .filter(({ dueAt, status }) => status !== 'paused' && dueAt !== null && dueAt <= soon);
    return waiting.length === 0 ? null : this.#prng.pick(waiting);
  }

  #creation(): Request {
    const prng = this.#prng;
    const profiles = [...this.#clients.observer.profiles.values()];
    if (profiles.length < 3 && prng.chance(0.3)) return this.#profileCreation();
    const profile = profiles.length > 0 && prng.chance(0.5) ? prng.pick(profiles) : null;
    const partition = profile?.partition ?? this.#customer();
    const label = this.#label();
    if (prng.chance(0.1)) return this.#named.putAny(partition, this.#clients.time.now(), profile?.id ?? null);
    const order: NewSchedule = {
      ...this.#inputs.schedule(label, this.#clients.time.now(), profile?.id ?? null),
      name: this.#named.scheduleName(),
    };
    this.#clients.contents.add(label, order);
    const isNear = order.timing.kind === 'one_shot';
    return {
      what: `create ${label} ${isNear ? 'once' : 'recurring'} ${profile ? shortId(profile.id) : 'inline'}`,
      label,
      partition,
      contentOf: label,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createSchedule(commands, partition, () => order, viewed(show), keep),
    };
  }

  #profileCreation(): Request {
    const partition = this.#customer();
    const label = this.#label();
    const order = { ...this.#inputs.profile(label), name: this.#named.profileName() };
    this.#clients.contents.add(label, { headers: order.headers, body: null });
    return {
      what: `create profile ${label}`,
      label,
      partition,
      contentOf: label,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createProfile(commands, partition, () => order, profiled(show), keep),
    };
  }

  /** A change to the schedule of this delivery, or to any schedule. */
  #change(aimed: Delivery | null): Request {
    const prng = this.#prng;
    const { observer } = this.#clients;
    const profiles = [...observer.profiles.values()];
    if (aimed === null && profiles.length > 0 && prng.chance(0.25)) {
      return this.#profileChange(prng.pick(profiles));
    }
    if (aimed?.status === 'retry_scheduled' && prng.chance(0.4)) return this.#cancelDelivery(aimed);
    const ended = [...observer.deliveries.values()].filter(({ status }) => TERMINAL.has(status));
    if (ended.length > 0 && prng.chance(0.15)) return this.#replay(prng.pick(ended));
    const schedules = [...observer.schedules.values()];
    const meant = aimed === null ? undefined : observer.schedules.get(aimed.scheduleId);
    const schedule = meant ?? (schedules.length > 0 ? this.#oneOf(schedules) : undefined);
    return schedule === undefined ? this.#creation() : this.#scheduleChange(schedule);
  }

  /** Prefers paused schedules, so that they are resumed more often than by chance. */
  #oneOf(schedules: readonly Schedule[]): Schedule {
    const paused = schedules.filter(({ state }) => state === 'paused');
    return paused.length > 0 && this.#prng.chance(0.5) ? this.#prng.pick(paused) : this.#prng.pick(schedules);
  }

  #scheduleChange(schedule: Schedule): Request {
    const { id, partition, name, state, destination } = schedule;
    const prng = this.#prng;
    const order = prng.weighted<ScheduleOrder>([
      [name === null || isEnded(schedule) ? 0 : 12, 'put'],
      [2, 'trigger'],
      [state === 'paused' ? 1 : 3, 'pause'],
      [state === 'paused' ? 6 : 1, 'resume'],
      [2, 'cancel'],
      [3, 'edit'],
      [3, 'move'],
    ]);
    if (order === 'put') return this.#put(schedule);
    if (order === 'trigger') return this.#trigger(schedule);
    const label = this.#label();
    const base = { what: `${order} ${shortId(id)}`, label, partition };
    if (order === 'edit') {
      const ttl = prng.chance(0.3) ? this.#inputs.ttl() : undefined;
      const retryPolicy = prng.chance(0.4) ? this.#inputs.retryPolicy() : undefined;
      const endpoint = destination.kind === 'inline' && prng.chance(0.3) ? this.#inputs.url() : undefined;
      const renamed = prng.chance(0.15) ? { name: this.#named.scheduleName() } : {};
      const edit = {
        ...renamed,
        ...(ttl === undefined ? {} : { ttl }),
        ...(retryPolicy === undefined ? {} : { retryPolicy }),
        ...(endpoint === undefined ? {} : { endpoint }),
      };
      return {
        ...base,
        repeats: 'with_its_key',
        send: ({ commands }, keep, show) =>
          editSchedule(commands, partition, id, () => edit, viewed(show), keep),
      };
    }
    if (order === 'move') {
      const timing = this.#inputs.timing(this.#clients.time.now());
      return {
        ...base,
        repeats: 'with_its_key',
        send: ({ commands }, keep, show) =>
          rescheduleSchedule(commands, partition, id, () => timing, viewed(show), keep),
      };
    }
    return {
      ...base,
      repeats: 'never',
      send: ({ commands }, _, show) => applyScheduleAction(commands, partition, id, order, viewed(show)),
    };
  }

  #trigger({ id, partition }: Schedule): Request {
    return {
      what: `trigger ${shortId(id)}`,
      label: this.#label(),
      partition,
      triggers: id,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) => {
        const answers = { added: delivered(show), moved: delivered(show) };
        return triggerSchedule(commands, partition, id, answers, keep);
      },
    };
  }

  #put(schedule: Schedule): Request {
    const { observer, time } = this.#clients;
    const profiles = [...observer.profiles.values()].filter(
      ({ partition, archived }) => partition === schedule.partition && !archived,
    );
    return this.#named.putSchedule(schedule, time.now(), profiles);
  }

  /** Only a delivery that waits for a retry can be canceled. */
  #cancelDelivery({ id, partition }: Delivery): Request {
    return {
      what: `cancel ${shortId(id)}`,
      label: this.#label(),
      partition,
      repeats: 'never',
      send: ({ commands }, _, show) => cancelDelivery(commands, partition, id, delivered(show)),
    };
  }

  #replay({ id, partition }: Delivery): Request {
    return {
      what: `replay ${shortId(id)}`,
      label: this.#label(),
      partition,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) => replayDelivery(commands, partition, id, delivered(show), keep),
    };
  }

  #profileChange(profile: EndpointProfile): Request {
    const { id, partition, name, archived } = profile;
    const prng = this.#prng;
    if (name !== null && !archived && prng.chance(0.5)) return this.#named.putProfile(profile);
    if (prng.chance(0.1)) {
      return {
        what: `archive ${shortId(id)}`,
        label: this.#label(),
        partition,
        repeats: 'never',
        send: ({ commands }, _, show) => archiveProfile(commands, partition, id, profiled(show)),
      };
    }
    const label = this.#label();
    const { url, timeout, retryBudget, breakerPolicy, headers, metadata } = this.#inputs.profile(label);
    this.#clients.contents.add(label, { headers, body: null });
    const edit = prng.pick([{ url }, { timeout }, { retryBudget }, { breakerPolicy }, { headers, metadata }]);
    return {
      what: `edit profile ${shortId(id)}`,
      label,
      partition,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        editProfile(commands, partition, id, () => edit, profiled(show), keep),
    };
  }

  #label(): string {
    return `c${this.#made++}`;
  }

  #sendNew(request: Request): void {
    this.#calls.send(request);
  }
}
