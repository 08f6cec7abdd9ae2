import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { trackActivity } from './activity.ts';
import { get, getAutomatically, post } from './api.ts';

const MINUTE_MS = 60_000;
const sent: Headers[] = [];

/** The user clicks when a test begins. */
beforeEach(() => {
  sent.length = 0;
  const listeners: (() => void)[] = [];
  vi.stubGlobal('addEventListener', (_sign: string, listener: () => void) => listeners.push(listener));
  trackActivity();
  listeners[0]?.();
  vi.stubGlobal('fetch', async (_url: string, { headers }: { readonly headers: HeadersInit }) => {
    sent.push(new Headers(headers));
    return new Response('{}');
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function areAutomatic(): readonly boolean[] {
  return sent.map((headers) => headers.has('x-sched-automatic'));
}

test('a request within a minute of activity is not automatic, and a poll always is', async () => {
  await get('about');
  await post('preview');
  await getAutomatically('about');
  expect(areAutomatic()).toEqual([false, false, true]);
});

test('a request without recent activity is marked as automatic', async () => {
  const later = performance.now() + MINUTE_MS;
  vi.spyOn(performance, 'now').mockReturnValue(later);
  await get('about');
  await post('preview');
  expect(areAutomatic()).toEqual([true, true]);
});
