/** Valid requests with fields that their operation ignores. The names are hostile, and half of the requests are strict. */
import { scheduleCreate } from './fields.ts';
import {
  answeredWith,
  buildRequest,
  type FuzzRequest,
  type Headers,
  type RequestContext,
  refusedAs,
  secretOf,
} from './fuzz-request.ts';
import { anyValue, hostileName, type Members, object } from './json-text.ts';

export const UNKNOWN_FIELDS = 'unknown fields';

const STRICT = [
  'handling=strict',
  'Handling="strict"',
  'a=",\\"", , handling = strict; b="c, handling=lenient"',
  '\u00ff, handling=strict',
];
const LENIENT = [
  'handling=lenient, handling=strict',
  'handling',
  'handling="strict',
  '"handling=strict"',
  `${'"'.repeat(4_000)}handling=strict`,
  '\\'.repeat(4_000),
];
/** A name of few bytes, so that very many fit into a body. */
const MANY_MAX = 20_000;

export function unknownFields(context: RequestContext): FuzzRequest {
  const { prng } = context;
  const secret = secretOf(context);
  const isStrict = prng.chance(0.5);
  const prefer = isStrict ? prng.pick(STRICT) : prng.pick([...LENIENT, null]);
  const headers: Headers = prefer === null ? [] : [['Prefer', prefer]];
  const count = prng.chance(0.02) ? prng.between(1_000, MANY_MAX) : prng.between(1, 30);
  const unknown: Members = Array.from({ length: count }, (_, i) =>
    count > 30 ? [`#${i}`, '0'] : [hostileName(prng), anyValue(prng, 1)],
  );
  const known = scheduleCreate(prng, secret, null).filter(([name]) => name !== 'retry_policy');
  const members: Members = prng.chance(0.3)
    ? [['retry_policy', object(unknown)], ...known]
    : [...unknown, ...known];
  const request = { method: 'POST', path: '/v1/schedules', headers, body: Buffer.from(object(members)) };
  return buildRequest(context, request, {
    kind: UNKNOWN_FIELDS,
    operation: 'createSchedule',
    secret,
    expected: isStrict ? refusedAs('unknown_field') : answeredWith(201),
  });
}
