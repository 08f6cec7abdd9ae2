import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { trackActivity, wasActiveRecently } from './activity.ts';

let now = 0;
const listeners = new Map<string, () => void>();

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.stubGlobal('addEventListener', (sign: string, listener: () => void) => listeners.set(sign, listener));
  trackActivity();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test.each(['pointerdown', 'keydown', 'wheel', 'touchstart', 'popstate'])(
  'the page counts as used for a minute after a %s, and no longer',
  (sign) => {
    now += 3_600_000;
    expect(wasActiveRecently()).toBe(false);
    listeners.get(sign)?.();
    expect(wasActiveRecently()).toBe(true);
    now += 59_999;
    expect(wasActiveRecently()).toBe(true);
    now += 1;
    expect(wasActiveRecently()).toBe(false);
  },
);
