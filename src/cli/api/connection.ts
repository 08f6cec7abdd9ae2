/**
 * Decides which service a command calls, and with which API key. Each of the two comes from a flag, else from the
 * environment, else from a context, else from the fixed values of `sched dev`. Errors name the origin of a value.
 *
 * A key belongs to an address. A context is a pair of both. SCHED_URL and SCHED_API_KEY are a pair if both are set.
 * The key of a pair is never sent to another address.
 *
 * - SCHED_API_KEY alone belongs to no address. It is sent only to the address of `--url`, or to this machine.
 * - The key of `--api-key-file` is sent to the address that the command calls, because the user named it explicitly.
 * - `--context` takes the whole pair and ignores the environment.
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

/** A value and its origin. `from` completes the sentence “It came from …”. */
export interface Origin {
  readonly value: string;
  readonly from: string;
  /** True for a fixed value of `sched dev`, which the user did not choose. */
  readonly isDefault?: boolean;
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

/** `keyFromFile` is the content of the file of `--api-key-file`. */
export function chooseConnection(
  flags: ConnectionFlags,
  keyFromFile: string | null,
  env: CliDependencies['env'],
  contexts: Contexts,
): Connection {
  const context = findContext(flags, env, contexts);
  // The environment must not mix into a pair that the user named.
  const settings = flags.context === undefined ? env : {};
  const url = urlOf(flags, settings, context);
  return { url, apiKey: keyOf(flags, keyFromFile, settings, context, url) };
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
  throw wrongUsage(`There is no context ${JSON.stringify(name)}. "sched context list" lists the contexts.`);
}

function urlOf({ url }: ConnectionFlags, env: CliDependencies['env'], context: NamedContext | null): Origin {
  if (url !== undefined) return { value: checkUrl(url, '--url'), from: '--url' };
  const set = env.SCHED_URL ?? '';
  if (set !== '') return { value: checkUrl(set, 'SCHED_URL'), from: 'SCHED_URL' };
  if (context !== null) return { value: context.url, from: `context ${context.name}` };
  return { value: DEV_URL, from: DEV, isDefault: true };
}

function keyOf(
  flags: ConnectionFlags,
  keyFromFile: string | null,
  env: CliDependencies['env'],
  context: NamedContext | null,
  url: Origin,
): Origin {
  if (flags.apiKeyFile !== undefined)
    return { value: checkKey(keyFromFile ?? '', '--api-key-file'), from: '--api-key-file' };
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
  // This key is public: sending it reveals nothing, and no other service accepts it.
  if (isLoopback(url)) return { value: DEV_TEST_KEY, from: DEV, isDefault: true };
  throw wrongUsage(
    `There is no API key for ${url.value}. Set SCHED_API_KEY, or store a context with "sched context set".` +
      (url.from === '--url' ? ' --url is the address of Sched. A destination is given with --endpoint.' : ''),
  );
}

function isLoopback({ value }: Origin): boolean {
  return LOOPBACK.test(new URL(value).hostname);
}

function keyWithoutAddress({ value, from }: Origin) {
  return wrongUsage(
    `SCHED_API_KEY is set without SCHED_URL. The key may belong to another service, so it is not sent to ${value} ` +
      `(${from}). Set SCHED_URL too, or unset SCHED_API_KEY.`,
  );
}

function keyOfOtherAddress(whose: string, belongsTo: string, url: Origin) {
  return wrongUsage(
    `The API key of ${whose} belongs to ${belongsTo}, so it is not sent to ${url.value} (${url.from}). ` +
      'Set both SCHED_URL and SCHED_API_KEY, store a context for this address, or use --api-key-file.',
  );
}
