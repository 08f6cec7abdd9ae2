/** The timing of an attempt, as its column stores it: four numbers, some of which may be missing (`3,3,17,1`). */
import type { AttemptTiming } from '#src/domain/delivery.ts';

export function toTimingText(timing: AttemptTiming | null): string | null {
  if (timing === null) return null;
  const { claimedMs, connectedMs, firstByteMs, wasConnected } = timing;
  return `${claimedMs},${connectedMs ?? ''},${firstByteMs ?? ''},${wasConnected ? 1 : 0}`;
}

export function fromTimingText(text: string | null): AttemptTiming | null {
  if (text === null) return null;
  const [claimed = '', connected = '', firstByte = '', wasConnected = ''] = text.split(',');
  return {
    claimedMs: Number(claimed),
    connectedMs: numberOf(connected),
    firstByteMs: numberOf(firstByte),
    wasConnected: wasConnected === '1',
  };
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text);
}
