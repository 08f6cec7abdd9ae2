/** The executor and errors of the database. `lost-answers.test.ts` loses answers of a real server. */
import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { VirtualTime } from '#test/engine-harness.ts';
import { Executor, type ExecutorDependencies } from './executor.ts';
import { ONE_SERVER } from './placement.ts';
import { statements } from './statements.ts';
import { numberOfWriter } from './transaction-numbers.ts';

const VERB = [['removeGate', null, 1, 'https://example.com', Buffer.alloc(16)]] as const;

/** A connection whose statements and commits fail as told, and whose look-ups find `last`. */
function executorOn({
  last = 0,
  statement,
  commits = [],
}: {
  last?: number;
  statement?: Error;
  commits?: Error[];
}) {
  const sent: string[] = [];
  const time = new VirtualTime(instant(0));
  const client = {
    isConnected: true,
    send: async (sql: string) => {
      sent.push(sql.split(' ')[0] ?? '');
      if (statement !== undefined && sql.startsWith('DELETE')) throw statement;
      return { rows: [{}] };
    },
    commit: async () => {
      sent.push('COMMIT');
      const failure = commits.shift();
      if (failure !== undefined) throw failure;
    },
    sendIn: async () => {
      sent.push('look up');
      return { rows: [{ last }] };
    },
    waitUntilConnected: async () => true,
  } as unknown as ExecutorDependencies['client'];
  const executor = new Executor({
    client,
    clock: { now: () => instant(0) },
    timers: time,
    numberRow: () => numberOfWriter('w'),
    nextNumber: () => 2,
    statements: statements(ONE_SERVER),
    checksAtOnce: false,
  });
  return { executor, sent };
}

const UNKNOWN = () => new StoreUnavailable('the outcome is not known');

test('a commit that failed is looked up: it may have taken effect', async () => {
  const { executor, sent } = executorOn({ commits: [UNKNOWN()], last: 2 });
  expect(await executor.run([VERB])).toEqual(['done']);
  expect(sent).toEqual(['BEGIN', 'INSERT', 'DELETE', 'COMMIT', 'look up']);
});

test('it runs again if it had no effect', async () => {
  const { executor, sent } = executorOn({ commits: [UNKNOWN()], last: 3 });
  expect(await executor.run([VERB])).toEqual(['done']);
  expect(sent.filter((one) => one === 'COMMIT')).toHaveLength(2);
});

test('a transaction without a commit is not looked up, and a worker that is away does not hold the connection', async () => {
  const away = Object.assign(new DatabaseError('no connection to the worker', 0, 'error'), {
    code: '08006',
    severity: 'ERROR',
  });
  const { executor, sent } = executorOn({ statement: away });
  await expect(executor.run([VERB])).rejects.toThrow(StoreUnavailable);
  expect(sent).toEqual(['BEGIN', 'INSERT', 'DELETE', 'ROLLBACK']);
});
