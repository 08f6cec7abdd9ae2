/** One HTTP exchange: it sends a request and reads the whole answer within a time limit. */
import { connectionError, SchedError, unexpectedAnswer } from './errors.ts';
import { onAbort } from './on-abort.ts';

/** The part of `fetch` that the client uses. The `fetch` of every runtime fits. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface OutgoingRequest {
  readonly method: string;
  /** The whole URL, with the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Limits {
  /** The limit for the whole exchange, including the body of the answer. */
  readonly timeoutMs: number;
  /** The signal of the caller. An abort rejects with its reason. */
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  /** Whether a write by name found everything equal, and wrote nothing. */
  readonly isUnchanged: boolean;
  readonly text: string;
}

/** A page stays below this unless its metadata is enormous. A smaller `limit` helps then. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** A bound is needed, because an error can be its own cause. */
const CAUSES_MAX = 8;

interface Failure {
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * Rejects with a `SchedError`, or with the reason of the caller's signal. The exchange races against its abort signal,
 * because some runtimes do not stop reading a body when their signal is aborted. No timer or listener is left behind.
 */
export async function exchange(fetch: Fetch, request: OutgoingRequest, limits: Limits): Promise<Answer> {
  const { timeoutMs, signal } = limits;
  signal?.throwIfAborted();
  const end = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    end.signal.addEventListener('abort', () => reject(end.signal.reason as Error), { once: true });
  });
  const removeListener = signal && onAbort(signal, () => end.abort(signal.reason));
  const timer = setTimeout(() => end.abort(), timeoutMs);
  try {
    return await Promise.race([fetchAnswer(fetch, request, end.signal), ended]);
  } catch (error) {
    signal?.throwIfAborted();
    if (end.signal.aborted) {
      throw connectionError(
        'timeout',
        `${describeRequest(request)} was not answered within ${timeoutMs} ms.`,
      );
    }
    if (error instanceof SchedError) throw error;
    throw connectionError(
      'connection_failed',
      `${describeRequest(request)} was not answered: ${findReason(error)}.`,
      error,
    );
  } finally {
    clearTimeout(timer);
    removeListener?.();
  }
}

async function fetchAnswer(fetch: Fetch, request: OutgoingRequest, signal: AbortSignal): Promise<Answer> {
  const { method, url, headers, body } = request;
  // Redirects are not followed. A POST would become a GET, and the API key is only for this address.
  const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
  const { status } = response;
  const requestId = response.headers.get('sched-request-id');
  const text = await readText(response);
  if (text === null) {
    throw unexpectedAnswer(
      status,
      requestId,
      `with more than ${ANSWER_BYTES_MAX} bytes. Use a smaller limit.`,
    );
  }
  return {
    status,
    requestId,
    retryAfter: response.headers.get('retry-after'),
    isUnchanged: response.headers.get('sched-unchanged') === 'true',
    text,
  };
}

/** Resolves with null if the body is too large. */
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

/** Leaves out the query, because metadata and cursors must not reach a log. */
function describeRequest({ method, url }: OutgoingRequest): string {
  return `${method} ${url.split('?', 1)[0]}`;
}

/** The codes of the commonest failures in words. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is unknown',
};

/** Runtimes only say "fetch failed". The real reason is in the cause, one or two levels down. */
function findReason(error: unknown): string {
  let deepest = (error ?? {}) as Failure;
  for (let depth = 0; depth < CAUSES_MAX && deepest.cause instanceof Error; depth++) deepest = deepest.cause;
  const reason = String(deepest.code ?? deepest.message ?? error);
  return Object.hasOwn(MEANINGS, reason) ? `${MEANINGS[reason]} (${reason})` : reason;
}
