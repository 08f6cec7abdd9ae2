/**
 * The bodies that customers send, in every size. A body depends only on its schedule's label and on its size.
 * A checker can therefore compare a received body to the last byte.
 */
import type { Labels } from '#src/domain/labels.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { Prng } from '#test/fuzz/prng.ts';

/** A body has at most 262,144 characters; the widest take three bytes each. */
const BODY_BYTES_MAX = 3 * 262_144;
const WIDE = '€';
const WIDE_BYTES = 3;
/** Bodies from this size on use characters of several bytes. Smaller bodies always fit. */
const WIDE_FROM_BYTES = 200_000;
const BYTES_LABEL = 'bytes';
const CALL_LABEL = 'call';

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

/** The labels of a schedule say which call created it and how large its body is. */
export function labelsFor(call: string, bytes: number | null): Labels {
  return bytes === null
    ? [[CALL_LABEL, call]]
    : [
        [CALL_LABEL, call],
        [BYTES_LABEL, String(bytes)],
      ];
}

export function callOf(schedule: Pick<Schedule, 'metadata'>): string {
  return labelOf(schedule, CALL_LABEL) ?? '';
}

/** The size of the schedule's body, or null where it has none. */
export function bodyBytesOf(schedule: Pick<Schedule, 'metadata'>): number | null {
  const bytes = labelOf(schedule, BYTES_LABEL);
  return bytes === null ? null : Number(bytes);
}

function labelOf({ metadata }: Pick<Schedule, 'metadata'>, name: string): string | null {
  return metadata.find(([own]) => own === name)?.[1] ?? null;
}
