/** Checks the arguments of calls. TypeScript finds most mistakes, but JavaScript callers may pass anything. */
import { describeValue, isFields } from '../describe-value.ts';

type Resource = 'schedules' | 'deliveries' | 'endpoints';
/** The objects that may have a name. */
export type NamedResource = Exclude<Resource, 'deliveries'>;

/** The name of a call, such as `schedules.get`. */
export type CallName = `${Resource}.${string}`;

const ID_OF: Readonly<Record<Resource, string>> = {
  schedules: 'a schedule, such as "sch_01jcq3v8k4zqgw5m2r7n9x0abc"',
  deliveries: 'a delivery, such as "dlv_01jcq3v8k4zqgw5m2r7n9x0abc"',
  endpoints: 'an endpoint profile, such as "ep_01jcq3v8k4zqgw5m2r7n9x0abc"',
};

/** A surrogate without its other half cannot be encoded in a URL. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const NAME_OF: Readonly<Record<NamedResource, string>> = {
  schedules: 'a schedule, such as "nightly-report"',
  endpoints: 'an endpoint profile, such as "billing-hooks"',
};

/** Refuses an id that would lead to another path. The service decides whether any other id exists. */
export function encodeId(call: CallName, id: string): string {
  if (isSegment(id)) return encodeURIComponent(id);
  const [resource] = call.split('.', 1) as [Resource];
  const hint = isFields(id) && typeof id.id === 'string' ? ' with an id. Pass the id itself' : '';
  throw new TypeError(`${call} needs the id of ${ID_OF[resource]}. It got ${describeValue(id)}${hint}.`);
}

/** The service decides whether the name is valid. */
export function encodeName(call: `${NamedResource}.${string}`, name: string): string {
  if (isSegment(name)) return encodeURIComponent(name);
  const [resource] = call.split('.', 1) as [NamedResource];
  throw new TypeError(`${call} needs the name of ${NAME_OF[resource]}. It got ${describeValue(name)}.`);
}

/** The attempts of a delivery count from 1. */
export function checkAttemptNo(call: CallName, attemptNo: number): number {
  if (Number.isSafeInteger(attemptNo) && attemptNo >= 1) return attemptNo;
  throw new TypeError(`${call} needs the number of an attempt, from 1. It got ${describeValue(attemptNo)}.`);
}

function isSegment(text: unknown): boolean {
  return typeof text === 'string' && !['', '.', '..'].includes(text) && !LONE_SURROGATE.test(text);
}

/** `example` is a body that the service would accept. */
export function checkBody<T extends object>(
  call: CallName,
  body: T,
  example: string,
): T & Readonly<Record<string, unknown>> {
  if (isFields(body)) return body;
  throw new TypeError(`${call} needs an object, such as ${example}. It got ${describeValue(body)}.`);
}
