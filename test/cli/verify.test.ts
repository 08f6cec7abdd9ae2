/** `sched verify` with captured requests, signed by the signer of the service. */
import { createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DeliveryId } from '#src/domain/id.ts';
import { formatInstant, instant } from '#src/domain/instant.ts';
import { signatureHeader } from '#src/domain/signature.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { runPiped, startAtTerminal, withoutColours } from './command.ts';

const SECRET = 'whsec_verifyVERIFY0123456789';
const OTHER_SECRET = 'whsec_otherOTHER0123456789';
const DELIVERY = 'dlv_01jcq3v8k4zqgw5m2r7n9x0abc' as DeliveryId;
const BODY = '{"total": 1, "name": "Grüße"}';
const PATH = '/hooks/reminder';
const ENV = { SCHED_SIGNING_SECRET: SECRET };

interface Signing {
  readonly secondsAgo?: number;
  readonly body?: string;
  readonly secret?: string;
}

function headers({ secondsAgo = 1, body = BODY, secret = SECRET }: Signing = {}): readonly string[] {
  const timestamp = Math.floor(Date.now() / 1_000) - secondsAgo;
  const signed = {
    timestamp,
    deliveryId: DELIVERY,
    attemptNo: 2,
    method: 'POST',
    path: PATH,
    body: Buffer.from(body),
  } as const;
  return [
    `Sched-Delivery-Id: ${DELIVERY}`,
    'Sched-Attempt: 2',
    'Idempotency-Key: invoice-4711',
    `Sched-Timestamp: ${timestamp}`,
    `Sched-Signature: ${signatureHeader(signed, [createSecretKey(Buffer.from(secret))])}`,
  ];
}

function captured(signing: Signing = {}, body = signing.body ?? BODY, lineEnd = '\r\n'): string {
  return [`POST ${PATH}?tenant=1 HTTP/1.1`, ...headers(signing), '', body].join(lineEnd);
}

function file(content: string): string {
  const path = join(temporaryDirectory(), 'captured.txt');
  writeFileSync(path, content);
  return path;
}

/** The verdict about a captured request in a file. */
async function verdict(args: readonly string[], request?: string, env: Record<string, string> = ENV) {
  const path = request === undefined ? [] : [file(request)];
  const { code, stdout } = await runPiped(['verify', '--json', ...path, ...args], { env });
  return { code, ...(JSON.parse(stdout) as Record<string, unknown>) };
}

describe.concurrent('a request that Sched signed', () => {
  test.concurrent('is verified from standard input, and its delivery is shown', async () => {
    const { code, stdout, stderr } = await runPiped(['verify'], { env: ENV, input: captured() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^Verified +yes, Sched signed this request\nDelivery +dlv_\w+, attempt 2\nSigned /,
    );
    expect(stdout).toContain('invoice-4711');
  });

  test.concurrent('is verified from a file with LF line ends, with --json', async () => {
    const path = file(captured({}, BODY, '\n'));
    expect(await verdict([path])).toEqual({
      code: 0,
      verified: true,
      delivery_id: DELIVERY,
      attempt: 2,
      idempotency_key: 'invoice-4711',
      signed_at: expect.stringMatching(/Z$/),
      body: 'as_given',
    });
  });

  test.concurrent('is verified despite a line break that an editor added, with a note', async () => {
    for (const lineBreak of ['\n', '\r\n']) {
      const path = file(captured({}, BODY + lineBreak));
      expect(await verdict([path])).toMatchObject({ code: 0, body: 'without_its_last_line_break' });
    }
    const { stdout } = await runPiped(['verify', file(captured({}, `${BODY}\n`))], { env: ENV });
    expect(stdout).toMatch(/^Body +signed without the final line break of the capture$/m);
    const sentSo = captured({ body: `${BODY}\n` });
    expect(await verdict([], sentSo)).toMatchObject({ code: 0, body: 'as_given' });
  });

  test.concurrent('is verified as curl prints it, with a method in any case', async () => {
    const shown = captured({}, '', '\n').trimEnd().replace('POST', 'post').replaceAll(/^/gm, '> ');
    expect(await verdict([], `${shown}\n> \n${BODY}`)).toMatchObject({ code: 0, verified: true });
  });

  test.concurrent('is verified from flags, with the body in a file and several secrets', async () => {
    const secrets = file(`${OTHER_SECRET}\n${SECRET}\n`);
    const flags = headers().flatMap((line) => ['--header', line]);
    const args = [...flags, '--path', PATH, '--body', `@${file(BODY)}`, '--secret-file', secrets];
    expect(await verdict(args, undefined, {})).toMatchObject({ code: 0, verified: true });
  });
});

describe.concurrent('a request that does not verify ends with exit code 1 and a reason', () => {
  test.concurrent.each<[string, Signing, string, string]>([
    ['body_reserialised', {}, '{"total":1,"name":"Grüße"}', 'spaces after commas and colons'],
    ['no_signature_matches', { secret: OTHER_SECRET }, BODY, 'secret'],
  ])('%s', async (reason, signing, body, hint) => {
    const { code, stdout } = await runPiped(['verify', file(captured(signing, body))], { env: ENV });
    expect(code).toBe(1);
    expect(stdout).toContain(`Not verified (${reason}): `);
    expect(stdout).toContain(hint);
    expect(stdout).not.toContain(SECRET);
  });

  test.concurrent('an old capture is refused although its signature is right, unless --at or --tolerance accepts it', async () => {
    const old = captured({ secondsAgo: 4_000 });
    expect(await verdict([], old)).toMatchObject({
      code: 1,
      reason: 'timestamp_too_old',
      bySeconds: expect.closeTo(3_700, -2),
      signature_matches: true,
    });
    expect(await verdict(['--tolerance', '2h'], old)).toMatchObject({ code: 0, verified: true });
    const then = formatInstant(instant(Date.now() - 4_000_000));
    expect(await verdict(['--at', then], old)).toMatchObject({ code: 0, verified: true });
  });

  test.concurrent('an old capture with a wrong signature gets both reasons', async () => {
    const old = captured({ secondsAgo: 4_000, secret: OTHER_SECRET });
    expect(await verdict([], old)).toMatchObject({
      code: 1,
      reason: 'timestamp_too_old',
      signature_matches: false,
      signature_reason: 'no_signature_matches',
    });
  });

  test.concurrent.each<[string, readonly string[], string, Record<string, string>, string]>([
    ['path_differs', ['--path', `/prefix${PATH}`], BODY, ENV, 'without its first segment'],
    ['method_differs', ['--method', 'PUT'], BODY, ENV, 'the method POST'],
    ['secret_padded', [], BODY, { SCHED_SIGNING_SECRET: `"${SECRET}"` }, 'quotation marks around the secret'],
    ['secret_without_prefix', [], BODY, { SCHED_SIGNING_SECRET: SECRET.slice(6) }, 'whsec_ is put in front'],
    ['body_reserialised', [], '{"total":1,"name":"Grüße"}', ENV, 'spaces after commas and colons'],
  ])('%s is found also if the file ends with a line break', async (reason, args, body, env, hint) => {
    for (const lineBreak of ['', '\n', '\r\n']) {
      const found = await verdict(args, captured({}, body + lineBreak), env);
      expect(found).toMatchObject({ code: 1, reason, matched: expect.stringContaining(hint) });
      if (reason !== 'body_reserialised')
        expect(found).toHaveProperty('body', lineBreak === '' ? 'as_given' : 'without_its_last_line_break');
    }
  });

  test.concurrent('the text names the mistake and the line break', async () => {
    const path = file(captured({ secondsAgo: 4_000 }, `${BODY}\n`));
    const { stdout } = await runPiped(['verify', path, '--path', `${PATH}/`], { env: ENV });
    expect(stdout).toContain('Not verified (timestamp_too_old)');
    expect(stdout).toContain('(path_differs): The signature matches the path without the slash at its end.');
    expect(stdout).toContain('\nThe body was signed without the final line break of the capture.\n');
  });

  test.concurrent('a line break at the end is not taken for a body, nor for a change on the way', async () => {
    const declared = (body: string, bytes: number, signing: Signing = {}) =>
      captured(signing, body).replace('\r\n', `\r\nContent-Length: ${bytes}\r\n`);
    expect(await verdict([], declared('\n', 5))).toMatchObject({ code: 1, reason: 'body_not_read' });
    const wrong = await verdict([], declared(`${BODY}\n`, Buffer.byteLength(BODY), { secret: OTHER_SECRET }));
    expect(wrong).toMatchObject({ code: 1, reason: 'no_signature_matches' });
    expect(wrong).not.toMatchObject({ message: expect.stringContaining('Content-Length') });
  });

  test.concurrent('a missing header and a different path are refused', async () => {
    const [, ...rest] = headers();
    const withoutId = [`POST ${PATH}`, ...rest, '', BODY].join('\n');
    expect(await verdict([], withoutId)).toMatchObject({
      reason: 'missing_header',
      header: 'Sched-Delivery-Id',
    });
    expect(await verdict(['--path', '/reminder'], captured())).toMatchObject({ code: 1, verified: false });
  });
});

describe.concurrent('wrong usage ends with exit code 2', () => {
  const REQUEST = file(captured());
  const MISSING = '/nowhere/captured.txt';

  test.concurrent.each<[string, readonly string[], string | undefined, Record<string, string>, RegExp]>([
    ['no secret', [REQUEST], undefined, {}, /SCHED_SIGNING_SECRET or --secret-file/],
    ['no headers', [], '', ENV, /no headers/],
    ['a line that is not a header', [file(`${PATH}\n\n`)], undefined, ENV, /not a header/],
    ['no path', [file(headers().join('\n'))], undefined, ENV, /path is not known/],
    ['a body without headers', ['--body', 'x'], undefined, ENV, /--body needs --header/],
    ['an invalid duration', [REQUEST, '--tolerance', '5'], undefined, ENV, /not a duration/],
    ['an invalid instant', [REQUEST, '--at', 'now'], undefined, ENV, /not an RFC 3339 instant/],
    [
      'a missing file',
      [MISSING],
      undefined,
      ENV,
      new RegExp(`^sched: The file ${MISSING} does not exist\\.\n$`),
    ],
    ['input that is too long', [], 'x'.repeat(1_100_000), ENV, /more than 1048576 bytes/],
  ])('%s', async (_, args, input, env, why) => {
    const given = input === undefined ? {} : { input };
    const { code, stdout, stderr } = await runPiped(['verify', ...args], { env, ...given });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^sched: .+\n$/);
    expect(stderr).toMatch(why);
  });
});

test.concurrent('at a terminal, the request is pasted, and the prompt for the secret does not show it', async () => {
  await using terminal = startAtTerminal(['verify']);
  await terminal.waitForText(/Ctrl-D on an empty line/);
  // A terminal pastes carriage returns as line ends. This line is longer than a terminal itself accepts.
  const long = `{"long": "${'x'.repeat(5_000)}"}`;
  terminal.type(`${captured({ body: long }, long, '\r')}\r\u0004`);
  await terminal.waitForText(/Signing secret \(not shown\): /);
  terminal.type(`wrong\u0015${SECRET}!\u007f\r`);
  expect(await terminal.ended).toBe(0);
  expect(withoutColours(terminal.screen)).toContain('yes, Sched signed this request');
  expect(terminal.screen).not.toContain('whsec_');
});

test.concurrent('Ctrl-C at a prompt ends the command with exit code 130', async () => {
  await using terminal = startAtTerminal(['verify', file(captured())]);
  await terminal.waitForText(/Signing secret/);
  terminal.type('half a sec\u0003');
  expect(await terminal.ended).toBe(130);
  expect(terminal.screen).not.toContain('half');
});
