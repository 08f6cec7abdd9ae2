/** Clients for tests, and a record of their calls. */
import { type Fetch, Sched, type SchedOptions } from '#sdk/index.ts';
import { TEST_KEY } from '#test/e2e/harness.ts';

/** One attempt of a call, as it was sent and answered. */
export interface RecordedCall {
  readonly method: string;
  readonly url: URL;
  readonly sent: Headers;
  readonly status: number;
  readonly answered: Headers;
}

export function clientAt(url: string, options: Partial<SchedOptions> = {}): Sched {
  return new Sched({ url, apiKey: TEST_KEY, ...options });
}

/** A client that records its calls. */
export function recordingClient(url: string, options: Partial<SchedOptions> = {}) {
  const seen: RecordedCall[] = [];
  const watched: Fetch = async (address, init) => {
    const response = await fetch(address, init);
    const { method = '', headers } = init;
    const { status, headers: answered } = response;
    seen.push({ method, url: new URL(address), sent: new Headers(headers), status, answered });
    return response;
  };
  return { sched: clientAt(url, { ...options, fetch: watched }), seen };
}

let uniqueLabels = 0;

/** Metadata that nothing else in the store has. */
export function uniqueMetadata(): Readonly<Record<string, string>> {
  return { sdk: `${process.pid}-${uniqueLabels++}` };
}

/** A name that nothing else in the store has. */
export function uniqueName(): string {
  return `sdk-${process.pid}-${uniqueLabels++}`;
}

/** Resolves with the error of a call that must reject. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (outcome === null) throw new Error('The call was expected to reject.');
  return outcome.error;
}
