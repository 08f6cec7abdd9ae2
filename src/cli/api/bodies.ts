/**
 * Builds the body of an API request from flags. Each flag sets one field, and its value is passed on unchanged: the
 * service validates it. `--data` is the whole body as JSON. An additional flag sets its field in that body. If the
 * field is an object, the flag sets only its own member of the object.
 */
import { asIs } from '#sdk/client/convenient.ts';
import type {
  EndpointCreate,
  ScheduleCreate,
  SchedulePut,
  ScheduleReschedule,
  ScheduleUpdate,
} from '#sdk/index.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf, textsOf } from '#src/cli/options.ts';
import { readText } from '#src/cli/terminal/input.ts';
import { firstFaultIn, readJson } from '#src/domain/json.ts';
import { jsonSyntaxText } from '#src/texts/json-fault-text.ts';

type Body = Record<string, unknown>;

/** The fields of plain flags, by option name. */
const TIMING_FIELDS = {
  delay: 'delay',
  at: 'fire_at',
  local: 'local_fire_at',
  cron: 'cron',
  tz: 'timezone',
} as const;
const NAME_FIELD = { name: 'name' } as const;
const DELIVERY_FIELDS = { endpoint: 'endpoint', method: 'method', ttl: 'ttl' } as const;
const CREATE_FIELDS = {
  ...NAME_FIELD,
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
  'notify',
]);
const ENDPOINT_PROFILE_FIELDS = {
  ...NAME_FIELD,
  endpoint: 'url',
  method: 'method',
  timeout: 'timeout',
} as const;
const ENDPOINT_PROFILE_NUMBERS = { responseExcerpt: 'response_excerpt' } as const;
const ENDPOINT_PROFILE_BOOLEANS = { standardWebhooks: 'standard_webhooks' } as const;
/** Members of the fields that are objects, by option name. */
const RETRY_NUMBERS = { maxAttempts: 'max_attempts', retryFactor: 'factor' } as const;
const RETRY_DURATIONS = { retryBase: 'base', retryMax: 'max' } as const;
const RATE_NUMBERS = { rateLimit: 'per_second' } as const;
const BUDGET_NUMBERS = { retryBudgetRate: 'rate', retryBudgetBurst: 'burst' } as const;
const BREAKER_NUMBERS = { breakerThreshold: 'threshold' } as const;
const BREAKER_DURATIONS = {
  breakerBaseOpen: 'base_open',
  breakerMaxOpen: 'max_open',
  breakerProbeTimeout: 'probe_timeout',
} as const;

const NOTIFY_FIELDS = { notify: 'endpoint_id', notifyOn: 'on' } as const;

export function createBody(options: Options): Promise<ScheduleCreate> {
  return wholeSchedule(options);
}

/** The name of the schedule is not in the body. */
export function putBody(options: Options): Promise<SchedulePut> {
  return wholeSchedule(options);
}

async function wholeSchedule<T extends object>(options: Options): Promise<T> {
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
    ...notifyField(options),
  });
}

export async function updateBody(options: Options): Promise<ScheduleUpdate> {
  return mergeIntoData(options, {
    ...plainFields(options, { ...NAME_FIELD, ...DELIVERY_FIELDS }),
    ...metadataField(options),
    ...retryField(options),
    ...notifyField(options),
  });
}

export async function rescheduleBody(options: Options): Promise<ScheduleReschedule> {
  return mergeIntoData(options, plainFields(options, TIMING_FIELDS));
}

export async function endpointBody(options: Options): Promise<EndpointCreate> {
  return mergeIntoData(options, {
    ...plainFields(options, ENDPOINT_PROFILE_FIELDS),
    ...numberFields(options, ENDPOINT_PROFILE_NUMBERS),
    ...booleanFields(options, ENDPOINT_PROFILE_BOOLEANS),
    ...headersField(options),
    ...metadataField(options),
    ...retryField(options),
    ...rateField(options),
    ...groupField(options, 'retry_budget', BUDGET_NUMBERS, {}),
    ...groupField(options, 'breaker_policy', BREAKER_NUMBERS, BREAKER_DURATIONS),
    ...notifyField(options),
  });
}

/** Refuses a change without any flag. The service would answer it with the unchanged object. */
export function requireChange<T extends object>(change: T, options: Options): T {
  if (Object.keys(change).length > 0 || textOf(options, 'data') !== undefined) return change;
  throw wrongUsage('Nothing to change was given. Give a flag such as --endpoint, or --data.');
}

/** Applies the fields of the flags to the body of `--data`. The service checks the result, so its type is not known. */
async function mergeIntoData<T extends object>(options: Options, flags: Body): Promise<T> {
  const body = await dataOf(options);
  for (const [field, value] of Object.entries(flags)) body[field] = mergeField(field, body[field], value);
  return asIs(body as T);
}

function mergeField(field: string, data: unknown, flag: unknown): unknown {
  if (!GROUPS.has(field) || !isObject(data) || !isObject(flag)) return flag;
  return field === 'headers' ? withHeaders(data, Object.entries(flag)) : { ...data, ...flag };
}

async function dataOf(options: Options): Promise<Body> {
  const data = textOf(options, 'data');
  if (data === undefined) return {};
  const text = await readText(data, '--data');
  let value: unknown;
  try {
    value = readJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const hint = text.includes('"') ? '' : ' Put it in single quotes, because a shell removes double quotes.';
    throw wrongUsage(jsonSyntaxText(text, firstFaultIn(text), '--data') + hint);
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
    if (colon < 1) throw wrongUsage('--header must have the form "Name: value", such as "X-Tenant: acme".');
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
    if (equals < 1)
      throw wrongUsage(
        `--metadata must have the form key=value, such as team=billing, not ${JSON.stringify(pair)}.`,
      );
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  return Object.fromEntries(labels);
}

function retryField(options: Options): Body {
  return groupField(options, 'retry_policy', RETRY_NUMBERS, RETRY_DURATIONS);
}

function rateField(options: Options): Body {
  return groupField(options, 'rate_limit', RATE_NUMBERS, {});
}

/** Reads outcomes that are separated by commas. `none` is an empty list, which tells nobody. */
function notifyField(options: Options): Body {
  const endpoint = textOf(options, 'notify');
  const outcomes = textOf(options, 'notifyOn');
  if (endpoint === undefined && outcomes === undefined) return {};
  return {
    notify: {
      ...(endpoint !== undefined && { endpoint_id: endpoint }),
      ...(outcomes !== undefined && {
        on: outcomes === 'none' ? [] : outcomes.split(',').map((outcome) => outcome.trim()),
      }),
    },
  };
}

/** Combines several flags into one field. */
function groupField(
  options: Options,
  field: string,
  numbers: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
): Body {
  const group = { ...plainFields(options, texts), ...numberFields(options, numbers) };
  return Object.keys(group).length === 0 ? {} : { [field]: group };
}

function numberFields(options: Options, fields: Readonly<Record<string, string>>): Body {
  const body: Body = {};
  for (const [option, field] of Object.entries(fields)) {
    const text = textOf(options, option);
    if (text !== undefined) body[field] = numberOf(text, option);
  }
  return body;
}

/** The option has only these two values. */
function booleanFields(options: Options, fields: Readonly<Record<string, string>>): Body {
  const texts = Object.entries(plainFields(options, fields));
  return Object.fromEntries(texts.map(([field, text]) => [field, text === 'true']));
}

function numberOf(text: string, option: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw wrongUsage(`${flagOf(option)} must be a number such as 5, not ${JSON.stringify(text)}.`);
}

function flagOf(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Fields that need more than their text, and filters of lists. */
const OTHER_FIELDS = {
  createdAfter: 'created_after',
  createdBefore: 'created_before',
  schedule: 'schedule_id',
  replayOf: 'replay_of',
  notificationOf: 'notification_of',
  search: 'q',
  ...ENDPOINT_PROFILE_NUMBERS,
  ...ENDPOINT_PROFILE_BOOLEANS,
  header: 'headers',
  body: 'body',
  metadata: 'metadata',
} as const;

/** Every field of a request that a flag sets, by path, with the option of the flag. */
const OPTIONS_OF_FIELDS: readonly (readonly [field: string, option: string])[] = [
  ...[CREATE_FIELDS, ENDPOINT_PROFILE_FIELDS, OTHER_FIELDS].flatMap((fields) => pathsOf('', fields)),
  ...pathsOf('retry_policy.', { ...RETRY_NUMBERS, ...RETRY_DURATIONS }),
  ...pathsOf('rate_limit.', RATE_NUMBERS),
  ...pathsOf('notify.', NOTIFY_FIELDS),
  ...pathsOf('retry_budget.', BUDGET_NUMBERS),
  ...pathsOf('breaker_policy.', { ...BREAKER_NUMBERS, ...BREAKER_DURATIONS }),
];

function pathsOf(prefix: string, fields: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(fields).map(([option, field]) => [prefix + field, option]);
}

/**
 * Returns the flags that the user typed for the field of an error. If the message names a member of the field, it is
 * the flag of that member alone.
 */
export function flagsFor(field: string, message: string, options: Options): readonly string[] {
  const typed = OPTIONS_OF_FIELDS.filter(
    ([path, option]) => options[option] !== undefined && (path === field || path.startsWith(`${field}.`)),
  );
  const named = typed.filter(([path]) => path !== field && new RegExp(`\\b${path}\\b`).test(message));
  return [...new Set((named.length === 0 ? typed : named).map(([, option]) => flagOf(option)))];
}
