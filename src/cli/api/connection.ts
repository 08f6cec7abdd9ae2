/**
 * Which service a command speaks to, and with which key. For each: a flag, else the environment, else a context,
 * else what `sched dev` has. Where they came from is kept, because that is what an error has to say.
 *
 * A key belongs to an address. A context is a pair of both, and so are SCHED_URL and SCHED_API_KEY when both are
 * set; a key of a pair is never sent to another address than its own. SCHED_API_KEY alone belongs to no address:
 * it goes where `--url` says, or to this machine, and nowhere that it has not been told. `--api-key-file` says
 * itself that this key is meant. `--context` means the whole pair, whatever the environment says.
 */
import { DEV_TEST_KEY, DEV_URL } from '#src/app/dev/keys.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { readSecrets } from '#src/cli/terminal/input.ts';
import {
  type Context,
  type Contexts,
  checkKey,
  checkUrl,
  contextPath,
  readContexts,
} from './context-file.ts';

/** A value, and where it came from: completes “it came from …”. */
export interface Origin {
  readonly value: string;
  readonly from: string;
}

export interface Connection {
  readonly url: Origin;
  readonly apiKey: Origin;
}

export interface ConnectionFlags {
  readonly url?: string | undefined;
  readonly context?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

const DEV = 'the fixed values of "sched dev"';
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|localhost)$/;

export async function resolveConnection(
  flags: ConnectionFlags,
  dependencies: CliDependencies,
): Promise<Connection> {
  const contexts = await readContexts(contextPath(dependencies.env), dependencies.notify);
  const keys = flags.apiKeyFile === undefined ? null : await readSecrets(flags.apiKeyFile, '--api-key-file');
  return chooseConnection(flags, keys?.[0] ?? null, dependencies.env, contexts);
}

/** `keyOfFile` is what `--api-key-file` holds. */
export function chooseConnection(
  flags: ConnectionFlags,
  keyOfFile: string | null,
  env: CliDependencies['env'],
  contexts: Contexts,
): Connection {
  const context = findContext(flags, env, contexts);
  // The pair that was asked for by name; the environment does not mix into it.
  const settings = flags.context === undefined ? env : {};
  const url = urlOf(flags, settings, context);
  return { url, apiKey: keyOf(flags, keyOfFile, settings, context, url) };
}

interface NamedContext extends Context {
  readonly name: string;
}

function findContext(
  flags: ConnectionFlags,
  env: CliDependencies['env'],
  contexts: Contexts,
): NamedContext | null {
  const asked = flags.context ?? (env.SCHED_CONTEXT === '' ? undefined : env.SCHED_CONTEXT);
  const name = asked ?? contexts.current;
  if (name === null) return null;
  const found = contexts.byName.get(name);
  if (found !== undefined) return { ...found, name };
  throw wrongUsage(
    `There is no context ${JSON.stringify(name)}. "sched context list" shows those there are.`,
  );
}

function urlOf({ url }: ConnectionFlags, env: CliDependencies['env'], context: NamedContext | null): Origin {
  if (url !== undefined) return { value: checkUrl(url, '--url'), from: '--url' };
  const set = env.SCHED_URL ?? '';
  if (set !== '') return { value: checkUrl(set, 'SCHED_URL'), from: 'SCHED_URL' };
  if (context !== null) return { value: context.url, from: `context ${context.name}` };
  return { value: DEV_URL, from: DEV };
}

function keyOf(
  flags: ConnectionFlags,
  keyOfFile: string | null,
  env: CliDependencies['env'],
  context: NamedContext | null,
  url: Origin,
): Origin {
  if (flags.apiKeyFile !== undefined)
    return { value: checkKey(keyOfFile ?? '', '--api-key-file'), from: '--api-key-file' };
  const set = env.SCHED_API_KEY ?? '';
  if (set !== '') {
    const belongsTo = (env.SCHED_URL ?? '') === '' ? null : checkUrl(env.SCHED_URL ?? '', 'SCHED_URL');
    if (belongsTo !== null && belongsTo !== url.value)
      throw keyOfOtherAddress('SCHED_API_KEY', belongsTo, url);
    if (belongsTo === null && flags.url === undefined && !isLoopback(url)) throw keyWithoutAddress(url);
    return { value: checkKey(set, 'SCHED_API_KEY'), from: 'SCHED_API_KEY' };
  }
  if (context !== null) {
    if (context.url !== url.value) throw keyOfOtherAddress(`context ${context.name}`, context.url, url);
    return { value: context.apiKey, from: `context ${context.name}` };
  }
  // Everybody knows that key: it gives nothing away, and no other service takes it.
  if (isLoopback(url)) return { value: DEV_TEST_KEY, from: DEV };
  throw wrongUsage(`There is no API key for ${url.value}: set SCHED_API_KEY, or make a context.`);
}

function isLoopback({ value }: Origin): boolean {
  return LOOPBACK.test(new URL(value).hostname);
}

function keyWithoutAddress({ value, from }: Origin) {
  return wrongUsage(
    `SCHED_API_KEY is set and SCHED_URL is not: whose key it is, is not known, and it is not sent to ${value} ` +
      `(${from}). Set SCHED_URL too, or unset SCHED_API_KEY.`,
  );
}

function keyOfOtherAddress(whose: string, belongsTo: string, url: Origin) {
  return wrongUsage(
    `The key of ${whose} is for ${belongsTo} and is not sent to ${url.value} (${url.from}): ` +
      'set SCHED_URL and SCHED_API_KEY both, use a context of its own, or --api-key-file.',
  );
}
