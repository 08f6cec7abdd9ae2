/** Tests the inbox page in a real browser under load: many arrivals, many tabs, a large body. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { buildPage } from '#test/dashboard/start.ts';
import { type RunningDev, startDevInThread } from './dev-in-thread.ts';
import { answerWith, details, rows, waitForText, waitUntilLive } from './inbox-page.ts';

const SENDERS = 10;
const PER_SENDER = 40;
const ARRIVALS_MAX = 200;
/** More tabs than the six connections that a browser opens to one host. */
const TABS = 8;

/** Records the largest number of rows. */
const WATCH_ROWS = `
  var rowsMax = 0;
  new MutationObserver(() => {
    rowsMax = Math.max(rowsMax, document.querySelectorAll('#arrivals li').length);
  }).observe(document.querySelector('#arrivals'), { childList: true });
`;

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

/** Simulates switching to another tab, because without a screen all tabs are visible. */
function setHidden(tab: Page, isHidden: boolean): Promise<unknown> {
  return tab.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

test('a body that would become too long when indented is shown unchanged', async () => {
  const { page, errors } = await browser.open(`${dev.url}/inbox`);
  const body = details(page).locator('pre');
  const depth = 500;
  const deep = `${'['.repeat(depth)}1${',1'.repeat(30_000)}${']'.repeat(depth)}`;
  await fetch(`${dev.hook}/deep`, { method: 'POST', body: deep });
  await waitForText(body, deep);
  expect(await page.getByRole('button', { name: 'Raw' }).count()).toBe(0);

  // Brackets inside a string do not count.
  const text = JSON.stringify({ text: '["\\'.repeat(100_000) });
  await fetch(`${dev.hook}/flat`, { method: 'POST', body: text });
  await waitForText(body, JSON.stringify(JSON.parse(text), null, 2));
  expect(errors).toEqual([]);
  await setHidden(page, true);
});

test('a hidden tab uses no connection, and catches up when it is visible again', async () => {
  const { page: first, errors } = await browser.open(`${dev.url}/inbox`);
  await waitUntilLive(first);
  await fetch(`${dev.hook}/seen`);
  await fetch(`${dev.hook}/newest`);
  await rows(first, '/newest').waitFor();
  await rows(first, '/seen').click();
  // Each new tab hides the one before.
  let tab = first;
  for (let count = 2; count <= TABS; count++) {
    await setHidden(tab, true);
    tab = await first.context().newPage();
    await tab.goto(`${dev.url}/inbox`);
    await waitUntilLive(tab);
  }
  await answerWith(tab, '500');
  await tab.getByText('Every request is answered 500.').waitFor();
  await fetch(`${dev.hook}/missed`);
  await rows(tab, '500', '/missed').waitFor();
  await setHidden(tab, true);
  expect(await rows(first, '/missed').count()).toBe(0);

  await setHidden(first, false);
  await rows(first, '500', '/missed').waitFor();
  await waitUntilLive(first);
  await first.getByText('Every request is answered 500.').waitFor();
  // Each arrival is still there once, and the selection is kept.
  for (const path of ['/seen', '/newest', '/missed']) expect(await rows(first, path).count()).toBe(1);
  expect(await first.locator('#arrivals [aria-current]').innerText()).toContain('/seen');
  expect(errors).toEqual([]);
  await setHidden(first, true);
});

test('of many arrivals the newest is selected, and the last 200 are listed', async () => {
  const { page, errors } = await browser.open(`${dev.url}/inbox`);
  let fetched = 0;
  page.on('request', (request) => {
    if (request.url().includes('/inbox/arrivals/')) fetched += 1;
  });
  await waitUntilLive(page);
  await page.evaluate(WATCH_ROWS);
  const send = async (sender: number) => {
    for (let count = 0; count < PER_SENDER; count++) {
      await fetch(`${dev.hook}/${sender}-${count}`, { method: 'POST', body: `body ${sender}-${count}` });
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  await fetch(`${dev.hook}/last`, { method: 'POST', body: 'the last body' });

  await rows(page, '/last').waitFor();
  await details(page).getByText('the last body').waitFor();
  expect(await page.locator('#arrivals li').count()).toBe(ARRIVALS_MAX);
  expect(await page.locator('#count').innerText()).toBe(String(ARRIVALS_MAX));
  expect(await page.title()).toBe(`(${ARRIVALS_MAX}) Sched inbox`);
  expect(await page.evaluate('rowsMax')).toBe(ARRIVALS_MAX);
  // Arrivals that were the newest for only a moment are not fetched.
  expect(fetched).toBeLessThan((SENDERS * PER_SENDER) / 2);
  expect(errors).toEqual([]);
});
