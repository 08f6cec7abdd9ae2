/** Mistakes in the time of a schedule. */
import { ONE_SHOT, RECURRING, URL } from '#test/e2e/resources.ts';
import type { Mistakes } from './mistakes.ts';

const DAY_MS = 86_400_000;
/** The day after tomorrow, so that a test at midnight does not fail. */
const SOON = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
const NOON = Date.parse(`${SOON}T12:00:00Z`) / 1_000;
/** A schedule that lacks only its time. */
const DESTINATION = { endpoint: URL };

const FIVE_FIELDS = '(minute, hour, day of month, month, day of week), such as "0 9 * * MON-FRI".';
const AHEAD = 'Give a time at least 1s ahead, or use delay, such as "5m".';

export const TIMING_MISTAKES: readonly Mistakes[] = [
  {
    on: RECURRING,
    expected: '422 invalid_cron cron',
    mistakes: [
      [
        { cron: '0 25 * * *' },
        'cron "0 25 * * *" is not valid: the hour has "25", but only 0 to 23 are allowed, as in "0 9 * * MON-FRI".',
      ],
      [
        { cron: '@daily' },
        'cron "@daily" is not valid: nicknames are not supported. Write "0 0 * * *".',
        { cron: '0 0 * * *' },
      ],
      [
        { cron: '0 0 9 * * *' },
        `cron "0 0 9 * * *" is not valid: it has 6 fields but needs five ${FIVE_FIELDS} Seconds are not supported: leave out their field.`,
        { cron: '0 9 * * MON-FRI' },
      ],
      [
        { cron: '0 9 L * *' },
        'cron "0 9 L * *" is not valid: the day of month has "L", but L, W, # and ? are not supported. Write 28-31, and let the receiver check for the last day.',
        { cron: '0 9 28-31 * *' },
      ],
      [
        { cron: '0 9 ? * MON' },
        'cron "0 9 ? * MON" is not valid: the day of month has "?", but L, W, # and ? are not supported. Write * for any day.',
        { cron: '0 9 * * MON' },
      ],
      [
        { cron: '0 9 * * FRI-MON' },
        'cron "0 9 * * FRI-MON" is not valid: the day of week has the range "FRI-MON", which ends before it starts. Split it in two, separated by a comma.',
        { cron: '0 9 * * FRI-SUN,MON' },
      ],
      [
        { cron: '0 9 30 2 *' },
        'cron "0 9 30 2 *" is not valid: no year has such a date. Choose a day that its month has, such as "0 9 28 2 *".',
      ],
      [{ cron: '' }, `cron "" is not valid: it is empty. Write five fields ${FIVE_FIELDS}`],
      [{ cron: 5 }, 'cron must be a string with five fields, such as "0 9 * * MON-FRI", not the number 5.'],
    ],
  },
  {
    on: RECURRING,
    expected: '422 invalid_cron timezone',
    mistakes: [
      [
        { timezone: 'Europe/Berln' },
        'timezone "Europe/Berln" is not an IANA time zone. Did you mean "Europe/Berlin"?',
        { timezone: 'Europe/Berlin' },
      ],
      [
        { timezone: 'America/New York' },
        'timezone "America/New York" is not an IANA time zone. Did you mean "America/New_York"?',
        { timezone: 'America/New_York' },
      ],
      [
        { timezone: 'PST' },
        'timezone "PST" is not an IANA time zone. Did you mean "America/Los_Angeles"?',
        { timezone: 'America/Los_Angeles' },
      ],
      [
        { timezone: '+02:00' },
        'timezone must be an IANA time zone such as "Europe/Berlin". "+02:00" is an offset: name the place, whose clock may change.',
      ],
      [
        { timezone: 'Mars/Base' },
        'timezone "Mars/Base" is not an IANA time zone. Write a name such as "Europe/Berlin".',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_duration delay',
    mistakes: [
      [{ delay: '1d' }, 'delay "1d" is not a duration: days are not a unit. Write "24h".', { delay: '24h' }],
      [{ delay: '30' }, 'delay "30" is not a duration: it has no unit. Write "30s".', { delay: '30s' }],
      [
        { delay: 30 },
        'delay must be a string with a unit, not the number 30. Write "30s".',
        { delay: '30s' },
      ],
      [
        { delay: 30_000 },
        'delay must be a string with a unit, not the number 30000. Write "30000ms" or "30000s".',
        { delay: '30000ms' },
      ],
      [
        { delay: 'PT30S' },
        'delay "PT30S" is not a duration: ISO 8601 is not supported. Write "30s".',
        { delay: '30s' },
      ],
      [
        { delay: '5 minutes' },
        'delay "5 minutes" is not a duration: "minutes" is not a unit. Write "5m".',
        { delay: '5m' },
      ],
      [
        { delay: '1h 30m' },
        'delay "1h 30m" is not a duration: it has a space. Write "1h30m".',
        { delay: '1h30m' },
      ],
      // The same request would refuse 120000h, which is more than 10 years.
      [
        { delay: '5000d' },
        'delay "5000d" is not a duration: days are not a unit. Use h, m, s and ms, such as "5m".',
        { delay: '5m' },
      ],
      [
        { delay: 400_000_000 },
        'delay must be a string with a unit, not the number 400000000. Write "400000000ms".',
        { delay: '400000000ms' },
      ],
      [
        { delay: 'soon' },
        'delay "soon" is not a duration: it needs a number and a unit. Use h, m, s and ms, such as "5m".',
        { delay: '5m' },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 sub_floor_delay delay',
    mistakes: [
      [
        { delay: '500ms' },
        'delay "500ms" is too short: it must be at least 1s. Below that, send the request yourself.',
        { delay: '1s' },
      ],
      [
        { delay: '-5m' },
        'delay "-5m" is too short: it must be at least 1s. Below that, send the request yourself.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 fire_at_too_far delay',
    mistakes: [
      [{ delay: '100000h' }, 'delay "100000h" is more than 10 years ahead. The latest instant is <instant>.'],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_duration ttl',
    mistakes: [
      [{ ttl: '1d' }, 'ttl "1d" is not a duration: days are not a unit. Write "24h".', { ttl: '24h' }],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_duration jitter',
    mistakes: [
      [
        { jitter: '-30s' },
        'jitter "-30s" is out of bounds: it must be at least 0, such as "30s".',
        { jitter: '30s' },
      ],
    ],
  },
  {
    on: DESTINATION,
    expected: '400 invalid_fire_at fire_at',
    mistakes: [
      [
        { fire_at: `${SOON}T12:00:00` },
        `fire_at "${SOON}T12:00:00" has no offset. Write "${SOON}T12:00:00Z" for UTC, or end with an offset such as +02:00.`,
        { fire_at: `${SOON}T12:00:00Z` },
      ],
      [
        { fire_at: `${SOON} 12:00:00Z` },
        `fire_at "${SOON} 12:00:00Z" needs a T between date and time. Write "${SOON}T12:00:00Z".`,
        { fire_at: `${SOON}T12:00:00Z` },
      ],
      [
        { fire_at: SOON },
        `fire_at "${SOON}" has no time. Write "${SOON}T00:00:00Z" for UTC, or end with an offset such as +02:00.`,
        { fire_at: `${SOON}T00:00:00Z` },
      ],
      [
        { fire_at: `${SOON}T12:00:00+0200` },
        `fire_at "${SOON}T12:00:00+0200" has an offset of another form. Write "${SOON}T12:00:00+02:00".`,
        { fire_at: `${SOON}T12:00:00+02:00` },
      ],
      [
        { fire_at: NOON },
        `fire_at is Unix time: the number ${NOON}. Write "<instant>".`,
        { fire_at: `${SOON}T12:00:00.000Z` },
      ],
      [
        { fire_at: '2027-02-30T12:00:00Z' },
        'fire_at "2027-02-30T12:00:00Z" does not exist: this month has 28 days. Write an instant such as "<tomorrow>Z".',
      ],
      [{ fire_at: 'tomorrow' }, 'fire_at "tomorrow" is not an RFC 3339 instant such as "<tomorrow>Z".'],
    ],
  },
  {
    on: DESTINATION,
    expected: '422 fire_at_in_past fire_at',
    mistakes: [
      [
        { fire_at: '2020-01-01T00:00:00Z' },
        `fire_at "2020-01-01T00:00:00Z" is in the past: it is <instant> now. ${AHEAD}`,
      ],
    ],
  },
  {
    on: DESTINATION,
    expected: '422 fire_at_too_far fire_at',
    mistakes: [
      [
        { fire_at: '2060-01-01T00:00:00Z' },
        'fire_at "2060-01-01T00:00:00Z" is more than 10 years ahead. The latest instant is <instant>.',
      ],
    ],
  },
  {
    on: DESTINATION,
    expected: '400 invalid_duration local_fire_at',
    mistakes: [
      [
        { local_fire_at: `${SOON}T12:00:00+02:00` },
        `local_fire_at "${SOON}T12:00:00+02:00" has an offset. Write "${SOON}T12:00:00" and give timezone, or use fire_at.`,
        { local_fire_at: `${SOON}T12:00:00` },
      ],
    ],
  },
  {
    on: DESTINATION,
    expected: '422 fire_at_in_past local_fire_at',
    mistakes: [
      [
        { local_fire_at: '2020-01-01T00:00:00', timezone: 'Europe/Berlin' },
        `local_fire_at "2020-01-01T00:00:00" (<instant>) is in the past: it is <instant> now. ${AHEAD}`,
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 multiple_timing fire_at',
    mistakes: [
      [
        { fire_at: `${SOON}T12:00:00Z` },
        'delay and fire_at were given. Give exactly one of delay, fire_at, local_fire_at and cron.',
      ],
    ],
  },
  {
    on: DESTINATION,
    expected: '422 missing_timing',
    mistakes: [
      [
        {},
        'No time was given. Give one of delay, fire_at, local_fire_at and cron, such as "delay": "5m".',
        { delay: '5m' },
      ],
    ],
  },
];
