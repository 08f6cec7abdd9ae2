/** The bodies that customers send, in every size. A body says which call asked for it. */
import type { Prng } from '#test/fuzz/prng.ts';

/** A body has at most 262,144 characters; the widest take three bytes each. */
const BODY_BYTES_MAX = 3 * 262_144;
const WIDE = '€';
const WIDE_BYTES = 3;
/** Bodies from this size on use characters of several bytes. Smaller bodies always fit. */
const WIDE_FROM_BYTES = 200_000;

/** Null means no body at all. Large bodies are rare, because one costs as much as hundreds of small ones. */
export function bodyBytes(prng: Prng): number | null {
  const [from, to] = prng.weighted<readonly [number | null, number]>([
    [450, [null, 0]],
    [40, [0, 0]],
    [400, [1, 200]],
    [80, [200, 16_384]],
    [24, [16_384, 65_536]],
    [5, [65_536, 262_144]],
    [1, [262_144, BODY_BYTES_MAX]],
  ]);
  return from === null ? null : prng.between(from, to);
}

/** Half of the bodies are JSON. */
export function bodyText(call: string, bytes: number): string {
  const [start, end] = bytes % 2 === 0 ? [`{"call":"${call}","pad":"`, '"}'] : [`${call} `, ''];
  const padBytes = bytes - start.length - end.length;
  if (padBytes < 0) return 'x'.repeat(bytes);
  const wide = bytes < WIDE_FROM_BYTES ? 0 : Math.floor(padBytes / WIDE_BYTES);
  return start + WIDE.repeat(wide) + 'x'.repeat(padBytes - wide * WIDE_BYTES) + end;
}
