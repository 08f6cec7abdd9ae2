/**
 * Words of other tools and fields of the API that people type, and what they are called here. The suggestions of
 * commander go by the spelling alone: it would offer `secret` for `start`.
 */
import type { Command } from 'commander';

/** A word is suggested only where it exists. Several words are alternatives. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  add: ['create', 'schedules create'],
  apply: ['put', 'schedules put'],
  attempt: ['attempts'],
  auth: ['context'],
  change: ['update'],
  config: ['context'],
  connect: ['context'],
  create: ['schedules create'],
  cron: ['preview'],
  delete: ['cancel', 'archive', 'revoke', 'remove', 'schedules cancel'],
  describe: ['show', 'schedules show'],
  disable: ['pause'],
  edit: ['update'],
  enable: ['resume'],
  fire: ['trigger', 'schedules trigger'],
  get: ['show', 'schedules show'],
  init: ['dev'],
  list: ['schedules list', 'deliveries list'],
  log: ['tail'],
  login: ['context'],
  logs: ['tail'],
  ls: ['list', 'schedules list', 'deliveries list'],
  move: ['reschedule'],
  new: ['create', 'schedules create'],
  next: ['preview'],
  patch: ['update'],
  pause: ['schedules pause'],
  profile: ['context'],
  put: ['schedules put'],
  redeliver: ['replay'],
  remove: ['cancel', 'archive', 'revoke'],
  replay: ['deliveries replay'],
  resend: ['replay'],
  resume: ['schedules resume'],
  retry: ['replay', 'deliveries replay'],
  rm: ['cancel', 'archive', 'revoke', 'remove', 'schedules cancel'],
  run: ['dev', 'serve', 'trigger'],
  server: ['serve', 'dev'],
  show: ['schedules show'],
  start: ['dev', 'serve', 'resume'],
  stop: ['pause', 'cancel'],
  trigger: ['schedules trigger'],
  up: ['dev', 'serve'],
  upsert: ['put', 'schedules put'],
  version: ['--version'],
  view: ['show'],
  watch: ['tail'],
};

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  '--destination': ['--endpoint'],
  '--endpoint-id': ['--endpoint'],
  '--fire-at': ['--at'],
  '--format': ['--json'],
  '--headers': ['--header'],
  '--in': ['--delay'],
  '--key': ['--api-key-file', '--request-key'],
  '--label': ['--metadata'],
  '--local-fire-at': ['--local'],
  '--output': ['--json'],
  '--payload': ['--body'],
  '--plan': ['--dry-run'],
  '--profile': ['--context'],
  '--query': ['--search'],
  '--retries': ['--max-attempts'],
  '--schedule-id': ['--schedule'],
  '--time': ['--at', '--local'],
  '--timezone': ['--tz'],
  '--to': ['--endpoint'],
  '--zone': ['--tz'],
  '-d': ['--data', '--body'],
  '-H': ['--header'],
  '-o': ['--json'],
  '-p': ['--port'],
  '-X': ['--method'],
};

const KEY_FLAGS: ReadonlySet<string> = new Set(['--api-key', '--apikey', '--token']);
const API_KEY_ADVICE =
  'Other users of this machine could read the key there. Set SCHED_API_KEY, or name a file with --api-key-file.';
const TIMING_FLAGS: ReadonlySet<string> = new Set(['--delay', '--at', '--local', '--cron', '--tz']);
const UPDATE_FLAGS: ReadonlySet<string> = new Set([
  '--endpoint',
  '--method',
  '--ttl',
  '--max-attempts',
  '--metadata',
]);
/** Flags that belong to another command, by the words of the command that they were given to. */
const ELSEWHERE: Readonly<Record<string, (flag: string) => string | null>> = {
  'sched schedules update': (flag) =>
    isTiming(flag)
      ? `"sched schedules reschedule" changes the time of a schedule: it has ${inUse(flag)}.`
      : null,
  'sched schedules reschedule': (flag) =>
    UPDATE_FLAGS.has(flag)
      ? `"sched schedules update" changes everything but the time: it has ${flag}.`
      : null,
  'sched schedules put': (flag) =>
    inUse(flag) === '--delay'
      ? 'A delay means another instant each time. Give --at or --local, or use "sched schedules create".'
      : null,
};

function inUse(flag: string): string {
  return FLAGS[flag]?.[0] ?? flag;
}

function isTiming(flag: string): boolean {
  return TIMING_FLAGS.has(inUse(flag));
}

/** The words that call a command, such as `sched schedules list`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Returns what was probably meant by a word that is not a command here, or null. */
export function meantCommands(word: string, command: Command): string | null {
  const known = COMMANDS[word.toLowerCase()]?.filter(
    (each) => each.startsWith('--') || existsIn(command, each.split(' ')),
  );
  return alternatives(known ?? []);
}

function existsIn(command: Command, [first, ...rest]: readonly string[]): boolean {
  const found = command.commands.find((child) => child.name() === first);
  return found !== undefined && (rest.length === 0 || existsIn(found, rest));
}

/** Returns what was probably meant by a flag that the command does not have, or null. */
export function meantFlags(flag: string, { options }: Command): string | null {
  const known = FLAGS[flag]?.filter((each) =>
    options.some(({ long, short }) => each === long || each === short),
  );
  return alternatives(known ?? []);
}

/** Says where the value of the flag goes instead: to another command, the environment or a file. Or returns null. */
export function elsewhereText(flag: string, command: Command): string | null {
  if (KEY_FLAGS.has(flag) && takesApiKey(command)) return API_KEY_ADVICE;
  return ELSEWHERE[pathOf(command)]?.(flag) ?? null;
}

/** The program itself takes no key, but a flag may stand before the command that does. */
function takesApiKey({ options, parent }: Command): boolean {
  return parent === null || options.some(({ long }) => long === '--api-key-file');
}

function alternatives(words: readonly string[]): string | null {
  return words.length === 0 ? null : words.join(' or ');
}
