/**
 * What holds of every page and every dialog, with hostile and endless texts wherever customers and strangers can write:
 *
 * - axe-core finds nothing serious or critical: people with a screen reader, with weak eyes or by keyboard alone can use
 *   it, on a wide screen in the light and on a phone in the dark;
 * - what others wrote is text: no script of theirs runs, the page's policy has nothing to stop, no address of theirs can
 *   be followed, and no length of theirs makes a page wider than the screen.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { Person } from './person.ts';
import { createSampleData, PROJECT, replayDeadLetters, type SampleData } from './sample-data.ts';
import { useService } from './service.ts';
import { everyDialog, everyPage, SIGNED_OUT_PAGES, type VisitedPage, visit } from './visited-pages.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const AXE_OPTIONS = { resultTypes: ['violations'], iframes: false, preload: false };
const NAME = 'ada@example.com';
const SCRIPT = `"'><img src=x onerror=window.hacked=1><script>window.hacked=1</script><svg onload=window.hacked=1>`;
const HEADER = "X-`$'*|~!#%&";
/** Of all places: it is the work of the browser, on a machine that is shared with other tests. */
const LOOKED_AT_MS_MAX = 120_000;

/** A browser may call itself anything; the list of sessions shows it. */
const WIDE_AND_LIGHT: BrowserContextOptions = {
  userAgent: SCRIPT,
  reducedMotion: 'reduce',
  viewport: { width: 1_440, height: 900 },
  colorScheme: 'light',
};
const PHONE_AND_DARK: BrowserContextOptions = {
  ...WIDE_AND_LIGHT,
  viewport: { width: 390, height: 844 },
  colorScheme: 'dark',
};

const service = useService();
let made: SampleData;
let pages: readonly VisitedPage[] = [];
let dialogs: readonly VisitedPage[] = [];

beforeAll(async () => {
  const admin = await Person.invited(service.browser(), service.invitation(), NAME);
  made = await createSampleData(service.api, service.receiver(), {
    labels: {
      [SCRIPT]: SCRIPT,
      long: 'x'.repeat(16_000),
      '=': '="',
      'javascript:alert(1)': 'javascript:alert(1)',
    },
    query: `?next=javascript:alert(1)&text=${encodeURIComponent(SCRIPT)}&long=${'y'.repeat(1_500)}`,
    header: HEADER,
    idempotencyKey: SCRIPT,
  });
  const replay = await replayDeadLetters(admin, service.sched().url);
  pages = everyPage(made, replay);
  dialogs = everyDialog(made);
  await admin.leave();
});

/** Before anything of the page: the check, and an ear for what the policy stops. */
const PREPARED = `${AXE};
addEventListener('securitypolicyviolation', (event) => { (window.violations ??= []).push(event.blockedURI); });`;

/** In the page: what ran, what the policy had to stop, where it leads outside, and by how much it is too wide. */
const LOOK = `axe.run(document, ${JSON.stringify(AXE_OPTIONS)}).then(({ violations }) => ({
  hard: violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ' ' + nodes.length + ' times, first ' + nodes[0].target + ': ' + nodes[0].failureSummary),
  hacked: window.hacked ?? null,
  stopped: window.violations ?? [],
  outside: [...document.querySelectorAll('a[href], form[action], img, iframe, object, embed')]
    .map((element) => element.href ?? element.action ?? element.src ?? element.data)
    .filter((address) => !String(address).startsWith(location.origin + '/dashboard/')),
  tooWide: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
}))`;
const FINE = { hard: [], hacked: null, stopped: [], outside: [], tooWide: 0 };

async function signedIn(options: BrowserContextOptions): Promise<Person> {
  const person = await Person.at(service.browser(), 'about:blank', options);
  await person.page.context().addInitScript({ content: PREPARED });
  for (const place of SIGNED_OUT_PAGES) {
    await person.page.goto('about:blank');
    await look(person, place);
  }
  await person.page.goto(`${service.sched().url}/dashboard/login`);
  await person.signIn(NAME);
  await person.heading('Overview');
  return person;
}

async function look(person: Person, place: VisitedPage): Promise<void> {
  await visit(person, service.sched().url, place);
  expect({ place: place.name, ...(await person.page.evaluate<object>(LOOK)) }).toEqual({
    place: place.name,
    ...FINE,
  });
}

describe.skipIf(IS_POSTGRES)('every page', () => {
  test(
    'on a wide screen, in the light',
    async () => {
      const person = await signedIn(WIDE_AND_LIGHT);
      for (const place of pages.filter(({ isVariant }) => isVariant !== true)) await look(person, place);
      person.expectNoErrors();
      await person.leave();
    },
    LOOKED_AT_MS_MAX,
  );

  // Dialogs are the same at any width, but have the least room here.
  test(
    'on a phone, in the dark, with all kinds of data and every dialog',
    async () => {
      const person = await signedIn(PHONE_AND_DARK);
      for (const place of [...pages, ...dialogs]) await look(person, place);
      person.expectRefused('/schedules/sch_unknown', 404);
      await person.leave();
    },
    LOOKED_AT_MS_MAX,
  );

  test('shows what others wrote as they wrote it, and finds it again', async () => {
    const { url } = service.sched();
    const person = await signedIn(PHONE_AND_DARK);
    await person.page.goto(`${url}/dashboard/${PROJECT}/schedules/${made.schedules.recurring}`);
    await person.page.getByTitle(`${SCRIPT}=${SCRIPT}`).first().waitFor();
    await person.sees(HEADER, person.part('Payload'));
    await person.page.goto(`${url}/dashboard/${PROJECT}/deliveries/${made.deliveries.sending}`);
    await person.page.getByTitle(SCRIPT).first().waitFor();
    await person.page.goto(`${url}/dashboard/settings/account`);
    await person.page.getByTitle(SCRIPT).first().waitFor();
    await person.page.goto(`${url}/dashboard/${PROJECT}/schedules`);
    await person.fill('Search schedules', 'javascript:alert(1)=javascript:alert(1)');
    await person.rows('Schedules', 'Europe/Berlin').first().waitFor();
    await person.fill('Search schedules', `<script>${'%_\\*'.repeat(20)}`);
    await person.sees('No schedule matches');
    person.expectNoErrors();
    await person.leave();
  });
});
