/** Applies an accepted request to the model, and checks that the answer shows what the request asked for. */
import { isDeepStrictEqual } from 'node:util';
import { OPERATIONS } from '#src/api/contract/operations.ts';
import type { EndpointResource, ScheduleResource } from '#src/api/contract/resources.ts';
import { demand } from './checks.ts';
import type { Lane, Model } from './model.ts';
import type { Shot } from './shot.ts';
import type { Answer } from './wire.ts';

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

export function applyAnswer(model: Model, lane: Lane, shot: Shot, answer: Answer, json: unknown): void {
  const isReplayed = answer.headers.get('idempotent-replayed') === 'true';
  if (shot.kind === 'again') checkAgain(lane, shot, answer, isReplayed);
  else {
    demand(!isReplayed, 'a first request was answered as a replay');
    const isEffect = answer.status < 300 && shot.method !== 'GET' && shot.method !== 'HEAD';
    if (isEffect) applyEffect(model, lane, shot, answer, json);
    else checkRead(lane, shot, answer, json);
  }
}

function applyEffect(model: Model, lane: Lane, shot: Shot, answer: Answer, json: unknown): void {
  demand(shot.operation !== null, `${answer.status} to what is no operation`);
  keepAnswer(model, lane, shot, answer);
  if (shot.operation.endsWith('Endpoint')) applyEndpoint(model, lane, shot, json as EndpointResource);
  else applySchedule(model, lane, shot, json as ScheduleResource);
}

function checkAgain(lane: Lane, shot: Shot, answer: Answer, isReplayed: boolean): void {
  demand(isReplayed === answer.status < 300, 'a replay is not marked, or a refusal is');
  const kept = lane.kept.find(({ key }) => key === shot.key);
  if (isReplayed) demand(answer.body.toString() === kept?.answer, 'a replay differs from the first answer');
}

function keepAnswer(model: Model, lane: Lane, shot: Shot, answer: Answer): void {
  if (shot.key === null || shot.body === null) return;
  const path = /^\S+ (\S+) /.exec(shot.pieces[0]?.toString('latin1') ?? '')?.[1] ?? '';
  model.totals.receipts += 1;
  lane.keep({
    key: shot.key,
    path,
    method: shot.method,
    requestBody: shot.body,
    status: answer.status,
    answer: answer.body.toString(),
  });
}

/**
 * Parses the body as the service does: a byte order mark is not part of the text, and some operations read no
 * body.
 */
function bodyOf(shot: Shot): Body {
  const isRead = shot.operation !== null && OPERATIONS[shot.operation].body !== null;
  if (!isRead || shot.body === null || shot.body.length === 0) return {};
  return JSON.parse(new TextDecoder().decode(shot.body)) as Body;
}

function applySchedule(model: Model, lane: Lane, shot: Shot, json: ScheduleResource): void {
  const asked = bodyOf(shot);
  if (shot.operation === 'createSchedule') {
    checkEchoes(asked, json);
    demand(
      json.state === 'active' && json.next_fire_at !== null,
      'a new schedule that is not waiting to fire',
    );
    model.totals.schedules += 1;
    if (json.header_keys.length > 0 || typeof asked.body === 'string') model.totals.payloads += 1;
    lane.addSchedule(json);
    return;
  }
  const known = lane.schedule(json.id);
  demand(known !== undefined && json.id === shot.target, 'a change of another schedule');
  if (shot.operation === 'updateSchedule') {
    const { endpoint, method, ttl, metadata } = asked;
    checkEchoes({ endpoint, method, ttl, metadata }, json);
  }
  known.json = json;
  known.profileEdited = false;
}

function applyEndpoint(model: Model, lane: Lane, shot: Shot, json: EndpointResource): void {
  if (shot.operation !== 'archiveEndpoint') checkEchoes(bodyOf(shot), json);
  if (shot.operation === 'createEndpoint') {
    demand(json.version === 1 && !json.archived, 'a new endpoint that is not version 1');
    model.totals.endpoints += 1;
    model.totals.endpointVersions += 1;
    lane.addEndpoint(json);
    return;
  }
  const known = lane.endpoint(json.id);
  demand(known !== undefined && json.id === shot.target, 'a change of another endpoint');
  const isEdit = shot.operation === 'updateEndpoint';
  demand(json.version === known.json.version + (isEdit ? 1 : 0), 'the version did not count the edit');
  if (isEdit) {
    model.totals.endpointVersions += 1;
    for (const schedule of lane.schedules) {
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
    demand(shown[name] === asked[name], `${name} is not shown as it was given`);
  }
  const { metadata, headers } = asked;
  if (isObject(metadata)) {
    demand(
      isDeepStrictEqual(Object.entries(json.metadata), Object.entries(metadata)),
      'metadata is not shown as it was given',
    );
  }
  if (isObject(headers)) {
    demand(isDeepStrictEqual(json.header_keys, Object.keys(headers)), 'header_keys are not the names given');
  }
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null;
}

function checkRead(lane: Lane, shot: Shot, answer: Answer, json: unknown): void {
  if (answer.status !== 200 || shot.target === null) return;
  if (shot.operation === 'getSchedule') checkSchedule(lane, json as ScheduleResource);
  if (shot.operation === 'getEndpoint') {
    demand(
      isDeepStrictEqual(json, lane.endpoint(shot.target)?.json),
      'an endpoint is not as its last answer showed it',
    );
  }
}

/** A schedule this close to its instant may be sent during the check. */
const NEAR_MS = 60_000;

export function checkSchedule(lane: Lane, json: ScheduleResource): void {
  const known = lane.schedule(json.id);
  demand(known !== undefined, `schedule ${json.id} was never accepted`);
  const [shown, expected] = [{ ...json }, { ...known.json }];
  for (const side of [shown, expected]) {
    if (known.profileEdited) Object.assign(side, { endpoint: null, method: null, retry_policy: null });
    if (mayHaveFired(known.json))
      Object.assign(side, { state: null, next_fire_at: null, next_runs: null, updated_at: null });
  }
  demand(
    isDeepStrictEqual(shown, expected),
    `schedule ${json.id} is not as its last answer showed it: ${JSON.stringify(shown).slice(0, 600)} instead of ${JSON.stringify(expected).slice(0, 600)}`,
  );
}

export function mayHaveFired({ next_fire_at: at }: ScheduleResource): boolean {
  return at !== null && Date.parse(at) < Date.now() + NEAR_MS;
}
