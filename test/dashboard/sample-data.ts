/**
 * Sample data of every kind for the pages: deliveries in every status, an endpoint profile with an open breaker, runs at
 * the same time, a bulk replay, a notification, alerts. All of it is created through `/v1` or on the page, and sent to
 * the receiver.
 */

import { sleep, waitForStatus } from '#test/delivery/waits.ts';
import type { Api } from '#test/e2e/client.ts';
import { created, createdProfile, expectStatus, onlyDelivery, ordered } from '#test/e2e/expectations.ts';
import type { Delivery, List } from '#test/e2e/resources.ts';
import { answer, type Behaviour, delayed, hang, redirect } from '#test/receiver/behaviours.ts';
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
  /** The beginning of the names of alert channels. */
  readonly channelName: string;
}

export const PLAIN_TEXTS: Texts = {
  labels: { team: 'billing', kind: 'reminder' },
  query: '?order=4711',
  header: 'X-Order',
  idempotencyKey: 'order-4711',
  name: 'nightly-report',
  profileName: 'orders',
  channelName: '#on-call',
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
    /** It tells the end of `deadLetter`. */
    readonly notification: string;
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

  const told = await createdProfile(api, {
    name: `${texts.profileName.slice(0, 240)}-outcomes`,
    url: at('/outcomes', answer(204)),
  });
  const notify = { endpoint_id: told.id, on: ['dead_letter', 'expired'] };
  const profile = await createdProfile(api, {
    name: texts.profileName,
    url: at('/orders', answer(503)),
    headers: common.headers,
    metadata: texts.labels,
    breaker_policy: OPEN_LONG,
    retry_budget: { rate: 5, burst: 10 },
    rate_limit: { per_second: 20 },
    timeout: '10s',
    notify,
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
      notify,
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
      notify,
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
  const notification = await notificationOf(api, made.deadLetter.delivery);
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
      notification,
    },
    endpoint: profile.id,
  };
}

async function triggeredDelivery(api: Api, schedule: string): Promise<string> {
  const answered = await api.post<Delivery>(`/v1/schedules/${schedule}/trigger`);
  return expectStatus(answered, 201).id;
}

/** The end of a delivery and its notification are one transaction. */
async function notificationOf(api: Api, delivery: string): Promise<string> {
  const answered = await api.get<List<Delivery>>(`/v1/deliveries?notification_of=${delivery}`);
  const [notification] = expectStatus(answered, 200).data;
  if (notification === undefined) throw new Error('There is no notification.');
  await waitForStatus(api, notification.id, 'succeeded');
  return notification.id;
}

/** This is text, since it runs in the page, whose session it uses. */
const CALL = `async ([method, path, body]) => {
  const { csrf } = await (await fetch('/dashboard/api/whoami')).json();
  const headers = { 'content-type': 'application/json', 'x-sched-csrf': csrf };
  const given = method === 'GET' ? {} : { method, headers, body: JSON.stringify(body) };
  const answer = await fetch('/dashboard/api/${PROJECT}/alerts/' + path, given);
  const text = await answer.text();
  if (!answer.ok) throw new Error(path + ' ' + answer.status + ' ' + text);
  return JSON.parse(text);
}`;

async function called<T>(person: Person, method: string, path: string, body: object = {}): Promise<T> {
  return person.page.evaluate<T>(`(${CALL})(${JSON.stringify([method, path, body])})`);
}

const LOOK_EVERY_MS = 200;

interface Identified {
  readonly id: string;
}

/**
 * Adds channels and conditions, and waits for the incident of the open breaker and its messages. Returns its id. One
 * channel works, and one fails.
 */
export async function createAlerts(
  person: Person,
  receiver: Receiver,
  { channelName, query }: Texts = PLAIN_TEXTS,
): Promise<string> {
  const channel = async (kind: string, name: string, behaviour: Behaviour) => {
    const url = `${receiver.hookAt(`/alerts/${kind}`, behaviour).url}${query}`;
    return (await called<Identified>(person, 'POST', 'channels', { kind, name, url })).id;
  };
  const works = await channel('slack', channelName, answer(200));
  const fails = await channel('webhook', `${channelName.slice(0, 90)} (old)`, redirect(302, '/moved'));
  const failed = { kind: 'deliveries_failed', threshold: 2, window_minutes: 60 };
  for (const condition of [
    { kind: 'breaker_opened', channel_ids: [works, fails] },
    { ...failed, channel_ids: [works] },
    { kind: 'occurrences_skipped', channel_ids: [fails], enabled: false },
  ])
    await called(person, 'POST', 'conditions', condition);
  for (;;) {
    const { data } = await called<List<Identified & { kind: string }>>(person, 'GET', 'incidents?state=open');
    const id = data.find(({ kind }) => kind === 'breaker_opened')?.id;
    if (id !== undefined && data.length > 1 && (await hasEnded(person, id))) return id;
    await sleep(LOOK_EVERY_MS);
  }
}

async function hasEnded(person: Person, incident: string): Promise<boolean> {
  const path = `incidents/${incident}/messages`;
  const { data } = await called<List<{ readonly status: string }>>(person, 'GET', path);
  return data.length > 0 && data.every(({ status }) => status !== 'waiting');
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
