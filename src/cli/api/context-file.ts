/**
 * The file of contexts. Each context is a name for a URL and the API key that belongs to it. One of them is current.
 *
 * The file holds keys, so only its owner may read it: the folder has mode 0700, the file 0600. A file that others can
 * read causes a warning. It is always replaced as a whole, so that no process reads half of it.
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
  /** The context that is used when no other is named. */
  readonly current: string | null;
  readonly byName: ReadonlyMap<string, Context>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const CONTEXTS_MAX = 100;
const FILE_BYTES_MAX = 1_048_576;
const URL_CHARACTERS_MAX = 2_000;
/** The permissions of group and others. */
const OTHERS = 0o077;
const NONE: Contexts = { current: null, byName: new Map() };

type Env = Readonly<Record<string, string | undefined>>;

/** The path of `SCHED_CONFIG`, or the usual place for settings of a user. */
export function contextPath(env: Env): string {
  if ((env.SCHED_CONFIG ?? '') !== '') return env.SCHED_CONFIG ?? '';
  const home = env.XDG_CONFIG_HOME ?? '';
  return join(home === '' ? join(homeFolder(), '.config') : home, 'sched', 'contexts.json');
}

/** A container may run as a user that the system does not know. Such a user has no home, so `/` is used instead. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** A missing file means that there are no contexts. `warn` is called if others can read the file. */
export async function readContexts(path: string, warn: (line: string) => void): Promise<Contexts> {
  try {
    await using file = await open(path);
    const { mode, size } = await file.stat();
    if (size > FILE_BYTES_MAX) throw new CommandFailure(`${path} has more than ${FILE_BYTES_MAX} bytes.`);
    if ((mode & OTHERS) !== 0 && process.platform !== 'win32')
      warn(`warning: Others can read ${path}, and it holds API keys. Run: chmod 600 ${path}`);
    return parseContexts(await file.readFile('utf8'), path);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return NONE;
    if (error instanceof CommandFailure) throw error;
    throw wrongUsage(`The contexts cannot be read: ${messageOf(error)}.`);
  }
}

/** An invalid file is refused as a whole, because a guess could send a key to the wrong address. */
export function parseContexts(text: string, path: string): Contexts {
  const invalid = (why: string) => wrongUsage(`${path} is not a valid file of contexts: ${why}.`);
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    throw invalid('it is not JSON');
  }
  const { current = null, contexts } = objectOf(value) ?? {};
  const entries = Object.entries(objectOf(contexts) ?? {});
  if (objectOf(contexts) === null || entries.length > CONTEXTS_MAX)
    throw invalid(`"contexts" must be an object with at most ${CONTEXTS_MAX} members`);
  const byName = new Map<string, Context>();
  for (const [name, entry] of entries) {
    const { url, api_key: apiKey } = objectOf(entry) ?? {};
    if (!NAME.test(name) || typeof url !== 'string' || typeof apiKey !== 'string')
      throw invalid('each context must have a valid name, a "url" and an "api_key"');
    byName.set(name, {
      url: checkUrl(url, `the url of context ${name}`),
      apiKey: checkKey(apiKey, `the key of context ${name}`),
    });
  }
  if (current !== null && (typeof current !== 'string' || !byName.has(current)))
    throw invalid('"current" must be the name of a context, or null');
  return { current, byName };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Writes a new file, syncs it to disk, and renames it over the old one. */
export async function writeContexts(path: string, { current, byName }: Contexts): Promise<void> {
  if (byName.size > CONTEXTS_MAX)
    throw wrongUsage(`There can be at most ${CONTEXTS_MAX} contexts. Remove one first.`);
  const contexts = Object.fromEntries(
    [...byName].map(([name, { url, apiKey }]) => [name, { url, api_key: apiKey }]),
  );
  const text = `${JSON.stringify({ current, contexts }, null, 2)}\n`;
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    await using file = await open(temporaryPath, flags, 0o600);
    await file.writeFile(text);
    await file.sync();
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw new CommandFailure(`The contexts cannot be written: ${messageOf(error)}.`);
  }
}

export function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw wrongUsage(
    'A context name has 1 to 64 characters of a-z, 0-9, - and _. It starts with a letter or a digit.',
  );
}

/** Removes a final slash, so that two spellings of one address compare as equal. */
export function checkUrl(text: string, name: string): string {
  const url = text.length <= URL_CHARACTERS_MAX && URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === '';
  if (!isPlain)
    throw wrongUsage(
      `${name} must be an address such as https://sched.example.com, without user, query or fragment.${schemeHint(text)}`,
    );
  return url.href.replace(/\/+$/, '');
}

/** `localhost:8080` lacks only its scheme. Only a host and a port are repeated, because other text may be a secret. */
function schemeHint(text: string): string {
  const [, host] = /^([a-z0-9.-]{1,100})(?::\d{1,5})?\/?$/i.exec(text) ?? [];
  if (host === undefined) return '';
  return ` Write ${/^(?:localhost|127\.)/i.test(host) ? 'http' : 'https'}://${text}`;
}

/** The message never shows the key, even if it is wrong. */
export function checkKey(text: string, name: string): string {
  if (parseApiKey(text) === null)
    throw wrongUsage(
      `${name} must be an API key: sk_test_ or sk_live_ with at least 16 characters after it.`,
    );
  return text;
}
