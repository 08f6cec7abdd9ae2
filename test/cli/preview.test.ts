/** `sched preview`, which follows the rules of the service without one. */
import { describe, expect, test } from 'vitest';
import { runAtTerminal, runPiped, withoutColours } from './command.ts';

async function preview(...args: readonly string[]) {
  return runPiped(['preview', ...args]);
}

describe.concurrent('in a pipe', () => {
  test.concurrent('each run is a line, with notes on clock changes', async () => {
    const { code, stdout, stderr } = await preview(
      '30 2 * * *',
      '--tz',
      'Europe/Berlin',
      '--from',
      '2027-03-26T12:00:00Z',
      '-n',
      '3',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['LOCAL (Europe/Berlin)', 'UTC', 'AFTER --from', 'NOTE'],
      ['Sat 2027-03-27 02:30 +01:00', '2027-03-27 01:30:00Z', '13 h 30 min'],
      [
        'Sun 2027-03-28 03:00 +02:00',
        '2027-03-28 01:00:00Z',
        '1 d 13 h',
        '02:30 does not exist on 2027-03-28, fires 03:00; offset changes +01:00 → +02:00',
      ],
      ['Mon 2027-03-29 02:30 +02:00', '2027-03-29 00:30:00Z', '2 d 12 h'],
      [''],
    ]);
  });

  test.concurrent('--json prints the runs with their notes', async () => {
    const { stdout } = await preview(
      '30 2 * * *',
      '--tz=Europe/Berlin',
      '--from=2027-10-30T12:00:00Z',
      '-n1',
      '--json',
    );
    expect(JSON.parse(stdout)).toEqual({
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      from: '2027-10-30T12:00:00.000Z',
      runs: [
        {
          at: '2027-10-31T00:30:00.000Z',
          local: '2027-10-31T02:30:00+02:00',
          notes: [
            {
              kind: 'fold',
              text: '02:30 occurs twice on 2027-10-31, fires the first time',
              at: '2027-10-31T02:30:00',
              pass: 1,
              fires_in_both: false,
            },
          ],
        },
      ],
      refusal: null,
    });
  });

  test.concurrent.each([
    ['2020-01-01T09:00:00', 'fire_at_in_past', 'in the past'],
    ['2090-01-01T09:00:00', 'fire_at_too_far', 'more than 10 years away'],
  ])('a warning on standard error says that the service would refuse %s', async (local, refusal, why) => {
    const { code, stdout, stderr } = await preview('--local', local, '--json');
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, refusal });
    expect(stderr).toMatch(
      new RegExp(`^sched: warning: The service would refuse this time: it is ${why}.*\\.\\n$`),
    );
  });

  test.concurrent('without --from, the time until a run is counted from now', async () => {
    const { stdout } = await preview('0 0 1 1 *', '-n', '1');
    expect(stdout).toMatch(/ {2}WHEN\n.* in \d+ /);
  });

  test.concurrent('a wall-clock time before --from is said to be before', async () => {
    const { stdout } = await preview('--local', '2027-01-01T09:00:00', '--from', '2027-01-01T11:00:00Z');
    expect(stdout).toMatch(/AFTER --from *\n.* 2 h before/);
  });

  test.concurrent('a wall-clock time in a gap moves by the length of the gap', async () => {
    const { stdout } = await preview('--local', '2027-03-28T02:30:00', '--tz', 'Europe/Berlin');
    expect(stdout).toContain('Sun 2027-03-28 03:30 +02:00  2027-03-28 01:30:00Z');
    expect(stdout).toContain('02:30 does not exist on 2027-03-28, fires 03:30');
  });
});

test.concurrent('at a terminal, a note is below its run, and the table fits', async () => {
  const args = ['preview', '30 2 * * *', '--tz', 'Europe/Berlin', '--from', '2027-03-26T12:00:00Z'];
  const { code, screen } = await runAtTerminal(args, { columns: 80 });
  expect(code).toBe(0);
  const lines = withoutColours(screen).split('\r\n');
  expect(lines.slice(2, 5)).toEqual([
    'Sun 2027-03-28 03:00 +02:00  2027-03-28 01:00:00Z  1 d 13 h',
    '  ↳ 02:30 does not exist on 2027-03-28, fires 03:00',
    '  ↳ offset changes +01:00 → +02:00',
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

describe.concurrent('invalid input ends with exit code 2 and names the wrong part', () => {
  test.concurrent.each([
    [['60 * * * *'], 'the minute has "60", but only 0 to 59 are allowed'],
    [['0 9 * * FRI-MON'], 'the day of week has the range "FRI-MON", which ends before it starts'],
    [['@daily'], '"@daily" is not valid: nicknames are not supported. Write "0 0 * * *".'],
    [['0 0 30 2 *'], 'no year has such a date'],
    [['0 9 * * *', '--tz', 'CEST'], '--tz "CEST" is not an IANA time zone. Did you mean "Europe/Berlin"?'],
    [
      ['--local', '2027-02-30T00:00:00'],
      '--local "2027-02-30T00:00:00" does not exist: this month has 28 days',
    ],
    [['0 9 * * *', '--from', 'today'], '--from "today" is not an RFC 3339 instant'],
    [['0 9 * * *', '--local', '2027-01-01T00:00:00'], 'Give either a cron expression, or a wall-clock time'],
    [[], 'Give either a cron expression'],
    [['0 9 * * *', '-n', '1001'], 'a whole number from 1 to 1000'],
  ])('%j', async (args, why) => {
    const { code, stdout, stderr } = await preview(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^sched: .+\n$/);
    expect(stderr).toContain(why);
  });
});
