/** Alerts, from the first channel to an incident, as people of each role see them. The tests depend on each other. */
import { beforeAll, describe, expect, test } from 'vitest';
import { created, createdProfile } from '#test/e2e/expectations.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { answer } from '#test/receiver/behaviours.ts';
import type { Hook } from '#test/receiver/receiver.ts';
import { PASSWORD, Person } from './person.ts';
import { useService } from './service.ts';
import { INCIDENT } from './visited-pages.ts';

const service = useService();
const SENTENCE = 'The circuit breaker of an endpoint opens.';
const INCIDENTS = /^Incidents/;
const MESSAGES = 'Messages, newest first';

let admin: Person;
let chat: Hook;

/** A person with this role, at the page of the alerts. */
async function invited(role: RegExp, name: string): Promise<Person> {
  await admin.goToSettings('People');
  await admin.press('Invite');
  const dialog = admin.dialog('Invite a user');
  const label = await dialog.locator('option').filter({ hasText: role }).innerText();
  await admin.select('Role', label, dialog);
  await admin.press('Create invitation', dialog);
  const link = (await admin.part('Invitation link').locator('pre').innerText()).trim();
  await admin.press('Done', admin.dialog('The invitation'));
  const person = await Person.invited(service.browser(), link, name);
  await person.go('Alerts');
  return person;
}

async function addChannel(name: string, url: string, kind: 'Slack' | 'Webhook'): Promise<void> {
  await admin.press('Add channel');
  const dialog = admin.dialog('Add a channel');
  await admin.choose(kind, dialog);
  await admin.fill('Name', name, dialog);
  await admin.fill('URL', url, dialog);
  await admin.press('Add channel', dialog);
}

async function buttonsOf(person: Person): Promise<readonly string[]> {
  return person.page.getByRole('main').getByRole('button').allInnerTexts();
}

describe.skipIf(IS_POSTGRES)('alerts', () => {
  beforeAll(async () => {
    admin = await Person.invited(service.browser(), service.invitation(), 'ada@example.com');
    chat = service.receiver().hook(answer(200));
  });

  test('the empty page says that a channel comes first, then a condition', async () => {
    await admin.go('Alerts');
    await admin.sees('No alerts yet');
    await admin.sees(/^Add a channel\./);
    const viewer = await invited(/^Viewer/, 'vera');
    await viewer.sees('An admin can set them up in two steps:');
    expect(await buttonsOf(viewer)).toEqual([]);
    viewer.expectNoErrors();
    await viewer.leave();
    await admin.go('Alerts');
    await addChannel(' ', chat.url, 'Slack');
    // The message of the service is at its field.
    await admin.sees(/^The name of a channel has 1 to 100 characters/, admin.page.getByRole('alert'));
    admin.expectRefused('/alerts/channels', 422);
    await admin.fill('Name', '#on-call');
    await admin.press('Add channel', admin.dialog('Add a channel'));
    await admin.sees('No conditions yet');
    await admin.sees(/^Slack at https:/);
    admin.expectNoErrors();
  });

  test('a test message is followed until it is delivered or has failed', async () => {
    await admin.press('Test #on-call');
    await admin.sees('The channel answered 200.', admin.dialog('Test of #on-call'));
    const { text } = JSON.parse((await chat.arrived()).body.toString());
    expect(text).toContain('Test of an alert channel');
    await admin.press('Done', admin.dialog('Test of #on-call'));

    const gone = service.receiver().hook(answer(410));
    await addChannel('gone', gone.url, 'Webhook');
    await admin.press('Test gone');
    const dialog = admin.dialog('Test of gone');
    await admin.sees('It was not delivered after 1 attempt: HTTP 410.', dialog);
    await admin.sees('Failed', dialog);
    await admin.press('Done', dialog);
    admin.expectNoErrors();
  });

  test('a channel is renamed and removed, and its URL is revealed with an entry in the audit log', async () => {
    await admin.press('Rename gone');
    await admin.fill('Name', '#on-call', admin.dialog('Rename the channel'));
    await admin.press('Rename', admin.dialog('Rename the channel'));
    await admin.sees(/named "#on-call" already exists/, admin.page.getByRole('alert'));
    expect(admin.errors.some((error) => error.endsWith(' 409'))).toBe(true);
    await admin.fill('Name', 'old', admin.dialog('Rename the channel'));
    await admin.press('Rename', admin.dialog('Rename the channel'));
    await admin.press('Remove old');
    await admin.press('Remove', admin.dialog('Remove this channel'));
    await admin.page.getByRole('button', { name: 'Remove old' }).waitFor({ state: 'detached' });

    expect(await admin.page.content()).not.toContain(chat.url);
    await admin.press('Reveal #on-call');
    await admin.press('Reveal', admin.dialog('Reveal this URL?'));
    expect((await admin.part('URL').locator('pre').innerText()).trim()).toBe(chat.url);
    await admin.press('Done', admin.dialog('URL of the channel'));
    await admin.goToSettings('Audit log');
    await admin.rows(/^Audit log/, 'alert_channel.reveal', 'ada@example.com', 'Done').waitFor();
  });

  test('a condition is added, changed, switched off and on', async () => {
    await admin.go('Alerts');
    await admin.press('Add condition');
    const dialog = admin.dialog('Add a condition');
    await admin.select('What is wrong', 'Deliveries fail', dialog);
    await admin.fill('Within', '0', dialog);
    await admin.press('Add condition', dialog);
    await admin.sees(/needs a window in minutes/, admin.page.getByRole('alert'));
    await admin.fill('Within', 'soon', dialog);
    await admin.press('Add condition', dialog);
    await admin.sees('Enter a whole number of minutes, such as 5.', admin.page.getByRole('alert'));
    await admin.fill('Within', '15', dialog);
    // There is one channel, and it is chosen already.
    await admin.press('Add condition', dialog);
    const before = 'More than 10 deliveries are dead-lettered or expire within 15 minutes.';
    await admin.press(`Change: ${before}`);
    await admin.fill('More than', '500', admin.dialog('Change this condition'));
    const after = before.replace('10', '500');
    await admin.sees(after, admin.dialog('Change this condition'));
    await admin.press('Save', admin.dialog('Change this condition'));
    await admin.press(`Switch off: ${after}`);
    await admin.press('Switch off', admin.dialog('Switch off this condition'));
    await admin.page.getByText('Switched off', { exact: true }).waitFor();
    await admin.press(`Switch on: ${after}`);
    await admin.page.getByText('Switched off', { exact: true }).waitFor({ state: 'detached' });
    await admin.sees('No incidents');

    await admin.press('Add condition');
    await dialog.getByLabel('#on-call').uncheck();
    await admin.press('Add condition', dialog);
    await admin.sees('Choose at least one channel.', admin.page.getByRole('alert'));
    await dialog.getByLabel('#on-call').check();
    await admin.press('Add condition', dialog);
    await admin.sees(SENTENCE);
  });

  test('an incident appears by itself, with its messages, and on the overview', async () => {
    const breaker_policy = { threshold: 1, base_open: '1h', max_open: '1h', probe_timeout: '30s' };
    const { url } = service.receiver().hook(answer(503));
    const profile = await createdProfile(service.api, { name: 'orders', url, breaker_policy });
    await created(service.api, { endpoint_id: profile.id, delay: '1s' });
    await admin.rows(INCIDENTS, 'Breaker open: orders', 'Open').waitFor();
    const opened = JSON.parse((await chat.arrived(2)).body.toString());
    expect(opened.text).toContain('Breaker open: orders');

    await admin.go('Overview');
    await admin.sees(/Breaker open: orders/);
    await admin.follow('1 open incident');
    await admin.heading('Alerts');
    await admin.follow('Breaker open: orders');
    await admin.heading(INCIDENT);
    await admin.sees(/Check the receiver, then close the breaker/);
    await admin.rows(MESSAGES, 'Opened', '#on-call', 'Delivered', '200').waitFor();
    await admin.follow('orders', admin.part('Details'));
    await admin.heading('Endpoint profile orders');
  });

  test('an operator may test a channel, and a viewer may only read', async () => {
    const operator = await invited(/^Operator/, 'oscar');
    await operator.rows(INCIDENTS, 'Breaker open: orders').waitFor();
    await operator.sees(SENTENCE);
    expect(await buttonsOf(operator)).toEqual(['Test']);
    await operator.press('Test #on-call');
    await operator.sees('The channel answered 200.', operator.dialog('Test of #on-call'));
    operator.expectNoErrors();
    await operator.leave();
    const viewer = await Person.at(service.browser(), `${service.sched().url}/dashboard/login`);
    await viewer.signIn('vera', PASSWORD);
    await viewer.go('Alerts');
    await viewer.rows(INCIDENTS, 'Breaker open: orders').waitFor();
    await viewer.sees(SENTENCE);
    expect(await buttonsOf(viewer)).toEqual([]);
    await viewer.follow('Breaker open: orders');
    await viewer.rows(MESSAGES, 'Opened', '#on-call', 'Delivered').waitFor();
    viewer.expectNoErrors();
    await viewer.leave();
  });

  test('a condition that is removed closes its incidents', async () => {
    await admin.go('Alerts');
    await admin.press(`Remove: ${SENTENCE}`);
    await admin.press('Remove', admin.dialog('Remove this condition'));
    await admin.rows(INCIDENTS, 'Breaker open: orders', 'Closed', /after \d/).waitFor();
    await admin.go('Overview');
    await admin.sees('Open breakers');
    await admin.page.getByText('open incident').waitFor({ state: 'detached' });
  });
});
