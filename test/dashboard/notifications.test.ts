/** Notifications of outcomes on the pages of schedules, endpoint profiles and deliveries. */
import { beforeAll, describe, expect, test } from 'vitest';
import { waitForStatus } from '#test/delivery/waits.ts';
import { created, createdProfile, onlyDelivery, patchedProfile, schedule } from '#test/e2e/expectations.ts';
import type { Endpoint } from '#test/e2e/resources.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { answer } from '#test/receiver/behaviours.ts';
import type { Hook } from '#test/receiver/receiver.ts';
import { Person } from './person.ts';
import { PROJECT } from './sample-data.ts';
import { useService } from './service.ts';
import { DELIVERY, PROFILE, SCHEDULE } from './visited-pages.ts';

const service = useService();
let person: Person;
let failing: Hook;
let told: Endpoint;

async function open(path: string, title: string | RegExp): Promise<void> {
  await person.page.goto(`${service.sched().url}/dashboard/${PROJECT}/${path}`);
  await person.heading(title);
}

describe.skipIf(IS_POSTGRES)('notifications', () => {
  beforeAll(async () => {
    person = await Person.invited(service.browser(), service.invitation(), 'ada@example.com');
    failing = service.receiver().hook(answer(500));
    const { url } = service.receiver().hook(answer(200));
    told = await createdProfile(service.api, { name: 'outcomes', url });
  });

  test('a schedule is created that tells of an outcome, and its deliveries lead to the notification', async () => {
    await person.beginSchedule(failing.url);
    await person.firesIn(1);
    await person.sees('One run', person.part('Next runs'));
    await person.page.getByText('Metadata, TTL, retry policy and more').click();
    await person.fill('Max attempts', '1');
    await person.select('Notifications', 'Tell an endpoint profile');
    await person.press('Create schedule');
    await person.sees('Choose an endpoint profile.', person.page.getByRole('alert'));
    await person.select('Endpoint profile to tell', 'outcomes');
    for (const outcome of ['Dead letter', 'Expired']) await person.page.getByLabel(outcome).uncheck();
    await person.press('Create schedule');
    await person.sees('Choose at least one outcome.', person.page.getByRole('alert'));
    await person.page.getByLabel('Dead letter').check();
    await person.press('Create schedule');
    await person.heading(SCHEDULE);
    await person.sees(': dead letter', person.part('Details'));
    await person.follow(/^dlv_/);
    await person.heading(DELIVERY);
    const id = person.id();
    await waitForStatus(service.api, id, 'dead_letter');
    const part = person.part('Notifications');
    await person.sees('Tells outcomes: dead letter', part);
    await person.sees('Succeeded', part);
    await person.follow(/^dlv_/, part);

    await person.sees('Notification of', person.page.getByRole('main'));
    await person.sees('composed when it is sent', person.part('Request'));
    await person.sees('Dead letter', person.part('Notification of'));
    expect(await person.page.getByRole('region', { name: 'Schedule' }).count()).toBe(0);
    expect(await person.page.getByRole('region', { name: 'Notifications' }).count()).toBe(0);
    const notification = person.id();
    await person.follow(failing.url, person.part('Notification of'));
    await person.sees('Tells outcomes: dead letter', person.part('Notifications'));
    expect(person.id()).toBe(id);

    await person.go('Deliveries');
    await person.rows('Attempts, newest first', 'Succeeded', 'notification').waitFor();
    await person.follow('Ended');
    await person.rows(/^Ended deliveries/, 'Succeeded', notification.slice(0, 9), 'notification').waitFor();
    person.expectNoErrors();
  });

  test('a schedule opts out of what its endpoint profile wants', async () => {
    const notify = { endpoint_id: told.id, on: ['expired'] };
    const profile = await createdProfile(service.api, { url: failing.url, notify });
    const { id } = await created(service.api, { endpoint_id: profile.id, cron: '0 4 * * *' });
    await open(`endpoints/${profile.id}`, PROFILE);
    await person.sees(': expired', person.part('Details'));
    await open(`schedules/${id}`, SCHEDULE);
    await person.sees('as the endpoint profile says', person.part('Details'));
    await person.press('Edit…');
    await person.select('Notifications', 'Tell nobody');
    await person.press('Save');
    await person.sees('nobody', person.part('Details'));
    expect((await schedule(service.api, id)).notify).toEqual({ endpoint_id: null, on: [] });
    person.expectNoErrors();
  });

  test('an endpoint profile is changed to tell another one, and the refusal of the service is at its field', async () => {
    const profile = await createdProfile(service.api, { url: failing.url });
    await open(`endpoints/${profile.id}`, PROFILE);
    const dialog = person.dialog('Edit endpoint profile');
    await person.press('Edit…');
    await person.select('Notifications', 'Tell an endpoint profile', dialog);
    const gone = await createdProfile(service.api, { name: 'gone', url: failing.url });
    await person.select('Endpoint profile to tell', 'gone', dialog);
    await service.api.post(`/v1/endpoints/${gone.id}/archive`);
    await person.press('Save', dialog);
    await person.sees(/archived/, dialog.getByRole('alert'));
    const field = dialog.getByLabel('Endpoint profile to tell');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    person.expectRefused(`/endpoints/${profile.id}`, 422);
    await person.select('Endpoint profile to tell', 'outcomes', dialog);
    await person.press('Save', dialog);
    await person.sees(': dead letter, expired', person.part('Details'));
    await patchedProfile(service.api, profile.id, { notify: null });
    await person.page.getByText(': dead letter, expired').waitFor({ state: 'detached' });
    person.expectNoErrors();
  });

  test('the page of a delivery says so while there is no notification yet', async () => {
    const notify = { endpoint_id: told.id, on: ['succeeded'] };
    const { id } = await created(service.api, { endpoint: failing.url, delay: '1h', notify });
    await open(`deliveries/${(await onlyDelivery(service.api, id)).id}`, DELIVERY);
    await person.sees('The notification is sent when the delivery ends.', person.part('Notifications'));
    await person.follow('outcomes', person.part('Notifications'));
    await person.heading('Endpoint profile outcomes');
    person.expectNoErrors();
  });
});
