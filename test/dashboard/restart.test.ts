/** The service restarts while a page is open: the page shows it, keeps its data, and catches up. */
import { expect, test } from 'vitest';
import { created } from '#test/e2e/expectations.ts';
import { Person } from './person.ts';
import { PROJECT } from './sample-data.ts';
import { useRestartableService } from './service.ts';

const service = useRestartableService();
const TABLE = 'Attempts, newest first';

test('a page keeps its data while the service restarts, and catches up', async () => {
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
  // Only requests to the stopped service failed.
  expect(person.errors.filter((error) => !/ERR_|Failed to load resource/.test(error))).toEqual([]);
});
