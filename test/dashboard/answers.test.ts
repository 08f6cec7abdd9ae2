/** The beginning of an answer, revealed on the page of a delivery. `sched dev` keeps answers from this machine too. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { type TestBrowser, useChromium } from '#test/browser/chromium.ts';
import { waitForStatus } from '#test/delivery/waits.ts';
import { Api } from '#test/e2e/client.ts';
import { onlyDelivery } from '#test/e2e/expectations.ts';
import { type RunningDev, startDevInThread } from '#test/inbox/dev-in-thread.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { answer, type Behaviour } from '#test/receiver/behaviours.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { Person } from './person.ts';
import { PROJECT } from './sample-data.ts';
import { buildPage } from './start.ts';
import { DELIVERY } from './visited-pages.ts';

const PAGE = '<!doctype html><script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">';
const EXCERPT_BYTES = 4_096;
const REVEAL = /^Reveal the answer/;

let dev: RunningDev;
let receiver: Receiver;
let browser: TestBrowser;
let person: Person;
let api: Api;

beforeAll(async () => {
  buildPage();
  [dev, receiver, browser] = await Promise.all([
    startDevInThread(),
    startReceiver({ scheme: 'http' }),
    useChromium(),
  ]);
  api = Api.at(() => dev.url).as(DEV_TEST_KEY);
  person = await Person.at(browser, `${dev.url}/dashboard/`);
  await person.heading('Overview');
});

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await Promise.all([dev[Symbol.asyncDispose](), receiver[Symbol.asyncDispose]()]);
});

/** Opens the page of a delivery whose only attempt was answered so. `profile` has fields of its endpoint profile. */
async function openFailed(behaviour: Behaviour, profile: object = {}): Promise<string> {
  const { url } = receiver.hook(behaviour);
  const { id: endpoint_id } = await dev.call<{ id: string }>('POST', '/v1/endpoints', { url, ...profile });
  const schedule = await dev.create({ endpoint_id, delay: '1s', retry_policy: { max_attempts: 1 } });
  const { id } = await onlyDelivery(api, schedule);
  await waitForStatus(api, id, 'dead_letter');
  await person.page.goto(`${dev.url}/dashboard/${PROJECT}/deliveries/${id}`);
  await person.heading(DELIVERY);
  await person.sees('HTTP 500', person.part('Attempts'));
  return id;
}

async function reveal(): Promise<void> {
  await person.press(REVEAL);
  await person.press('Reveal', person.dialog('Reveal the answer'));
}

describe.skipIf(IS_POSTGRES)('the beginning of an answer', () => {
  test('is hidden until it is revealed, and shown as text', async () => {
    const id = await openFailed(answer(500, { headers: { 'content-type': 'text/html' }, body: PAGE }));
    expect(await person.page.content()).not.toContain('window.hacked');
    await reveal();
    expect(await person.part('Answer').locator('pre').innerText()).toBe(PAGE);
    await person.sees(`500 · text/html · ${PAGE.length} bytes`);
    expect(await person.page.evaluate('window.hacked')).toBeUndefined();
    await person.press('Hide');
    await person.page.getByRole('button', { name: REVEAL }).waitFor();
    expect(await person.page.content()).not.toContain('window.hacked');
    await person.goToSettings('Audit log');
    await person.rows(/^Audit log/, 'delivery.reveal', id.slice(0, 12)).waitFor();
    person.expectNoErrors();
  });

  test('may be of bytes, of a long text, or of nothing', async () => {
    await openFailed(answer(500, { body: Buffer.from([0, 255, 1]) }));
    await reveal();
    await person.sees('500 · no Content-Type · base64');
    expect(await person.part('Answer').locator('pre').innerText()).toBe('AP8B');
    await openFailed(answer(500, { body: 'x'.repeat(EXCERPT_BYTES + 1) }));
    await reveal();
    await person.sees('500 · no Content-Type · 4 KB · the rest was not kept');
    await openFailed(answer(500));
    await reveal();
    await person.sees('The answer had no body.');
    person.expectNoErrors();
  });

  test('is offered only where it was kept', async () => {
    await openFailed(answer(500, { body: 'out of memory' }), { response_excerpt: 0 });
    expect(await person.page.getByRole('button', { name: REVEAL }).count()).toBe(0);
    person.expectNoErrors();
  });
});
