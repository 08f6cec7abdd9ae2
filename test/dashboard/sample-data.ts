/**
 * Sample data of every kind for the pages: deliveries in every status, an endpoint profile with an open breaker, runs at
 * the same time, a bulk replay. All of it is created through `/v1` and sent to the receiver.
 */

import { waitForStatus } from '#test/delivery/waits.ts';
import type { Api } from '#test/e2e/client.ts';
import { created, createdProfile, expectStatus, onlyDelivery, ordered } from '#test/e2e/expectations.ts';
import type { Delivery } from '#test/e2e/resources.ts';
import { answer, type Behaviour, delayed, hang } from '#test/receiver/behaviours.ts';
import type { Receiver } from '#test/receiver/receiver.ts';
import type { Person } from './person.ts';

export const PROJECT = 'p/default/test';

/** Texts that customers can choose. */
export interface Texts {
  readonly labels: Readonly<Record<string, string>>;
  /** The query of every destination. */
  readonly query: string;
  readonly header: string;
  readonly idempotencyKey: string;
  /** The name of a schedule. */
  readonly name: string;
  /** The name of the endpoint profile. */
  readonly profileName: string;
}

export const PLAIN_TEXTS: Texts = {
  labels: { team: 'billing', kind: 'reminder' },
  query: '?order=4711',
  header: 'X-Order',
  idempotencyKey: 'order-4711',
  name: 'nightly-report',
  profileName: 'orders',
};

export interface SampleData {
  readonly schedules: { readonly recurring: string; readonly completed: string; readonly paused: string };
  readonly deliveries: {
    readonly succeeded: string;
    readonly retrying: string;
    readonly deadLetter: string;
    readonly expired: string;
    readonly sending: string;
    readonly waiting: string;
    readonly triggered: string;
  };
  readonly endpoint: string;
}

const OPEN_LONG = { threshold: 1, base_open: '30m', max_open: '1h', probe_timeout: '10s' };
const COLLIDING = 3;

export async function createSampleData(
  api: Api,
  receiver: Receiver,
  texts: Texts = PLAIN_TEXTS,
): Promise<SampleData> {
  const common = {
    metadata: texts.labels,
    headers: { [texts.header]: 'a value that stays hidden' },
    body: '{"hello":"world"}',
    delay: '1s',
  };
  const at = (path: string, ...script: readonly Behaviour[]) =>
    `${receiver.hookAt(path, ...script).url}${texts.query}`;
  const sent = async (body: object) => {
    const { id } = await created(api, { ...common, ...body });
    return { id, delivery: (await onlyDelivery(api, id)).id };
  };
  const once = { max_attempts: 1 };

  const profile = await createdProfile(api, {
    name: texts.profileName,
    url: at('/orders', answer(503)),
    headers: common.headers,
    metadata: texts.labels,
    breaker_policy: OPEN_LONG,
    retry_budget: { rate: 5, burst: 10 },
    rate_limit: { per_second: 20 },
    timeout: '10s',
  });
  const { body, delay, metadata } = common;
  const onProfile = await created(api, { endpoint_id: profile.id, delay, body, metadata });
  const made = {
    succeeded: await sent({
      endpoint: at('/slow', answer(503), delayed(120, answer(200))),
      retry_policy: { base: '50ms' },
    }),
    retrying: await sent({
      endpoint: at('/busy', answer(429)),
      ttl: '5h',
      retry_policy: { base: '1h', max: '2h' },
    }),
    deadLetter: await sent({
      endpoint: at('/gone', answer(500)),
      retry_policy: { ...once, max_attempts: 3, base: '30ms' },
    }),
    refused: await sent({ endpoint: `https://127.0.0.1:1/refused${texts.query}`, retry_policy: once }),
    expired: await sent({
      endpoint: at('/late', answer(500)),
      ttl: '1200ms',
      retry_policy: { base: '700ms', factor: 1 },
    }),
    sending: await sent({ endpoint: at('/hangs', hang()), idempotency_key: texts.idempotencyKey }),
    recurring: await sent({
      name: texts.name,
      endpoint: at('/report'),
      delay: null,
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      jitter: '5m',
    }),
    flaky: await created(api, {
      ...common,
      delay: null,
      endpoint: at('/flaky', answer(503)),
      cron: '0 4 * * *',
      retry_policy: { base: '2h', max: '4h' },
    }),
    paused: await sent({ endpoint: at('/paused'), delay: '3h' }),
    canceled: await sent({ endpoint: at('/canceled'), delay: '2h' }),
  };
  for (let collision = 0; collision < COLLIDING; collision++) {
    await sent({ endpoint: at('/report'), delay: null, cron: '*/15 * * * *', timezone: 'UTC' });
  }
  const triggered = await triggeredDelivery(api, made.flaky.id);
  await ordered(api, made.paused.id, 'pause');
  await ordered(api, made.canceled.id, 'cancel');
  const waiting = (await onlyDelivery(api, onProfile.id)).id;
  await Promise.all([
    waitForStatus(api, waiting, 'retry_scheduled'),
    waitForStatus(api, triggered, 'retry_scheduled'),
    waitForStatus(api, made.succeeded.delivery, 'succeeded'),
    waitForStatus(api, made.retrying.delivery, 'retry_scheduled'),
    waitForStatus(api, made.deadLetter.delivery, 'dead_letter'),
    waitForStatus(api, made.refused.delivery, 'dead_letter'),
    waitForStatus(api, made.expired.delivery, 'expired'),
    waitForStatus(api, made.sending.delivery, 'claimed'),
  ]);
  return {
    schedules: { recurring: made.recurring.id, completed: made.succeeded.id, paused: made.paused.id },
    deliveries: {
      succeeded: made.succeeded.delivery,
      retrying: made.retrying.delivery,
      deadLetter: made.deadLetter.delivery,
      expired: made.expired.delivery,
      sending: made.sending.delivery,
      waiting,
      triggered,
    },
    endpoint: profile.id,
  };
}

async function triggeredDelivery(api: Api, schedule: string): Promise<string> {
  const answered = await api.post<Delivery>(`/v1/schedules/${schedule}/trigger`);
  return expectStatus(answered, 201).id;
}

/** Replays all dead letters in bulk on the page, waits for the end, and returns the id of the replay. */
export async function replayDeadLetters(person: Person, origin: string): Promise<string> {
  await person.page.goto(`${origin}/dashboard/${PROJECT}/deliveries?status=dead_letter`);
  await person.press('Replay dead letters…');
  await person.press(/^Replay \d+ deliver/, person.dialog('Replay in bulk'));
  await person.heading('Bulk replay');
  await person.sees('Done', person.page.getByRole('main'));
  return person.id();
}
