/**
 * Rules for every page and every dialog, with hostile and very long texts in every field that customers and strangers can
 * fill in:
 *
 * - axe-core finds nothing serious or critical, on a wide screen in the light theme and on a phone in the dark theme, so
 *   that people with a screen reader, with weak eyes or without a mouse can use it;
 * - foreign texts are only text: no script of theirs runs, the content security policy has nothing to block, none of
 *   their URLs is a link, and no long text makes a page wider than the screen.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { Person } from './person.ts';
import {
  createAlerts,
  createSampleData,
  PROJECT,
  replayDeadLetters,
  type SampleData,
  type Texts,
} from './sample-data.ts';
import { useService } from './service.ts';
import { everyDialog, everyPage, load, SIGNED_OUT_PAGES, type VisitedPage, visit } from './visited-pages.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const AXE_OPTIONS = { resultTypes: ['violations'], iframes: false, preload: false };
const ROWS_CHECKED_MAX = 30;
const NAME = 'ada@example.com';
const SCRIPT = `"'><img src=x onerror=window.hacked=1><script>window.hacked=1</script><svg onload=window.hacked=1>`;
const HEADER = "X-`$'*|~!#%&";
/** The limit for all pages together, on a machine that is shared with other tests. */
const CHECKS_MS_MAX = 120_000;

/** A browser can send any user agent, and the list of sessions shows it. */
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
  const texts: Texts = {
    labels: {
      [SCRIPT]: SCRIPT,
      long: 'x'.repeat(16_000),
      '=': '="',
      'javascript:alert(1)': 'javascript:alert(1)',
    },
    query: `?next=javascript:alert(1)&text=${encodeURIComponent(SCRIPT)}&long=${'y'.repeat(1_500)}`,
    header: HEADER,
    idempotencyKey: SCRIPT,
    name: `n${'.long-name'.repeat(25)}`,
    // It has no place to break.
    profileName: 'p'.repeat(255),
    channelName: `${SCRIPT.slice(0, 60)}${'c'.repeat(40)}`,
  };
  made = await createSampleData(service.api, service.receiver(), texts);
  const replay = await replayDeadLetters(admin, service.sched().url);
  pages = everyPage(made, replay, await createAlerts(admin, service.receiver(), texts));
  dialogs = everyDialog(made);
  await admin.leave();
});

/**
 * This runs before the scripts of the page: it loads axe-core and records what the policy blocks. Rules whose findings are
 * minor or moderate do not run, because the tests ignore such findings.
 */
const INIT_SCRIPT = `${AXE};
axe.configure({ noHtml: true });
window.axeOptions = {
  ...${JSON.stringify(AXE_OPTIONS)},
  rules: Object.fromEntries(
    axe._audit.rules
      .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
      .map(({ id }) => [id, { enabled: false }]),
  ),
};
addEventListener('securitypolicyviolation', (event) => { (window.violations ??= []).push(event.blockedURI); });`;

/**
 * This runs in the page: it returns findings of axe-core, scripts that ran, blocked requests, outside links, and width.
 * Contrast takes most of the time. It is not computed again for the page behind a dialog. Rows of a long table are alike,
 * so axe-core looks at the first ones.
 */
const FIND_FAULTS = `(() => {
  const withinDialog = document.querySelector('dialog:modal') === null ? '' : 'dialog[open] ';
  axe.configure({ rules: [{ id: 'color-contrast', selector: withinDialog + '*' }] });
  const furtherRows = [...document.querySelectorAll('tbody tr:nth-child(n + ${ROWS_CHECKED_MAX + 1})')];
  return axe.run({ include: [document], exclude: furtherRows }, axeOptions);
})().then(({ violations }) => ({
  violations: violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ' ' + nodes.length + ' times, first ' + nodes[0].target + ': ' + nodes[0].failureSummary),
  hacked: window.hacked ?? null,
  blocked: window.violations ?? [],
  outside: [...document.querySelectorAll('a[href], form[action], img, iframe, object, embed')]
    .map((element) => element.href ?? element.action ?? element.src ?? element.data)
    .filter((address) => !/^\\/(dashboard\\/|docs$)/.test(String(address).replace(location.origin, ''))),
  tooWide: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
}))`;
const NO_FAULTS = { violations: [], hacked: null, blocked: [], outside: [], tooWide: 0 };

/** Checks the pages for users who are not signed in, and signs in. */
async function checkedAndSignedIn(options: BrowserContextOptions): Promise<Person> {
  const person = await Person.at(service.browser(), 'about:blank', options);
  await person.page.context().addInitScript({ content: INIT_SCRIPT });
  for (const page of SIGNED_OUT_PAGES) {
    await load(person, service.sched().url, page);
    await expectNoFaults(person, page);
  }
  await signIn(person);
  return person;
}

async function signIn(person: Person): Promise<void> {
  await person.page.goto(`${service.sched().url}/dashboard/login`);
  await person.signIn(NAME);
  await person.heading('Overview');
}

async function check(person: Person, page: VisitedPage): Promise<void> {
  await visit(person, page);
  await expectNoFaults(person, page);
}

async function expectNoFaults(person: Person, page: VisitedPage): Promise<void> {
  expect({ page: page.name, ...(await person.page.evaluate<object>(FIND_FAULTS)) }).toEqual({
    page: page.name,
    ...NO_FAULTS,
  });
}

describe.skipIf(IS_POSTGRES)('every page', () => {
  test(
    'follows the rules on a wide screen in the light theme',
    async () => {
      const person = await checkedAndSignedIn(WIDE_AND_LIGHT);
      for (const page of pages.filter(({ isVariant }) => isVariant !== true)) await check(person, page);
      person.expectNoErrors();
      await person.leave();
    },
    CHECKS_MS_MAX,
  );

  // Dialogs are the same at every width, but they have the least space here.
  test(
    'follows the rules on a phone in the dark theme, with all kinds of data and every dialog',
    async () => {
      const person = await checkedAndSignedIn(PHONE_AND_DARK);
      for (const page of [...pages, ...dialogs]) await check(person, page);
      person.expectRefused('/schedules/sch_unknown', 404);
      await person.leave();
    },
    CHECKS_MS_MAX,
  );

  test('shows foreign text unchanged, and the search finds it', async () => {
    const { url } = service.sched();
    const person = await Person.at(service.browser(), 'about:blank', PHONE_AND_DARK);
    await signIn(person);
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
    await person.sees('No schedule matches the filters');
    person.expectNoErrors();
    await person.leave();
  });
});
