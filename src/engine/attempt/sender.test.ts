import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { OutboundRequest, SendResult } from '#src/ports/egress.ts';
import { OK, ScriptedEgress, type Sent, VirtualTime } from '#test/engine-harness.ts';
import { Sender } from './sender.ts';

const REQUEST: OutboundRequest = {
  customer: 1 as Partition,
  isOverdue: false,
  excerptBytesMax: 0,
  method: 'POST',
  url: new URL('https://example.com/hook'),
  headers: [],
  body: null,
};

/** A sender whose requests hang until the test answers them. */
function setUp() {
  const time = new VirtualTime(instant(0));
  const egress = new ScriptedEgress(time);
  egress.respond = () => null;
  const sender = new Sender({ egress, timers: time });
  const ended: SendResult[] = [];
  const send = (timeoutMs: number): Sent => {
    void sender.send(REQUEST, timeoutMs, () => {}).then((exchange) => ended.push(exchange));
    const sent = egress.sent.at(-1);
    if (sent === undefined) throw new Error('Nothing was sent.');
    return sent;
  };
  return { time, egress, sender, ended, send };
}

describe('a request', () => {
  test('may end at once, for example if its destination is not allowed', async () => {
    const time = new VirtualTime(instant(0));
    const egress = {
      send: (_: OutboundRequest, onEnd: (result: typeof OK) => void) => {
        onEnd(OK);
        return () => {};
      },
      warm: () => {},
      close: async () => {},
    };
    const sender = new Sender({ egress, timers: time });
    expect(await sender.send({ ...REQUEST, body: Buffer.from('1234') }, 30_000, () => {})).toEqual(OK);
    expect(time.pending).toBe(0);
  });

  test('ends with any answer or failure, and leaves no timer behind', async () => {
    const { time, ended, send } = setUp();
    const answers = [
      OK,
      { kind: 'failed', failure: 'connection_reset' },
      { kind: 'failed', failure: 'address_not_allowed' },
      { kind: 'failed', failure: 'name_not_found' },
    ] as const;
    for (const answer of answers) send(30_000).answer(answer);
    await time.settled();
    expect(ended).toEqual(answers);
    expect(time.pending).toBe(0);
  });

  test('is sent unchanged, and is not aborted before its timeout', async () => {
    const { time, send, ended } = setUp();
    const sent = send(30_000);
    await time.advance(29_999);
    expect(sent.request).toBe(REQUEST);
    expect([sent.isBrokenOff, ended]).toEqual([false, []]);
  });

  test('is aborted at its timeout, to the millisecond, and leaves no timer behind', async () => {
    const { time, ended, send } = setUp();
    const sent = send(1_500);
    await time.advance(1_499);
    expect([sent.isBrokenOff, ended]).toEqual([false, []]);
    await time.advance(1);
    expect([sent.isBrokenOff, ended]).toEqual([true, [{ kind: 'failed', failure: 'timeout' }]]);
    expect(time.pending).toBe(0);
  });

  test('that was answered is not aborted later', async () => {
    const { time, ended, send } = setUp();
    const sent = send(1_000);
    sent.answer(OK);
    await time.advance(10_000);
    expect([sent.isBrokenOff, ended]).toEqual([false, [OK]]);
  });

  test('that timed out ignores a later answer', async () => {
    const { time, ended, send } = setUp();
    const sent = send(1_000);
    await time.advance(1_000);
    sent.answer(OK);
    await time.settled();
    expect(ended).toEqual([{ kind: 'failed', failure: 'timeout' }]);
  });

  test('has failed if the egress throws, which it promises not to do, and leaves no timer behind', async () => {
    const time = new VirtualTime(instant(0));
    const send = () => {
      throw new Error('no');
    };
    const egress = { send, warm: () => {}, close: async () => {} };
    const exchange = await new Sender({ egress, timers: time }).send(REQUEST, 1_000, () => {});
    expect(exchange).toEqual({ kind: 'failed', failure: 'egress_error' });
    expect(time.pending).toBe(0);
  });
});

describe('an interruption', () => {
  test('aborts every request in flight, and none that has ended', async () => {
    const { time, sender, ended, send } = setUp();
    const answered = send(1_000);
    answered.answer(OK);
    await time.settled();
    const hanging = [send(1_000), send(2_000)];
    sender.interrupt();
    await time.settled();
    expect(ended).toEqual([
      OK,
      { kind: 'failed', failure: 'interrupted' },
      { kind: 'failed', failure: 'interrupted' },
    ]);
    expect([answered, ...hanging].map(({ isBrokenOff }) => isBrokenOff)).toEqual([false, true, true]);
    expect(time.pending).toBe(0);
  });

  test('is final, and a later answer is ignored', async () => {
    const { time, sender, ended, send } = setUp();
    const sent = send(1_000);
    sender.interrupt();
    sent.answer(OK);
    await time.advance(10_000);
    expect(ended).toEqual([{ kind: 'failed', failure: 'interrupted' }]);
  });
});
