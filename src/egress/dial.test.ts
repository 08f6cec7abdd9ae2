/** Several addresses, scripted sockets. */
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Address, parseAddress } from '#src/domain/public-address.ts';
import { ANSWERED, httpsRig, loopbackEgress, ScriptedTimers, send } from '#test/egress/rig.ts';
import { dial } from './dial.ts';

const HEAD_START_MS = 200;

function addresses(...texts: readonly string[]): readonly Address[] {
  return texts.map((text) => {
    const address = parseAddress(text);
    if (address === undefined) throw new Error(text);
    return address;
  });
}

class Switchboard {
  readonly timers = new ScriptedTimers();
  readonly calls: string[] = [];
  readonly sockets = new Map<string, Socket>();
  readonly aborter = new AbortController();
  /** Who answers, where it is not who was called. */
  peer: string | undefined;

  readonly connect = (address: Address) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: this.peer ?? address.text });
    this.calls.push(address.text);
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
  test('the families take turns, IPv4 first, and not all are tried', async () => {
    const board = new Switchboard();
    const dialed = board.dial('::1', '::2', '::3', '::4', '::5', '127.0.0.1', '127.0.0.2');
    const order = ['127.0.0.1', '::1', '127.0.0.2', '::2', '::3', '::4'];
    for (const text of order) board.fail(text);
    await expect(dialed).rejects.toMatchObject({ code: 'ECONNREFUSED', message: '::4' });
    expect(board.calls).toEqual(order);
    expect(board.timers.waiting()).toEqual([]);
  });

  test('the next is tried when the last is silent, and the first to connect wins', async () => {
    const board = new Switchboard();
    const dialed = board.dial('127.0.0.1', '127.0.0.2', '127.0.0.3');
    expect(board.calls).toEqual(['127.0.0.1']);
    board.timers.pass(HEAD_START_MS);
    expect(board.calls).toEqual(['127.0.0.1', '127.0.0.2']);
    board.answer('127.0.0.2');
    expect(await dialed).toBe(board.sockets.get('127.0.0.2'));
    expect(board.sockets.get('127.0.0.1')?.destroyed).toBe(true);
    expect(board.sockets.get('127.0.0.2')?.destroyed).toBe(false);
    expect(board.timers.waiting()).toEqual([]);
    board.fail('127.0.0.1');
    board.answer('127.0.0.1');
    expect(board.calls).toHaveLength(2);
  });

  test('a slow one may still win', async () => {
    const board = new Switchboard();
    const dialed = board.dial('127.0.0.1', '127.0.0.2');
    board.timers.pass(HEAD_START_MS);
    board.fail('127.0.0.2');
    board.answer('127.0.0.1');
    expect(await dialed).toBe(board.sockets.get('127.0.0.1'));
  });

  test('all are given up when the request is broken off', async () => {
    const board = new Switchboard();
    const dialed = board.dial('127.0.0.1', '127.0.0.2');
    board.timers.pass(HEAD_START_MS);
    board.aborter.abort();
    await expect(dialed).rejects.toMatchObject({ result: { kind: 'failed', why: 'broken off' } });
    for (const socket of board.sockets.values()) expect(socket.destroyed).toBe(true);
    await expect(board.dial('127.0.0.3')).rejects.toMatchObject({ result: { why: 'broken off' } });
    expect(board.calls).toHaveLength(2);
  });

  test('one that is not who it should be ends it all', async () => {
    const board = new Switchboard();
    board.peer = '127.0.0.9';
    const dialed = board.dial('127.0.0.1', '127.0.0.2');
    board.answer('127.0.0.1');
    await expect(dialed).rejects.toMatchObject({ result: { kind: 'forbidden' } });
    expect(board.sockets.get('127.0.0.1')?.destroyed).toBe(true);
    expect(board.calls).toHaveLength(1);
  });

  test('a connection that cannot even be started is a failure', async () => {
    const board = new Switchboard();
    const connect = () => {
      throw new RangeError('port');
    };
    const dialed = dial(addresses('127.0.0.1'), 443, { connect, timers: board.timers }, board.aborter.signal);
    await expect(dialed).rejects.toThrow('port');
  });

  test('one that is down is passed over, for real', async () => {
    const rig = await httpsRig((response) => response.end());
    const egress = loopbackEgress({ resolve: () => Promise.resolve(['127.0.0.3', '::1', '127.0.0.1']) });
    expect(await send(egress, rig.url('/', 'receiver.test'))).toEqual(ANSWERED);
  });
});
