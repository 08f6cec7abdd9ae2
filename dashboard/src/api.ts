/**
 * Requests to the control plane. A change carries the CSRF token of the session. A response that is not a success becomes
 * an `ApiError` with the code and the field that the service names.
 */
import type { ErrorBody } from '../../sdk/src/api-types.ts';
import type { SessionInfo, WhoAmI } from '../../src/control/http/contract.ts';
import { wasActiveRecently } from './activity.ts';
import { parseResponse } from './model/parse-response.ts';
import { hrefTo, navigate } from './router.ts';
import { csrf, goToSignIn, isDev, session } from './session.ts';

const API = '/dashboard/api/';
/** Longer than any response should take. After it the page shows an error. */
const RESPONSE_MS_MAX = 20_000;

export class ApiError extends Error {
  /** 0: there was no response. */
  readonly status: number;
  readonly code: string;
  /** The field that the error belongs to. */
  readonly param: string | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    status: number,
    code: string,
    message: string,
    more: {
      readonly param?: string | null;
      readonly requestId?: string | null;
      readonly retryAfterSeconds?: number | null;
    } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.param = more.param ?? null;
    this.requestId = more.requestId ?? null;
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
  }
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request<T>('GET', path, undefined, signal);
}

/** An automatic request of the page: it does not keep the session alive. */
export function getAutomatically<T>(path: string): Promise<T> {
  return request<T>('GET', path, undefined, undefined, true);
}

export function post<T>(path: string, body: object = {}, signal?: AbortSignal): Promise<T> {
  return request<T>('POST', path, body, signal);
}

export function patch<T>(path: string, body: object): Promise<T> {
  return request<T>('PATCH', path, body);
}

/** Turns anything that was thrown into an error that can be shown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'page_fault', 'The page failed. Reload it. If it fails again, report it.');
}

async function request<T>(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
  isAutomatic = !wasActiveRecently(),
): Promise<T> {
  const answer = await send(method, path, isAutomatic, body, signal);
  const text = await answer.text();
  if (answer.ok) return parseResponse(text) as T;
  const error = toApiError(answer, text);
  if (error.code === 'not_signed_in') {
    if (!isDev.peek()) goToSignIn();
    // A restart of `sched dev` without `--data-dir` ends every session.
    else if (await renewSession()) return request<T>(method, path, body, signal);
  }
  // A user who signed in again in another tab has a new token.
  if (error.code === 'bad_csrf_token' && (await renewSession()))
    return request<T>(method, path, body, signal);
  throw error;
}

/** Loads the session. Returns whether the same user has another session now. */
export async function renewSession(): Promise<boolean> {
  const before = session.peek();
  const after = await findSession();
  if (after === null) {
    goToSignIn();
    return false;
  }
  session.value = after;
  if (typeof before === 'string' || before.csrf === after.csrf) return false;
  // After a restart of `sched dev` without `--data-dir` the same person is another user.
  return before.user.id === after.user.id || after.is_dev;
}

let isLeaving = false;

/** Signs out. A stream or a request that ends with the session must not make the page begin another one. */
export async function signOut(path: 'logout' | 'logout-everywhere'): Promise<void> {
  isLeaving = true;
  try {
    await post(path);
    session.value = 'none';
    navigate(hrefTo('login'));
  } finally {
    isLeaving = false;
  }
}

let opening: Promise<SessionInfo> | null = null;

async function findSession(): Promise<SessionInfo | null> {
  const found = await get<WhoAmI>('whoami');
  if (found === null || 'user' in found) return found;
  if (isLeaving || session.peek() === 'none') return null;
  opening ??= openLocalSession().finally(() => {
    opening = null;
  });
  return opening;
}

/** `sched dev` gives a session to a page that has none. */
async function openLocalSession(): Promise<SessionInfo> {
  await post('local-session');
  // A browser that keeps no cookies would need a session for each request.
  const found = await get<WhoAmI>('whoami');
  if (found !== null && 'user' in found) return found;
  throw new ApiError(
    0,
    'no_cookie',
    'The browser keeps no cookies of this page. Allow them, then try again.',
  );
}

async function send(
  method: string,
  path: string,
  isAutomatic: boolean,
  body?: object,
  signal?: AbortSignal,
): Promise<Response> {
  const timeout = AbortSignal.timeout(RESPONSE_MS_MAX);
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    headers['x-sched-csrf'] = csrf();
  }
  if (isAutomatic) headers['x-sched-automatic'] = '1';
  try {
    return await fetch(API + path, {
      method,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ApiError(
      0,
      'no_answer',
      'The service does not answer. Check that it is running and reachable.',
    );
  }
}

function toApiError(answer: Response, text: string): ApiError {
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null;
  const error = parseError(text);
  if (error === null) {
    return new ApiError(answer.status, 'unreadable_response', `The service answered ${answer.status}.`, {
      retryAfterSeconds,
    });
  }
  return new ApiError(answer.status, error.code, error.message, {
    param: error.param,
    requestId: error.request_id,
    retryAfterSeconds,
  });
}

function parseError(text: string): ErrorBody['error'] | null {
  try {
    const { error } = JSON.parse(text) as Partial<ErrorBody>;
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : null;
  } catch {
    return null;
  }
}
