/**
 * The samples of an operation in curl, TypeScript and Python. Each works as it is, once `SCHED_URL` and `SCHED_API_KEY` are
 * set in the environment. Python needs its standard library only.
 */
import type { OperationId } from '#src/api/contract/operations.ts';
import type { Operation, ReferenceDocument } from './document.ts';
import { asJson, asPython, asTypeScript, jsonIn } from './literals.ts';

export interface Sample {
  readonly language: 'curl' | 'typescript' | 'python';
  readonly label: string;
  readonly code: string;
}

/** The request that all samples of an operation send. */
interface SampleRequest {
  readonly method: string;
  readonly path: string;
  /** The values of the path, such as an id and the number of an attempt. */
  readonly inPath: readonly unknown[];
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

interface SdkCall {
  readonly call: string;
  readonly result: string;
  /** The field of the result that the sample prints, `id` by default. */
  readonly shows?: string;
}

/** How the SDK calls each operation. A list returns pages, and the others return an object. */
const SDK_CALLS: Readonly<Record<OperationId, SdkCall>> = {
  createSchedule: { call: 'schedules.create', result: 'schedule' },
  listSchedules: { call: 'schedules.list', result: 'schedule' },
  getSchedule: { call: 'schedules.get', result: 'schedule' },
  updateSchedule: { call: 'schedules.update', result: 'schedule' },
  putSchedule: { call: 'schedules.put', result: 'schedule', shows: 'putResult' },
  getNamedSchedule: { call: 'schedules.getNamed', result: 'schedule' },
  triggerSchedule: { call: 'schedules.trigger', result: 'delivery' },
  rescheduleSchedule: { call: 'schedules.reschedule', result: 'schedule' },
  pauseSchedule: { call: 'schedules.pause', result: 'schedule' },
  resumeSchedule: { call: 'schedules.resume', result: 'schedule' },
  cancelSchedule: { call: 'schedules.cancel', result: 'schedule' },
  listScheduleDeliveries: { call: 'schedules.deliveries', result: 'delivery' },
  createEndpoint: { call: 'endpoints.create', result: 'endpoint' },
  listEndpoints: { call: 'endpoints.list', result: 'endpoint' },
  getEndpoint: { call: 'endpoints.get', result: 'endpoint' },
  updateEndpoint: { call: 'endpoints.update', result: 'endpoint' },
  putEndpoint: { call: 'endpoints.put', result: 'endpoint', shows: 'putResult' },
  getNamedEndpoint: { call: 'endpoints.getNamed', result: 'endpoint' },
  archiveEndpoint: { call: 'endpoints.archive', result: 'endpoint' },
  listDeliveries: { call: 'deliveries.list', result: 'delivery' },
  getDelivery: { call: 'deliveries.get', result: 'delivery' },
  replayDelivery: { call: 'deliveries.replay', result: 'delivery' },
  cancelDelivery: { call: 'deliveries.cancel', result: 'delivery' },
  listAttempts: { call: 'deliveries.attempts', result: 'attempt' },
  getAttemptResponse: { call: 'deliveries.response', result: 'response', shows: 'excerpt' },
  listRecentAttempts: { call: 'attempts.list', result: 'attempt' },
};

/** Samples of lists show filters, and not the parameters for paging. */
const SAMPLE_FILTERS = new Set(['state', 'status', 'metadata', 'include_archived']);

/** `body` is an example of the body. It is undefined if the operation takes none. */
export function samplesOf(
  document: ReferenceDocument,
  operation: Operation,
  body: unknown,
): readonly Sample[] {
  const request = requestOf(document, operation, body);
  return [
    { language: 'curl', label: 'curl', code: curl(request) },
    { language: 'typescript', label: 'TypeScript', code: typeScript(request, operation) },
    { language: 'python', label: 'Python', code: python(request) },
  ];
}

function requestOf(document: ReferenceDocument, operation: Operation, body: unknown): SampleRequest {
  const { method, path, parameters } = operation;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const filters = parameters.filter(({ in: place, name }) => place === 'query' && SAMPLE_FILTERS.has(name));
  return {
    method,
    path: inPath.reduce(
      (filled, one) => filled.replace(`{${one.name}}`, String(document.exampleOf(one))),
      path,
    ),
    inPath: inPath.map((one) => document.exampleOf(one)),
    query: Object.fromEntries(filters.map((one) => [one.name, document.exampleOf(one)])),
    body,
  };
}

/** A filter by labels is an object in TypeScript, and `metadata[team]=billing` in a URL. */
function pairsOf(query: SampleRequest['query']): readonly (readonly [name: string, value: string])[] {
  return Object.entries(query).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, inner]) => [`${name}[${key}]`, String(inner)] as const)
      : [[name, String(value)] as const],
  );
}

function curl({ method, path, query, body }: SampleRequest): string {
  const pairs = pairsOf(query);
  const option = method === 'GET' ? (pairs.length === 0 ? '' : '-G ') : `-X ${method} `;
  const lines = [
    `curl ${option}"$SCHED_URL${path}"`,
    '-H "Authorization: Bearer $SCHED_API_KEY"',
    ...pairs.map(([name, value]) => `--data-urlencode ${shellQuoted(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${shellQuoted(asJson(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

function typeScript({ inPath, query, body }: SampleRequest, { id }: Operation): string {
  const { call, result, shows = 'id' } = SDK_CALLS[id as OperationId];
  const isList = id.startsWith('list');
  const given = Object.keys(query).length === 0 ? withJson(body) : query;
  const values = [
    ...inPath.map((one) => asTypeScript(one)),
    ...(given === undefined ? [] : [asTypeScript(given)]),
  ];
  const made = `sched.${call}(${values.join(', ')})`;
  const use = isList
    ? `for await (const ${result} of ${made}) {\n  console.log(${result}.${shows});\n}`
    : `const ${result} = await ${made};\nconsole.log(${result}.${shows});`;
  return `import { Sched } from '@sched/sdk';\n\nconst sched = new Sched();\n${use}`;
}

/** The SDK takes a JSON body as a value. */
function withJson(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const entries = Object.entries(given).map(([name, value]) => {
    const json = name === 'body' && typeof value === 'string' ? jsonIn(value) : undefined;
    return json === undefined ? [name, value] : ['json', json];
  });
  return Object.fromEntries(entries);
}

function python({ method, path, query, body }: SampleRequest): string {
  const pairs = pairsOf(query);
  const hasQuery = pairs.length > 0;
  const hasBody = body !== undefined;
  const modules = ['json', 'os', ...(hasQuery ? ['urllib.parse'] : []), 'urllib.request'];
  const url = hasQuery ? `"${path}?" + query` : `"${path}"`;
  return [
    ...modules.map((name) => `import ${name}`),
    '',
    ...(hasQuery ? [`query = urllib.parse.urlencode(${asPython(Object.fromEntries(pairs))})`] : []),
    ...(hasBody ? [`body = ${asPython(body)}`] : []),
    'request = urllib.request.Request(',
    `    os.environ["SCHED_URL"] + ${url},`,
    `    method="${method}",`,
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["SCHED_API_KEY"],',
    ...(hasBody ? ['        "Content-Type": "application/json",'] : []),
    '    },',
    ...(hasBody ? ['    data=json.dumps(body).encode(),'] : []),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(json.load(response))',
  ].join('\n');
}

/** A request as it arrives at a receiver. */
export function receivedRequest(
  document: ReferenceDocument,
  { id, method, parameters, body }: Operation,
): string {
  const { path } = received(id);
  const headers = parameters.map((header) => `${header.name}: ${String(document.exampleOf(header))}`);
  const [example] = body === null ? [] : document.examplesOf(body);
  return [`${method} ${path} HTTP/1.1`, ...headers, '', JSON.stringify(example?.value)].join('\n');
}

export function receiverSample(id: string): string {
  const { handle } = received(id);
  return `import { MemoryStore, receiver } from '@sched/sdk/fetch';

export const POST = receiver({
  secret: process.env.SCHED_SIGNING_SECRET ?? '',
  deduplicate: new MemoryStore(),
  onRejected: ({ message }) => console.warn(message),
  handle: async (delivery) => {
    ${handle.join('\n    ')}
  },
});`;
}

interface ReceivedSample {
  /** The path that the example is signed for. */
  readonly path: string;
  /** The lines of the handler. */
  readonly handle: readonly string[];
}

const RECEIVED: Readonly<Record<string, ReceivedSample>> = {
  receiveDelivery: {
    path: '/hooks/reminder',
    handle: ['console.log(delivery.idempotencyKey, delivery.json());'],
  },
  receiveNotification: {
    path: '/hooks/outcomes',
    handle: [
      'const { notification } = delivery;',
      'if (notification === null) return;',
      'console.log(notification.type, notification.data.delivery.id);',
    ],
  },
  receiveAlert: {
    path: '/hooks/alerts',
    handle: [
      'const { alert } = delivery;',
      'if (alert === null) return;',
      'console.log(alert.type, alert.data.title);',
    ],
  },
};

function received(id: string): ReceivedSample {
  const sample = RECEIVED[id];
  if (sample === undefined) throw new Error(`The webhook ${id} has no sample.`);
  return sample;
}
