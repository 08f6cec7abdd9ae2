/** The receivers of the README accept what Sched signs. `test/docs` runs the programs of the README. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { pageAt } from '#test/docs/pages.ts';
import { readersProject, write } from '#test/docs/project.ts';
import { signedHeaders } from './signing.ts';

const SECRET = 'whsec_b25seSBmb3IgbG9jYWwgZGV2ZWxvcG1lbnQgdXNl';
const BODY = '{"hello":"world"}';

/** Calls the handler of each module with a signed request and with a forged one. */
const DRIVER = `
  const { names, headers, body } = JSON.parse(process.argv[2]);
  console.log = () => {};
  for (const name of names) {
    const { POST } = await import(name);
    const statuses = [];
    for (const sent of [body, body + ' ']) {
      const request = new Request('https://example.com/hook', { method: 'POST', headers, body: sent });
      statuses.push((await POST(request)).status);
    }
    process.stdout.write(statuses.join(' ') + '\\n');
  }
`;

test('the receivers of the README accept a signed request and refuse a forged one', async () => {
  const folder = readersProject();
  const blocks = pageAt('sdk/README.md').blocks.filter(({ text }) => text.includes('export '));
  const exported = /export (const|async function) POST\b/;
  const names = blocks
    .filter(({ language, text }) => language === 'ts' && exported.test(text))
    .map(({ text }, i) => {
      write(join(folder, `receiver-${i}.ts`), text);
      return `./receiver-${i}.ts`;
    });
  expect(names).toHaveLength(4);
  write(join(folder, 'driver.ts'), DRIVER);
  const headers = signedHeaders({ secrets: [SECRET], body: BODY });
  const given = JSON.stringify({ names, headers, body: BODY });
  const { stdout } = await promisify(execFile)(process.execPath, ['driver.ts', given], { cwd: folder });
  expect(stdout).toBe('204 401\n'.repeat(4));
});
