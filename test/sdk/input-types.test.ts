/** The compiler explains a wrong request: its error names the rule that the request breaks. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '#test/docs/project.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const ROOT = join(import.meta.dirname, '../..');

const EXPLAINED: readonly (readonly [request: string, errors: readonly string[]])[] = [
  ["{ endpoint: 'a' }", ["Property 'delay' is missing", "'WithDelay'"]],
  ["{ delay: '5m' }", ["Property 'endpoint' is missing", "'ToUrl'"]],
  ["{ endpoint: 'a', delay: '5m', cron: '* * * * *' }", ["property 'cron'", "type 'OnlyOneTiming'"]],
  [
    "{ endpoint: 'a', endpoint_id: 'b', delay: '5m' }",
    ["property 'endpoint_id'", "type 'OnlyOneDestination'"],
  ],
  ["{ endpoint_id: 'b', method: 'POST' as string, delay: '5m' }", ['OnlyWithEndpoint']],
  ["{ endpoint: 'a', delay: '5m', timezone: 'UTC' }", ["property 'timezone'", 'OnlyWithCronOrLocalFireAt']],
  ["{ endpoint: 'a', delay: '5m', body: '', json: {} }", ["property 'json'", "type 'EitherBodyOrJson'"]],
  ["{ endpoint: 'a', delay: '5m', ttl: true }", ["'string | number | null | undefined'"]],
  ["{ endpoint: 'a', delay: '5m', notify: { on: ['expired'] } }", ["type 'EmptyWithoutEndpointId'"]],
  ["{ endpoint: 'a', delay: '5m', timeout: '5s' }", ["'timeout' does not exist"]],
];

test('each mistake has one error, which names the rule', () => {
  const folder = temporaryDirectory();
  const calls = EXPLAINED.map(([request]) => `sched.schedules.create(${request});`);
  write(
    join(folder, 'wrong.ts'),
    [
      `import type { Sched } from '${join(ROOT, 'sdk/src/index.ts')}';`,
      'declare const sched: Sched;',
      ...calls,
    ].join('\n'),
  );
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  const { stdout } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    [...options, '--allowImportingTsExtensions', '--noErrorTruncation', 'false', 'wrong.ts'],
    { cwd: folder, encoding: 'utf8' },
  );
  const errors = stdout.split(/^(?=wrong\.ts\()/m).filter((text) => text !== '');
  expect(errors).toHaveLength(EXPLAINED.length);
  for (const [i, [request, parts]] of EXPLAINED.entries()) {
    for (const part of parts) expect(errors[i], request).toContain(part);
  }
});
