/** An abort ends a call at once, at any point, with the reason of the signal. */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Sched } from '#sdk/index.ts';
import type { Sched as Service } from '#test/e2e/harness.ts';
import { ONE_SHOT } from '#test/e2e/resources.ts';
import { clientAt, rejection, uniqueMetadata } from './client-calls.ts';
import { type Fault, startFaultyProxy } from './client-proxy.ts';

/** Far less than any pause or timeout here. */
const PROMPT_MS_MAX = 1_000;
const LONG = { 'retry-after': '30' };

/** The progress of an answer. */
interface AnswerProgress {
  readonly chunk: PromiseWithResolvers<void>;
  readonly end: PromiseWithResolvers<void>;
}

function listeningClient(url: string): { readonly sched: Sched; readonly progress: AnswerProgress } {
  const progress = { chunk: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() };
  const listening = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      progress.chunk.resolve();
    },
    flush: () => progress.end.resolve(),
  });
  const sched = clientAt(url, {
    async fetch(address, init) {
      const response = await fetch(address, init);
      return new Response(response.body?.pipeThrough(listening) ?? null, response);
    },
  });
  return { sched, progress };
}

/** A signal with a reason that the rejection must contain. */
function abortable() {
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  return {
    signal: controller.signal,
    abort: async (failed: Promise<unknown>): Promise<string> => {
      const before = performance.now();
      controller.abort(reason);
      if ((await failed) !== reason) return 'another reason';
      return performance.now() - before < PROMPT_MS_MAX ? 'prompt' : 'late';
    },
  };
}

export function aborts({ url }: Service): void {
  it('before the call: nothing is sent', async () => {
    await using proxy = await startFaultyProxy(url());
    const reason = new Error('changed my mind');
    const { schedules } = clientAt(proxy.url);
    const signal = AbortSignal.abort(reason);
    expect(await rejection(schedules.create(ONE_SHOT, { signal }))).toBe(reason);
    expect(await rejection(schedules.list({}, { signal }).page())).toBe(reason);
    expect(proxy.requests).toHaveLength(0);
  });

  it.each<readonly [string, Fault, keyof AnswerProgress]>([
    ['in the middle of the body', 'stall', 'chunk'],
    ['in the pause before the next attempt', { status: 503, headers: LONG, body: 'gone' }, 'end'],
  ])('%s', async (_where, fault, phase) => {
    await using proxy = await startFaultyProxy(url(), fault);
    const { sched, progress } = listeningClient(proxy.url);
    const { signal, abort } = abortable();
    const failed = rejection(sched.schedules.create(ONE_SHOT, { signal }));
    await progress[phase].promise;
    await setImmediate();
    expect(await abort(failed)).toBe('prompt');
    expect(proxy.requests).toHaveLength(1);
  });

  it('while the service does not answer', async () => {
    await using proxy = await startFaultyProxy(url(), 'hang');
    const { signal, abort } = abortable();
    const failed = rejection(clientAt(proxy.url).schedules.create(ONE_SHOT, { signal }));
    await proxy.waitForFault(1);
    expect(await abort(failed)).toBe('prompt');
    expect(proxy.requests).toHaveLength(1);
  });

  it('without a reason: the call rejects with an AbortError', async () => {
    const signal = AbortSignal.abort();
    const error = await rejection(clientAt(url()).schedules.list({}, { signal }).page());
    expect(error).toMatchObject({ name: 'AbortError' });
  });

  it('between two pages: the iteration ends', async () => {
    const metadata = uniqueMetadata();
    const { schedules } = clientAt(url());
    for (let i = 0; i < 3; i++) await schedules.create({ ...ONE_SHOT, metadata });
    const end = new AbortController();
    const found: string[] = [];
    const iterate = async () => {
      for await (const { id } of schedules.list({ metadata, limit: 2 }, { signal: end.signal })) {
        found.push(id);
        if (found.length === 2) end.abort(new Error('enough'));
      }
    };
    expect(await rejection(iterate())).toMatchObject({ message: 'enough' });
    expect(found).toHaveLength(2);
  });

  it('one signal for many calls: a finished call leaves no listener', async () => {
    const end = new AbortController();
    const { schedules } = clientAt(url());
    await schedules.create(ONE_SHOT, { signal: end.signal });
    await schedules.list({}, { signal: end.signal }).page();
    end.abort();
    expect(await schedules.list().page()).toMatchObject({ object: 'list' });
  });
}
