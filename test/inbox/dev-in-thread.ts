/**
 * Runs `sched dev` on a free port in the thread of the tests. A process costs several times as much: only tests of signals,
 * exits and real streams need one (see `dev-process.ts`).
 *
 *     await using dev = await startDevInThread();
 *     await dev.create({ endpoint: `${dev.hook}/one`, delay: '1s' });
 */
import { devVariant } from '#src/app/dev/dev.ts';
import { DEV_TEST_KEY } from '#src/app/dev/keys.ts';
import { readDevSettings } from '#src/app/dev/settings.ts';
import { startService } from '#src/app/service.ts';
import { systemLog } from '#src/system/log.ts';
import { type Output, temporaryDirectory } from '#test/process/sched-process.ts';

interface DevCalls {
  readonly url: string;
  readonly hook: string;
  /** Creates a schedule, and returns its id. */
  create(body: object): Promise<string>;
  /** Calls the API, and throws unless the answer is a success. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
}

/** `sched dev` of a test, in a thread or as a process. */
export interface RunningDev extends DevCalls, AsyncDisposable {
  readonly output: Output;
}

/** The flags are those of the command line. */
export async function startDevInThread(flags: Readonly<Record<string, string>> = {}): Promise<RunningDev> {
  const output = { stdout: '', stderr: '' };
  const print = (text: string) => {
    output.stdout += text;
  };
  const logLines = {
    write: (line: string) => {
      output.stderr += line;
      return true;
    },
    flush: () => {},
  };
  const { settings, ignored } = readDevSettings(
    { flags: { '--port': '0', ...flags }, env: {} },
    temporaryDirectory,
  );
  const variant = devVariant({ dataDir: null, ignored }, print, (_colour, text) => text);
  const service = await startService(
    settings,
    { print, log: systemLog(settings.logLevel, logLines) },
    variant,
  );
  print(`Sched listens on ${service.url}\n${variant.greeting(service.url)}`);
  return { ...callsTo(service.url), output, [Symbol.asyncDispose]: () => service.stop() };
}

export function callsTo(url: string): DevCalls {
  const call = <T>(method: string, path: string, body?: object) => callApi<T>(url, method, path, body);
  return {
    url,
    hook: `${url}/inbox/hook`,
    create: async (body) => (await call<{ readonly id: string }>('POST', '/v1/schedules', body)).id,
    call,
  };
}

async function callApi<T>(url: string, method: string, path: string, body: object | undefined): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${DEV_TEST_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
