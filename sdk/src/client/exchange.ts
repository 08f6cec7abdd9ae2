/** One HTTP exchange: a request goes out, and its whole answer comes within a time limit or not at all. */
import { connectionError, SchedError, unexpectedAnswer } from './errors.ts';
import { onAbort } from './on-abort.ts';

/** What the client needs of `fetch`; the one of any runtime fits. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface OutgoingRequest {
  readonly method: string;
  /** Where to, with the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Limits {
  /** For the whole of it, the body of the answer too. */
  readonly timeoutMs: number;
  /** The caller's: an abort rejects with its reason. */
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** More than any page has, unless its labels are enormous: then a smaller `limit` helps. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** An error may be its own cause. */
const CAUSES_MAX = 8;

interface Failure {
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * Rejects with a `SchedError`, or with the reason of the caller's signal. The exchange is raced against its own
 * end, because not every runtime stops reading a body when its signal is aborted; afterwards neither a timer nor a
 * listener is left.
 */
export async function exchange(fetch: Fetch, sending: OutgoingRequest, limits: Limits): Promise<Answer> {
  const { timeoutMs, signal } = limits;
  signal?.throwIfAborted();
  const end = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    end.signal.addEventListener('abort', () => reject(end.signal.reason as Error), { once: true });
  });
  const forget = signal && onAbort(signal, () => end.abort(signal.reason));
  const timer = setTimeout(() => end.abort(), timeoutMs);
  try {
    return await Promise.race([fetchAnswer(fetch, sending, end.signal), ended]);
  } catch (error) {
    signal?.throwIfAborted();
    if (end.signal.aborted) {
      throw connectionError(
        'timeout',
        `${describeRequest(sending)} was not answered within ${timeoutMs} ms.`,
      );
    }
    if (error instanceof SchedError) throw error;
    throw connectionError(
      'connection_failed',
      `${describeRequest(sending)} was not answered: ${findReason(error)}.`,
      error,
    );
  } finally {
    clearTimeout(timer);
    forget?.();
  }
}

async function fetchAnswer(fetch: Fetch, sending: OutgoingRequest, signal: AbortSignal): Promise<Answer> {
  const { method, url, headers, body } = sending;
  // Redirects are not followed: a POST would arrive as a GET, and the key is for this address only.
  const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
  const { status } = response;
  const requestId = response.headers.get('sched-request-id');
  const text = await readText(response);
  if (text === null) {
    throw unexpectedAnswer(
      status,
      requestId,
      `with more than ${ANSWER_BYTES_MAX} bytes: ask for fewer by limit.`,
    );
  }
  return { status, requestId, retryAfter: response.headers.get('retry-after'), text };
}

/** Null where there is too much of it. */
async function readText({ body }: Response): Promise<string | null> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > ANSWER_BYTES_MAX) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Without the query: labels and cursors are nobody's business in a log. */
function describeRequest({ method, url }: OutgoingRequest): string {
  return `${method} ${url.split('?', 1)[0]}`;
}

/** Runtimes say only "fetch failed", and hide the reason one or two levels below. */
function findReason(error: unknown): string {
  let deepest = (error ?? {}) as Failure;
  for (let depth = 0; depth < CAUSES_MAX && deepest.cause instanceof Error; depth++) deepest = deepest.cause;
  return String(deepest.code ?? deepest.message ?? error);
}
