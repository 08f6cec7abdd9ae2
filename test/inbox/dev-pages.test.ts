/** The pages of `sched dev` in a real browser: home, the dashboard without a password, and the links between them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { buildPage } from '#test/dashboard/start.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { type RunningDev, startDevInThread } from './dev-in-thread.ts';
import { answerWith, details, rows } from './inbox-page.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** This runs in the page. */
const FIND_FAULTS = `axe.run().then(({ violations }) => ({
  violations: violations.map(({ id, nodes }) => id + ': ' + nodes[0].target),
  tooWide: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
}))`;
const WIDE_AND_LIGHT: BrowserContextOptions = {
  viewport: { width: 1_440, height: 900 },
  colorScheme: 'light',
  permissions: ['clipboard-read', 'clipboard-write'],
};
const PHONE_AND_DARK: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  colorScheme: 'dark',
};

let browser: TestBrowser;
let dev: RunningDev;

beforeAll(async () => {
  buildPage();
  [browser, dev] = await Promise.all([useChromium(), startDevInThread()]);
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await dev[Symbol.asyncDispose]();
});

const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

test.each([
  ['a wide screen in the light theme', WIDE_AND_LIGHT],
  ['a phone in the dark theme', PHONE_AND_DARK],
])('home is accessible and fits on %s', async (_name, options) => {
  const { page, errors } = await browser.open('about:blank', options);
  await page.context().addInitScript({ content: AXE });
  await page.goto(dev.url);
  expect(await page.evaluate(FIND_FAULTS)).toEqual({ violations: [], tooWide: 0 });
  expect(errors).toEqual([]);
});

test.each([
  ['a wide screen in the light theme', WIDE_AND_LIGHT],
  ['a phone in the dark theme', PHONE_AND_DARK],
] as const)('the inbox is accessible and fits on %s, empty and with arrivals', async (_name, options) => {
  await using own = await startDevInThread();
  const { page, errors } = await browser.open('about:blank', options);
  await page.context().addInitScript({ content: AXE });
  await page.goto(`${own.url}/inbox`);
  await page.locator('#curl').getByText('curl').waitFor();
  expect(await page.evaluate(FIND_FAULTS)).toEqual({ violations: [], tooWide: 0 });

  await own.create({ endpoint: `${own.hook}/signed`, delay: '1s', body: '{"long":["text"]}' });
  await rows(page, 'Signature verified', 'Succeeded').waitFor();
  for (const answer of ['500', 'Redirect', 'Hang']) {
    await page.getByLabel('next request only').check();
    await answerWith(page, answer);
    await page.getByText('then 200 again').waitFor();
    void fetch(`${own.hook}/${'long'.repeat(40)}`, { method: 'POST', body: 'plain' }).catch(() => {});
    await page.getByText('Every request is answered 200.').waitFor();
  }
  await rows(page, 'hangs').waitFor();
  await rows(page, '/signed').click();
  await details(page).getByText('"text"').waitFor();
  expect(await page.evaluate(FIND_FAULTS)).toEqual({ violations: [], tooWide: 0 });
  expect(errors).toEqual([]);
});

test('the inbox has the theme that was chosen in the dashboard', async () => {
  const { page } = await browser.open(`${dev.url}/dashboard`, { ...WIDE_AND_LIGHT, colorScheme: 'light' });
  await heading(page, 'Overview');
  await page.getByRole('button', { name: /^User menu/ }).click();
  await page.getByRole('radio', { name: 'Dark' }).check();
  await page.goto(`${dev.url}/inbox`);
  await heading(page, 'Sched inbox');
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
});

test('home copies the command, and works without scripts', async () => {
  const { page, errors } = await browser.open(dev.url, WIDE_AND_LIGHT);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied.').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(dev.output.stdout).toContain(copied);
  expect(copied).toMatch(/^curl /);
  expect(errors).toEqual([]);

  const plain = await browser.open(dev.url, { javaScriptEnabled: false });
  expect(await plain.page.getByRole('button').count()).toBe(0);
  expect(await plain.page.locator('pre').textContent()).toBe(copied);
});

test('the dashboard opens without a password, in the project of the keys, and pages lead to each other', async () => {
  const { page, errors } = await browser.open(dev.url, WIDE_AND_LIGHT);
  await follow(page, 'Dashboard');
  await heading(page, 'Overview');
  expect(new URL(page.url()).pathname).toBe('/dashboard/p/default/test/');
  await page.getByText('sk_test_local_development_only').waitFor();
  await follow(page, 'Inbox');
  await heading(page, 'Sched inbox');
  await follow(page, 'Dashboard');
  await heading(page, 'Overview');
  await follow(page, 'API reference');
  await page.waitForURL(`${dev.url}/docs`);
  await page.goto(`${dev.url}/inbox`);
  await follow(page, 'Home');
  await heading(page, 'Sched');
  expect(errors).toEqual([]);
});

test('signing out leads to the sign-in page, which opens the dashboard again', async () => {
  const { page, errors } = await browser.open(`${dev.url}/dashboard/settings/account`, PHONE_AND_DARK);
  await heading(page, 'Your account');
  await page.getByText('This user of sched dev has no password.').waitFor();
  await page.getByRole('button', { name: /^User menu/ }).click();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  // The stream notices the end of the session before the page has the answer.
  const noticed = page.waitForResponse('**/whoami');
  await page.route('**/logout', async (route) => {
    const response = await route.fetch();
    await noticed;
    await route.fulfill({ response });
  });
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await heading(page, 'Sign in to Sched');
  await page.reload();
  await heading(page, 'Sign in to Sched');
  await follow(page, 'Open without a password, as sched dev');
  await heading(page, 'Overview');
  expect(errors).toEqual([]);
});

test('a browser behind a proxy is told why it is not signed in', async () => {
  const extraHTTPHeaders = { 'x-forwarded-for': '203.0.113.7' };
  const { page } = await browser.open(`${dev.url}/dashboard`, { extraHTTPHeaders });
  await page.getByRole('alert').getByText('straight from a browser on the machine of `sched dev`').waitFor();
  await page.goto(`${dev.url}/dashboard/login`);
  await heading(page, 'Sign in to Sched');
});

test('an open page stays signed in when sched dev starts again with other data', async () => {
  let page: Page;
  let port: string;
  {
    await using first = await startDevInThread({ '--data-dir': temporaryDirectory() });
    ({ port } = new URL(first.url));
    ({ page } = await browser.open(`${first.url}/dashboard/p/default/test/schedules/new`));
    await heading(page, 'New schedule');
    await page.getByLabel('URL', { exact: true }).fill(`${first.hook}/kept`);
    await page.getByText('One run').waitFor();
  }
  await using second = await startDevInThread({ '--port': port, '--data-dir': temporaryDirectory() });
  await page.getByRole('button', { name: 'Create schedule' }).click();
  await heading(page, 'Schedule');
  await page.getByText('/inbox/hook/kept').first().waitFor();
  expect(new URL(page.url()).origin).toBe(second.url);
});
