/**
 * This module knows whether somebody uses the page. A request that no recent click, key or touch can have led to is
 * the page's own, such as the next part of a list that moves with the clock: a session must come to its end although
 * a page stays open.
 */
const RECENT_MS = 60_000;
const EVENTS = ['pointerdown', 'keydown', 'wheel', 'touchstart', 'popstate'] as const;

/** Opening the page is a use of it. */
let activeAt = performance.now();

export function trackActivity(): void {
  for (const sign of EVENTS) {
    addEventListener(
      sign,
      () => {
        activeAt = performance.now();
      },
      { capture: true, passive: true },
    );
  }
}

export function wasActiveRecently(): boolean {
  return performance.now() - activeAt < RECENT_MS;
}
