/**
 * The file of contexts: pairs of a URL and the key that belongs to it, by name, and which one is in use. It holds
 * keys, so it is the owner's alone: the folder 0700, the file 0600, replaced whole and at once so that nobody
 * reads half of it. Whoever opens it to others is told.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, systemCodeOf } from '#src/app/failures.ts';
import { CommandFailure, wrongUsage } from '#src/cli/failure.ts';
import { parseApiKey } from '#src/domain/api-key.ts';
import { readJson } from '#src/domain/json.ts';

export interface Context {
  readonly url: string;
  readonly apiKey: string;
}

export interface Contexts {
  /** The one that counts when none is named. */
  readonly current: string | null;
  readonly byName: ReadonlyMap<string, Context>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const CONTEXTS_MAX = 100;
const FILE_BYTES_MAX = 1_048_576;
const URL_CHARACTERS_MAX = 2_000;
const OTHERS = 0o077;
const NONE: Contexts = { current: null, byName: new Map() };

type Env = Readonly<Record<string, string | undefined>>;

/** `SCHED_CONFIG`, or where the system keeps settings. */
export function contextPath(env: Env): string {
  if ((env.SCHED_CONFIG ?? '') !== '') return env.SCHED_CONFIG ?? '';
  const home = env.XDG_CONFIG_HOME ?? '';
  return join(home === '' ? join(homeFolder(), '.config') : home, 'sched', 'contexts.json');
}

/** A user that the system does not know, as containers have them, has no home: the root of the file system stands in. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** No file is no contexts. `warn` hears of a file that others can read. */
export async function readContexts(path: string, warn: (line: string) => void): Promise<Contexts> {
  try {
    await using file = await open(path);
    const { mode, size } = await file.stat();
    if (size > FILE_BYTES_MAX) throw new CommandFailure(`${path} has more than ${FILE_BYTES_MAX} bytes.`);
    if ((mode & OTHERS) !== 0 && process.platform !== 'win32')
      warn(`warning: ${path} holds API keys and can be read by others; run: chmod 600 ${path}`);
    return parseContexts(await file.readFile('utf8'), path);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return NONE;
    if (error instanceof CommandFailure) throw error;
    throw wrongUsage(`The contexts cannot be read: ${messageOf(error)}.`);
  }
}

/** A file that is not as it should be is refused whole: a guess could send a key to the wrong place. */
export function parseContexts(text: string, path: string): Contexts {
  const broken = (why: string) => wrongUsage(`${path} is not a file of contexts: ${why}.`);
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    throw broken('it is not JSON');
  }
  const { current = null, contexts } = objectOf(value) ?? {};
  const entries = Object.entries(objectOf(contexts) ?? {});
  if (objectOf(contexts) === null || entries.length > CONTEXTS_MAX)
    throw broken(`"contexts" must be an object of at most ${CONTEXTS_MAX}`);
  const byName = new Map<string, Context>();
  for (const [name, entry] of entries) {
    const { url, api_key: apiKey } = objectOf(entry) ?? {};
    if (!NAME.test(name) || typeof url !== 'string' || typeof apiKey !== 'string')
      throw broken('each context has a name, a "url" and an "api_key"');
    byName.set(name, {
      url: checkUrl(url, `the url of context ${name}`),
      apiKey: checkKey(apiKey, `the key of context ${name}`),
    });
  }
  if (current !== null && (typeof current !== 'string' || !byName.has(current)))
    throw broken('"current" must name one of them, or be null');
  return { current, byName };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Written beside it, to the disk, and then put in its place. */
export async function writeContexts(path: string, { current, byName }: Contexts): Promise<void> {
  if (byName.size > CONTEXTS_MAX) throw wrongUsage(`There can be ${CONTEXTS_MAX} contexts at most.`);
  const contexts = Object.fromEntries(
    [...byName].map(([name, { url, apiKey }]) => [name, { url, api_key: apiKey }]),
  );
  const text = `${JSON.stringify({ current, contexts }, null, 2)}\n`;
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    await using file = await open(beside, flags, 0o600);
    await file.writeFile(text);
    await file.sync();
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw new CommandFailure(`The contexts cannot be written: ${messageOf(error)}.`);
  }
}

export function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw wrongUsage('A context name has 1 to 64 of a-z, 0-9, - and _, the first a letter or a digit.');
}

/** Where a service is: without a slash at its end, so that two spellings of one address are one. */
export function checkUrl(text: string, name: string): string {
  const url = text.length <= URL_CHARACTERS_MAX && URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === '';
  if (!isPlain) throw wrongUsage(`${name} must be an address such as https://sched.example.com.`);
  return url.href.replace(/\/+$/, '');
}

/** The key itself is never shown, a wrong one neither. */
export function checkKey(text: string, name: string): string {
  if (parseApiKey(text) === null)
    throw wrongUsage(`${name} must be an API key: sk_test_ or sk_live_ and at least 16 characters.`);
  return text;
}
