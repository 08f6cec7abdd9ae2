/**
 * Calls that belong together, so that what is rare by chance occurs: a delivery expires while it is paused, somebody
 * acts on a notification that waits, or a profile wants something else to be told than its schedules.
 */
import { createSchedule, editSchedule, type NewSchedule } from '#src/commands/schedules.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { NOTIFIED_OUTCOMES, type Notify } from '#src/domain/notify.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { Clients } from './client-calls.ts';
import { callOf, withNotifyCall } from './contents.ts';
import { actionOn, cancelOf, listOf, replayOf } from './delivery-requests.ts';
import type { InputGenerator } from './input-generator.ts';
import { UNKNOWN_HOST } from './network.ts';
import type { NotifyInputs } from './notify-inputs.ts';
import { shortId, TERMINAL } from './observer.ts';
import type { ProfileRequests } from './profile-requests.ts';
import { type Request, viewed } from './request.ts';

export interface StoryDependencies {
  readonly clients: Clients;
  readonly prng: Prng;
  readonly inputs: InputGenerator;
  readonly notifies: NotifyInputs;
  readonly profiles: ProfileRequests;
  readonly nextLabel: () => string;
  readonly send: (request: Request) => void;
}

/** How long a story lasts. */
const WITHIN_MS = 30_000;
const ACTIONS_MAX = 6;
const NONE = '' as DeliveryId;
const EVERYTHING = NOTIFIED_OUTCOMES;
const PROMPT_RETRIES = {
  strategy: 'exponential',
  base: '200ms',
  factor: 1,
  max: '1s',
  jitter: false,
} as const;

export class NotificationStories {
  readonly #dependencies: StoryDependencies;

  constructor(dependencies: StoryDependencies) {
    this.#dependencies = dependencies;
  }

  /** A customer without an endpoint profile creates one, and the story is for the next time. */
  begin(partition: Partition): void {
    const { prng, clients, profiles, send } = this.#dependencies;
    const usable = [...clients.observer.profiles.values()].filter(
      (one) => one.partition === partition && !one.archived,
    );
    if (usable.length < 2) send(profiles.create(partition));
    if (usable.length === 0) return;
    prng.weighted<() => void>([
      [2, () => this.#expireWhilePaused(partition, prng.pick(usable).id)],
      [2, () => this.#fail(partition, prng.pick(usable).id)],
      [4, () => this.#act(partition)],
      [4, () => this.#differ(partition, usable)],
    ])();
  }

  #later(from: number, to: number, act: () => void): void {
    const { prng, clients } = this.#dependencies;
    clients.later(prng.between(from, to), act);
  }

  #expireWhilePaused(partition: Partition, endpointId: EndpointId): void {
    const { send, nextLabel } = this.#dependencies;
    const terms = { ttl: '2s', notify: { endpointId, on: EVERYTHING } };
    const label = this.#create(partition, [3_000, 6_000], terms);
    const act = (action: 'pause' | 'resume') => {
      const schedule = this.#made(label);
      if (schedule !== null) send(actionOn(schedule, action, nextLabel()));
    };
    this.#later(200, 2_500, () => act('pause'));
    this.#later(9_000, 20_000, () => act('resume'));
  }

  /** The host is never found, which does not open the breaker. So the attempts follow each other soon. */
  #fail(partition: Partition, endpointId: EndpointId): void {
    this.#create(partition, [0, 5_000], {
      destination: { kind: 'inline', url: `https://${UNKNOWN_HOST}/`, method: 'POST' },
      retryPolicy: { ...PROMPT_RETRIES, maxAttempts: this.#dependencies.prng.between(9, 14) },
      notify: { endpointId, on: EVERYTHING },
    });
  }

  /** Somebody changes, cancels and replays notifications and the profiles that get them. */
  #act(partition: Partition): void {
    const { prng } = this.#dependencies;
    this.#create(partition, [0, 2_000], { notify: this.#dependencies.notifies.ofEverything(partition) });
    for (let left = prng.between(2, ACTIONS_MAX); left > 0; left--) {
      this.#later(0, WITHIN_MS, () => this.#actOnce(partition));
    }
  }

  #actOnce(partition: Partition): void {
    const { prng, clients, profiles, nextLabel, send } = this.#dependencies;
    const { observer } = clients;
    const all = [...observer.deliveries.values()].filter(
      (one) => one.partition === partition && one.notificationOf !== null,
    );
    const unclaimed = all.find(({ status }) => status === 'scheduled');
    const failed = all.filter(({ status }) => status === 'retry_scheduled');
    const ended = all.filter(({ status }) => TERMINAL.has(status));
    const notified = unclaimed && observer.profileOf(unclaimed);
    const told = observer.deliveries.get(all.at(-1)?.notificationOf ?? NONE);
    if (told !== undefined) send(listOf(told, nextLabel()));
    if (notified) send(profiles.edit(notified));
    else if (failed.length > 0 && prng.chance(0.6)) send(cancelOf(prng.pick(failed), nextLabel()));
    else if (ended.length > 0 && prng.chance(0.7)) send(replayOf(prng.pick(ended), nextLabel()));
    else {
      const named = [...observer.profiles.values()].find(({ id }) => this.#isNotified(id));
      if (named !== undefined) send(profiles.archive(named));
    }
  }

  #isNotified(id: EndpointId): boolean {
    const { schedules, profiles } = this.#dependencies.clients.observer;
    return [...schedules.values(), ...profiles.values()].some(({ notify }) => notify?.endpointId === id);
  }

  /** A profile wants everything to be told. Of its schedules some say nothing, some opt out, some want another. */
  #differ(partition: Partition, usable: readonly EndpointProfile[]): void {
    const { prng, profiles, send } = this.#dependencies;
    const profile = prng.pick(usable);
    const other = prng.pick(usable);
    send(profiles.notify(profile, { endpointId: other.id, on: EVERYTHING }));
    const wishes: readonly (Notify | null)[] = [
      null,
      { endpointId: null, on: [] },
      { endpointId: prng.pick(usable).id, on: EVERYTHING },
    ];
    this.#later(1_000, 8_000, () => send(profiles.edit(profile)));
    for (const notify of wishes) {
      this.#later(1_000, 3_000, () => {
        const destination = { kind: 'profile', endpointId: profile.id } as const;
        const label = this.#create(partition, [0, 6_000], { destination, notify });
        this.#later(1_000, 10_000, () => this.#edit(label, prng.pick(wishes)));
        this.#later(12_000, WITHIN_MS, () => this.#replay(label));
      });
    }
  }

  #replay(label: string): void {
    const { clients, nextLabel, send } = this.#dependencies;
    const { pendingId = null } = this.#made(label) ?? {};
    const ended = pendingId === null ? undefined : clients.observer.deliveries.get(pendingId);
    if (ended !== undefined && TERMINAL.has(ended.status)) send(replayOf(ended, nextLabel()));
  }

  #edit(of: string, notify: Notify | null): void {
    const { clients, nextLabel, send } = this.#dependencies;
    const schedule = this.#made(of);
    if (schedule === null) return;
    const { id, partition } = schedule;
    const label = nextLabel();
    clients.contents.addWish(label, { notify, by: 'patch' });
    send({
      what: `edit whom ${shortId(id)} notifies`,
      label,
      partition,
      notifies: notify?.endpointId ?? null,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) => {
        const edit = ({ metadata }: Schedule) => ({ notify, metadata: withNotifyCall(metadata, label) });
        return editSchedule(commands, partition, id, edit, viewed(show), keep);
      },
    });
  }

  /** Creates a one-shot that is due in this time. Returns the label of the call. */
  #create(partition: Partition, [from, to]: readonly [number, number], terms: Partial<NewSchedule>): string {
    const { prng, clients, inputs, nextLabel, send } = this.#dependencies;
    const label = nextLabel();
    const now = clients.time.now();
    const order: NewSchedule = {
      ...inputs.schedule(label, now, null),
      timing: { kind: 'one_shot', fireAt: instant(now + prng.between(from, to)), timezone: null },
      jitter: null,
      ttl: null,
      ...terms,
    };
    clients.contents.addOrder(label, order);
    send({
      what: `create ${label} of a story`,
      label,
      partition,
      contentOf: label,
      notifies: order.notify?.endpointId ?? null,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createSchedule(commands, partition, () => order, viewed(show), keep),
    });
    return label;
  }

  #made(label: string): Schedule | null {
    const { schedules } = this.#dependencies.clients.observer;
    return [...schedules.values()].find((schedule) => callOf(schedule) === label) ?? null;
  }
}
