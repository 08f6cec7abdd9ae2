/** The reference at `/docs` in a real browser: search, links, samples, and the form that sends a request. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DEV_LIVE_KEY, DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { type OpenPage, type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { type RunningDev, startDevInThread } from '#test/inbox/dev-in-thread.ts';
import { buildPage } from './start.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { width: 1_440, height: 900 };
const PHONE = { width: 375, height: 812 };
/** The sections of operations are alike, so axe-core looks at the first ones. */
const REMOVE_OTHERS = `for (const one of [...document.querySelectorAll('.operation')].slice(3)) one.remove();`;

/** This runs in the page. */
const FIND_FAULTS = `axe.run(document, { resultTypes: ['violations'], iframes: false, preload: false })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].target))`;

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

interface OpenReference extends OpenPage {
  /** The addresses of all requests, without the page and its files. */
  readonly requests: readonly string[];
}

async function open(hash = '', options: BrowserContextOptions = {}): Promise<OpenReference> {
  const opened = await browser.open('about:blank', { viewport: WIDE, locale: 'en-US', ...options });
  const requests: string[] = [];
  opened.page.on('request', (request) => requests.push(request.url()));
  await opened.page.goto(`${dev.url}/docs${hash}`);
  return { ...opened, requests };
}

function section(page: Page, id: string) {
  return page.locator(`section[id="${id}"]`);
}

/** Opens the form of an operation. */
async function tryIt(page: Page, id: string) {
  await section(page, id).getByRole('button', { name: 'Try it' }).click();
  return section(page, id).locator('form');
}

/** The page may still be scrolling. Its policy forbids the waiting of the browser driver, which evaluates texts. */
async function waitUntilInView(page: Page, id: string): Promise<void> {
  await vi.waitFor(async () => {
    const isInView = await page.evaluate(`(() => {
      const { top, height } = document.getElementById(${JSON.stringify(id)}).getBoundingClientRect();
      return height > 0 && top >= 0 && top < innerHeight;
    })()`);
    expect(isInView).toBe(true);
  });
}

const STORED = `JSON.stringify([
  Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href, history.state,
])`;

describe('the form', () => {
  test('sends to the inbox of sched dev, with a key that is stored nowhere', async () => {
    const { page, errors, requests } = await open();
    const form = await tryIt(page, 'createSchedule');
    await form.getByRole('button', { name: 'Use the test key of sched dev' }).click();
    const body = form.getByLabel('Body');
    expect(JSON.parse(await body.inputValue())).toMatchObject({ endpoint: dev.hook, delay: '2s' });
    await form.getByLabel('Example').selectOption('Send on weekdays at nine in Berlin');
    expect(JSON.parse(await body.inputValue())).toMatchObject({
      endpoint: dev.hook,
      timezone: 'Europe/Berlin',
    });
    await form.getByText('This call changes data').waitFor();
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText(/^Answer 201 after \d+ ms$/).waitFor();
    const answer = JSON.parse(await form.locator('.answer pre').first().innerText()) as {
      readonly id: string;
    };
    expect(answer.id).toMatch(/^sch_/);

    // Another form has the key and the id of what was created.
    const other = await tryIt(page, 'cancelSchedule');
    expect(await other.getByLabel('id').inputValue()).toBe(answer.id);
    await other.getByRole('button', { name: 'Send' }).click();
    await other.getByText('"state": "canceled"').waitFor();

    expect(await page.evaluate<string>(STORED)).not.toContain(DEV_TEST_KEY);
    expect(requests.filter((url) => !url.startsWith(`${dev.url}/`))).toEqual([]);
    expect(requests.filter((url) => url.includes('sk_test'))).toEqual([]);
    await page.reload();
    expect(await (await tryIt(page, 'createSchedule')).getByLabel('API key').inputValue()).toBe('');
    expect(errors).toEqual([]);
  });

  test('sends no cookies, and shows an answer as text', async () => {
    const { page } = await open();
    await page.evaluate("document.cookie = 'session=secret; path=/'");
    const form = await tryIt(page, 'createSchedule');
    await form.getByLabel('API key').fill(DEV_TEST_KEY);
    const hostile = '<img src=x onerror=document.title=1>';
    await form
      .getByLabel('Body')
      .fill(JSON.stringify({ endpoint: dev.hook, delay: '1h', metadata: { a: hostile } }));
    const sent = page.waitForRequest(/\/v1\/schedules$/);
    await form.getByRole('button', { name: 'Send' }).click();
    expect(await (await sent).allHeaders()).not.toHaveProperty('cookie');
    await form.getByText(hostile).waitFor();
    expect([await form.locator('img').count(), await page.title()]).toEqual([0, 'Sched API reference']);
  });

  test('warns of a live key in every open form', async () => {
    const { page } = await open();
    const [list, cancel] = [await tryIt(page, 'listSchedules'), await tryIt(page, 'cancelSchedule')];
    await list.getByLabel('API key').fill(` ${DEV_LIVE_KEY}`);
    for (const form of [list, cancel]) {
      await form.getByText('This is a live key').waitFor();
      await form.getByRole('button', { name: 'Send with the live key' }).waitFor();
    }
    await cancel.getByRole('button', { name: 'Use the test key of sched dev' }).click();
    expect(await list.getByLabel('API key').inputValue()).toBe(DEV_TEST_KEY);
    expect(await list.getByText('This is a live key').count()).toBe(0);
  });

  test('warns of a live key, and shows a refusal with its status and message', async () => {
    const { page } = await open('', { viewport: PHONE });
    const form = await tryIt(page, 'createSchedule');
    await form.getByLabel('API key').fill(DEV_LIVE_KEY);
    await form.getByText('This is a live key').waitFor();
    await form.getByLabel('Body').fill(JSON.stringify({ endpoint: dev.hook, delay: '1d' }));
    await form.getByRole('button', { name: 'Send with the live key' }).click();
    await form.getByText(/^Error 400 after/).waitFor();
    await form.getByText('"code": "invalid_duration"').waitFor();
    await form.getByText(/^delay "1d" is not a duration/).waitFor();
    await form.getByRole('link', { name: 'delay' }).click();
    await page.waitForURL(/#createSchedule-delay$/);
    await form.getByRole('link', { name: 'invalid_duration' }).click();
    await page.locator('li:target').waitFor();

    await form.getByLabel('API key').fill('');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"code": "missing_api_key"').waitFor();
  });

  test('says what is wrong with an id before it sends, and when the service is gone', async () => {
    const { page, requests } = await open();
    const form = await tryIt(page, 'getDelivery');
    const before = requests.length;
    await form.getByLabel('id').fill('..');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('id cannot be ".."').waitFor();
    expect(requests).toHaveLength(before);

    await page.route('**/v1/**', (route) => route.abort());
    await form.getByLabel('id').fill('dlv_1');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('The service could not be reached.').waitFor();
  });

  test('lists schedules by labels', async () => {
    const { page } = await open();
    await dev.create({ endpoint: dev.hook, delay: '1h', metadata: { team: 'docs' } });
    const form = await tryIt(page, 'listSchedules');
    await form.getByLabel('API key').fill(DEV_TEST_KEY);
    await form.getByLabel('metadata').fill('team=docs');
    await form.getByLabel('state').selectOption('active');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"team": "docs"').waitFor();
  });
});

describe('the page', () => {
  test('is searched by keyboard alone, for operations, fields and errors', async () => {
    const { page, errors } = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('max_attempts');
    const results = page.locator('#results a');
    await results.first().waitFor();
    expect(await results.first().innerText()).toContain('retry_policy.max_attempts');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#createSchedule-retry_policy-max_attempts$/);
    await page.locator('li:target').waitFor();
    await waitUntilInView(page, 'createSchedule-retry_policy-max_attempts');
    await page.locator('li:target a:focus').first().waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('invalid_cron');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#error-invalid_cron$/);
    await page.locator('li:target a:focus').first().waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('webhook');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#webhooks$/);
    await page.locator('h2#webhooks:focus').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('crno');
    await page.getByText('results for “cron”').waitFor();
    expect(await results.first().innerText()).toMatch(/^cron\b/);
    await page.keyboard.press('Escape');
    await page.locator('#search').fill('');
    await page.keyboard.type('nothing like this');
    await page.getByText('Nothing has “nothing like this”').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#results').isVisible()).toBe(false);
    expect(errors).toEqual([]);
  });

  test('opens a closed list for a link to a field, and marks the section in the contents', async () => {
    const { page } = await open('#getEndpoint-answer-field-breaker_policy-threshold');
    await page.locator('li:target').waitFor();
    await waitUntilInView(page, 'getEndpoint-answer-field-breaker_policy-threshold');
    await page
      .locator('#contents a[aria-current="location"]', { hasText: 'Get an endpoint profile' })
      .waitFor();
  });

  test('works with a broken link', async () => {
    const { page, errors } = await open('#%E0%A4%A');
    await page.keyboard.press('/');
    await page.keyboard.type('cron');
    await page.locator('#results a').first().waitFor();
    expect(errors).toEqual([]);
  });

  test('shows the chosen language in every sample', async () => {
    const { page } = await open('#createEndpoint');
    await section(page, 'createEndpoint').getByRole('radio', { name: 'Python' }).first().check();
    const shown = section(page, 'listDeliveries').locator('.sample:visible');
    expect(await shown.innerText()).toContain('urllib.request');
    await waitUntilInView(page, 'createEndpoint');
  });

  test('copies a sample without the label of the button', async () => {
    const { page } = await open('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await section(page, 'start').getByRole('button', { name: 'Copy' }).click();
    await section(page, 'start').getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toBe(`export SCHED_URL=${dev.url}\nexport SCHED_API_KEY=${DEV_TEST_KEY}`);
  });

  test('can be read without a script', async () => {
    const { page, errors } = await open('#listDeliveries', { javaScriptEnabled: false, viewport: PHONE });
    expect(await page.locator('.needs-script:visible').count()).toBe(0);
    const deliveries = section(page, 'listDeliveries');
    await deliveries.getByRole('radio', { name: 'TypeScript' }).first().check();
    expect(await deliveries.locator('.sample:visible').innerText()).toContain('sched.deliveries.list');
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.getByRole('link', { name: 'Dashboard' }).waitFor();
    await page.getByRole('link', { name: 'Pause a schedule' }).first().click();
    expect(page.url()).toMatch(/#pauseSchedule$/);
    expect(errors).toEqual([]);
  });

  test.each([
    ['on a wide screen in the light theme', WIDE, 'light'],
    ['on a phone in the dark theme', PHONE, 'dark'],
  ] as const)('has no finding of axe-core with an open form %s', async (_name, viewport, colorScheme) => {
    const { page, errors } = await open('', { viewport, colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(
      `addEventListener('securitypolicyviolation', (event) => { document.title = event.blockedURI; })`,
    );
    const form = await tryIt(page, 'createSchedule');
    await form.getByLabel('API key').fill(DEV_LIVE_KEY);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText(/^Answer 201/).waitFor();
    await section(page, 'createSchedule').locator('.about details summary').first().click();
    const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(tooWide)).toBe(0);
    await page.evaluate(`${REMOVE_OTHERS}${AXE}`);
    expect(await page.evaluate(FIND_FAULTS)).toEqual([]);
    expect([await page.title(), errors]).toEqual(['Sched API reference', []]);
  });
});
