/** The inbox page in a real browser, when there is much: many arrivals, many tabs, much to show of one. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium, type TestBrowser } from '#test/browser/chromium.ts';
import { type DevProcess, startDev } from './dev-process.ts';
import { details, live, press, reads, rows } from './inbox-page.ts';

const LANES = 10;
const PER_LANE = 100;
const ARRIVALS_MAX = 200;
/** More than the six that a browser connects to one host at the same time. */
const TABS = 8;

/** Notes how many rows there were at most. */
const WATCH_ROWS = `
  var rowsMost = 0;
  new MutationObserver(() => {
    rowsMost = Math.max(rowsMost, document.querySelectorAll('#arrivals li').length);
  }).observe(document.querySelector('#arrivals'), { childList: true });
`;

let browser: TestBrowser;
let dev: DevProcess;

beforeAll(async () => {
  [browser, dev] = await Promise.all([launchChromium(), startDev()]);
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await dev[Symbol.asyncDispose]();
});

/** As when another tab is looked at: without a screen all of them are visible. */
function setHidden(tab: Page, isHidden: boolean): Promise<unknown> {
  return tab.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

test('what would be endless if it were indented is shown as it came', async () => {
  const { page, faults } = await browser.open(`${dev.url}/inbox`);
  const body = details(page).locator('pre');
  const depth = 500;
  const deep = `${'['.repeat(depth)}1${',1'.repeat(30_000)}${']'.repeat(depth)}`;
  await fetch(`${dev.hook}/deep`, { method: 'POST', body: deep });
  await reads(body, deep);
  expect(await page.getByRole('button', { name: 'Raw' }).count()).toBe(0);

  // Marks in a text do not count.
  const text = JSON.stringify({ text: '["\\'.repeat(100_000) });
  await fetch(`${dev.hook}/flat`, { method: 'POST', body: text });
  await reads(body, JSON.stringify(JSON.parse(text), null, 2));
  expect(faults).toEqual([]);
  await setHidden(page, true);
});

test('eight tabs: one that is not seen takes no connection, and catches up when it is', async () => {
  const { page: first, faults } = await browser.open(`${dev.url}/inbox`);
  await live(first);
  await fetch(`${dev.hook}/seen`);
  await fetch(`${dev.hook}/newest`);
  await rows(first, '/newest').waitFor();
  await rows(first, '/seen').click();
  // Each hides the one before, as tabs do.
  let tab = first;
  for (let count = 2; count <= TABS; count++) {
    await setHidden(tab, true);
    tab = await first.context().newPage();
    await tab.goto(`${dev.url}/inbox`);
    await live(tab);
  }
  await press(tab, '500');
  await tab.getByText('Every request is answered 500.').waitFor();
  await fetch(`${dev.hook}/missed`);
  await rows(tab, '500', '/missed').waitFor();
  await setHidden(tab, true);
  expect(await rows(first, '/missed').count()).toBe(0);

  await setHidden(first, false);
  await rows(first, '500', '/missed').waitFor();
  await live(first);
  await first.getByText('Every request is answered 500.').waitFor();
  // What it had is still there, once, and so is what somebody looked at.
  for (const path of ['/seen', '/newest', '/missed']) expect(await rows(first, path).count()).toBe(1);
  expect(await first.locator('#arrivals [aria-current]').innerText()).toContain('/seen');
  expect(faults).toEqual([]);
  await setHidden(first, true);
});

test('a thousand arrivals: the newest is shown, and the last 200 are in the list', async () => {
  const { page, faults } = await browser.open(`${dev.url}/inbox`);
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/inbox/arrivals/')) asked += 1;
  });
  await live(page);
  await page.evaluate(WATCH_ROWS);
  const send = async (lane: number) => {
    for (let count = 0; count < PER_LANE; count++) {
      await fetch(`${dev.hook}/${lane}-${count}`, { method: 'POST', body: `body ${lane}-${count}` });
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => send(lane)));
  await fetch(`${dev.hook}/last`, { method: 'POST', body: 'the last body' });

  await rows(page, '/last').waitFor();
  await details(page).getByText('the last body').waitFor();
  expect(await page.locator('#arrivals li').count()).toBe(ARRIVALS_MAX);
  expect(await page.locator('#count').innerText()).toBe(String(ARRIVALS_MAX));
  expect(await page.title()).toBe(`(${ARRIVALS_MAX}) Sched inbox`);
  expect(await page.evaluate('rowsMost')).toBe(ARRIVALS_MAX);
  // Not every one of them: those that were the newest for a moment are passed over.
  expect(asked).toBeLessThan((LANES * PER_LANE) / 2);
  expect(faults).toEqual([]);
});
