import { expect, test } from 'vitest';
import type { Attempt, Delivery } from '#sdk/index.ts';
import { PLAIN } from '#src/cli/terminal/screen.ts';
import { widthOf } from '#src/cli/terminal/width.ts';
import type { TailEvent } from './tail.ts';
import { eventText } from './tail-lines.ts';

const ID = 'dlv_01jcq3v8k4zqgw5m2r7n9x0abc';
const URL = 'https://example.com/reports/nightly';
const SCHEDULE = 'sch_01jcq3v8k4zqgw5m2r7n9x0abc';

function event(status: Delivery['status'], attempt: Partial<Attempt>): TailEvent {
  const next_fire_at = status === 'retry_scheduled' ? '2026-11-15T08:00:10.020Z' : null;
  return {
    kind: 'attempt',
    delivery: {
      id: ID,
      schedule_id: SCHEDULE,
      method: 'POST',
      url: URL,
      status,
      attempt_count: 1,
      next_fire_at,
    } as Delivery,
    attempt: {
      attempt_no: 1,
      outcome: 'success',
      status_code: 200,
      fired_at: '2026-11-15T08:00:00.007Z',
      finished_at: '2026-11-15T08:00:00.020Z',
      lateness_ms: 7,
      error: null,
      ...attempt,
    } as Attempt,
  };
}

const SUCCEEDED = event('succeeded', {});
const REFUSED = {
  outcome: 'retryable',
  status_code: null,
  error: 'connection refused by 203.0.113.7',
} as const;
const RETRIED = event('retry_scheduled', REFUSED);
const DEAD = event('dead_letter', { ...REFUSED, outcome: 'terminal' });
const CANCELED: TailEvent = {
  kind: 'end',
  isReported: false,
  delivery: {
    ...SUCCEEDED.delivery,
    status: 'canceled',
    error: null,
    finalized_at: '2026-11-15T08:00:00.007Z',
  },
};

function at(columns: number | null, shown: TailEvent): string {
  return eventText(shown, { columns, hasColours: false }) ?? '';
}

test('a line at 80 columns has the destination', () => {
  const start = `${ID}  POST example.com/…ly`;
  expect(at(80, SUCCEEDED)).toBe(`${start}  #1   200  → succeeded`);
  expect(at(80, RETRIED)).toBe(`${start}  #1   → retry in 10 s: con…`);
  expect(at(80, DEAD)).toBe(`${start}  #1   → dead_letter: conne…`);
  expect(at(80, CANCELED)).toBe(`${start}  end       → canceled`);
});

test('a line at 100 columns has the time too', () => {
  const start = `08:00:00  ${ID}  POST example.com/…ightly`;
  expect(at(100, RETRIED)).toBe(`${start}  #1   → retry in 10 s: connectio…`);
  expect(at(100, CANCELED)).toBe(`${start}  end       → canceled`);
});

test('a line at 120 columns says how late the attempt was', () => {
  const start = `08:00:00.007  ${ID}  POST example.com/…/nightly    `;
  expect(at(120, SUCCEEDED)).toBe(`${start}  #1   200  7 ms late     → succeeded`);
});

test('a terminal does not repeat the status code as the error, and a pipe has both', () => {
  const failed = event('retry_scheduled', { outcome: 'retryable', status_code: 500, error: 'HTTP 500' });
  expect(at(80, failed)).toBe(`${ID}  POST example.com/…ly  #1   500  → retry in 10 s`);
  expect(at(40, failed)).toBe(`${ID}  → retry…`);
  expect(at(null, failed)).toContain('retryable  500  7 ms late     POST');
  expect(at(null, failed)).toContain('→ retry in 10 s: HTTP 500');
});

test('an error takes the place of the lateness, and keeps a status code', () => {
  const error = 'the address is not allowed';
  const refused = event('dead_letter', { outcome: 'terminal', status_code: 302, error });
  expect(at(120, refused)).toContain('  #1   302  → dead_letter: the address is n…');
});

test('a line in a pipe is not cut', () => {
  expect(eventText(RETRIED, PLAIN)).toBe(
    `2026-11-15T08:00:00.007Z  ${ID}  ${SCHEDULE}  attempt 1   retryable  -    7 ms late     POST ${URL}  → retry in 10 s: connection refused by 203.0.113.7`,
  );
});

test('a service of an earlier version does not say where a delivery goes', () => {
  const { url: _url, method: _method, ...delivery } = SUCCEEDED.delivery;
  const old = { ...SUCCEEDED, delivery: delivery as Delivery };
  expect(at(80, old)).toBe(`${ID}  -                     #1   200  → succeeded`);
});

test('at any width, a line fits, has its whole id, and says what comes next', () => {
  const late = event('dead_letter', { ...REFUSED, attempt_no: 1, lateness_ms: 123_456_789 });
  for (let columns = 40; columns <= 200; columns++) {
    for (const each of [SUCCEEDED, RETRIED, DEAD, CANCELED, late]) {
      const line = at(columns, each);
      expect(widthOf(line), line).toBeLessThanOrEqual(columns);
      expect(line).toContain(`${ID}  `);
      if (columns >= 48 && each !== late)
        expect(line).toMatch(/→ (?:succeeded|retry in 10 s|dead_letter|canceled)/);
    }
  }
});

test('an end that the line of the last attempt showed gets no line', () => {
  expect(eventText({ ...CANCELED, isReported: true }, PLAIN)).toBeNull();
});
