/** The mix of requests in a run. */
import { strangeHeaders, strangePath, strangeQuery } from './address-shots.ts';
import { anyJson, brokenBytes, huge, nearMiss, trapped, wrongType } from './hostile-shots.ts';
import type { Aim, Shot } from './shot.ts';
import { chunked, hangUp, malformed, oversized } from './transport-shots.ts';
import { again, change, createEndpoint, createSchedule, read } from './valid-shots.ts';

const MIX: readonly (readonly [weight: number, make: (aim: Aim) => Shot])[] = [
  [16, createSchedule],
  [4, createEndpoint],
  [10, change],
  [6, read],
  [3, again],
  [18, wrongType],
  [6, nearMiss],
  [8, anyJson],
  [6, trapped],
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

export function nextShot(aim: Aim): Shot {
  return aim.prng.weighted(MIX)(aim);
}
