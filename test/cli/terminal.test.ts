/** The output at a terminal: tables fit, and colours are the only control sequences. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, runAsAtTerminal, runAtTerminal, runPiped, withoutColours } from './command.ts';

const KEY = { SCHED_API_KEY: 'sk_test_terminalTERMINAL0123456789' };
/** A text that sets the title, clears the screen, reverses the reading direction, and adds lines. */
const HOSTILE = 'x\u001b]0;owned\u0007\u001b[2J\u009b31m\u202etxt\r\nsched: forged';
const ID = '01jcq3v8k4zqgw5m2r7n9x0abc';

const SCHEDULE = {
  id: `sch_${ID}`,
  object: 'schedule',
  name: HOSTILE,
  mode: 'test',
  kind: 'recurring',
  state: 'active',
  endpoint: `https://example.com/${'a'.repeat(90)}/${HOSTILE}`,
  endpoint_id: null,
  method: 'POST',
  header_keys: [HOSTILE],
  fire_at: null,
  cron: '0 9 * * MON-FRI',
  timezone: 'Europe/Berlin',
  next_fire_at: '2027-03-26T08:00:00.125Z',
  next_runs: ['2027-03-26T08:00:00.125Z', '2027-03-29T07:00:00.000Z'],
  ttl: HOSTILE,
  jitter: null,
  idempotency_key: HOSTILE,
  retry_policy: { max_attempts: 8, strategy: 'exponential', base: '5s', factor: 2, max: '1h', jitter: true },
  rate_limit: null,
  notify: { endpoint_id: HOSTILE, on: ['dead_letter', HOSTILE] },
  metadata: { [HOSTILE]: HOSTILE, team: '東京' },
  created_at: '2026-11-15T08:00:00.000Z',
  updated_at: HOSTILE,
};
const DELIVERY = {
  id: `dlv_${ID}`,
  object: 'delivery',
  schedule_id: SCHEDULE.id,
  mode: 'test',
  url: SCHEDULE.endpoint,
  method: 'POST',
  occurrence: HOSTILE,
  triggered: false,
  status: 'dead_letter',
  scheduled_for: '2026-11-15T08:00:00.007Z',
  deadline: null,
  next_fire_at: null,
  attempt_count: 1,
  last_status_code: null,
  error: HOSTILE,
  idempotency_key: HOSTILE,
  replay_of: null,
  notification_of: HOSTILE,
  notify: { endpoint_id: null, on: [] },
  endpoint_id: null,
  endpoint_version: null,
  created_at: '2026-11-15T08:00:00.000Z',
  finalized_at: HOSTILE,
};
const ATTEMPT = {
  id: `att_${ID}`,
  object: 'attempt',
  delivery_id: DELIVERY.id,
  attempt_no: 1,
  outcome: 'terminal',
  status_code: null,
  due_at: '2026-11-15T08:00:00.000Z',
  fired_at: '2026-11-15T08:00:00.003Z',
  lateness_ms: 3,
  finished_at: '2026-11-15T08:00:00.010Z',
  egress_ms: 7,
  error: HOSTILE,
};

const RESPONSE = {
  object: 'attempt_response',
  status_code: 500,
  content_type: HOSTILE,
  excerpt: `${HOSTILE}\n\tat <b>owned</b>`,
  encoding: 'utf-8',
  truncated: true,
};
const NAME = 'nightly-report';

function list(...data: readonly object[]) {
  return { object: 'list', data, has_more: false, next_cursor: null };
}

const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/schedules': list(SCHEDULE, { ...SCHEDULE, state: 'canceled', next_fire_at: null }),
  [`/v1/schedules/${SCHEDULE.id}`]: SCHEDULE,
  '/v1/deliveries': list(DELIVERY, { ...DELIVERY, status: 'succeeded', last_status_code: 200, error: null }),
  [`/v1/deliveries/${DELIVERY.id}`]: DELIVERY,
  [`/v1/deliveries/${DELIVERY.id}/attempts`]: list(ATTEMPT),
  [`/v1/deliveries/${DELIVERY.id}/attempts/1/response`]: RESPONSE,
  [`/v1/schedules/named/${NAME}`]: SCHEDULE,
  [`/v1/schedules/${SCHEDULE.id}/trigger`]: DELIVERY,
  '/v1/attempts': list({ ...ATTEMPT, url: SCHEDULE.endpoint, method: 'POST', schedule_name: HOSTILE }),
};
const REFUSAL = {
  error: {
    type: 'invalid_request_error',
    code: HOSTILE,
    message: HOSTILE,
    param: HOSTILE,
    request_id: HOSTILE,
  },
};

/** A hostile service: every text in its answers holds control characters. */
let server: Server;
let env: Record<string, string> = {};
beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const answer = ANSWERS[url.split('?', 1)[0] ?? ''];
    response.writeHead(answer === undefined ? 422 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? REFUSAL));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  env = { ...KEY, SCHED_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
});
afterAll(() => server.close());

const COMMANDS: readonly (readonly string[])[] = [
  ['schedules', 'list'],
  ['schedules', 'show', SCHEDULE.id],
  ['schedules', 'show', SCHEDULE.id, '--json'],
  ['deliveries', 'list'],
  ['deliveries', 'show', DELIVERY.id],
  ['deliveries', 'attempts', DELIVERY.id],
  ['deliveries', 'replay', 'dlv_refused'],
  ['deliveries', 'response', DELIVERY.id],
  ['deliveries', 'response', DELIVERY.id, '1', '--json'],
  ['schedules', 'put', NAME, '--cron', '0 9 * * *'],
  ['schedules', 'trigger', NAME],
  ['attempts', 'list'],
];

describe.concurrent('texts from the service cannot control the terminal', () => {
  test.concurrent.each(COMMANDS.map((args) => [args.join(' '), args] as const))('%s', async (_, args) => {
    // The terminal is wide enough to cut nothing.
    const { screen } = await runAsAtTerminal(args, { env, columns: 500 });
    const text = withoutColours(screen).replaceAll('\r\n', '\n');
    expect(text).toContain('owned');
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(text).not.toMatch(/^sched: forged/m);
  });

  test.concurrent('a pipe gets no control characters either', async () => {
    const ends = await Promise.all(COMMANDS.map((args) => runPiped(args, { env })));
    for (const { stdout, stderr } of ends) expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]/u);
    const [, , { stdout }] = ends as [Ended, Ended, Ended];
    expect(JSON.parse(stdout)).toEqual(SCHEDULE);
  });
});

// Each of these commands prints to a real terminal what the tests below check without a process.
test.concurrent.each([
  [['schedules', 'list'], 80],
  [['deliveries', 'list'], 100],
  [['schedules', 'show', SCHEDULE.id], 500],
] as const)('%j at a real terminal with %i columns is the same without a process', async (args, columns) => {
  const real = await runAtTerminal(args, { env, columns });
  expect(timeless(await runAsAtTerminal(args, { env, columns }))).toEqual(timeless(real));
  expect(real.code).toBe(0);
  expect(real.screen).toContain(ID);
});

/** The distance of an instant from now changes between two runs. */
function timeless({ code, screen }: { readonly code: number | null; readonly screen: string }) {
  return { code, screen: screen.replaceAll(/\d+ (?=\w+ ago|s\b|min\b|h\b|d\b|mo\b|y\b)/g, '') };
}

describe.concurrent('tables', () => {
  test.concurrent.each([40, 60, 70, 80, 100, 132, 200])(
    'fit %i columns and have whole ids',
    async (columns) => {
      for (const args of COMMANDS.filter(([, verb]) => verb === 'list')) {
        const { screen } = await runAsAtTerminal(args, { env, columns });
        const lines = withoutColours(screen).split('\r\n');
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
        expect(lines[1]).toContain(ID);
      }
    },
  );

  test.concurrent.each([
    ['schedules', 80, 'ID STATE NAME FIRES IN( METHOD)?'],
    ['schedules', 110, 'ID STATE NAME FIRES IN (METHOD )?ENDPOINT'],
    ['schedules', 500, 'ID STATE NAME NEXT FIRES IN TIMING METHOD ENDPOINT METADATA'],
    ['deliveries', 60, 'ID STATUS WHEN'],
    ['deliveries', 84, 'ID STATUS WHEN RESPONSE URL'],
    ['deliveries', 120, 'ID STATUS WHEN ATTEMPTS RESPONSE METHOD URL'],
    ['deliveries', 200, 'ID STATUS SCHEDULED FOR WHEN ATTEMPTS RESPONSE METHOD URL SCHEDULE'],
  ])('of %s at %i columns have the columns %s', async (what, columns, titles) => {
    const { screen } = await runAsAtTerminal([what, 'list'], { env, columns });
    const [first = ''] = withoutColours(screen).split('\r\n');
    // The width of a time depends on the moment, so a column may fit or not.
    expect(first.replaceAll(/ +/g, ' ')).toMatch(new RegExp(`^${titles}$`));
  });

  test.concurrent('keep the host and the end of a URL', async () => {
    const { screen } = await runAsAtTerminal(['schedules', 'list'], { env, columns: 110 });
    expect(screen).toMatch(/ example\.com\/…\S+/);
  });

  test.concurrent('are not cut in a pipe', async () => {
    const { stdout } = await runPiped(['schedules', 'list'], { env });
    expect(stdout).toContain(`https://example.com/${'a'.repeat(90)}/`);
    expect(stdout).not.toContain('…');
    expect(stdout).toContain('team=東京');
  });

  test.concurrent('show the distance of an instant at a terminal only', async () => {
    const { screen } = await runAsAtTerminal(['deliveries', 'list'], { env, columns: 200 });
    expect(screen).toMatch(/2026-11-15 08:00:00.007Z .*(?:ago|in \d)/);
    expect((await runPiped(['deliveries', 'list'], { env })).stdout).not.toMatch(/ago|in \d/);
  });
});

describe.concurrent('colours', () => {
  const RED = '\u001b[31mdead_letter\u001b[0m';
  const GREEN = '\u001b[32msucceeded\u001b[0m';

  test.concurrent('are printed at a terminal', async () => {
    const { screen } = await runAsAtTerminal(['deliveries', 'list'], { env });
    expect(screen).toContain(RED);
    expect(screen).toContain(GREEN);
  });

  test.concurrent.each<[string, readonly string[], Record<string, string>]>([
    ['NO_COLOR', [], { NO_COLOR: '1' }],
    ['--no-color', ['--no-color'], {}],
    ['a dumb terminal', [], { TERM: 'dumb' }],
    ['--json', ['--json'], {}],
  ])('are not printed with %s', async (_, flags, extra) => {
    const { screen } = await runAsAtTerminal(['deliveries', 'list', ...flags], { env: { ...env, ...extra } });
    expect(screen).toContain('dead_letter');
    expect(screen).not.toContain('\u001b');
  });

  test.concurrent('are printed in a pipe only with FORCE_COLOR', async () => {
    expect((await runPiped(['deliveries', 'list'], { env })).stdout).not.toContain('\u001b');
    const forced = await runPiped(['deliveries', 'list'], { env: { ...env, FORCE_COLOR: '1' } });
    expect(forced.stdout).toContain(RED);
  });
});

test.concurrent('an error is broken between words at a terminal, and one line in a pipe', async () => {
  const args = ['schedules', 'list', '--api-key', 'x'];
  const { screen } = await runAsAtTerminal(args, { columns: 60 });
  const lines = screen.trimEnd().split('\r\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  expect(`${lines.join(' ')}\n`).toBe((await runPiped(args)).stderr);
});
