/** The tables of the guide match the code. */
import { describe, expect, test } from 'vitest';
import { LIMIT_MAX } from '#src/api/query.ts';
import { nextOccurrence, parseCron } from '#src/domain/cron.ts';
import { URL_CHARACTERS_MAX } from '#src/domain/destination.ts';
import {
  DEFAULT_BREAKER_POLICY,
  DEFAULT_RETRY_BUDGET,
  DEFAULT_TIMEOUT_MS,
} from '#src/domain/endpoint-profile.ts';
import { ERRORS } from '#src/domain/errors.ts';
import { HEADERS_BYTES_MAX } from '#src/domain/headers.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { LABELS_MAX } from '#src/domain/labels.ts';
import { BODY_CHARACTERS_MAX } from '#src/domain/payload.ts';
import { DEFAULT_RETRY_POLICY, RETRY_BOUNDS } from '#src/domain/retry.ts';
import { FIELD_MISTAKES } from '#test/e2e/mistakes/fields.ts';
import { REQUEST_MISTAKES } from '#test/e2e/mistakes/requests.ts';
import { TIMING_MISTAKES } from '#test/e2e/mistakes/timing.ts';
import { pageAt } from './pages.ts';

/** The cells of every row that starts with a code span. */
function rows(path: string): readonly (readonly string[])[] {
  const lines = pageAt(path).prose.split('\n');
  return lines.filter((line) => line.startsWith('| `')).map((line) => line.split(' | ').map(plain));
}

function plain(cell: string): string {
  return cell.replace(/^\| | \|$/g, '').trim();
}

describe('docs/errors.md', () => {
  test('lists exactly the error codes, with their statuses', () => {
    const documented = rows('docs/errors.md')
      .filter((cells) => cells.length === 4)
      .map(([code = '', status]) => `${code.replaceAll('`', '')} ${status}`);
    const known = Object.entries(ERRORS).map(([code, { status }]) => `${code} ${status}`);
    expect(documented.toSorted()).toEqual(known.toSorted());
  });

  test('shows messages that the API answers', () => {
    const tables = [...TIMING_MISTAKES, ...FIELD_MISTAKES, ...REQUEST_MISTAKES];
    const messages = new Set(tables.flatMap(({ mistakes }) => mistakes.map(([, message]) => message)));
    const [, table = ''] = pageAt('docs/errors.md').prose.split('| you send | message |');
    const shown = (table.split('\n\n')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
    expect(shown.length).toBeGreaterThan(5);
    const cells = shown.map((line) => line.split(' | ')[1]?.replace(/ \|$/, '') ?? line);
    expect(cells.filter((message) => !messages.has(message))).toEqual([]);
  });

  test('explains every error type', () => {
    const types = new Set(Object.values(ERRORS).map(({ type }) => type));
    const explained = rows('docs/errors.md').filter(
      ([type = '', ...rest]) => rest.length === 1 && type.includes('_error'),
    );
    expect(explained.map(([type = '']) => type.replaceAll('`', '')).toSorted()).toEqual(
      [...types].toSorted(),
    );
  });
});

describe('docs/limits.md', () => {
  const { prose } = pageAt('docs/limits.md');

  test('has the sizes from the code', () => {
    for (const size of [BODY_CHARACTERS_MAX, HEADERS_BYTES_MAX, URL_CHARACTERS_MAX]) {
      expect(prose).toContain(`${size.toLocaleString('en-GB')} `);
    }
    expect(prose).toContain(`| labels | ${LABELS_MAX},`);
    expect(prose).toContain(`| a page of a list | ${LIMIT_MAX} items |`);
  });

  test('has the defaults and limits from the code', () => {
    const policies = Object.fromEntries(rows('docs/limits.md').map(([name = '', ...rest]) => [name, rest]));
    const { maxAttempts, base, factor, max } = DEFAULT_RETRY_POLICY;
    const bounds = RETRY_BOUNDS;
    expect(policies).toMatchObject({
      '`retry_policy.max_attempts`': [
        `${maxAttempts}`,
        `${bounds.maxAttempts.min} to ${bounds.maxAttempts.max}`,
      ],
      '`retry_policy.base`': [`\`${base}\``, `0 to ${bounds.baseMs.max / HOUR_MS}h`],
      '`retry_policy.factor`': [`${factor}`, `${bounds.factor.min} to ${bounds.factor.max}`],
      '`retry_policy.max`': [`\`${max}\``, `0 to ${bounds.maxMs.max / HOUR_MS}h`],
      '`timeout`': [`${DEFAULT_TIMEOUT_MS / 1_000} s`, 'above 0, at most 1h'],
      '`breaker_policy.threshold`': [`${DEFAULT_BREAKER_POLICY.threshold}`, '1 to 1000'],
      '`retry_budget`': [
        `rate ${DEFAULT_RETRY_BUDGET.rate}, burst ${DEFAULT_RETRY_BUDGET.burst}`,
        'at least 0',
      ],
    });
  });
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Instants as UTC times of day, in their order. */
function runsOn(expression: string, zone: string, date: string): readonly string[] {
  const cron = parseCron(expression) ?? expect.fail();
  const runs: Instant[] = [];
  const end = instant(Date.parse(date) + 2 * DAY_MS);
  let at: Instant | null = instant(Date.parse(date) - DAY_MS);
  while (at !== null) {
    at = nextOccurrence(cron, zone, at, end);
    if (at !== null && at < end) runs.push(at);
  }
  const localDate = (run: Instant) => new Date(run).toLocaleDateString('sv', { timeZone: zone });
  return runs
    .filter((run) => localDate(run) === date)
    .map((run) => new Date(run).toISOString().slice(11, 16));
}

describe('docs/schedules.md', () => {
  const changes = rows('docs/schedules.md').filter(([, zone = '']) => /^`\w+\/\w+`$/.test(zone));

  test('describes clock changes as they happen', () => {
    expect(changes.length).toBeGreaterThan(5);
    const documented = changes.map(([expression, zone, when = '', runs]) => [expression, zone, when, runs]);
    const computed = changes.map(([expression = '', zone = '', when = '']) => {
      const bare = (text: string) => text.replaceAll('`', '');
      return [expression, zone, when, runsOn(bare(expression), bare(zone), when.slice(0, 10)).join(', ')];
    });
    expect(documented).toEqual(computed);
  });
});

describe('README.md', () => {
  test('fits one screen', () => {
    const read = pageAt('README.md')
      .text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/<img [^>]*alt="([^"]*)"[^>]*>/g, '$1')
      .trimEnd()
      .split('\n')
      .filter((line) => !/^(```|\|[-| ]+\|$)/.test(line));
    const rows = read.map(({ length }) => Math.max(1, Math.ceil(length / SCREEN_COLUMNS)));
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(SCREEN_ROWS);
  });
});

const SCREEN_COLUMNS = 100;
const SCREEN_ROWS = 50;
