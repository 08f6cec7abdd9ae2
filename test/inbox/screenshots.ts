/** Takes pictures of the inbox page, empty and with arrivals: `node test/inbox/screenshots.ts OUT`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { closeChromium, useChromium } from '#test/browser/chromium.ts';
import { buildPage } from '#test/dashboard/start.ts';
import { startDev } from './dev-process.ts';
import { openStream } from './event-stream.ts';

const WIDE = { width: 1_440, height: 900 };
const PHONE = { width: 390, height: 844 };
const VIEWPORTS = [
  ['wide-light', { viewport: WIDE, colorScheme: 'light' }],
  ['wide-dark', { viewport: WIDE, colorScheme: 'dark' }],
  ['phone-light', { viewport: PHONE, colorScheme: 'light' }],
  ['phone-dark', { viewport: PHONE, colorScheme: 'dark' }],
] as const;
const BODY = '{"order":{"id":17,"lines":[{"sku":"a","amount":12.50}]}}';

const [out] = process.argv.slice(2);
if (out === undefined)
  throw new Error('The folder for the pictures is missing: node test/inbox/screenshots.ts OUT');
mkdirSync(out, { recursive: true });
buildPage();
await using dev = await startDev();
await using browser = await useChromium();
using stream = await openStream(dev.url);

await shoot(out, 'empty');
await fetch(`${dev.hook}/not-signed?page=1`, { method: 'POST', body: 'plain text' });
await setAnswer('500');
await dev.create({ endpoint: `${dev.hook}/orders`, delay: '1s', body: BODY, retry_policy: { base: '1s' } });
await stream.arrival('/inbox/hook/orders', ({ delivery }) => delivery?.now?.status === 'succeeded');
await setAnswer('redirect');
await dev.create({ endpoint: `${dev.hook}/moved`, delay: '1s' });
await stream.arrival('/inbox/hook/moved', ({ delivery }) => delivery?.now?.status === 'dead_letter');
await setAnswer('hang');
void fetch(`${dev.hook}/hanging`).catch(() => {});
await stream.arrival('/inbox/hook/hanging');
await shoot(out, 'arrivals');
await closeChromium();

async function setAnswer(answer: string): Promise<void> {
  const body = JSON.stringify({ answer, times: 1 });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${dev.url}/inbox/answer`, { method: 'POST', headers, body });
}

async function shoot(folder: string, name: string): Promise<void> {
  for (const [viewport, options] of VIEWPORTS) {
    const { page } = await browser.open(`${dev.url}/inbox`, { ...options, reducedMotion: 'reduce' });
    await page.getByText('Live', { exact: true }).waitFor();
    if (name === 'arrivals') {
      await page.locator('#arrivals button', { hasText: '/orders' }).first().click();
      await page.getByText('"sku"').waitFor();
      await page.evaluate('scrollTo(0, 0)');
    }
    await page.screenshot({ path: join(folder, `inbox-${name}.${viewport}.png`), fullPage: true });
    await page.close();
  }
}
