import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { CommandFailure, wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf } from '#src/cli/options.ts';
import { readSecretFromStdin } from '#src/cli/terminal/input.ts';
import { type Answer, tableOf } from '#src/cli/terminal/output.ts';
import { askSecret, canAsk } from '#src/cli/terminal/prompt.ts';
import { keyHint, parseApiKey } from '#src/domain/api-key.ts';
import {
  checkedKey,
  checkedName,
  checkedUrl,
  type Profile,
  type Profiles,
  profilePath,
  readProfiles,
  writeProfiles,
} from './profile-file.ts';
import { alone } from './profile-lock.ts';

export function profileCommands(program: Command, dependencies: CliDependencies): void {
  const profiles = program
    .command('profile')
    .description('services that commands speak to: an address and its key, by name')
    .addHelpText(
      'after',
      `
Profiles are kept in $XDG_CONFIG_HOME/sched/profiles.json or where SCHED_CONFIG
says, for you alone to read. The key of a profile is only ever sent to the
address it was stored with.

Examples:
  sched profile set staging --url https://sched.staging.example.com
  sched profile use staging
  sched schedules list --profile production`,
    );

  const set = profiles
    .command('set')
    .argument('<profile>', 'its name')
    .description('store an address and its key, which is asked for or read from standard input')
    .requiredOption('--url <url>', 'where the service is');
  changing(set, dependencies, async (options, name) => {
    const url = checkedUrl(textOf(options, 'url') ?? '', '--url');
    checkedName(name);
    const apiKey = checkedKey(await keyFromPerson(), 'It');
    return (before) => {
      const byName = new Map(before.byName).set(name, { url, apiKey });
      const current = before.current ?? name;
      const next = current === name ? ' It is in use.' : ` Use it: sched profile use ${name}`;
      return {
        profiles: { current, byName },
        answer: {
          json: { name, url, current: current === name },
          text: `Profile ${name} is stored.${next}`,
        },
      };
    };
  });

  const list = profiles
    .command('list')
    .description('the profiles; of a key, only its end')
    .option('--json', 'print JSON');
  list.action(async (options: Options) => {
    const stored = await readProfiles(profilePath(dependencies.env), dependencies.tell);
    printAnswer(profilesAnswer(stored, dependencies), options, dependencies);
  });

  const use = profiles
    .command('use')
    .argument('<profile>', 'its name')
    .description('take this one where none is named');
  changing(use, dependencies, async (_, name) => (before) => {
    mustHave(before, name);
    return {
      profiles: { ...before, current: name },
      answer: { json: { name, current: true }, text: `Profile ${name} is in use.` },
    };
  });

  const remove = profiles
    .command('remove')
    .argument('<profile>', 'its name')
    .description('forget one, and its key');
  changing(remove, dependencies, async (_, name) => (before) => {
    mustHave(before, name);
    const byName = new Map(before.byName);
    byName.delete(name);
    const wasCurrent = before.current === name;
    return {
      profiles: { current: wasCurrent ? null : before.current, byName },
      answer: {
        json: { name, removed: true },
        text: `Profile ${name} is removed.${wasCurrent ? ' None is in use now.' : ''}`,
      },
    };
  });
}

interface Change {
  readonly profiles: Profiles;
  readonly answer: Answer;
}

/** First whatever has to be asked for; then the profiles are read, changed and written, with nobody in between. */
function changing(
  command: Command,
  dependencies: CliDependencies,
  work: (options: Options, name: string) => Promise<(before: Profiles) => Change>,
): void {
  command.option('--json', 'print JSON').action(async () => {
    const path = profilePath(dependencies.env);
    const options: Options = command.opts();
    const change = await work(options, command.args[0] ?? '');
    const answer = await alone(path, dependencies, async () => {
      const { profiles, answer } = change(await readProfiles(path, dependencies.tell));
      await writeProfiles(path, profiles);
      return answer;
    });
    printAnswer(answer, options, dependencies);
  });
}

async function keyFromPerson(): Promise<string> {
  if (canAsk()) return askSecret('API key (it is not shown): ');
  if (process.stdin.isTTY) throw wrongUsage('Give the key on standard input.');
  return readSecretFromStdin('The API key');
}

function mustHave(profiles: Profiles, name: string): void {
  if (!profiles.byName.has(name)) throw new CommandFailure(`There is no profile ${JSON.stringify(name)}.`);
}

function profilesAnswer({ current, byName }: Profiles, { screen }: CliDependencies): Answer {
  const all = [...byName].map(([name, profile]) => ({ name, ...profile }));
  if (all.length === 0) return { json: [], text: 'There are no profiles.' };
  return {
    json: all.map(({ name, url, apiKey }) => ({
      name,
      url,
      key_hint: keyHint(apiKey),
      mode: parseApiKey(apiKey),
      current: name === current,
    })),
    text: tableOf<Profile & { readonly name: string }>(
      [
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'IN USE', cell: ({ name }) => (name === current ? 'yes' : '-') },
        { title: 'MODE', cell: ({ apiKey }) => parseApiKey(apiKey) ?? '-' },
        { title: 'KEY', cell: ({ apiKey }) => `…${keyHint(apiKey)}` },
        { title: 'URL', cell: ({ url }) => url, fit: 'cut' },
      ],
      all,
      screen,
    ),
  };
}
