/** Everything wrong in `notify` is `invalid_notify`, and the message says what to write instead. */
import { describe, expect, test } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import { instant } from '#src/domain/instant.ts';
import { exampleId } from './contract/forms.ts';
import { readEndpointCreate, readScheduleCreate } from './read-bodies.ts';

const NOW = instant(Date.UTC(2026, 10, 15, 8));
const ENDPOINT = exampleId('ep');

function refusalOf(read: () => unknown): Refusal | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const readers: readonly (readonly [string, (notify: unknown) => Refusal | null])[] = [
  [
    'a schedule',
    (notify) =>
      refusalOf(() =>
        readScheduleCreate({ endpoint: 'https://example.com/', delay: '5m', notify }, NOW, false),
      ),
  ],
  [
    'an endpoint profile',
    (notify) => refusalOf(() => readEndpointCreate({ url: 'https://example.com/', notify }, false)),
  ],
];

const MUST = 'notify.on must be a list of succeeded, dead_letter and expired';

describe.each(readers)('notify of %s', (_what, refuse) => {
  test.each([
    null,
    { on: [] },
    { endpoint_id: null, on: [] },
    { endpoint_id: ENDPOINT, on: [] },
    { endpoint_id: ENDPOINT, on: ['expired'] },
    { endpoint_id: ENDPOINT, on: ['expired', 'succeeded', 'dead_letter'] },
  ])('%j is accepted', (notify) => {
    expect(refuse(notify)).toBeNull();
  });

  test.each([
    [5, /^notify must be an object such as .*, not the number 5\.$/],
    ['ep_1', /^notify must be an object such as .*, not "ep_1"\.$/],
    [['dead_letter'], /not an array\.$/],
    [{ endpoint_id: ENDPOINT }, /^notify\.on is missing\./],
    [{ endpoint_id: ENDPOINT, on: null }, `${MUST}, such as ["dead_letter", "expired"], not null.`],
    [{ endpoint_id: ENDPOINT, on: 'expired' }, `${MUST}, such as ["dead_letter", "expired"], not "expired".`],
    [{ endpoint_id: ENDPOINT, on: ['expired', 3] }, `${MUST}, and its member 2 is the number 3.`],
    [{ endpoint_id: ENDPOINT, on: ['canceled'] }, `${MUST}, and its member 1 is "canceled".`],
    [
      { endpoint_id: ENDPOINT, on: ['delivery.dead_letter'] },
      `${MUST}, and its member 1 is "delivery.dead_letter". Write "dead_letter".`,
    ],
    [
      { endpoint_id: ENDPOINT, on: ['deadLetter'] },
      `${MUST}, and its member 1 is "deadLetter". Write "dead_letter".`,
    ],
    [
      { endpoint_id: ENDPOINT, on: ['expired', 'succeeded', 'expired'] },
      'notify.on names expired twice. Give each outcome once.',
    ],
    [{ on: ['expired'] }, /^notify\.endpoint_id is missing\. .*"on": \[\]/],
    [{ endpoint_id: null, on: ['expired'] }, /^notify\.endpoint_id must be .* not null\.$/],
    [{ endpoint_id: 5, on: ['expired'] }, /^notify\.endpoint_id must be .* not a number\.$/],
    [{ endpoint_id: exampleId('sch'), on: [] }, /names another kind of object \(schedule\)/],
    [{ endpoint_id: '', on: ['expired'] }, /^notify\.endpoint_id is "": no id was filled in\./],
  ])('%j is refused', (notify, message) => {
    const refusal = refuse(notify);
    expect([refusal?.code, refusal?.param]).toEqual(['invalid_notify', 'notify']);
    if (typeof message === 'string') expect(refusal?.message).toBe(message);
    else expect(refusal?.message).toMatch(message);
  });
});
