/**
 * `SCHED_RETENTION` says how long history is kept, and `SCHED_AUDIT_RETENTION` how long the audit log is.
 * Deliveries that are still to be sent stay.
 */
import { expect, it, onTestFinished, vi } from 'vitest';
import { readControlSettings } from '#src/app/config.ts';
import { withControl } from '#src/app/control-session.ts';
import { Api } from '#test/e2e/client.ts';
import { created, expectError, expectStatus, onlyDelivery } from '#test/e2e/expectations.ts';
import { type RunningService, runCommand, startCheapest } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { storeSettings } from '#test/process/store-in-use.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { SETTINGS, startWithFastTimers, TEST_KEY } from './harness.ts';

const RETENTION = { SCHED_RETENTION: '1s' };
const FASTER_BY = 60;
const PATIENCE = { timeout: 20_000, interval: 100 };

function stopAtEnd(sched: RunningService): RunningService {
  onTestFinished(async () => void (await sched.stop()));
  return sched;
}

it('removes finished deliveries, their attempts and ended schedules, and keeps active ones', async () => {
  await using receiver = await startReceiver();
  const sched = stopAtEnd(await startCheapest({ env: { ...SETTINGS, ...RETENTION } }));
  const api = Api.at(() => sched.url).as(TEST_KEY);
  const hook = receiver.hook(answer(200));
  const kept = await created(api, { endpoint: hook.url, cron: '0 0 1 1 *' });
  const { id } = await created(api, { endpoint: hook.url, delay: '1s' });
  const delivery = await onlyDelivery(api, id);
  await hook.arrived(1);

  await vi.waitFor(async () => expectError(await api.get(`/v1/schedules/${id}`), 404, 'not_found'), PATIENCE);
  expectError(await api.get(`/v1/deliveries/${delivery.id}`), 404, 'not_found');
  expectError(await api.get(`/v1/deliveries/${delivery.id}/attempts`), 404, 'not_found');
  expectStatus(await api.get(`/v1/schedules/${kept.id}`), 200);
  expect((await onlyDelivery(api, kept.id)).status).toBe('scheduled');
});

async function auditEntries({ dataDir }: RunningService): Promise<number> {
  const settings = readControlSettings({ flags: {}, env: await storeSettings(dataDir) });
  const filter = { userId: null, projectId: null, action: null };
  return withControl(settings, async ({ store }) => (await store.people.listAudit(filter, null, 9)).length);
}

/** Starts with an entry in the audit log. Old entries are removed soon after a start, and then every hour. */
async function startWithAudit(env: Readonly<Record<string, string>>): Promise<RunningService> {
  const dataDir = temporaryDirectory();
  for (const args of [['migrate'], ['user', 'create']]) {
    expect(await runCommand(args, { dataDir })).toMatchObject({ code: 0 });
  }
  return stopAtEnd(await startWithFastTimers(FASTER_BY, dataDir, env));
}

it('keeps the audit log by its own retention, not by that of deliveries', async () => {
  const keeping = await startWithAudit(RETENTION);
  const forgetting = await startWithAudit({ SCHED_AUDIT_RETENTION: '1ms' });
  await vi.waitFor(async () => expect(await auditEntries(forgetting)).toBe(0), PATIENCE);
  expect(await auditEntries(keeping)).toBe(1);
});
