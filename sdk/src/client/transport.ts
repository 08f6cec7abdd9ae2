/** Makes calls to the API. A call is one HTTP exchange, or several if transient failures are retried. */
import { readAnswer } from './answer.ts';
import { SchedError } from './errors.ts';
import { type Answer, exchange, type OutgoingRequest } from './exchange.ts';
import {
  checkCallOptions,
  checkIdempotencyKey,
  checkTimeout,
  type Settings,
  type WriteOptions,
} from './options.ts';
import { writeJson } from './payload.ts';
import { backoffMs, isRetryable, parseRetryAfter } from './retry.ts';
import { sleep } from './sleep.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** The path below `/v1`. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly body?: object;
  /** Whether the call has an `Idempotency-Key`. */
  readonly hasIdempotencyKey?: boolean;
  /** Called before each retry. */
  readonly onRetry?: () => void;
  /** The value of `object` in the answer. */
  readonly answers: 'schedule' | 'delivery' | 'endpoint' | 'attempt_response' | 'plan' | 'list';
}

/** Sources of randomness and time, which tests replace. */
export interface Dependencies {
  random(): number;
  newKey(): string;
  nowMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const SYSTEM_DEPENDENCIES: Dependencies = {
  random: () => Math.random(),
  newKey: () => crypto.randomUUID(),
  nowMs: () => Date.now(),
  sleep,
};

/** The service then refuses fields that it would ignore. An older service ignores this header. */
const STRICT = { prefer: 'handling=strict' } as const;

export class Transport {
  readonly #settings: Settings;
  readonly #dependencies: Dependencies;

  constructor(settings: Settings, dependencies: Dependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
  }

  async call<T>(call: Call, options?: WriteOptions): Promise<T> {
    return (await this.exchange<T>(call, options)).object;
  }

  /** Returns the answer too, because some facts are only in its status and headers. */
  async exchange<T>(
    call: Call,
    options?: WriteOptions,
  ): Promise<{ readonly object: T; readonly answer: Answer }> {
    const { fetch, retries } = this.#settings;
    const { signal, idempotencyKey, timeoutMs = this.#settings.timeoutMs } = checkCallOptions(options);
    const request = this.#buildRequest(call, idempotencyKey);
    const limits = { signal, timeoutMs: checkTimeout(timeoutMs) };
    for (let attempts = 1; ; attempts++) {
      let retryAfter: string | null = null;
      try {
        const answer = await exchange(fetch, request, limits);
        retryAfter = answer.retryAfter;
        return { object: readAnswer<T>(answer, call.answers), answer };
      } catch (error) {
        if (!(error instanceof SchedError && isRetryable(error)) || attempts > retries) throw error;
      }
      call.onRetry?.();
      const askedMs = parseRetryAfter(retryAfter, this.#dependencies.nowMs());
      await this.#dependencies.sleep(backoffMs(attempts, this.#dependencies.random(), askedMs), signal);
    }
  }

  /** Built once for each call, so that a retry has the same key and the same bytes. */
  #buildRequest(
    { method, path, query, body, hasIdempotencyKey = false }: Call,
    idempotencyKey?: string,
  ): OutgoingRequest {
    const { base, headers, isStrict } = this.#settings;
    const search = query?.toString() ?? '';
    return {
      method,
      url: `${base}/v1${path}${search === '' ? '' : `?${search}`}`,
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(body !== undefined && isStrict && STRICT),
        ...(hasIdempotencyKey && {
          'idempotency-key': checkIdempotencyKey(idempotencyKey ?? this.#dependencies.newKey()),
        }),
      },
      body: body === undefined ? null : writeJson('The request', body),
    };
  }
}
