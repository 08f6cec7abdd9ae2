/**
 * A month of history for screenshots, written into the store while the service is stopped: stats for the charts, and a
 * schedule that fired every hour since yesterday, with some failures, and incidents that are over. Tests create their
 * own data.
 */

import { readControlSettings } from '#src/app/config.ts';
import { openStore } from '#src/app/open-store.ts';
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import { beginIncident, type IncidentMessageKind } from '#src/domain/alert-incident.ts';
import { afterAttempt, createMessage } from '#src/domain/alert-message.ts';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { IdMint } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule } from '#src/domain/schedule.ts';
import { HOUR_MS, LATENESS_CLASSES, MINUTE_MS, type Stats, type StatsSpanMs } from '#src/domain/stats.ts';
import type { SavedEndpointStats, SavedStats } from '#src/ports/insight-store.ts';
import { incidentContent } from '#src/texts/alert-text.ts';
import { storeSettings } from '#test/process/store-in-use.ts';
import { Builders, REDIRECT, SUCCESS, seededBytes } from '#test/store-contract/builders.ts';

const NODE = 'past';
const DAY_MS = 24 * HOUR_MS;
const HOURLY_RUNS = 30;
/** One of so many runs of the hourly schedule fails. */
const FAILS_EVERY = 7;
const ATTEMPT_MS = 84;

export const HOURLY_URL = 'https://api.example.com/v2/invoices/collect';
const BUSY_URLS = ['https://shop.example/hooks/orders', HOURLY_URL, 'https://mail.example/outbox/flush'];

export async function writeSampleHistory(dataDir: string): Promise<void> {
  const settings = readControlSettings({ flags: {}, env: await storeSettings(dataDir) });
  const store = await openStore(settings, { exclusive: false, create: false, node: NODE });
  try {
    const project = await store.findProject('default');
    if (project === null) throw new Error('There is no project default.');
    const { test } = project.partitions;
    const now = Date.now();
    await store.insight.saveStats(
      NODE,
      [...stats(test, MINUTE_MS, now, 24 * 60), ...stats(test, HOUR_MS, now, 30 * 24)],
      endpointStats(test, now),
    );
    await writeHourly(store, test, now);
    await writeIncidents(store, test, now);
  } finally {
    await store.close();
  }
}

/** Busy by day, quiet by night, with some minutes of failures. */
function stats(partition: Partition, spanMs: StatsSpanMs, now: number, count: number): readonly SavedStats[] {
  const last = Math.floor(now / spanMs);
  return Array.from({ length: count }, (_, index): SavedStats => {
    const step = last - 1 - index;
    const at = instant(step * spanMs);
    return { partition, spanMs, at, stats: statsOf(at, spanMs, step) };
  });
}

function statsOf(at: Instant, spanMs: number, step: number): Stats {
  const hour = (at % DAY_MS) / HOUR_MS;
  const daily = 1 + Math.sin(((hour - 8) / 24) * 2 * Math.PI);
  // The noise of a step is always the same, and differs from that of the next step.
  const noise = (Math.imul(step ^ (step >>> 3), 0x45d9f3b) >>> 8) / 2 ** 24;
  const fired = Math.round((6 + 30 * daily + 14 * noise) * (spanMs / MINUTE_MS));
  const isBad = step % 97 < 4;
  const retried = Math.round(fired * (isBad ? 0.4 : 0.02 * noise));
  const deadLettered = isBad ? Math.round(fired * 0.06) : step % 31 === 0 ? 1 : 0;
  const expired = step % 61 === 0 ? 1 : 0;
  return {
    fired,
    retried,
    deadLettered,
    expired,
    succeeded: Math.max(0, fired - retried - deadLettered - expired),
    lateness: latenessOf(fired, isBad, noise),
    downtimeSkips: 0,
  };
}

/** Most attempts start within a few milliseconds. More of them are late in bad minutes. */
function latenessOf(fired: number, isBad: boolean, noise: number): readonly number[] {
  const classes = Array.from({ length: LATENESS_CLASSES }, () => 0);
  const shares = [0.12, 0.3, 0.24, 0.16, 0.08, 0.05, 0.03, 0.01];
  for (const [index, share] of shares.entries()) classes[index] = Math.floor(fired * share);
  const late = isBad ? [11, 12, 13, 14] : noise > 0.8 ? [9, 11] : [8];
  for (const index of late) classes[index] = (classes[index] ?? 0) + Math.ceil(fired * 0.005);
  // Every attempt is in one class.
  const counted = classes.reduce((sum, attempts) => sum + attempts, 0);
  classes[1] = Math.max(0, (classes[1] ?? 0) + fired - counted);
  return classes;
}

function endpointStats(partition: Partition, now: number): readonly SavedEndpointStats[] {
  const last = Math.floor(now / HOUR_MS);
  return BUSY_URLS.flatMap((url, place) =>
    Array.from({ length: 20 }, (_, index): SavedEndpointStats => {
      const at = instant((last - 1 - index) * HOUR_MS);
      const endpoint = endpointKeyOf({ endpointId: null, url });
      return { partition, endpoint, at, stats: statsOf(at, MINUTE_MS * (3 - place), last - index) };
    }),
  );
}

type Store = Awaited<ReturnType<typeof openStore>>;

async function writeHourly(store: Store, partition: Partition, now: number): Promise<void> {
  const build = new Builders(partition, new IdMint(seededBytes(now)));
  const firstRun = (Math.floor(now / HOUR_MS) - HOURLY_RUNS) * HOUR_MS;
  build.tick(firstRun - 20 * MINUTE_MS - build.now);
  const made = build.schedule({
    timing: { kind: 'recurring', cron: '0 * * * *', timezone: 'Europe/Berlin' },
    destination: { kind: 'inline', url: HOURLY_URL, method: 'POST' },
    metadata: [
      ['team', 'billing'],
      ['env', 'staging'],
    ],
  });
  await store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
  let schedule: FiringSchedule = made.schedule;
  let waiting = made.pending;
  for (let run = 0; run <= HOURLY_RUNS; run++) {
    build.tick((waiting.dueAt ?? waiting.scheduledFor) + 3 - build.now);
    const claimed = build.claim(waiting, { schedule, profile: null });
    await store.claim([claimed]);
    build.tick(ATTEMPT_MS + (run % 5) * 17);
    const isFailing = run % FAILS_EVERY === 0;
    await store.settle([build.settle(claimed, schedule, isFailing ? REDIRECT : SUCCESS)]);
    const next = claimed.advanced;
    if (next === null) return;
    schedule = next.schedule;
    waiting = next.next;
  }
}

const INCIDENTS = 30;
const INCIDENTS_EVERY_MS = 7 * HOUR_MS;

/** Incidents of a condition whose channel was removed since. Of every third one the messages failed. */
async function writeIncidents({ alerts }: Store, partition: Partition, now: number): Promise<void> {
  const ids = new IdMint(seededBytes(now + 1));
  const first = instant(now - INCIDENTS * INCIDENTS_EVERY_MS);
  const times = { createdAt: first, updatedAt: first, revision: 1 };
  const channel: AlertChannel = {
    partition,
    id: ids.mint('chn', first),
    kind: 'webhook',
    name: 'pager',
    // Nothing is sent there any more.
    sealedUrl: new Uint8Array(),
    shownUrl: 'https://pager.example/…',
    ...times,
  };
  await alerts.addChannel(channel);
  const condition: AlertCondition = {
    partition,
    id: ids.mint('alc', first),
    kind: 'breaker_opened',
    threshold: null,
    windowMinutes: null,
    channelIds: [channel.id],
    enabled: true,
    ...times,
  };
  await alerts.addCondition(condition);
  for (let nth = 0; nth < INCIDENTS; nth++) {
    const at = instant(first + nth * INCIDENTS_EVERY_MS);
    const finding = { endpoint: BUSY_URLS[nth % BUSY_URLS.length] as EndpointKey, count: null };
    const begun = beginIncident(condition, ids.mint('inc', at), finding, null, at);
    const endedAt = instant(at + (6 + ((nth * 37) % 200)) * MINUTE_MS);
    const place = { project: 'default', mode: 'test', dashboard: null } as const;
    const message = (kind: IncidentMessageKind, sentAt: Instant) => {
      const content = incidentContent(kind, begun, place);
      const given = { partition, incidentId: begun.id, channelId: channel.id, kind, content } as const;
      const created = createMessage({ ...given, id: ids.mint('dlv', sentAt) }, sentAt);
      const result = nth % 3 === 0 ? REDIRECT : SUCCESS;
      return afterAttempt(created, result, instant(sentAt + ATTEMPT_MS));
    };
    const messages = [message('opened', at), message('closed', endedAt)];
    await alerts.addIncident({ condition, incident: { ...begun, endedAt }, messages });
  }
  await alerts.removeCondition(condition, instant(now));
  await alerts.removeChannel(channel);
}
