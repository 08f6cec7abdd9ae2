/**
 * A form shows the message of the API once: at the field that it names, which gets the focus, or at the end of the form.
 * The message is that of `/v1`.
 */
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { created, expectStatus } from '#test/e2e/expectations.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { Person } from './person.ts';
import { PROJECT } from './sample-data.ts';
import { useService } from './service.ts';
import { PROFILE, SCHEDULE } from './visited-pages.ts';

const URL_OF_RECEIVER = 'https://shop.example/hook';
/** No signing secret is whsec_ and base64. */
const service = useService({ SCHED_BOOTSTRAP_SIGNING_SECRET: 'a free text of the operator' });
let person: Person;

interface Refused {
  readonly error: { readonly message: string; readonly param: string | null };
}

/** The message of `/v1` for this request. */
async function messageOf(path: string, body: object): Promise<string> {
  const { json, status } = await service.api.post<Refused>(path, body);
  expect(status).toBeGreaterThanOrEqual(400);
  return json.error.message;
}

async function expectOnce(message: string): Promise<void> {
  const shown = person.page.getByText(message, { exact: true });
  await shown.waitFor();
  expect(await shown.count()).toBe(1);
  expect(await shown.getAttribute('role')).toBe('alert');
}

/** The message is connected with the field, and the field has the focus. */
async function expectAtField(field: Locator, message: string): Promise<void> {
  await expectOnce(message);
  await field.and(person.page.locator(':focus')).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ');
  const texts = await Promise.all(ids.map((id) => person.page.locator(`[id="${id}"]`).textContent()));
  expect(texts).toContain(message);
  expect(await person.page.locator('[aria-invalid="true"]').count()).toBe(1);
}

async function open(path: string, title: string | RegExp): Promise<void> {
  await person.page.goto(`${service.sched().url}/dashboard/${path}`);
  await person.heading(title);
}

const field = (label: string) => person.page.getByLabel(label, { exact: true });

describe.skipIf(IS_POSTGRES)('an error of the service is shown once, at its field:', () => {
  beforeAll(async () => {
    person = await Person.invited(service.browser(), service.invitation(), 'ada@example.com');
  });

  test('a new schedule', async () => {
    const body = { endpoint: URL_OF_RECEIVER, delay: '5m' };
    await open(`${PROJECT}/schedules/new`, 'New schedule');
    await person.fill('URL', 'ftp://shop.example/');
    await person.press('Create schedule');
    await expectAtField(
      field('URL'),
      await messageOf('/v1/schedules', { ...body, endpoint: 'ftp://shop.example/' }),
    );

    await person.fill('URL', URL_OF_RECEIVER);
    await person.page.getByText('Metadata, TTL, retry policy and more').click();
    await person.fill('TTL', '1 day');
    // The part is closed again, and opens to show the error.
    await person.page.getByText('Metadata, TTL, retry policy and more').click();
    await person.press('Create schedule');
    await expectAtField(field('TTL'), await messageOf('/v1/schedules', { ...body, ttl: '1 day' }));

    await person.fill('TTL', '');
    await person.fill('Factor', '-1');
    await person.press('Create schedule');
    const message = await messageOf('/v1/schedules', { ...body, retry_policy: { factor: -1 } });
    const wrong = message.includes('factor') ? 'Factor' : 'Max attempts';
    await expectAtField(field(wrong), message);

    await person.fill('Factor', '');
    await person.press('Add header');
    await person.fill('Name of header 1', 'X-Fine');
    await person.press('Add header');
    await person.fill('Value of header 2', 'x');
    await person.press('Create schedule');
    // The page finds this error itself.
    await expectAtField(field('Name of header 2'), 'Every header needs a name.');
  });

  test('a change of its timing', async () => {
    const { id } = await created(service.api, { endpoint: URL_OF_RECEIVER, cron: '0 9 * * *' });
    await open(`${PROJECT}/schedules/${id}`, SCHEDULE);
    await person.press('Reschedule…');
    await person.fill('Cron expression', '0 25 * * *');
    const message = await messageOf(`/v1/schedules/${id}/reschedule`, { cron: '0 25 * * *' });
    // The preview refuses it while it is typed.
    await expectOnce(message);
    await person.press('Reschedule', person.dialog('Reschedule'));
    await expectAtField(field('Cron expression'), message);

    // A newer service may name a field that this form does not show.
    const error = { type: 'invalid_request_error', code: 'invalid_nonce', message: 'The nonce is wrong.' };
    const json = { error: { ...error, param: 'nonce', request_id: 'req_1' } };
    await person.page.route('**/reschedule', (route) => route.fulfill({ status: 422, json }));
    await person.fill('Cron expression', '0 10 * * *');
    await person.sees('The next 10 runs', person.dialog('Reschedule'));
    await person.press('Reschedule', person.dialog('Reschedule'));
    await person.sees(error.message, person.page.getByRole('alert'));
    expect(await person.page.getByText(error.message).count()).toBe(1);
    expect(await person.page.locator('[aria-invalid]').count()).toBe(0);
  });

  test('an endpoint profile', async () => {
    const body = { url: URL_OF_RECEIVER };
    await open(`${PROJECT}/endpoints/new`, 'New endpoint profile');
    await person.sees('It is stored and not enforced');
    await person.fill('URL', URL_OF_RECEIVER);
    await person.fill('Timeout', '2h');
    await person.press('Create endpoint profile');
    await expectAtField(field('Timeout'), await messageOf('/v1/endpoints', { ...body, timeout: '2h' }));

    await person.fill('Timeout', '');
    await person.fill('Threshold', '3');
    await person.press('Create endpoint profile');
    const breaker_policy = { threshold: 3, base_open: '', max_open: '', probe_timeout: '' };
    const message = await messageOf('/v1/endpoints', { ...body, breaker_policy });
    await expectOnce(message);
    expect(await person.page.locator('[aria-invalid="true"]').count()).toBe(1);

    const { id } = expectStatus<{ readonly id: string }>(await service.api.post('/v1/endpoints', body), 201);
    await open(`${PROJECT}/endpoints/${id}`, PROFILE);
    await person.press('Edit…');
    await person.fill('Rate limit', '-1');
    await person.press('Save');
    const rate_limit = { per_second: -1 };
    await expectAtField(field('Rate limit'), await messageOf('/v1/endpoints', { ...body, rate_limit }));

    await person.fill('Rate limit', '');
    const standard = field('Sign for Standard Webhooks too');
    await standard.check();
    await person.press('Save');
    await expectAtField(standard, await messageOf('/v1/endpoints', { ...body, standard_webhooks: true }));
  });

  test('a project', async () => {
    await open('settings/projects', 'Projects');
    await person.press('New project');
    await person.fill('Name', 'Acme Inc');
    await person.press('Create project');
    await person.sees(/"Acme Inc" is not a valid project name/, person.page.getByRole('alert'));
    expect(await person.page.getByRole('alert').count()).toBe(1);
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
  });
});
