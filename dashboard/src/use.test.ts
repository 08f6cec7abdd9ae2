import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenToUse, wasUsedLately } from './use.ts';

let now = 0;
const listeners = new Map<string, () => void>();

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.stubGlobal('addEventListener', (sign: string, listener: () => void) => listeners.set(sign, listener));
  listenToUse();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test.each(['pointerdown', 'keydown', 'wheel', 'touchstart', 'popstate'])(
  'a page is used for a minute after a %s, and no longer',
  (sign) => {
    now += 3_600_000;
    expect(wasUsedLately()).toBe(false);
    listeners.get(sign)?.();
    expect(wasUsedLately()).toBe(true);
    now += 59_999;
    expect(wasUsedLately()).toBe(true);
    now += 1;
    expect(wasUsedLately()).toBe(false);
  },
);
