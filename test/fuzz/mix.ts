/** The mix of requests in a run. */
import { strangeHeaders, strangePath, strangeQuery } from './address-requests.ts';
import type { FuzzRequest, RequestContext } from './fuzz-request.ts';
import { anyJson, brokenBytes, huge, nearMiss, prototypeNames, wrongType } from './hostile-requests.ts';
import { chunked, hangUp, malformed, oversized } from './transport-requests.ts';
import { unknownFields } from './unknown-fields.ts';
import { change, createEndpoint, createSchedule, read, repeat } from './valid-requests.ts';

const MIX: readonly (readonly [weight: number, make: (context: RequestContext) => FuzzRequest])[] = [
  [16, createSchedule],
  [4, createEndpoint],
  [10, change],
  [6, read],
  [3, repeat],
  [18, wrongType],
  [6, nearMiss],
  [8, anyJson],
  [6, prototypeNames],
  [6, unknownFields],
  [1, huge],
  [6, brokenBytes],
  [5, strangePath],
  [4, strangeQuery],
  [4, strangeHeaders],
  [2, chunked],
  [0.2, oversized],
  [1, hangUp],
  [2, malformed],
];

export function nextRequest(context: RequestContext): FuzzRequest {
  return context.prng.weighted(MIX)(context);
}
