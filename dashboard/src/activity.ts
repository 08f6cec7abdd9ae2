/**
 * Whether the user is active on the page. A request without a recent click, key or touch is automatic, such as one for a list
 * that moves with the clock. Automatic requests do not keep a session alive, so that a page that stays open signs out.
 */
const RECENT_MS = 60_000;
const EVENTS = ['pointerdown', 'keydown', 'wheel', 'touchstart', 'popstate'] as const;

/** Opening the page counts as activity. */
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
