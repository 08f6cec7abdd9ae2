/** Mistakes in the path, the headers, the query or the JSON of a request. */
import { planted } from '#test/e2e/client.ts';
import { ONE_SHOT, UNKNOWN } from '#test/e2e/resources.ts';
import type { RequestMistakes } from './mistakes.ts';

/** Without this header the field is ignored, as the specification says. */
const STRICT = { prefer: 'handling=strict' };
const OTHER_MODE = 'A test key sees no live data, and a live key no test data.';
const FORM_OF_ID = '26 lower-case letters and digits. Copy it unchanged.';
const NOT_JSON = 'The request body is not valid JSON at';

export const REQUEST_MISTAKES: readonly RequestMistakes[] = [
  {
    expected: '400 invalid_json',
    mistakes: [
      [
        'POST /v1/schedules',
        `${NOT_JSON} line 1, column 24: the last comma is one too many.`,
        { raw: `{"body": "${planted('raw')}",}` },
      ],
      [
        'POST /v1/schedules',
        `${NOT_JSON} line 2, column 3: strings need double quotes.`,
        { raw: `{\n  'delay': "5m"\n}` },
      ],
      [
        'POST /v1/schedules',
        `${NOT_JSON} line 1, column 1: it must begin with {, such as {"delay": "5m"}.`,
        { raw: 'endpoint=https://example.com' },
      ],
      ['POST /v1/schedules', `${NOT_JSON} line 1, column 15: it ends too early.`, { raw: '{"delay": "5m"' }],
      [
        'POST /v1/schedules',
        'The request body must be a JSON object such as {"delay": "5m"}, not an array.',
        { raw: '[]' },
      ],
      [
        'POST /v1/schedules',
        'The request body is empty. Send a JSON object such as {"delay": "5m"}.',
        { raw: '' },
      ],
      [
        'POST /v1/schedules',
        'The request body is not valid UTF-8. Send JSON as UTF-8.',
        { raw: Buffer.from([0x7b, 0xff, 0x7d]) },
      ],
    ],
  },
  {
    expected: '400 idempotency_key_too_long',
    mistakes: [
      [
        'POST /v1/schedules',
        'Idempotency-Key has 256 characters. At most 255 are allowed: use a UUID.',
        { raw: JSON.stringify(ONE_SHOT), headers: { 'idempotency-key': 'k'.repeat(256) } },
      ],
    ],
  },
  {
    expected: '400 invalid_version Sched-Version',
    mistakes: [
      [
        'GET /v1/schedules',
        'Sched-Version is not a date. Write it as YYYY-MM-DD, such as 2026-11-15, or leave the header out.',
        { headers: { 'sched-version': 'v1' } },
      ],
    ],
  },
  {
    expected: '400 invalid_request status',
    mistakes: [
      [
        'GET /v1/deliveries?status=failed',
        'status must be scheduled, claimed, retry_scheduled, succeeded, dead_letter, expired, paused or canceled, not "failed".',
      ],
    ],
  },
  {
    expected: '400 invalid_request state',
    mistakes: [
      [
        'GET /v1/schedules?state=cancelled',
        'state must be active, paused, canceled or completed, not "cancelled". Did you mean canceled?',
      ],
    ],
  },
  {
    expected: '400 invalid_request created_after',
    mistakes: [
      [
        'GET /v1/deliveries?created_after=2026-11-01',
        'created_after "2026-11-01" has no time. Write "2026-11-01T00:00:00Z" for UTC, or end with an offset such as +02:00.',
      ],
    ],
  },
  {
    expected: '400 invalid_request include_archived',
    mistakes: [
      ['GET /v1/endpoints?include_archived=yes', 'include_archived must be true or false, not "yes".'],
    ],
  },
  {
    expected: '400 invalid_cursor cursor',
    mistakes: [
      [
        'GET /v1/schedules?cursor=2',
        'This cursor does not belong to the list "schedules" of this API key. Use next_cursor of a page of this list, unchanged, or leave cursor out for the first page.',
      ],
    ],
  },
  {
    expected: '404 not_found',
    mistakes: [
      [
        `GET /v1/schedules/${UNKNOWN.schedule}`,
        `No schedule has this id in this project and mode. ${OTHER_MODE}`,
      ],
      [
        `GET /v1/schedules/${UNKNOWN.delivery}`,
        `The id "${UNKNOWN.delivery}" names another kind of object (delivery). The id of every schedule begins with sch_.`,
      ],
      [
        'GET /v1/schedules/undefined',
        'The id is "undefined": no id was filled in. Copy the id of the schedule.',
      ],
      [
        'GET /v1/deliveries/dlv_123',
        `The id is incomplete or changed: the id of every delivery is dlv_ and ${FORM_OF_ID}`,
      ],
      [
        `DELETE /v1/schedules/${UNKNOWN.schedule}`,
        'There is no "DELETE /v1/schedules/{id}". To end a schedule, use POST /v1/schedules/{id}/cancel.',
      ],
      [
        `PUT /v1/schedules/${UNKNOWN.schedule}`,
        'There is no "PUT /v1/schedules/{id}". To change a schedule, use PATCH /v1/schedules/{id}. To change its time, use POST /v1/schedules/{id}/reschedule.',
        { raw: '{}' },
      ],
      [
        `DELETE /v1/endpoints/${UNKNOWN.endpoint}`,
        'There is no "DELETE /v1/endpoints/{id}". To retire an endpoint profile, use POST /v1/endpoints/{id}/archive.',
      ],
      [
        `GET /v1/schedules/${UNKNOWN.schedule}/pause`,
        'There is no "GET /v1/schedules/{id}/pause". This path has POST.',
      ],
      ['POST /v1/schedule', 'There is no "POST /v1/schedule". Did you mean /v1/schedules?', { raw: '{}' }],
      [
        'POST /v1/schedules/',
        'There is no "POST /v1/schedules/". Leave out the slash at the end.',
        { raw: '{}' },
      ],
      [
        'POST /schedules?key=secret',
        'There is no "POST /schedules". Did you mean /v1/schedules?',
        { raw: '{}' },
      ],
      ['GET /v1/jobs', 'There is no "GET /v1/jobs". GET /docs lists all paths.'],
      [
        'GET /v1/schedules/%zz',
        'The path cannot be decoded: after % come two hexadecimal digits, and the bytes must be UTF-8. Write %25 for a percent sign.',
      ],
    ],
  },
  {
    expected: '400 unknown_field timeout',
    mistakes: [
      [
        'POST /v1/schedules',
        '`timeout` belongs to an endpoint profile, not to a schedule: use POST /v1/endpoints, and its id as `endpoint_id`.',
        { raw: JSON.stringify({ ...ONE_SHOT, timeout: '10s' }), headers: STRICT },
      ],
    ],
  },
  {
    expected: '400 unknown_field retry_policy',
    mistakes: [
      [
        'POST /v1/schedules',
        '`retry_policy.max_retries` is not a field of `retry_policy`. Did you mean `retry_policy.max_attempts`?',
        { raw: JSON.stringify({ ...ONE_SHOT, retry_policy: { max_retries: 3 } }), headers: STRICT },
      ],
    ],
  },
  {
    expected: '400 unknown_field runAt',
    mistakes: [
      [
        'POST /v1/schedules',
        '`runAt` is not a field of a schedule. Did you mean `fire_at`?',
        { raw: JSON.stringify({ ...ONE_SHOT, runAt: 1 }), headers: STRICT },
      ],
    ],
  },
];
