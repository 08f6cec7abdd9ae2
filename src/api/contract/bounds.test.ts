/** Every bound that the document has for a request is true: the bound is accepted, and one step beyond is refused. */
import { describe, expect, test } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import { parseInstant } from '#src/domain/instant.ts';
import { readEndpointCreate, readScheduleCreate } from '../read-bodies.ts';
import { openApiDocument } from './openapi.ts';

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
}

const schemas = (openApiDocument().components?.schemas ?? {}) as Readonly<Record<string, Schema>>;
const now = parseInstant('2026-11-15T08:00:00Z');
const URL = 'https://example.com/';

type Body = Readonly<Record<string, unknown>>;

/** Returns the code of the refusal, or `accepted`. */
function sent(schema: string, body: Body): string {
  if (now === null) throw new Error('The example is not an instant.');
  try {
    if (schema === 'ScheduleCreate') readScheduleCreate({ ...schedule(body), ...body }, now, false);
    else readEndpointCreate({ url: URL, ...body }, false);
    return 'accepted';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** A schedule has one timing and one destination. */
function schedule(body: Body): Body {
  const isTimed = ['delay', 'fire_at', 'local_fire_at', 'cron'].some((name) => name in body);
  return { ...('endpoint_id' in body ? {} : { endpoint: URL }), ...(isTimed ? {} : { delay: '5m' }) };
}

/** Makes a text of a length that only the bound can refuse. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  endpoint: (length) => URL.padEnd(length, 'a'),
  url: (length) => URL.padEnd(length, 'a'),
  cron: (length) => '0 9 * * *'.padEnd(length, ' '),
  body: (length) => 'a'.repeat(length),
  idempotency_key: (length) => 'a'.repeat(length),
  duration: (length) => '5s'.padStart(length, '0'),
};

/** No time zone has a name as long as the bound, which `forms.test.ts` checks. */
const WITHOUT_LONGEST = new Set(['timezone']);

function labels(count: number): Body {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, 'v']));
}

interface Case {
  readonly bound: string;
  readonly inside: unknown;
  readonly outside: unknown;
}

function casesOf(name: string, schema: Schema): readonly Case[] {
  const { minimum, maximum, minLength, maxLength, maxProperties, additionalProperties } = schema;
  const step = schema.type === 'integer' || schema.type?.includes('integer') === true ? 1 : 1e-9;
  const text = TEXTS[name] ?? TEXTS.duration ?? String;
  const cases: Case[] = [];
  const add = (bound: string, inside: unknown, outside: unknown) => cases.push({ bound, inside, outside });
  if (minimum !== undefined) add(`minimum ${minimum}`, minimum, minimum - step);
  if (maximum !== undefined) add(`maximum ${maximum}`, maximum, maximum + step);
  if (minLength !== undefined) add(`minLength ${minLength}`, text(minLength), text(minLength - 1));
  if (maxLength !== undefined && !WITHOUT_LONGEST.has(name))
    add(`maxLength ${maxLength}`, text(maxLength), text(maxLength + 1));
  if (maxProperties !== undefined)
    add(`maxProperties ${maxProperties}`, labels(maxProperties), labels(maxProperties + 1));
  const valueMax = additionalProperties?.maxLength;
  if (valueMax !== undefined)
    add(`values ${valueMax}`, { '': 'a'.repeat(valueMax) }, { '': 'a'.repeat(valueMax + 1) });
  return cases;
}

function target(schema: Schema): Schema {
  const one = schema.anyOf?.find(({ $ref }) => $ref !== undefined) ?? schema;
  const name = one.$ref?.split('/').at(-1);
  return name === undefined ? schema : (schemas[name] ?? schema);
}

/** The other fields of an object in which all are required. */
const WHOLE: Readonly<Record<string, Body>> = {
  retry_budget: { rate: 1, burst: 1 },
  breaker_policy: { threshold: 5, base_open: '1s', max_open: '1s', probe_timeout: '1s' },
};

/** All bounds of a schema, with those of the objects in it. */
function allCases(schema: string): readonly (readonly [string, Body, Body])[] {
  return Object.entries(schemas[schema]?.properties ?? {}).flatMap(([name, given]) => {
    const field = target(given);
    const own = casesOf(name, field).map(
      ({ bound, inside, outside }) => [`${name}: ${bound}`, { [name]: inside }, { [name]: outside }] as const,
    );
    const nested = Object.entries(field.properties ?? {}).flatMap(([inner, innerSchema]) =>
      casesOf(inner, innerSchema).map(({ bound, inside, outside }) => {
        const around = (value: unknown) => ({ [name]: { ...WHOLE[name], [inner]: value } });
        return [`${name}.${inner}: ${bound}`, around(inside), around(outside)] as const;
      }),
    );
    return [...own, ...nested];
  });
}

describe.each(['ScheduleCreate', 'EndpointWrite'])('%s', (schema) => {
  const cases = allCases(schema);

  test('has bounds', () => {
    expect(cases.length).toBeGreaterThan(10);
  });

  test.each(cases)('%s', (_bound, inside, outside) => {
    expect(sent(schema, inside)).toBe('accepted');
    expect(sent(schema, outside)).not.toBe('accepted');
  });
});
