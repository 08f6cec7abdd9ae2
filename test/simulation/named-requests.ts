/**
 * The customers who keep their schedules and profiles by name, as a deployment does: they repeat what they have,
 * change a part or all of it, or only ask what a change would do.
 */

import { putProfile } from '#src/commands/named-profiles.ts';
import { putSchedule } from '#src/commands/named-schedules.ts';
import type { ProfileFields } from '#src/commands/profiles.ts';
import type { PutAnswers } from '#src/commands/put.ts';
import type { NewSchedule } from '#src/commands/schedules.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import type { Rendered } from './api-call.ts';
import { type Contents, callOf, labelsFor, notifyCallOf } from './contents.ts';
import type { InputGenerator } from './input-generator.ts';
import type { NotifyInputs } from './notify-inputs.ts';
import { profiled, type Request, type Show, viewed } from './request.ts';

/** So few that the same name is used again and again. */
const NAMES = ['daily-report', 'hourly:sync', 'v1.digest', 'a'] as const;
const PROFILE_NAMES = ['hooks', 'billing'] as const;
/** The share of calls that only ask what they would do. */
const PLANS = 0.1;

interface NamedRequestsDependencies {
  readonly prng: Prng;
  readonly inputs: InputGenerator;
  readonly notifies: NotifyInputs;
  readonly contents: Contents;
  readonly nextLabel: () => string;
}

export class NamedRequests {
  readonly #prng: Prng;
  readonly #inputs: InputGenerator;
  readonly #notifies: NotifyInputs;
  readonly #contents: Contents;
  readonly #nextLabel: () => string;

  constructor({ prng, inputs, notifies, contents, nextLabel }: NamedRequestsDependencies) {
    this.#prng = prng;
    this.#inputs = inputs;
    this.#notifies = notifies;
    this.#contents = contents;
    this.#nextLabel = nextLabel;
  }

  /** Three of ten schedules have a name. */
  scheduleName(): string | null {
    return this.#prng.chance(0.3) ? this.#prng.pick(NAMES) : null;
  }

  profileName(): string | null {
    return this.#prng.chance(0.6) ? this.#prng.pick(PROFILE_NAMES) : null;
  }

  /** There may be a schedule of this name or not. */
  putAny(partition: Partition, now: Instant, profile: EndpointId | null): Request {
    const label = this.#nextLabel();
    return this.#put(label, partition, {
      ...this.#inputs.schedule(label, now, profile),
      notify: this.#notifies.of(partition),
      name: this.#prng.pick(NAMES),
    });
  }

  /** `profiles`: those that the customer could use. */
  putSchedule(schedule: Schedule, now: Instant, profiles: readonly EndpointProfile[]): Request {
    const prng = this.#prng;
    const label = this.#nextLabel();
    const present = this.#asItIs(schedule);
    const profile = profiles.length > 0 && prng.chance(0.5) ? prng.pick(profiles).id : null;
    const metadata = labelsFor(label);
    const notify = this.#notifies.of(schedule.partition);
    const wanted = prng.weighted<() => NewSchedule>([
      [2, () => present],
      [5, () => ({ ...present, ...this.#inputs.payload(label) })],
      [1, () => ({ ...present, headers: this.#inputs.headers(label), metadata })],
      [1, () => ({ ...present, ttl: this.#inputs.ttl(), retryPolicy: this.#inputs.retryPolicy(), metadata })],
      [1, () => ({ ...present, timing: this.#inputs.timing(now), metadata })],
      [
        1,
        () => ({ ...present, destination: this.#inputs.schedule(label, now, profile).destination, metadata }),
      ],
      [2, () => ({ ...this.#inputs.schedule(label, now, profile), notify })],
      [2, () => ({ ...present, notify, metadata })],
    ]);
    return this.#put(label, schedule.partition, { ...wanted(), name: schedule.name });
  }

  #asItIs(schedule: Schedule): NewSchedule {
    const { name, timing, destination, jitter, ttl, idempotencyKey, retryPolicy } = schedule;
    const { rateLimit, notify, metadata } = schedule;
    const { headers, body } = this.#contents.of(callOf(schedule));
    return {
      name,
      timing,
      destination,
      headers,
      body,
      jitter,
      ttl,
      idempotencyKey,
      retryPolicy,
      rateLimit,
      notify,
      metadata,
    };
  }

  #put(label: string, partition: Partition, wanted: NewSchedule): Request {
    const contentOf = callOf(wanted);
    const isPlan = this.#prng.chance(PLANS);
    const name = wanted.name ?? '';
    this.#contents.add(contentOf, wanted);
    this.#addWish(label, wanted);
    return {
      what: `${isPlan ? 'plan' : 'put'} ${label} as ${name}${contentOf === label ? '' : ', as it is'}`,
      label,
      partition,
      repeats: 'as_it_is',
      contentOf,
      notifies: wanted.notify?.endpointId ?? null,
      send: ({ commands }, _, show) =>
        putSchedule(commands, partition, name, () => wanted, answers(show, viewed(show), isPlan)),
    };
  }

  /** Whoever repeats what there is leaves the label of the call that decided it. */
  #addWish(label: string, wanted: Pick<NewSchedule, 'notify' | 'metadata'>): void {
    if (notifyCallOf(wanted) === label) this.#contents.addWish(label, { notify: wanted.notify, by: 'put' });
  }

  #profileAsItIs(profile: EndpointProfile): ProfileFields {
    const { name, url, method, timeout, retryPolicy, retryBudget, rateLimit, breakerPolicy } = profile;
    const { responseExcerpt, standardWebhooks, notify, metadata } = profile;
    const { headers } = this.#contents.of(callOf(profile));
    return {
      name,
      url,
      method,
      headers,
      timeout,
      retryPolicy,
      retryBudget,
      rateLimit,
      breakerPolicy,
      responseExcerpt,
      standardWebhooks,
      notify,
      metadata,
    };
  }

  putProfile(profile: EndpointProfile): Request {
    const prng = this.#prng;
    const { partition } = profile;
    const label = this.#nextLabel();
    const present = this.#profileAsItIs(profile);
    const metadata = labelsFor(label);
    const notify = this.#notifies.of(partition);
    const wanted = prng.weighted<ProfileFields>([
      [1, present],
      [3, { ...present, headers: this.#inputs.profileHeaders(label), metadata }],
      [1, { ...this.#inputs.profile(label), notify, name: profile.name }],
      [2, { ...present, notify, metadata }],
    ]);
    const contentOf = callOf(wanted);
    const isPlan = prng.chance(PLANS);
    const name = profile.name ?? '';
    this.#contents.add(contentOf, { ...wanted, body: null });
    this.#addWish(label, wanted);
    return {
      what: `${isPlan ? 'plan' : 'put'} profile ${label} as ${name}`,
      label,
      partition,
      repeats: 'as_it_is',
      contentOf,
      notifies: wanted.notify?.endpointId ?? null,
      send: ({ commands }, _, show) =>
        putProfile(commands, partition, name, () => wanted, answers(show, profiled(show), isPlan)),
    };
  }
}

function answers<T>(show: Show, render: PutAnswers<T>['present'], isPlan: boolean): PutAnswers<T> {
  const plan: PutAnswers<T>['plan'] = (action, fields) =>
    show({ of: 'plan', action, fields } satisfies Rendered);
  return { created: render, present: render, plan: isPlan ? plan : null };
}
