/** The service goes away while somebody looks, and comes back: the page says so, keeps what it shows, and catches up. */
import { expect, test } from 'vitest';
import { created } from '#test/e2e/expectations.ts';
import { Person } from './person.ts';
import { PROJECT } from './sample-data.ts';
import { useService } from './service.ts';

const service = useService();
const TABLE = 'Deliveries, the newest first';

test('a page whose service is restarted keeps what it shows and catches up by itself', async () => {
  const person = await Person.invited(service.browser(), service.invitation(), 'ada@example.com');
  const hook = service.receiver().hook();
  await created(service.api, { endpoint: hook.url, delay: '1s' });
  await person.page.goto(`${service.sched().url}/dashboard/${PROJECT}/deliveries`);
  await person.rows(TABLE, 'Succeeded').waitFor();
  const status = person.page.getByRole('banner').getByRole('status');
  await person.sees('Up to date', status);
  person.expectNoErrors();

  await service.restart(async () => {
    await person.sees('Reconnecting…', status);
    expect(await person.rows(TABLE, 'Succeeded').count()).toBe(1);
  });
  await created(service.api, { endpoint: hook.url, delay: '1s' });
  await person.rows(TABLE, 'Succeeded').nth(1).waitFor();
  await person.sees('Up to date', status);
  // Nothing failed but what was asked of a service that was not there.
  expect(person.errors.filter((fault) => !/ERR_|Failed to load resource/.test(fault))).toEqual([]);
});
