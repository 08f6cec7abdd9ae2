/** Clients for tests, and what they sent. */
import { type Fetch, Sched, type SchedOptions } from '#sdk/index.ts';
import { TEST_KEY } from '#test/e2e/harness.ts';

/** One attempt of a call, as it went over the wire. */
export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly sent: Headers;
  readonly status: number;
  readonly answered: Headers;
}

export function clientAt(url: string, options: Partial<SchedOptions> = {}): Sched {
  return new Sched({ url, apiKey: TEST_KEY, ...options });
}

/** A client whose calls can be looked at. */
export function watchedClient(url: string, options: Partial<SchedOptions> = {}) {
  const seen: Seen[] = [];
  const watched: Fetch = async (address, init) => {
    const response = await fetch(address, init);
    const { method = '', headers } = init;
    const { status, headers: answered } = response;
    seen.push({ method, url: new URL(address), sent: new Headers(headers), status, answered });
    return response;
  };
  return { sched: clientAt(url, { ...options, fetch: watched }), seen };
}

let labels = 0;

/** Labels that nothing else in the store has. */
export function ownLabels(): Readonly<Record<string, string>> {
  return { sdk: `${process.pid}-${labels++}` };
}

/** What a call that must not succeed rejects with. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (outcome === null) throw new Error('It was expected to reject.');
  return outcome.error;
}
