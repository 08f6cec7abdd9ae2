/** What a hook can do with a request that it received. */
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
  /** Acts on the head alone: the body is not read. */
  readonly leavesBody?: boolean;
  act(exchange: Exchange): void | Promise<void>;
}

export interface AnswerOptions {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Ends the connection with the answer instead of keeping it open: as it says, or without a word of it. */
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

/** Answers on the head alone, while the body is still coming. */
export function answerUnread(status: number): Behaviour {
  return { ...answer(status), leavesBody: true };
}

export function redirect(status: number, location: string): Behaviour {
  return answer(status, { headers: { location } });
}

/** Informational answers before the final one. */
export function answerAfterInformation(status: number): Behaviour {
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

export interface Cuttable extends Behaviour {
  /** When the other side has ended the connection. */
  readonly cut: Promise<void>;
}

/** Never answers. */
export function hang(): Cuttable {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  return {
    act({ socket }) {
      socket.on('close', () => resolve());
    },
    cut,
  };
}

export interface Held extends Behaviour {
  /** Lets it go on, and all that come after. */
  release(): void;
}

/** Waits to be released. */
export function held(then: Behaviour = answer(200)): Held {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    async act(exchange) {
      await promise;
      await then.act(exchange);
    },
    release: resolve,
  };
}

/** A TCP reset: on the head alone, or when the whole request has been read. */
export function reset(when: 'before reading' | 'after reading'): Behaviour {
  return {
    leavesBody: when === 'before reading',
    act({ socket }) {
      socket.resetAndDestroy();
    },
  };
}

/** An orderly end of the connection, without a byte of an answer. */
export function closeUnanswered(): Behaviour {
  return {
    act({ request }) {
      request.socket.end();
    },
  };
}

/** These very bytes, and then the end of the connection. */
export function bytes(text: string, then: 'end' | 'reset' | 'stay' = 'end'): Behaviour {
  return {
    act({ request, socket }) {
      if (then === 'end') request.socket.end(text, 'latin1');
      else request.socket.write(text, 'latin1', () => then === 'reset' && socket.resetAndDestroy());
    },
  };
}

/** Informational answers without end, and never a final one. */
export function endlessInformation(): Cuttable {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  return {
    act({ response, socket }) {
      const timer = setInterval(() => response.writeContinue(), 1);
      socket.on('close', () => {
        clearInterval(timer);
        resolve();
      });
    },
    cut,
  };
}

/** A head of about this size. */
export function hugeHeaders(status: number, size: number): Behaviour {
  const headers = Object.fromEntries(
    Array.from({ length: Math.ceil(size / 1_000) }, (_, i) => [`x-filler-${i}`, 'x'.repeat(985)]),
  );
  return answer(status, { headers });
}

export interface Pouring extends Cuttable {
  /** Bytes of body given to the connection so far; its buffers hold some of them. */
  readonly bytesPoured: number;
}

/** A body without end: as fast as it is taken, or so many bytes each `everyMs`. */
export function endlessBody(status: number, pace?: { chunk: number; everyMs: number }): Pouring {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  const chunk = Buffer.alloc(pace?.chunk ?? 16_384, 'x');
  let bytesPoured = 0;
  return {
    act({ response, socket }) {
      socket.on('close', () => resolve());
      response.writeHead(status, { 'content-type': 'text/plain' });
      const pour = () => {
        while (!socket.destroyed) {
          bytesPoured += chunk.length;
          const isTaken = response.write(chunk);
          if (pace !== undefined) return void setTimeout(pour, pace.everyMs);
          if (!isTaken) return void response.once('drain', pour);
        }
      };
      pour();
    },
    cut,
    get bytesPoured() {
      return bytesPoured;
    },
  };
}
