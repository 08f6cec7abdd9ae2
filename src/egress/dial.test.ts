/** Tests the order in which several addresses are tried, with scripted sockets. */
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Address, parseAddress } from '#src/domain/public-address.ts';
import { ANSWERED, loopbackEgress, ScriptedTimers, send, startHttpsServer } from '#test/egress/harness.ts';
import { dial } from './dial.ts';

const HEAD_START_MS = 200;

function addresses(...texts: readonly string[]): readonly Address[] {
  return texts.map((text) => {
    const address = parseAddress(text);
    if (address === undefined) throw new Error(text);
    return address;
  });
}

class DialHarness {
  readonly timers = new ScriptedTimers();
  readonly dialed: string[] = [];
  readonly sockets = new Map<string, Socket>();
  readonly aborter = new AbortController();
  /** The address of the peer, if it differs from the dialed one. */
  peer: string | undefined;

  readonly connect = (address: Address) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: this.peer ?? address.text });
    this.dialed.push(address.text);
    this.sockets.set(address.text, socket);
    return socket;
  };

  dial(...texts: readonly string[]): Promise<Socket> {
    return dial(addresses(...texts), 443, this, this.aborter.signal);
  }

  answer(text: string): void {
    this.sockets.get(text)?.emit('connect');
  }

  fail(text: string, code = 'ECONNREFUSED'): void {
    this.sockets.get(text)?.emit('error', Object.assign(new Error(text), { code }));
  }
}

describe('of several addresses', () => {
  test('the families alternate, IPv4 first, and only the first few addresses are tried', async () => {
    const harness = new DialHarness();
    const dialed = harness.dial('::1', '::2', '::3', '::4', '::5', '127.0.0.1', '127.0.0.2');
    const order = ['127.0.0.1', '::1', '127.0.0.2', '::2', '::3', '::4'];
    for (const text of order) harness.fail(text);
    await expect(dialed).rejects.toMatchObject({ code: 'ECONNREFUSED', message: '::4' });
    expect(harness.dialed).toEqual(order);
    expect(harness.timers.pending()).toEqual([]);
  });

  test('the next one is tried when the last one is silent, and the first to connect wins', async () => {
    const harness = new DialHarness();
    const dialed = harness.dial('127.0.0.1', '127.0.0.2', '127.0.0.3');
    expect(harness.dialed).toEqual(['127.0.0.1']);
    harness.timers.fire(HEAD_START_MS);
    expect(harness.dialed).toEqual(['127.0.0.1', '127.0.0.2']);
    harness.answer('127.0.0.2');
    expect(await dialed).toBe(harness.sockets.get('127.0.0.2'));
    expect(harness.sockets.get('127.0.0.1')?.destroyed).toBe(true);
    expect(harness.sockets.get('127.0.0.2')?.destroyed).toBe(false);
    expect(harness.timers.pending()).toEqual([]);
    harness.fail('127.0.0.1');
    harness.answer('127.0.0.1');
    expect(harness.dialed).toHaveLength(2);
  });

  test('an earlier one that is slow can still win', async () => {
    const harness = new DialHarness();
    const dialed = harness.dial('127.0.0.1', '127.0.0.2');
    harness.timers.fire(HEAD_START_MS);
    harness.fail('127.0.0.2');
    harness.answer('127.0.0.1');
    expect(await dialed).toBe(harness.sockets.get('127.0.0.1'));
  });

  test('all are closed when the request is aborted', async () => {
    const harness = new DialHarness();
    const dialed = harness.dial('127.0.0.1', '127.0.0.2');
    harness.timers.fire(HEAD_START_MS);
    harness.aborter.abort();
    await expect(dialed).rejects.toMatchObject({ failure: 'aborted' });
    for (const socket of harness.sockets.values()) expect(socket.destroyed).toBe(true);
    await expect(harness.dial('127.0.0.3')).rejects.toMatchObject({ failure: 'aborted' });
    expect(harness.dialed).toHaveLength(2);
  });

  test('a peer with another address than the dialed one ends the attempt', async () => {
    const harness = new DialHarness();
    harness.peer = '127.0.0.9';
    const dialed = harness.dial('127.0.0.1', '127.0.0.2');
    harness.answer('127.0.0.1');
    await expect(dialed).rejects.toMatchObject({ failure: 'address_not_allowed' });
    expect(harness.sockets.get('127.0.0.1')?.destroyed).toBe(true);
    expect(harness.dialed).toHaveLength(1);
  });

  test('a connection that cannot be started is a failure', async () => {
    const harness = new DialHarness();
    const connect = () => {
      throw new RangeError('port');
    };
    const dialed = dial(
      addresses('127.0.0.1'),
      443,
      { connect, timers: harness.timers },
      harness.aborter.signal,
    );
    await expect(dialed).rejects.toThrow('port');
  });

  test('one that refuses connections is skipped, with real sockets', async () => {
    const server = await startHttpsServer((response) => response.end());
    const egress = loopbackEgress({ resolve: () => Promise.resolve(['127.0.0.3', '::1', '127.0.0.1']) });
    expect(await send(egress, server.url('/', 'receiver.test'))).toEqual(ANSWERED);
  });
});
