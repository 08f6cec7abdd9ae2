import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { get, getAutomatically, post } from './api.ts';

const MINUTE_MS = 60_000;
const sent: Headers[] = [];

beforeEach(() => {
  sent.length = 0;
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

test('requests count as use of the page for a minute after it was used, those of polls never', async () => {
  await get('about');
  await post('preview');
  await getAutomatically('about');
  expect(areAutomatic()).toEqual([false, false, true]);
});

test('requests that nobody can have led to are marked as the own ones of the page', async () => {
  const later = performance.now() + MINUTE_MS;
  vi.spyOn(performance, 'now').mockReturnValue(later);
  await get('about');
  await post('preview');
  expect(areAutomatic()).toEqual([true, true]);
});
