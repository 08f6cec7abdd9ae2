/** Tests the inbox page in a real browser, as a developer uses it. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { buildPage } from '#test/dashboard/start.ts';
import { type RunningDev, startDevInThread } from './dev-in-thread.ts';
import { startDev } from './dev-process.ts';
import { answerWith, details, press, rows, waitForText, waitUntilLive } from './inbox-page.ts';

const HAS_CURL = spawnSync('curl', ['--version']).status === 0;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

/** Each test has the service to itself. */
const SEQUENTIAL = { concurrent: false } as const;

let browser: TestBrowser;

beforeAll(async () => {
  buildPage();
  browser = await useChromium();
});
afterAll(() => browser[Symbol.asyncDispose]());

/** Runs the printed command, or the same command with another body. */
async function curl({ output }: RunningDev, body?: object): Promise<void> {
  const [printed = ''] = /^curl [\s\S]*?\n\s+-d '.*'$/m.exec(output.stdout) ?? [];
  const command = body === undefined ? printed : printed.replace(/-d '.*'$/m, `-d '${JSON.stringify(body)}'`);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  expect(JSON.parse(stdout)).toMatchObject({ object: 'schedule', state: 'active' });
}

test
  .skipIf(!HAS_CURL)
  .concurrent(
    'shows a first delivery, a retry, a hang and a redirect live, without an error in the browser',
    async () => {
      await using dev = await startDevInThread();
      const { page, errors } = await browser.open(`${dev.url}/inbox`);
      await waitUntilLive(page);
      await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
      expect(dev.output.stdout).toContain(await page.locator('#curl pre').innerText());

      await curl(dev);
      await rows(
        page,
        '200',
        'POST /inbox/hook',
        'Signature verified',
        /arrived [\d.]+ m?s late/,
        'attempt 1',
        'Succeeded',
      ).waitFor();
      await details(page).getByText('"hello": "world"').waitFor();
      expect(await details(page).innerText()).toMatch(
        /Arrived\s+[\d:.]+, [\d.]+ m?s late\s+Signature\s+Signature verified/,
      );

      await answerWith(page, '500');
      await page.getByText('Every request is answered 500.').waitFor();
      await curl(dev, {
        endpoint: `${dev.hook}/fails`,
        delay: '1s',
        retry_policy: { base: '2s', factor: 1 },
      });
      await rows(page, '500', '/fails', 'attempt 1', 'Retry scheduled for').waitFor();
      await answerWith(page, '200');
      await rows(page, '200', '/fails', 'attempt 2', 'Succeeded').waitFor();
      // Only the newest attempt shows the status of the delivery.
      await rows(page, '500', '/fails', 'attempt 1', 'Attempt 2 followed').click();
      await details(page).getByText('Attempt 2 followed').waitFor();
      expect(await details(page).innerText()).not.toMatch(/Status|Succeeded|Retry scheduled/);
      expect(
        await details(page)
          .getByRole('button', { name: /^Attempt \d/ })
          .allInnerTexts(),
      ).toEqual(['1', '2']);
      await press(page, 'Attempt 2');
      await details(page).getByText('Answered 200.').waitFor();

      await page.getByLabel('next request only').check();
      await answerWith(page, 'Hang');
      await page.getByText('The next request is left hanging, then 200 again.').waitFor();
      await curl(dev, { endpoint: `${dev.hook}/hangs`, delay: '1s' });
      await rows(page, 'hangs', '/hangs', 'Claimed').click();
      await details(page).getByText('No answer yet').waitFor();
      await answerWith(page, 'Redirect');
      await rows(page, '302', '/hangs', 'Dead letter: redirect (HTTP 302)').waitFor();
      await details(page).getByText('Answered 302.').waitFor();

      expect(errors).toEqual([]);
    },
  );

test.concurrent('a page that stays open while the service restarts catches up', async () => {
  let page: Page;
  let port: string;
  {
    await using before = await startDev();
    ({ port } = new URL(before.url));
    ({ page } = await browser.open(`${before.url}/inbox`));
    await fetch(`${before.hook}/before`, { method: 'POST', body: 'the old body' });
    await rows(page, '/before').waitFor();
    await details(page).getByText('the old body').waitFor();
  }
  await page.getByText('Reconnecting').waitFor();
  await using after = await startDevInThread({ '--port': port });
  await fetch(`${after.hook}/after`, { method: 'POST', body: 'the new body' });
  await rows(page, '/after').waitFor();
  // It has the number of an arrival of the last run.
  await details(page).getByText('the new body').waitFor();
  await waitUntilLive(page);
  expect(await page.locator('#arrivals li').count()).toBe(1);
});

describe.concurrent('the inbox page', () => {
  let dev: RunningDev;
  beforeAll(async () => {
    dev = await startDevInThread();
  });
  afterAll(() => dev[Symbol.asyncDispose]());

  test('shows hostile content as text, in the list and in the details', SEQUENTIAL, async () => {
    const { page, errors } = await browser.open(`${dev.url}/inbox`);
    await fetch(`${dev.hook}/${encodeURIComponent(HOSTILE)}?${HOSTILE.replaceAll(' ', '+')}`, {
      method: 'POST',
      headers: { 'X-Hostile': HOSTILE, 'Sched-Signature': HOSTILE },
      body: HOSTILE,
    });
    await rows(page, 'Not verified').click();
    await details(page).getByRole('row', { name: 'X-Hostile' }).getByText(HOSTILE).waitFor();
    await waitForText(details(page).locator('pre'), HOSTILE);
    await details(page).getByText('The header Sched-Signature is malformed').waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).toBe('(1) Sched inbox');
    expect(errors).toEqual([]);
  });

  test(
    'sends the sample request, shows numbers unchanged, and keeps the answer mode after a reload',
    SEQUENTIAL,
    async () => {
      const { page, errors } = await browser.open(`${dev.url}/inbox`);
      await press(page, 'Send me one in 2 s');
      await page.getByText('Due at').waitFor();
      await rows(page, 'POST /inbox/hook', 'Signature verified', 'Succeeded').waitFor();
      await fetch(`${dev.hook}/json`, { method: 'POST', body: '{"amount":12345678901234567890.10}' });
      const body = details(page).locator('pre');
      await waitForText(body, '{\n  "amount": 12345678901234567890.10\n}');
      await press(page, 'Raw');
      expect(await body.innerText()).toBe('{"amount":12345678901234567890.10}');

      await answerWith(page, '500');
      await page.getByText('Every request is answered 500.').waitFor();
      await page.reload();
      await page.getByText('Every request is answered 500.').waitFor();
      await rows(page, '/json').waitFor();
      expect(await rows(page, '/json').count()).toBe(1);

      // The list works with the keyboard alone.
      const newest = page.locator('#arrivals button').first();
      await newest.focus();
      await page.keyboard.press('ArrowDown');
      await page.locator('#arrivals [aria-current]', { hasText: 'Signature verified' }).waitFor();

      await answerWith(page, '200');
      await press(page, 'Clear');
      await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
      expect(errors).toEqual([]);
    },
  );

  test('fits a phone screen in dark mode', SEQUENTIAL, async () => {
    const { page, errors } = await browser.open(`${dev.url}/inbox`, {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    });
    const isTooWide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');
    await page.locator('#curl').getByText('curl').waitFor();
    expect(await isTooWide()).toBe(false);
    await fetch(`${dev.hook}/${'long'.repeat(40)}`, {
      method: 'POST',
      headers: { 'X-Long': 'x'.repeat(400) },
      body: 'y'.repeat(400),
    });
    await details(page).getByText('x'.repeat(400)).waitFor();
    expect(await isTooWide()).toBe(false);
    expect(errors).toEqual([]);
  });
});
