import { expect, test } from 'vitest';
import type { User } from '#src/ports/people-store.ts';
import { openControlHarness, SILENT } from '#test/process/control-harness.ts';
import { FailedLoginLog } from './failed-login-log.ts';

const HOUR_MS = 3_600_000;
const ENTRIES_PER_HOUR_MAX = 100;
const ALL = { userId: null, projectId: null, action: 'login.throttle' };

test('throttles of unknown names write a limited number of audit entries an hour, and do not hide those of users', async () => {
  await using harness = await openControlHarness();
  const log = new FailedLoginLog({ ...harness, log: SILENT });
  const entries = async () => (await harness.store.people.listAudit(ALL, null, 1_000)).length;
  const storm = async () => {
    for (let i = 0; i < ENTRIES_PER_HOUR_MAX + 50; i++) {
      const throttlesStarted = [{ by: 'name_and_address', failures: 5 }] as const;
      await log.record({
        name: `name-${i}`,
        address: `192.0.2.${i}`,
        peer: '10.0.0.1',
        user: null,
        throttlesStarted,
      });
    }
  };
  await storm();
  expect(await entries()).toBe(ENTRIES_PER_HOUR_MAX);
  const [last] = await harness.store.people.listAudit(ALL, null, 1);
  expect(last?.detail).toMatchObject({ further: expect.stringContaining('log') });

  const user = { name: 'ada' } as User;
  const throttlesStarted = [{ by: 'name', failures: 50 }] as const;
  await log.record({ name: 'ada', address: '192.0.2.1', peer: '192.0.2.1', user, throttlesStarted });
  expect(await harness.store.people.listAudit(ALL, null, 1)).toMatchObject([{ subject: 'ada' }]);
  harness.advance(HOUR_MS);
  await storm();
  expect(await entries()).toBe(2 * ENTRIES_PER_HOUR_MAX + 1);
});
