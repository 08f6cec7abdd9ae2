/** The behaviours of a hook: what it does with a request. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The TCP connection. */
  readonly socket: Socket;
}

export interface Behaviour {
  /** Acts when the head has arrived, without reading the body. */
  readonly ignoresBody?: boolean;
  act(exchange: Exchange): void | Promise<void>;
}

export interface AnswerOptions {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Closes the connection after the answer, with `connection: close` or without announcing it. */
  readonly closes?: boolean | 'silently';
}

export function answer(status: number, options: AnswerOptions = {}): Behaviour {
  const { headers, body = '', closes = false } = options;
  return {
    act({ response }) {
      response.writeHead(status, { ...headers, ...(closes === true ? { connection: 'close' } : {}) });
      response.end(body, () => closes === 'silently' && response.socket?.end());
    },
  };
}

/** Answers when the head has arrived, while the body is still sent. */
export function answerUnread(status: number): Behaviour {
  return { ...answer(status), ignoresBody: true };
}

export function redirect(status: number, location: string): Behaviour {
  return answer(status, { headers: { location } });
}

/** Sends informational answers before the final one. */
export function answerAfterInformational(status: number): Behaviour {
  return {
    act({ response }) {
      response.writeContinue();
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(status).end();
    },
  };
}

export function delayed(ms: number, then: Behaviour): Behaviour {
  return {
    async act(exchange) {
      await sleep(ms);
      await then.act(exchange);
    },
  };
}

export interface ObservedBehaviour extends Behaviour {
  /** Resolves when the sender has closed the connection. */
  readonly closed: Promise<void>;
}

/** Never answers. */
export function hang(): ObservedBehaviour {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  return {
    act({ socket }) {
      socket.on('close', () => resolve());
    },
    closed: cut,
  };
}

export interface HeldBehaviour extends Behaviour {
  /** Continues this request and all later ones. */
  release(): void;
}

/** Waits until the test calls `release`. */
export function held(then: Behaviour = answer(200)): HeldBehaviour {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    async act(exchange) {
      await promise;
      await then.act(exchange);
    },
    release: resolve,
  };
}

/** Resets the TCP connection, before or after reading the body. */
export function reset(when: 'before reading' | 'after reading'): Behaviour {
  return {
    ignoresBody: when === 'before reading',
    act({ socket }) {
      socket.resetAndDestroy();
    },
  };
}

/** Closes the connection normally without an answer. */
export function closeUnanswered(): Behaviour {
  return {
    act({ request }) {
      request.socket.end();
    },
  };
}

/** Sends exactly these bytes, and then closes the connection by default. */
export function bytes(text: string, then: 'end' | 'reset' | 'stay' = 'end'): Behaviour {
  return {
    act({ request, socket }) {
      if (then === 'end') request.socket.end(text, 'latin1');
      else request.socket.write(text, 'latin1', () => then === 'reset' && socket.resetAndDestroy());
    },
  };
}

/** Sends informational answers forever, and no final one. */
export function endlessInformational(): ObservedBehaviour {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  return {
    act({ response, socket }) {
      const timer = setInterval(() => response.writeContinue(), 1);
      socket.on('close', () => {
        clearInterval(timer);
        resolve();
      });
    },
    closed: cut,
  };
}

/** Answers with a head of about this size. */
export function hugeHeaders(status: number, size: number): Behaviour {
  const headers = Object.fromEntries(
    Array.from({ length: Math.ceil(size / 1_000) }, (_, i) => [`x-filler-${i}`, 'x'.repeat(985)]),
  );
  return answer(status, { headers });
}

export interface EndlessBody extends ObservedBehaviour {
  /** Bytes of the body written to the socket so far, including its buffers. */
  readonly bytesWritten: number;
}

/** Sends an endless body as fast as it is read, or `chunk` bytes each `everyMs`. */
export function endlessBody(status: number, pace?: { chunk: number; everyMs: number }): EndlessBody {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  const chunk = Buffer.alloc(pace?.chunk ?? 16_384, 'x');
  let bytesPoured = 0;
  return {
    act({ response, socket }) {
      socket.on('close', () => resolve());
      response.writeHead(status, { 'content-type': 'text/plain' });
      const writeMore = () => {
        while (!socket.destroyed) {
          bytesPoured += chunk.length;
          const hasCapacity = response.write(chunk);
          if (pace !== undefined) return void setTimeout(writeMore, pace.everyMs);
          if (!hasCapacity) return void response.once('drain', writeMore);
        }
      };
      writeMore();
    },
    closed: cut,
    get bytesWritten() {
      return bytesPoured;
    },
  };
}
