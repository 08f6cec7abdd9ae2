import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { Builders, HOUR_MS, type START } from '#test/store-contract/builders.ts';
import { readSchedulePut } from './read-bodies.ts';

const FIRE_AT = '2026-11-15T09:00:00Z';
const fireAt = instant(Date.parse(FIRE_AT));
const build = new Builders(1 as Partition);

/** Reads the body of a PUT an hour after the instant of the schedule that has the name. */
function putAfter(
  body: object,
  present = build.schedule({ timing: oneShot(fireAt), jitter: '5s' }).schedule,
) {
  const given = { endpoint: 'https://example.com/hook', ...body };
  return readSchedulePut(given, {
    now: instant(fireAt + HOUR_MS),
    httpAllowed: false,
    name: 'report',
    present,
  });
}

function oneShot(at: typeof START) {
  return { kind: 'one_shot', fireAt: at, timezone: null } as const;
}

test.each([
  { fire_at: FIRE_AT, jitter: '5s' },
  { fire_at: '2026-11-15T10:00:00+01:00', jitter: '5s', ttl: '1h' },
])('a PUT keeps an instant that has come: %j', (body) => {
  expect(putAfter(body).timing).toEqual(oneShot(fireAt));
});

test.each([
  ['another past instant', { fire_at: '2026-11-15T09:00:01Z', jitter: '5s' }],
  ['the same instant with another jitter', { fire_at: FIRE_AT, jitter: '6s' }],
  ['the same instant without its jitter', { fire_at: FIRE_AT }],
])('a PUT refuses %s', (_what, body) => {
  expect(() => putAfter(body)).toThrow(expect.objectContaining({ code: 'fire_at_in_past' }));
});
