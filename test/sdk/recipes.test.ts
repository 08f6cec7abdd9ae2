/** The receivers of the recipes do what the page says, with notifications and alerts that are signed here. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { WEBHOOK_EXAMPLES } from '#src/api/contract/webhook-examples.ts';
import { pageAt } from '#test/docs/pages.ts';
import { readersProject, write } from '#test/docs/project.ts';
import { TEST_KEY, useSched } from '#test/e2e/harness.ts';
import type { Schedule } from '#test/e2e/resources.ts';
import { signedHeaders } from './signing.ts';

const { api, url } = useSched();

const SECRET = 'whsec_b25seSBmb3IgbG9jYWwgZGV2ZWxvcG1lbnQgdXNl';
const { notification, alert } = WEBHOOK_EXAMPLES;
const OTHER_ID = 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6b';

/** Sends bodies to the handler of a module, and prints the statuses after what the handler printed. */
const DRIVER = `
  const { POST } = await import('./recipe.ts');
  for (const { headers, body } of JSON.parse(process.argv[2])) {
    const request = new Request('https://example.com/hook', { method: 'POST', headers, body });
    console.error((await POST(request)).status);
  }
`;

interface Composed {
  readonly id: string;
}

/** Runs the receiver of a recipe, and returns the lines that it prints. */
async function received(mark: string, bodies: readonly Composed[]): Promise<readonly string[]> {
  const blocks = pageAt('docs/recipes.md').blocks.filter(
    ({ text }) => text.includes('receiver({') && text.includes(mark),
  );
  expect(blocks).toHaveLength(1);
  const folder = readersProject();
  // This service sends to no plain http:// destination.
  const text = (blocks[0]?.text ?? '').replaceAll('http://127.0.0.1:8080', 'https://example.com');
  write(join(folder, 'recipe.ts'), text);
  write(join(folder, 'driver.ts'), DRIVER);
  const requests = bodies.map((each) => {
    const body = JSON.stringify(each);
    return { body, headers: signedHeaders({ secrets: [SECRET], body, deliveryId: each.id }) };
  });
  const env = { SCHED_URL: url(), SCHED_API_KEY: TEST_KEY, SCHED_SIGNING_SECRET: SECRET };
  const run = promisify(execFile);
  const args = ['driver.ts', JSON.stringify(requests)];
  const { stderr } = await run(process.execPath, args, { cwd: folder, env });
  return stderr.trimEnd().split('\n');
}

test('"Tell me when it fails" prints the failure and the answer, once', async () => {
  const body = notification.default.value;
  expect(await received('response.excerpt', [body, body])).toEqual([
    'daily-report: dead_letter, HTTP 503',
    'upstream timed out',
    '204',
    '200',
  ]);
});

test('"Chain a second delivery" creates one schedule for a delivery, also for a replayed notification', async () => {
  const body = notification.succeeded.value;
  const replay = { ...body, id: OTHER_ID };
  const failed = { ...notification.default.value, id: 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6c' };
  expect(await received('publish-', [body, body, replay, failed])).toEqual(['204', '204', '204', '204']);
  const { json } = await api.get<{ readonly data: readonly Schedule[] }>('/v1/schedules');
  expect(json.data.map(({ endpoint }) => endpoint)).toEqual(['https://example.com/inbox/hook/publish']);
});

test('"Alert a channel" prints what is wrong', async () => {
  expect(await received('alert.type', [alert.default.value])).toEqual([
    `Wrong: ${alert.default.value.data.title}. ${alert.default.value.data.text}`,
    '204',
  ]);
});
