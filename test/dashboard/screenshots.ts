/**
 * Takes pictures of every page and dialog: `node test/dashboard/screenshots.ts OUT`. The service, the receiver and the
 * browser are real. The data is that of the tests and a month of history.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { closeChromium, type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { Api } from '#test/e2e/client.ts';
import { created, onlyDelivery } from '#test/e2e/expectations.ts';
import { startSched, temporaryDirectory } from '#test/process/sched-process.ts';
import { answer, delayed } from '#test/receiver/behaviours.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { Person } from './person.ts';
import { createAlerts, createSampleData, PROJECT, replayDeadLetters } from './sample-data.ts';
import { writeSampleHistory } from './sample-history.ts';
import { buildPage, invitationOf, SETTINGS } from './start.ts';
import {
  DELIVERY,
  everyDialog,
  everyPage,
  load,
  SCHEDULE,
  SIGNED_OUT_PAGES,
  type VisitedPage,
  visit,
} from './visited-pages.ts';

const NAME = 'ada@example.com';
const VIEWPORTS = [
  ['wide-light', { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' }],
  ['wide-dark', { viewport: { width: 1_440, height: 900 }, colorScheme: 'dark' }],
  ['phone-light', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }],
  ['phone-dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
] as const;
const DELIVERIES = 120;
/** The longest name, and a URL that is longer than any screen. */
const NAME_CHARACTERS = 255;
const URL_CHARACTERS = 2_000;
/** One of so many deliveries fails at first, or always. */
const FAILING_EVERY = 9;

const [out] = process.argv.slice(2);
if (out === undefined)
  throw new Error('The folder for the pictures is missing: node test/dashboard/screenshots.ts OUT');
mkdirSync(out, { recursive: true });
buildPage();
const dataDir = temporaryDirectory();
const first = await startSched({ dataDir, env: SETTINGS });
await first.stop();
await writeSampleHistory(dataDir);
await using sched = await startSched({ dataDir, env: SETTINGS });
await using receiver = await startReceiver();
await using browser = await useChromium();
const invitation = new URL(invitationOf(first));
const api = Api.at(() => sched.url).as(first.testKey);

const admin = await Person.invited(browser, `${sched.url}${invitation.pathname}${invitation.hash}`, NAME);
await makeMany(api, receiver);
const made = await createSampleData(api, receiver);
const replay = await replayDeadLetters(admin, sched.url);
const incident = await createAlerts(admin, receiver);
await admin.leave();
const pages = [
  ...everyPage(made, replay, incident),
  ...(await longTexts(api, receiver)),
  ...everyDialog(made),
];
for (const [viewport, options] of VIEWPORTS) await shootAll(browser, viewport, options);
await closeChromium();

/** The pages of a schedule with the longest name and a very long URL. */
async function longTexts(to: Api, where: Receiver): Promise<readonly VisitedPage[]> {
  const { url } = where.hookAt('/hooks/long', answer(500));
  const schedule = await created(to, {
    name: 'monthly-statements.of-all-customers:europe-west_'.repeat(6).slice(0, NAME_CHARACTERS),
    endpoint: `${url}?${'customers=0123456789&'.repeat(100)}`.slice(0, URL_CHARACTERS),
    headers: { 'X-Tenant': 'acme', 'X-A-Header-With-A-Rather-Long-Name-For-The-Receiver': 'value' },
    body: '{}',
    delay: '1s',
    retry_policy: { max_attempts: 1 },
  });
  const { id } = await onlyDelivery(to, schedule.id);
  const page = (name: string, path: string, title: RegExp, shows: string): VisitedPage => ({
    name,
    path: `${PROJECT}/${path}`,
    title,
    shows,
  });
  return [
    page('long schedule', `schedules/${schedule.id}`, SCHEDULE, 'Payload'),
    page('long delivery', `deliveries/${id}`, DELIVERY, 'Copy as curl'),
  ];
}

async function makeMany(to: Api, where: Receiver): Promise<void> {
  const good = ['orders', 'reminders', 'invoices'].map((name) =>
    where.hookAt(`/hooks/${name}`, delayed(20, answer(200))),
  );
  const bad = where.hookAt('/hooks/legacy', answer(500));
  for (let count = 0; count < DELIVERIES; count++) {
    const isBad = count % FAILING_EVERY === 0;
    const endpoint = (isBad ? bad : good[count % good.length])?.url;
    const retry_policy = isBad ? { max_attempts: 1 + (count % 3), base: '200ms' } : { base: '10s' };
    await to.post('/v1/schedules', {
      endpoint,
      delay: `${1_000 + count * 40}ms`,
      metadata: { team: ['billing', 'growth', 'support'][count % 3], order: `${4_700 + count}` },
      retry_policy,
    });
  }
  for (const [cron, timezone] of [
    ['*/5 * * * *', 'UTC'],
    ['0 9 * * MON-FRI', 'Europe/Berlin'],
    ['*/10 * * * *', 'America/New_York'],
    ['15,45 * * * *', 'Asia/Kolkata'],
  ]) {
    await to.post('/v1/schedules', { endpoint: good[0]?.url, cron, timezone, metadata: { kind: 'report' } });
  }
}

async function shootAll(
  from: TestBrowser,
  viewport: string,
  options: (typeof VIEWPORTS)[number][1],
): Promise<void> {
  const person = await Person.at(from, 'about:blank', {
    ...options,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Zurich',
  });
  for (const page of SIGNED_OUT_PAGES) {
    await load(person, sched.url, page);
    await shoot(person, page, viewport);
  }
  await person.page.goto(`${sched.url}/dashboard/login`);
  await person.signIn(NAME);
  await person.heading('Overview');
  for (const page of pages) {
    await visit(person, page);
    await shoot(person, page, viewport);
  }
  await person.leave();
}

/** Takes a picture of the whole page, or of the window while a dialog is open. */
async function shoot(person: Person, page: VisitedPage, viewport: string): Promise<void> {
  // A chart is drawn after it has measured its width.
  for (const chart of await person.page.getByRole('slider').all())
    await chart.locator('svg').first().waitFor();
  const file = `${page.name.replaceAll(/[^a-z0-9]+/gi, '-')}.${viewport}.png`;
  await person.page.screenshot({ path: join(out ?? '', file), fullPage: page.open === undefined });
}
