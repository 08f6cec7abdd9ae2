/**
 * The customers. They create, put by name, edit, move, pause, resume, trigger, cancel and replay, often at the very
 * instant when a delivery is due.
 */
import {
  createSchedule,
  editSchedule,
  type NewSchedule,
  rescheduleSchedule,
} from '#src/commands/schedules.ts';
import { triggerSchedule } from '#src/commands/trigger.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import { isEnded, type Schedule } from '#src/domain/schedule.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { burstOf } from './burst.ts';
import { ClientCalls, type Clients } from './client-calls.ts';
import { withNotifyCall } from './contents.ts';
import { actionOn, cancelOf, replayOf } from './delivery-requests.ts';
import { floodOf } from './flood.ts';
import { InputGenerator } from './input-generator.ts';
import { NamedRequests } from './named-requests.ts';
import { NotificationStories } from './notification-stories.ts';
import { NotifyInputs } from './notify-inputs.ts';
import { shortId, TERMINAL } from './observer.ts';
import type { Plan } from './plan.ts';
import { ProfileRequests } from './profile-requests.ts';
import { delivered, type Request, type Service, viewed } from './request.ts';

type ScheduleOrder = 'put' | 'trigger' | 'pause' | 'resume' | 'cancel' | 'edit' | 'move';

/** More deliveries of one schedule than an action changes in one step. */
const REPLAYS_MAX = 8;
/** The deployments of one schedule in a row. */
const DEPLOYMENTS_MAX = 5;
const ACTIONS_WITHIN_MS = 30_000;
const PROFILE_MADE_WITHIN_MS = 1_500;
const NOTIFY_STREAM = 31;
/** The share of calls with which a story of notifications begins. */
const STORIES = 0.05;
/** The other customers' share of the work. */
const OTHERS_SHARE = 0.15;

type WorkloadPlan = Pick<Plan, 'seed' | 'calls' | 'spanMs' | 'bursts' | 'floods'>;

export class Workload {
  readonly #clients: Clients;
  readonly #prng: Prng;
  readonly #inputs: InputGenerator;
  readonly #notifies: NotifyInputs;
  readonly #named: NamedRequests;
  readonly #profiles: ProfileRequests;
  readonly #stories: NotificationStories;
  /** Those of notifications are apart, so that the other choices of a seed do not depend on them. */
  readonly #notifyPrng: Prng;
  readonly #calls: ClientCalls;
  #made = 0;

  constructor(clients: Clients, prng: Prng, plan: WorkloadPlan) {
    this.#clients = clients;
    this.#prng = prng;
    this.#inputs = new InputGenerator(prng, plan.spanMs);
    this.#calls = new ClientCalls(clients, prng);
    this.#notifyPrng = Prng.of(plan.seed, NOTIFY_STREAM);
    this.#notifies = new NotifyInputs(this.#notifyPrng, clients.observer);
    const common = {
      prng,
      inputs: this.#inputs,
      notifies: this.#notifies,
      contents: clients.contents,
      nextLabel: () => this.#label(),
    };
    this.#named = new NamedRequests(common);
    this.#profiles = new ProfileRequests({ ...common, named: this.#named });
    this.#stories = new NotificationStories({
      ...common,
      clients,
      prng: this.#notifyPrng,
      profiles: this.#profiles,
      send: (request) => this.#sendNew(request),
    });
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
    this.#clients.contents.addOrder(label, order);
    this.#sendNew({
      what: `create ${label} of a ${what}`,
      label,
      partition,
      contentOf: label,
      notifies: order.notify?.endpointId ?? null,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createSchedule(commands, partition, () => order, viewed(show), keep),
    });
  }

  /** Many deliveries to one endpoint. A customer without an endpoint profile creates one before, to be notified. */
  #burst(): void {
    const { observer } = this.#clients;
    const partition = this.#customer();
    const hasProfile = [...observer.profiles.values()].some((one) => one.partition === partition);
    if (!hasProfile) this.#sendNew(this.#profiles.create(partition));
    this.#clients.later(hasProfile ? 0 : PROFILE_MADE_WITHIN_MS, () => this.#burstOf(partition));
  }

  #burstOf(partition: Partition): void {
    const inputs = { prng: this.#prng, inputs: this.#inputs, notifies: this.#notifies };
    const now = this.#clients.time.now();
    const { fireAt, orders } = burstOf(inputs, partition, now, () => this.#label());
    this.#clients.maybeCrashAround(fireAt);
    for (const { label, order } of orders) this.#create(partition, label, order, 'burst');
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
      const state = scheduleId === null ? undefined : observer.schedules.get(scheduleId)?.state;
      return status !== 'canceled' && TERMINAL.has(status) && (state === 'active' || state === 'paused');
    });
    if (ended.length === 0) return;
    const original = prng.pick(ended);
    for (let left = prng.between(3, REPLAYS_MAX); left > 0; left--)
      this.#sendNew(replayOf(original, this.#label()));
    for (let left = prng.between(1, 4); left > 0; left--) {
      this.#clients.later(prng.int(ACTIONS_WITHIN_MS), () => {
        const schedule = observer.scheduleOf(original);
        if (schedule !== null) this.#sendNew(this.#scheduleChange(schedule));
      });
    }
    this.#clients.later(prng.int(ACTIONS_WITHIN_MS), () => {
      const retried = [...observer.open]
        .map((id) => observer.deliveries.get(id))
        .find((one) => one?.replayOf === original.id && one.status === 'retry_scheduled');
      if (retried !== undefined) this.#sendNew(cancelOf(retried, this.#label()));
    });
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
        if (ended.length > 0) this.#sendNew(replayOf(prng.pick(ended), this.#label()));
      });
    }
  }

  #beginStory(): void {
    const [first, second] = this.#clients.partitions;
    const partition = this.#notifyPrng.chance(0.5) ? first : second;
    if (partition !== undefined) this.#stories.begin(partition);
  }

  #act(): void {
    const prng = this.#prng;
    if (prng.chance(0.05)) this.#replayMany();
    if (prng.chance(0.1)) this.#deployOften();
    if (this.#notifyPrng.chance(STORIES)) this.#beginStory();
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
    if (profiles.length < 3 && prng.chance(0.3)) return this.#profiles.create(this.#customer());
    const profile = profiles.length > 0 && prng.chance(0.5) ? prng.pick(profiles) : null;
    const partition = profile?.partition ?? this.#customer();
    const label = this.#label();
    if (prng.chance(0.1)) return this.#named.putAny(partition, this.#clients.time.now(), profile?.id ?? null);
    const order: NewSchedule = {
      ...this.#inputs.schedule(label, this.#clients.time.now(), profile?.id ?? null),
      notify: this.#notifies.of(partition),
      name: this.#named.scheduleName(),
    };
    this.#clients.contents.addOrder(label, order);
    const isNear = order.timing.kind === 'one_shot';
    return {
      what: `create ${label} ${isNear ? 'once' : 'recurring'} ${profile ? shortId(profile.id) : 'inline'}`,
      label,
      partition,
      contentOf: label,
      notifies: order.notify?.endpointId ?? null,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createSchedule(commands, partition, () => order, viewed(show), keep),
    };
  }

  /** A change to the schedule of this delivery, or to any schedule. */
  #change(aimed: Delivery | null): Request {
    const prng = this.#prng;
    const { observer } = this.#clients;
    const profiles = [...observer.profiles.values()];
    if (aimed === null && profiles.length > 0 && prng.chance(0.25)) {
      return this.#profiles.change(prng.pick(profiles));
    }
    const notified = aimed !== null && aimed.notificationOf !== null && observer.profileOf(aimed);
    if (notified && prng.chance(0.5)) return this.#profiles.edit(notified);
    if (aimed?.status === 'retry_scheduled' && prng.chance(0.4)) return cancelOf(aimed, this.#label());
    const ended = [...observer.deliveries.values()].filter(({ status }) => TERMINAL.has(status));
    if (ended.length > 0 && prng.chance(0.15)) return replayOf(prng.pick(ended), this.#label());
    const schedules = [...observer.schedules.values()];
    const meant = aimed === null ? null : observer.scheduleOf(aimed);
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
      const notify = this.#notifies.edit(partition);
      if (notify !== undefined) this.#clients.contents.addWish(label, { notify, by: 'patch' });
      const editOf = ({ metadata }: Schedule) =>
        notify === undefined ? edit : { ...edit, notify, metadata: withNotifyCall(metadata, label) };
      return {
        ...base,
        notifies: notify?.endpointId ?? null,
        repeats: 'with_its_key',
        send: ({ commands }, keep, show) => editSchedule(commands, partition, id, editOf, viewed(show), keep),
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
    return actionOn(schedule, order, label);
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

  #label(): string {
    return `c${this.#made++}`;
  }

  #sendNew(request: Request): void {
    this.#calls.send(request);
  }
}
