/** Checks the arguments of calls. TypeScript finds most mistakes, but JavaScript callers may pass anything. */
import { describeValue, isFields } from '../describe-value.ts';

type Resource = 'schedules' | 'deliveries' | 'endpoints';

/** The name of a call, such as `schedules.get`. */
export type CallName = `${Resource}.${string}`;

const ID_OF: Readonly<Record<Resource, string>> = {
  schedules: 'a schedule, such as "sch_01jcq3v8k4zqgw5m2r7n9x0abc"',
  deliveries: 'a delivery, such as "dlv_01jcq3v8k4zqgw5m2r7n9x0abc"',
  endpoints: 'an endpoint profile, such as "ep_01jcq3v8k4zqgw5m2r7n9x0abc"',
};

/** A surrogate without its other half cannot be encoded in a URL. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Refuses an id that would lead to another path. The service decides whether any other id exists. */
export function encodeId(call: CallName, id: string): string {
  if (typeof id === 'string' && !['', '.', '..'].includes(id) && !LONE_SURROGATE.test(id)) {
    return encodeURIComponent(id);
  }
  const [resource] = call.split('.', 1) as [Resource];
  const hint = isFields(id) && typeof id.id === 'string' ? ' with an id. Pass the id itself' : '';
  throw new TypeError(`${call} needs the id of ${ID_OF[resource]}. It got ${describeValue(id)}${hint}.`);
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
