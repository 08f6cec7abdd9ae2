/** Writes by name: they create an object, or make the object of that name equal to the body. */
import type { Plan } from '../api-types.ts';
import { describeValue } from '../describe-value.ts';
import { encodeName, type NamedResource } from './arguments.ts';
import { checkNames, type NamesOf } from './known-names.ts';
import { type CallOptions, checkCallOptions } from './options.ts';
import type { Call, Transport } from './transport.ts';

export interface PutOptions extends CallOptions {
  /** With `true` nothing is written, and the call returns a `Plan` of what would happen. Default: false. */
  readonly dryRun?: boolean | undefined;
}

export interface DryRun extends PutOptions {
  readonly dryRun: true;
}

/**
 * What a `put` did. A retry after a lost answer finds the work done, so the call may then return `unchanged` although it
 * created or changed the object itself.
 */
export type PutResult = 'created' | 'changed' | 'unchanged';

/** The object after a `put`. `putResult` is not part of the API object: it is not listed, copied or written as JSON. */
export type Put<T> = T & { readonly putResult: PutResult };

const OPTIONS = { signal: true, timeoutMs: true, dryRun: true } as const satisfies NamesOf<PutOptions>;

/** A PUT is idempotent, so it is retried without an `Idempotency-Key`. */
export async function put<T extends object>(
  transport: Transport,
  resource: NamedResource,
  name: string,
  body: object,
  { answers }: Pick<Call, 'answers'>,
  options: PutOptions | undefined,
): Promise<Put<T> | Plan> {
  const isDryRun = readDryRun(`${resource}.put`, options);
  const call = { method: 'PUT', path: namedPath(resource, 'put', name), body } as const;
  if (isDryRun) {
    const query = new URLSearchParams({ dry_run: 'true' });
    return transport.call<Plan>({ ...call, query, answers: 'plan' }, options);
  }
  const { object, answer } = await transport.exchange<T>({ ...call, answers }, options);
  const putResult: PutResult =
    answer.status === 201 ? 'created' : answer.isUnchanged ? 'unchanged' : 'changed';
  return Object.defineProperty(object, 'putResult', { value: putResult }) as Put<T>;
}

/** The path of the object that has a name. */
export function namedPath(resource: NamedResource, verb: 'put' | 'getNamed', name: string): string {
  return `/${resource}/named/${encodeName(`${resource}.${verb}`, name)}`;
}

/** A misspelt `dryRun` would write. */
function readDryRun(call: string, options: PutOptions | undefined): boolean {
  const given: PutOptions = checkCallOptions(options);
  checkNames(call, 'option', given, Object.keys(OPTIONS));
  const { dryRun = false } = given;
  if (typeof dryRun === 'boolean') return dryRun;
  throw new TypeError(`dryRun must be true or false. It got ${describeValue(dryRun)}.`);
}
