import { describe, expect, test } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import { type ControlHarness, openControlHarness } from '#test/process/control-harness.ts';
import { type AuditedAction, runAudited } from './audit.ts';
import { ControlRefusal } from './refusal.ts';

const ACT: AuditedAction = {
  userId: null,
  actor: 'ada',
  address: '192.0.2.1',
  peer: '192.0.2.1',
  action: 'schedule.pause',
  subject: 'sch_1',
  projectId: null,
  mode: 'live',
  detail: {},
};

async function newest({ store }: ControlHarness) {
  const [entry] = await store.people.listAudit({ userId: null, projectId: null, action: null }, null, 1);
  return entry;
}

describe('an audited action', () => {
  test('is recorded before it runs, and its outcome afterwards', async () => {
    await using harness = await openControlHarness();
    const made = await runAudited(
      harness,
      ACT,
      async () => {
        expect(await newest(harness)).toMatchObject({ ...ACT, outcome: 'begun' });
        return 'sch_2';
      },
      (id) => id,
    );
    expect(made).toBe('sch_2');
    expect(await newest(harness)).toMatchObject({ ...ACT, subject: 'sch_2', outcome: 'done', code: null });
  });

  test.for([
    [new ControlRefusal('last_admin', 'ada'), 'refused', 'last_admin'],
    [new Refusal('not_found'), 'refused', 'not_found'],
    [new Error('the disk'), 'failed', null],
  ] as const)(
    'that fails with %s throws the error and records the outcome',
    async ([error, outcome, code]) => {
      await using harness = await openControlHarness();
      await expect(runAudited(harness, ACT, () => Promise.reject(error))).rejects.toBe(error);
      expect(await newest(harness)).toMatchObject({ ...ACT, outcome, code });
    },
  );

  test('does not run if it cannot be recorded', async () => {
    await using harness = await openControlHarness();
    await harness.store.close();
    let isDone = false;
    await expect(
      runAudited(harness, ACT, async () => {
        isDone = true;
      }),
    ).rejects.toThrow('closed');
    expect(isDone).toBe(false);
  });

  test('has a detail of bounded size', async () => {
    await using harness = await openControlHarness();
    const facts = Array.from({ length: 20 }, (_, i) => [`fact ${i}`, i] as const);
    const text = `${'x'.repeat(198)}\u{1f9a9}${'x'.repeat(99)}`;
    const detail = { text, ...Object.fromEntries(facts) };
    await runAudited(harness, { ...ACT, subject: text, detail }, async () => {});
    const entry = await newest(harness);
    expect(Object.keys(entry?.detail ?? {})).toHaveLength(16);
    expect(entry?.detail.text).toBe(`${'x'.repeat(198)}…`);
    expect(entry?.subject).toBe(`${'x'.repeat(198)}…`);
  });
});
