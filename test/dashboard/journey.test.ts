/**
 * The first steps of a new user, in a real browser against the real service, once on SQLite and once on PostgreSQL. The
 * tests depend on each other: each continues where the previous one ended.
 */
import { expect, test } from 'vitest';
import { created, createdProfile, onlyDelivery } from '#test/e2e/expectations.ts';
import { answer, held } from '#test/receiver/behaviours.ts';
import type { Hook } from '#test/receiver/receiver.ts';
import { expectedSignature, signatureOf, verify } from '#test/receiver/verify.ts';
import { PASSWORD, Person } from './person.ts';
import { PROJECT } from './sample-data.ts';
import { useService } from './service.ts';
import { DELIVERY, SCHEDULE } from './visited-pages.ts';

const service = useService();
/**
 * The page promises that changes appear, and that revoked keys are refused, within a second. The test prints what it
 * took, and allows more, because the machine may be busy.
 */
const PROMPT_MS_MAX = 5_000;
const DEAD_LETTERS = 3;

let admin: Person;
/** The receivers of the schedule that succeeds and of the one that fails. */
let seen: Hook;
let failing: Hook;

test('the invitation of the first start creates an admin, and empty pages explain what to do', async () => {
  admin = await Person.invited(service.browser(), service.invitation(), 'ada@example.com');
  // The token must not stay in the history.
  expect(admin.page.url()).not.toContain('#');
  await admin.sees('No schedules yet');
  expect(await admin.part('Command that creates a schedule').innerText()).toContain(
    `curl ${service.sched().url}/v1/schedules`,
  );
  for (const [name, words] of [
    ['Schedules', 'No schedules yet'],
    ['Deliveries', 'No schedules yet'],
    ['Endpoints', 'No endpoint profiles yet'],
    ['Upcoming', 'No runs in this window'],
  ] as const) {
    await admin.go(name);
    await admin.sees(words);
  }
  // An invitation works once.
  const late = await Person.at(service.browser(), service.invitation());
  await late.sees(/invitation/i, late.page.getByRole('alert'));
  await late.leave();
  admin.expectNoErrors();
});

test('the form of a recurring schedule previews its runs and its clock changes', async () => {
  await admin.beginSchedule('https://shop.example/reports');
  await admin.choose('Recurring');
  await admin.fill('Cron expression', 'not a cron');
  await admin.sees(/cron/i, admin.page.getByRole('alert'));
  admin.expectRefused('/preview', 422);
  // Sundays in March: the clock goes forward on the last one.
  await admin.fill('Cron expression', '30 2 * 3 SUN');
  await admin.fill('Time zone', 'Europe/Berlin');
  const preview = admin.part('Next runs');
  await admin.sees('The next 10 runs in Europe/Berlin', preview);
  await admin.sees(/02:30 does not exist on \d{4}-03-\d\d, fires 03:00/, preview);
  await admin.press('Create schedule');
  await admin.heading(SCHEDULE);
  await admin.sees(/02:30 does not exist on/, admin.part('Next runs'));
  await admin.sees('Europe/Berlin', admin.part('Details'));
  admin.expectNoErrors();
});

test('a schedule from the form fires, and its page and the deliveries show it', async () => {
  const response = held(answer(200));
  seen = service.receiver().hook(response);
  await admin.beginSchedule(seen.url);
  await admin.firesIn(2);
  await admin.sees('One run', admin.part('Next runs'));
  await admin.press('Add header');
  await admin.fill('Name of header 1', 'X-Order');
  await admin.fill('Value of header 1', 'value-of-the-order');
  await admin.fill('Body', '{"hello": "browser"}');
  await admin.sees('Valid JSON', admin.part('Payload'));
  await admin.press('Create schedule');
  await admin.heading(SCHEDULE);
  const deliveries = 'Deliveries of this schedule, newest first';
  await admin.rows(deliveries, 'Scheduled').waitFor();

  const request = await seen.arrived();
  expect(request.body.toString()).toBe('{"hello": "browser"}');
  const sendingAt = await admin.rowSeenAt('Claimed');
  expect(sendingAt - request.arrivedAt).toBeLessThan(PROMPT_MS_MAX);
  const second = await Person.at(service.browser(), `${service.sched().url}/dashboard/login`);
  await second.signIn('ada@example.com');
  await second.go('Deliveries');
  await second.follow('Waiting');
  await second.rows(/^Waiting deliveries/, 'Claimed').waitFor();
  await second.follow('Activity');
  await second.sees('Nothing was sent yet');
  const releasedAt = Date.now();
  response.release();
  const [onSchedule, onDeliveries] = await Promise.all([
    admin.rowSeenAt('Succeeded', '200'),
    second.rowSeenAt('Succeeded', '200'),
  ]);
  report('a claim shown on the page of the schedule', sendingAt - request.arrivedAt);
  report('its end shown there', onSchedule - releasedAt);
  report('its end shown in the activity', onDeliveries - releasedAt);
  expect(Math.max(onSchedule, onDeliveries) - releasedAt).toBeLessThan(PROMPT_MS_MAX);
  await admin.sees('Completed', admin.page.getByRole('main'));
  second.expectNoErrors();
  await second.leave();
  admin.expectNoErrors();
});

test('a failing delivery is retried and dead-lettered, and its page shows every attempt', async () => {
  failing = service.receiver().hook(answer(503));
  await admin.beginSchedule(failing.url);
  await admin.firesIn(1);
  await admin.sees('One run', admin.part('Next runs'));
  await admin.page.getByText('Metadata, TTL, retry policy and more').click();
  await admin.fill('Max attempts', '2');
  // Long enough for a busy machine to show that the delivery waits.
  await admin.fill('Base', '5s');
  await admin.fill('Factor', '1');
  await admin.press('Create schedule');
  await admin.heading(SCHEDULE);
  await admin.follow(/^dlv_/);
  await admin.heading(DELIVERY);
  await failing.arrived();
  await admin.sees('Retry scheduled', admin.page.getByRole('main'));
  await admin.sees(/Next attempt/, admin.part('Attempts'));
  await failing.arrived(2);
  await admin.sees('Dead letter', admin.page.getByRole('main'));

  const attempts = admin.part('Attempts');
  const bars = attempts.getByRole('button', { name: /#\d/ });
  expect(await bars.count()).toBe(2);
  await admin.sees(/waited 5 s before the next attempt/, attempts);
  await bars.first().click();
  await admin.sees(/503/, attempts);
  await admin.sees(/after it was due/, attempts);
  await admin.choose('Table', attempts);
  expect(await admin.rows('Attempts, with times since the start of each', '503').count()).toBe(2);
  admin.expectNoErrors();
});

test('the page of a delivery says once when the open breaker lets it go on', async () => {
  const { api } = service;
  const target = service.receiver().hook(answer(503));
  const profile = await createdProfile(api, {
    url: target.url,
    // The retry would be due in the window of the breaker.
    retry_policy: { base: '5m' },
    breaker_policy: { threshold: 1, base_open: '1h', max_open: '1h', probe_timeout: '30s' },
  });
  const { id: schedule } = await created(api, { endpoint_id: profile.id, delay: '1s' });
  const { id } = await onlyDelivery(api, schedule);
  await target.arrived();
  await admin.page.goto(`${service.sched().url}/dashboard/${PROJECT}/deliveries/${id}`);
  await admin.sees(/circuit breaker is open/);
  const instants = await Promise.all(
    [admin.page.getByText(/^Until/), admin.part('Attempts').getByText(/^Next attempt/)].map((text) =>
      text.locator('..').locator('time').first().getAttribute('datetime'),
    ),
  );
  expect(new Set(instants).size).toBe(1);
  admin.expectNoErrors();
});

test('dead letters are counted, confirmed, replayed in bulk and delivered', async () => {
  for (let made = 1; made < DEAD_LETTERS; made++) {
    await service.api.post('/v1/schedules', {
      endpoint: failing.url,
      delay: '1s',
      retry_policy: { max_attempts: 1 },
    });
  }
  await admin.go('Deliveries');
  await admin.follow('Ended');
  await admin.press('Dead letter');
  const table = /^Ended deliveries, newest first/;
  await admin
    .rows(table, 'Dead letter')
    .nth(DEAD_LETTERS - 1)
    .waitFor();
  const before = failing.requests.length;
  failing.behave(answer(200));

  await admin.press('Replay dead letters…');
  const dialog = admin.dialog('Replay in bulk');
  await admin.press(`Replay ${DEAD_LETTERS} deliveries`, dialog);
  await admin.heading('Bulk replay');
  await admin.sees('Done', admin.page.getByRole('main'));
  await admin.sees('3 of 3', admin.page.getByRole('main'));
  const bar = admin.page.getByRole('progressbar', { name: 'Replayed' });
  expect(await bar.getAttribute('aria-valuenow')).toBe(`${DEAD_LETTERS}`);
  await failing.arrived(before + DEAD_LETTERS);

  await admin.follow('All bulk replays');
  await admin.rows('Bulk replays, newest first', 'Done', 'ada@example.com').waitFor();
  await admin.go('Deliveries');
  await admin.follow('Ended');
  await admin.rows(table, 'Succeeded').nth(DEAD_LETTERS).waitFor();
  admin.expectNoErrors();
});

test('a named schedule is triggered, and its delivery is found by what happened and by its id', async () => {
  const target = service.receiver().hook(answer(503));
  await admin.beginSchedule(target.url);
  await admin.fill('Name', 'nightly report');
  await admin.choose('Recurring');
  await admin.fill('Cron expression', '0 4 * * *');
  await admin.page.getByText('Metadata, TTL, retry policy and more').click();
  await admin.fill('Base', '1h');
  await admin.press('Create schedule');
  await admin.sees(/name/, admin.page.getByRole('alert'));
  admin.expectRefused('/schedules', 422);
  await admin.fill('Name', 'nightly-report');
  await admin.press('Create schedule');
  await admin.heading('Schedule nightly-report');
  await admin.press('Trigger now…');
  await admin.press('Trigger now', admin.dialog('Trigger now'));
  await admin.heading('Delivery nightly-report');
  const id = admin.id();
  await admin.sees('Triggered', admin.page.getByRole('main'));
  await target.arrived();
  await admin.sees('Retry scheduled', admin.page.getByRole('main'));

  await admin.follow('Deliveries', admin.page.getByRole('navigation', { name: 'Breadcrumb' }));
  await admin.heading('Deliveries');
  const activity = 'Attempts, newest first';
  await admin.press('Failed');
  await admin.rows(activity, 'nightly-report', 'attempt 1', '503').waitFor();
  await admin.follow('Waiting');
  await admin.rows(/^Waiting deliveries/, 'nightly-report', 'backoff before the retry').waitFor();
  // Each filter is a link, and the way back leads through the tabs.
  await admin.page.goBack();
  await admin.rows(activity, 'nightly-report').waitFor();
  expect(new URL(admin.page.url()).search).toBe('?outcome=retryable');
  await admin.page.reload();
  await admin.rows(activity, 'nightly-report').waitFor();
  await admin.fill('Go to an id', id);
  await admin.heading('Delivery nightly-report');

  const { json } = await service.api.get<{ data: readonly [{ id: string }] }>(
    `/v1/deliveries/${id}/attempts`,
  );
  await admin.go('Deliveries');
  await admin.fill('Go to an id', json.data[0].id);
  await admin.heading('Delivery nightly-report');
  await admin.press('Cancel…');
  await admin.press('Cancel delivery', admin.dialog('Cancel this delivery'));
  await admin.sees('Canceled', admin.page.getByRole('main'));
  admin.expectNoErrors();
});

test('the other filters stay when one changes, and a text that is no id is explained', async () => {
  await admin.go('Deliveries');
  await admin.follow('Ended');
  await admin.select('Created', 'Between two times');
  await admin.press('Expired');
  await admin.fill('Created after (UTC)', '2026-01-01T00:00');
  await admin.press('Dead letter');
  const schedule = `sch_${'0'.repeat(26)}`;
  await admin.fill('Schedule id', schedule.slice(0, -1));
  await admin.sees('This is not a schedule id.', admin.page.getByRole('alert'));
  await admin.fill('Schedule id', schedule);
  await admin.sees('No dead letters');
  expect(Object.fromEntries(new URL(admin.page.url()).searchParams)).toEqual({
    tab: 'ended',
    range: 'custom',
    after: '2026-01-01T00:00:00.000Z',
    status: 'dead_letter',
    schedule,
  });
  await admin.press('Clear filters');
  expect(new URL(admin.page.url()).search).toBe('?tab=ended');

  const field = admin.page.getByLabel('Go to an id');
  await field.fill('order-4711');
  await field.press('Enter');
  await admin.sees(/This is not an id/, admin.page.getByRole('alert'));
  await field.fill('att_00000000000000000000000000');
  await admin.sees(/No attempt with this id was found/, admin.page.getByRole('alert'));
  admin.expectRefused('/delivery', 404);
});

test('a signing secret is rotated with an overlap, and the next delivery has two signatures', async () => {
  const [old = ''] = /whsec_\S+/.exec(service.sched().output.stdout) ?? [];
  await admin.goToSettings('Signing secrets');
  await admin.press('Rotate…');
  const dialog = admin.dialog('Rotate the signing secret');
  await admin.page.getByLabel('1 hour').check();
  await admin.press('Rotate', dialog);
  const fresh = (await admin.part('Signing secret').locator('pre').innerText()).trim();
  await admin.press('Done', admin.dialog('Signing secret'));
  expect(fresh).toMatch(/^whsec_/);
  expect(fresh).not.toBe(old);
  await admin.rows('Signing secrets', 'Expiring').waitFor();

  const target = service.receiver().hook();
  await service.api.post('/v1/schedules', { endpoint: target.url, delay: '1s' });
  const request = await target.arrived();
  expect(signatureOf(request)?.v1).toEqual([fresh, old].map((secret) => expectedSignature(request, secret)));
  for (const secret of [fresh, old]) expect(verify(request, secret)).toBe('verified');
  admin.expectNoErrors();
});

test('an endpoint profile gets its own signing secret, which is rotated and removed', async () => {
  const target = service.receiver().hook();
  const { json: profile } = await service.api.post<{ id: string }>('/v1/endpoints', { url: target.url });
  await admin.page.goto(`${service.sched().url}/dashboard/p/default/test/endpoints/${profile.id}`);
  const part = admin.part('Signing secrets');
  await admin.sees("Requests are signed with the project's secret.", part);
  const shown = async (name: string, action: string) => {
    await admin.page.getByLabel('None').check();
    await admin.press(action, admin.dialog(name));
    const text = (await admin.part('Signing secret').locator('pre').innerText()).trim();
    await admin.press('Done', admin.dialog('Signing secret'));
    return text;
  };
  await admin.press('Create…', part);
  const first = await shown('Create a signing secret', 'Create');
  await admin.sees('Requests are signed only with these secrets.', part);
  await admin.press('Rotate…', part);
  const own = await shown('Rotate the signing secret', 'Rotate');
  expect(own).not.toBe(first);
  await admin.press(/^Reveal/, part);
  await admin.press('Reveal', admin.dialog('Reveal this secret?'));
  expect((await admin.part('Signing secret').locator('pre').innerText()).trim()).toBe(own);
  await admin.press('Done', admin.dialog('Signing secret'));

  await service.api.post('/v1/schedules', { endpoint_id: profile.id, delay: '2s' });
  const request = await target.arrived();
  expect(signatureOf(request)?.v1).toEqual([expectedSignature(request, own)]);

  await admin.press('Remove…', part);
  await admin.press('Remove', admin.dialog('Remove the signing secret'));
  await admin.sees(/it signs alone when these have ended/, part);
  admin.expectNoErrors();
});

test('a key is created, used, revoked, and refused within a second', async () => {
  await admin.goToSettings('API keys');
  await admin.press('New key');
  const key = (await admin.part('API key').locator('pre').innerText()).trim();
  await admin.press('Done');
  const status = async () => {
    const answer = await fetch(`${service.sched().url}/v1/schedules`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await answer.body?.cancel();
    return answer.status;
  };
  expect(await status()).toBe(200);
  const hint = key.slice(-4);
  await admin
    .rows('API keys', hint)
    .getByRole('button', { name: /^Revoke/ })
    .click();
  const dialog = admin.dialog('Revoke this key?');
  await admin.page.getByLabel(/^Type/).fill(hint);
  const revoked = admin.page.waitForResponse(/\/revoke$/);
  await admin.press('Revoke key', dialog);
  await revoked;
  const revokedAt = Date.now();
  while ((await status()) === 200) expect(Date.now() - revokedAt).toBeLessThan(PROMPT_MS_MAX);
  report('a revoked key refused', Date.now() - revokedAt);
  await admin.rows('API keys', hint, 'Revoked').waitFor();
  admin.expectNoErrors();
});

test('an admin reveals a payload, and the audit log records it', async () => {
  await admin.go('Schedules');
  await admin.fill('Search schedules', seen.path);
  // One row is left, so the search is done.
  await admin.rows('Schedules', /sch_/).and(admin.rows('Schedules', seen.url)).waitFor();
  await admin.follow(seen.url);
  await admin.heading(SCHEDULE);
  const id = admin.id();
  const payload = admin.part('Payload');
  await admin.sees('X-Order', payload);
  expect(await admin.page.content()).not.toContain('value-of-the-order');
  await admin.press('Reveal…', payload);
  await admin.press('Reveal', admin.dialog('Reveal headers and body'));
  await admin.sees(/value-of-the-order/, payload);
  await admin.sees(/"hello": "browser"/, payload);
  await admin.goToSettings('Audit log');
  await admin.rows(/^Audit log/, 'schedule.reveal', 'ada@example.com', 'Done').waitFor();
  expect(await admin.rows(/^Audit log/, 'schedule.reveal').innerText()).toContain(id.slice(0, 12));
  expect(await admin.page.content()).not.toContain('value-of-the-order');
  admin.expectNoErrors();
});

test('an invited viewer sees everything except values, and no button that changes something', async () => {
  await admin.goToSettings('People');
  await admin.press('Invite');
  const dialog = admin.dialog('Invite a user');
  await admin.select('Role', 'Viewer: can read', dialog);
  await admin.press('Create invitation', dialog);
  const link = (await admin.part('Invitation link').locator('pre').innerText()).trim();
  await admin.press('Done', admin.dialog('The invitation'));

  const viewer = await Person.at(service.browser(), link.replace(/#.*/, ''));
  await viewer.sees('The link is incomplete');
  await viewer.page.goto(link);
  await viewer.sees('Your role will be');
  expect(viewer.page.url()).not.toContain('#');
  // A reload keeps the token, though it is not in the address.
  await viewer.page.reload();
  await viewer.fill('Name', 'Vera Smith');
  await viewer.fill('Password', PASSWORD);
  await viewer.press('Create account');
  await viewer.sees(/letters, digits and .* without spaces/, viewer.page.getByRole('alert'));
  await viewer.fill('Name', 'vera ');
  await viewer.press('Create account');
  await viewer.heading('Overview');
  expect(await viewer.page.evaluate('history.state')).toBeNull();

  await viewer.go('Schedules');
  await viewer.rows('Schedules', 'Completed').first().waitFor();
  expect(await viewer.page.getByRole('link', { name: 'New schedule' }).count()).toBe(0);
  await viewer.rows('Schedules', 'reports').getByRole('link').first().click();
  await viewer.heading(SCHEDULE);
  await viewer.sees('An admin can reveal them.');
  for (const name of ['Trigger now…', 'Pause', 'Reschedule…', 'Edit…', 'Cancel…', 'Reveal…']) {
    expect(await viewer.page.getByRole('button', { name, exact: true }).count()).toBe(0);
  }
  await viewer.go('Deliveries');
  await viewer.follow('Ended');
  await viewer.press('Dead letter');
  await viewer
    .rows(/^Ended deliveries/, 'Dead letter')
    .first()
    .waitFor();
  expect(await viewer.page.getByRole('button', { name: /^Replay/ }).count()).toBe(0);
  await viewer
    .rows(/^Ended deliveries/, 'Dead letter')
    .first()
    .getByRole('link')
    .first()
    .click();
  await viewer.heading(DELIVERY);
  await viewer.sees('503', viewer.part('Attempts'));
  expect(await viewer.page.getByRole('button', { name: /^Replay|^Cancel|^Reveal/ }).count()).toBe(0);
  expect(await viewer.page.getByText('Copy as curl').count()).toBe(0);
  await viewer.goToSettings('API keys');
  await viewer.rows('API keys', 'Valid').first().waitFor();
  expect(await viewer.page.getByRole('button', { name: /New key|^Revoke/ }).count()).toBe(0);
  expect(await viewer.page.getByRole('link', { name: /People|Audit log/ }).count()).toBe(0);
  viewer.expectNoErrors();
  await viewer.leave();
  admin.expectNoErrors();
});

test('signing out leaves no data on the page, and signing out everywhere ends other sessions', async () => {
  await admin.go('Deliveries');
  await admin.rows('Attempts, newest first', 'dlv_').first().waitFor();
  await admin.signOut();
  await admin.page.goBack();
  await admin.heading('Sign in to Sched');
  expect(await admin.page.content()).not.toContain('dlv_');
  admin.expectNoErrors();

  await admin.signIn('ada@example.com', PASSWORD);
  const other = await Person.at(service.browser(), `${service.sched().url}/dashboard/login`);
  await other.signIn('ada@example.com');
  await other.heading('Overview');
  await admin.goToSettings('Your account');
  await admin.fill('Current password', `not ${PASSWORD}`);
  await admin.fill('New password', 'eight dry umbrellas');
  await admin.press('Change password');
  // The error is at its field, so that screen readers read both.
  await admin.sees('The current password is wrong.', admin.part('Password').getByRole('alert'));
  const field = admin.page.getByLabel('Current password', { exact: true });
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  admin.expectRefused('/password', 422);
  await admin.press('Sign out everywhere…');
  await admin.press('Sign out everywhere', admin.dialog('Sign out everywhere?'));
  await admin.heading('Sign in to Sched');
  await other.heading('Sign in to Sched');
  other.expectNoErrors();
  admin.expectNoErrors();
});

/** Prints a measured time with the output of the run. */
function report(what: string, ms: number): void {
  process.stdout.write(`dashboard: ${what} after ${ms} ms\n`);
}
