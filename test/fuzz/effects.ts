/** Applies an accepted request to the model, and checks that the answer shows what the request asked for. */
import { isDeepStrictEqual } from 'node:util';
import { OPERATIONS } from '#src/api/contract/operations.ts';
import type { EndpointResource, ScheduleResource } from '#src/api/contract/resources.ts';
import { ensure } from './checks.ts';
import type { FuzzRequest } from './fuzz-request.ts';
import type { FuzzClient, Model } from './model.ts';
import type { Answer } from './raw-connection.ts';

type Body = Readonly<Record<string, unknown>>;

const ECHOED = [
  'endpoint',
  'endpoint_id',
  'url',
  'method',
  'cron',
  'ttl',
  'jitter',
  'idempotency_key',
  'timeout',
];

export function applyAnswer(
  model: Model,
  client: FuzzClient,
  request: FuzzRequest,
  answer: Answer,
  json: unknown,
): void {
  const isReplayed = answer.headers.get('idempotent-replayed') === 'true';
  if (request.kind === 'again') checkRepeat(client, request, answer, isReplayed);
  else {
    ensure(!isReplayed, 'a first request was answered as a replay');
    const isEffect = answer.status < 300 && request.method !== 'GET' && request.method !== 'HEAD';
    if (isEffect) applyEffect(model, client, request, answer, json);
    else checkRead(client, request, answer, json);
  }
}

function applyEffect(
  model: Model,
  client: FuzzClient,
  request: FuzzRequest,
  answer: Answer,
  json: unknown,
): void {
  ensure(request.operation !== null, `${answer.status} to what is no operation`);
  recordAnswer(model, client, request, answer);
  if (request.operation.endsWith('Endpoint')) applyEndpoint(model, client, request, json as EndpointResource);
  else applySchedule(model, client, request, json as ScheduleResource);
}

function checkRepeat(client: FuzzClient, request: FuzzRequest, answer: Answer, isReplayed: boolean): void {
  ensure(isReplayed === answer.status < 300, 'a replay is not marked, or a refusal is');
  const kept = client.answers.find(({ key }) => key === request.key);
  if (isReplayed) ensure(answer.body.toString() === kept?.answer, 'a replay differs from the first answer');
}

function recordAnswer(model: Model, client: FuzzClient, request: FuzzRequest, answer: Answer): void {
  if (request.key === null || request.body === null) return;
  const path = /^\S+ (\S+) /.exec(request.pieces[0]?.toString('latin1') ?? '')?.[1] ?? '';
  model.totals.receipts += 1;
  client.recordAnswer({
    key: request.key,
    path,
    method: request.method,
    requestBody: request.body,
    status: answer.status,
    answer: answer.body.toString(),
  });
}

/**
 * Parses the body as the service does: a byte order mark is not part of the text, and some operations read no
 * body.
 */
function bodyOf(request: FuzzRequest): Body {
  const isRead = request.operation !== null && OPERATIONS[request.operation].body !== null;
  if (!isRead || request.body === null || request.body.length === 0) return {};
  return JSON.parse(new TextDecoder().decode(request.body)) as Body;
}

function applySchedule(model: Model, client: FuzzClient, request: FuzzRequest, json: ScheduleResource): void {
  const asked = bodyOf(request);
  if (request.operation === 'createSchedule') {
    checkEchoes(asked, json);
    ensure(
      json.state === 'active' && json.next_fire_at !== null,
      'a new schedule that is not waiting to fire',
    );
    model.totals.schedules += 1;
    if (json.header_keys.length > 0 || typeof asked.body === 'string') model.totals.payloads += 1;
    client.addSchedule(json);
    return;
  }
  const known = client.schedule(json.id);
  ensure(known !== undefined && json.id === request.target, 'a change of another schedule');
  if (request.operation === 'updateSchedule') {
    const { endpoint, method, ttl, metadata } = asked;
    checkEchoes({ endpoint, method, ttl, metadata }, json);
  }
  known.json = json;
  known.profileEdited = false;
}

function applyEndpoint(model: Model, client: FuzzClient, request: FuzzRequest, json: EndpointResource): void {
  if (request.operation !== 'archiveEndpoint') checkEchoes(bodyOf(request), json);
  if (request.operation === 'createEndpoint') {
    ensure(json.version === 1 && !json.archived, 'a new endpoint that is not version 1');
    model.totals.endpoints += 1;
    model.totals.endpointVersions += 1;
    client.addEndpoint(json);
    return;
  }
  const known = client.endpoint(json.id);
  ensure(known !== undefined && json.id === request.target, 'a change of another endpoint');
  const isEdit = request.operation === 'updateEndpoint';
  ensure(json.version === known.json.version + (isEdit ? 1 : 0), 'the version did not count the edit');
  if (isEdit) {
    model.totals.endpointVersions += 1;
    for (const schedule of client.schedules) {
      if (schedule.json.endpoint_id === json.id) schedule.profileEdited = true;
    }
  }
  known.json = json;
}

/** The answer shows every given value, to the last unusual character. */
function checkEchoes(asked: Body, json: ScheduleResource | EndpointResource): void {
  const shown = json as unknown as Body;
  for (const name of ECHOED) {
    if (asked[name] === undefined || asked[name] === null || !Object.hasOwn(shown, name)) continue;
    ensure(shown[name] === asked[name], `${name} is not shown as it was given`);
  }
  const { metadata, headers } = asked;
  if (isObject(metadata)) {
    ensure(
      isDeepStrictEqual(Object.entries(json.metadata), Object.entries(metadata)),
      'metadata is not shown as it was given',
    );
  }
  if (isObject(headers)) {
    ensure(isDeepStrictEqual(json.header_keys, Object.keys(headers)), 'header_keys are not the names given');
  }
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null;
}

function checkRead(client: FuzzClient, request: FuzzRequest, answer: Answer, json: unknown): void {
  if (answer.status !== 200 || request.target === null) return;
  if (request.operation === 'getSchedule') checkSchedule(client, json as ScheduleResource);
  if (request.operation === 'getEndpoint') {
    ensure(
      isDeepStrictEqual(json, client.endpoint(request.target)?.json),
      'an endpoint is not as its last answer showed it',
    );
  }
}

/** A schedule this close to its instant may be sent during the check. */
const NEAR_MS = 60_000;

export function checkSchedule(client: FuzzClient, json: ScheduleResource): void {
  const known = client.schedule(json.id);
  ensure(known !== undefined, `schedule ${json.id} was never accepted`);
  const [shown, expected] = [{ ...json }, { ...known.json }];
  for (const side of [shown, expected]) {
    if (known.profileEdited) Object.assign(side, { endpoint: null, method: null, retry_policy: null });
    if (mayHaveFired(known.json))
      Object.assign(side, { state: null, next_fire_at: null, next_runs: null, updated_at: null });
  }
  ensure(
    isDeepStrictEqual(shown, expected),
    `schedule ${json.id} is not as its last answer showed it: ${JSON.stringify(shown).slice(0, 600)} instead of ${JSON.stringify(expected).slice(0, 600)}`,
  );
}

export function mayHaveFired({ next_fire_at: at }: ScheduleResource): boolean {
  return at !== null && Date.parse(at) < Date.now() + NEAR_MS;
}
