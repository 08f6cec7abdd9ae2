/**
 * Builds the body of an API request from flags. Each flag sets one field, and its value is passed on unchanged: the
 * service validates it. `--data` is the whole body as JSON. An additional flag sets its field in that body. If the
 * field is an object, the flag sets only its own member of the object.
 */
import type { EndpointCreate, ScheduleCreate, ScheduleReschedule, ScheduleUpdate } from '#sdk/index.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf, textsOf } from '#src/cli/options.ts';
import { readText } from '#src/cli/terminal/input.ts';
import { readJson } from '#src/domain/json.ts';

type Body = Record<string, unknown>;

/** The fields of plain flags, by option name. */
const TIMING_FIELDS = {
  delay: 'delay',
  at: 'fire_at',
  local: 'local_fire_at',
  cron: 'cron',
  tz: 'timezone',
} as const;
const DELIVERY_FIELDS = { endpoint: 'endpoint', method: 'method', ttl: 'ttl' } as const;
const CREATE_FIELDS = {
  ...DELIVERY_FIELDS,
  ...TIMING_FIELDS,
  endpointId: 'endpoint_id',
  jitter: 'jitter',
  idempotencyKey: 'idempotency_key',
} as const;
/** Fields that are objects: flags set single members of them. */
const GROUPS: ReadonlySet<string> = new Set([
  'headers',
  'metadata',
  'retry_policy',
  'retry_budget',
  'breaker_policy',
]);
const ENDPOINT_PROFILE_FIELDS = { endpoint: 'url', method: 'method', timeout: 'timeout' } as const;

export async function createBody(options: Options): Promise<ScheduleCreate> {
  const { body: given, data } = options;
  if (given === '-' && data === '-')
    throw wrongUsage('--body - and --data - cannot both read standard input. Give one of them as a file.');
  const body = textOf(options, 'body');
  return mergeIntoData(options, {
    ...plainFields(options, CREATE_FIELDS),
    ...headersField(options),
    ...(body === undefined ? {} : { body: await readText(body, '--body') }),
    ...metadataField(options),
    ...retryField(options),
    ...rateField(options),
  });
}

export async function updateBody(options: Options): Promise<ScheduleUpdate> {
  return mergeIntoData(options, {
    ...plainFields(options, DELIVERY_FIELDS),
    ...metadataField(options),
    ...retryField(options),
  });
}

export async function rescheduleBody(options: Options): Promise<ScheduleReschedule> {
  return mergeIntoData(options, plainFields(options, TIMING_FIELDS));
}

export async function endpointBody(options: Options): Promise<EndpointCreate> {
  return mergeIntoData(options, {
    ...plainFields(options, ENDPOINT_PROFILE_FIELDS),
    ...headersField(options),
    ...metadataField(options),
    ...retryField(options),
    ...rateField(options),
    ...groupField(options, 'retry_budget', { retryBudgetRate: 'rate', retryBudgetBurst: 'burst' }, {}),
    ...groupField(
      options,
      'breaker_policy',
      { breakerThreshold: 'threshold' },
      { breakerBaseOpen: 'base_open', breakerMaxOpen: 'max_open', breakerProbeTimeout: 'probe_timeout' },
    ),
  });
}

/** Applies the fields of the flags to the body of `--data`. The service checks the result, so its type is not known. */
async function mergeIntoData<T extends object>(options: Options, flags: Body): Promise<T> {
  const body = await dataOf(options);
  for (const [field, value] of Object.entries(flags)) body[field] = mergeField(field, body[field], value);
  return body as T;
}

function mergeField(field: string, data: unknown, flag: unknown): unknown {
  if (!GROUPS.has(field) || !isObject(data) || !isObject(flag)) return flag;
  return field === 'headers' ? withHeaders(data, Object.entries(flag)) : { ...data, ...flag };
}

async function dataOf(options: Options): Promise<Body> {
  const data = textOf(options, 'data');
  if (data === undefined) return {};
  let value: unknown;
  try {
    value = readJson(await readText(data, '--data'));
  } catch (error) {
    if (error instanceof SyntaxError) throw wrongUsage(`--data is not JSON: ${error.message}.`);
    throw error;
  }
  if (!isObject(value)) throw wrongUsage('--data must be a JSON object.');
  return value;
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainFields(options: Options, fields: Readonly<Record<string, string>>): Body {
  const body: Body = {};
  for (const [option, field] of Object.entries(fields)) {
    const text = textOf(options, option);
    if (text !== undefined) body[field] = text;
  }
  return body;
}

/** Parses `Name: value`. The service decides whether the header is allowed. */
function headersField(options: Options): Body {
  const lines = textsOf(options, 'header');
  if (lines.length === 0) return {};
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':');
    if (colon < 1) throw wrongUsage('--header must have the form "Name: value".');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { headers: withHeaders({}, headers) };
}

/** Names that differ only in case are one header, and the last one counts. */
function withHeaders(before: Body, added: readonly (readonly [name: string, value: unknown])[]): Body {
  const byName = new Map<string, readonly [string, unknown]>();
  for (const header of [...Object.entries(before), ...added]) byName.set(header[0].toLowerCase(), header);
  return Object.fromEntries(byName.values());
}

function metadataField(options: Options): Body {
  const metadata = readMetadata(options);
  return metadata === null ? {} : { metadata };
}

/** Parses `--metadata key=value`. The value may contain `=`. Returns null if the flag is not given. */
export function readMetadata(options: Options): Readonly<Record<string, string>> | null {
  const pairs = textsOf(options, 'metadata');
  if (pairs.length === 0) return null;
  const labels = pairs.map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    if (equals < 1) throw wrongUsage(`--metadata ${JSON.stringify(pair)} must have the form key=value.`);
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  return Object.fromEntries(labels);
}

function retryField(options: Options): Body {
  return groupField(
    options,
    'retry_policy',
    { maxAttempts: 'max_attempts', retryFactor: 'factor' },
    { retryBase: 'base', retryMax: 'max' },
  );
}

function rateField(options: Options): Body {
  return groupField(options, 'rate_limit', { rateLimit: 'per_second' }, {});
}

/** Combines several flags into one field. */
function groupField(
  options: Options,
  field: string,
  numbers: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
): Body {
  const group = plainFields(options, texts);
  for (const [option, name] of Object.entries(numbers)) {
    const text = textOf(options, option);
    if (text !== undefined) group[name] = numberOf(text, option);
  }
  return Object.keys(group).length === 0 ? {} : { [field]: group };
}

function numberOf(text: string, option: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  const flag = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw wrongUsage(`--${flag} ${JSON.stringify(text)} is not a number.`);
}
