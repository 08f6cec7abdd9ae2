import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { CommandFailure, wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf } from '#src/cli/options.ts';
import { readSecretFromStdin } from '#src/cli/terminal/input.ts';
import { type Answer, tableOf } from '#src/cli/terminal/output.ts';
import { askSecret, canAsk } from '#src/cli/terminal/prompt.ts';
import { keyHint, parseApiKey } from '#src/domain/api-key.ts';
import {
  type Context,
  type Contexts,
  checkKey,
  checkName,
  checkUrl,
  contextPath,
  readContexts,
  writeContexts,
} from './context-file.ts';
import { withLock } from './context-lock.ts';

export function contextCommands(program: Command, dependencies: CliDependencies): void {
  const contexts = program
    .command('context')
    .description('services that commands speak to: an address and its key, by name')
    .addHelpText(
      'after',
      `
Contexts are kept in $XDG_CONFIG_HOME/sched/contexts.json or where SCHED_CONFIG
says, for you alone to read. The key of a context is only ever sent to the
address it was stored with.

Examples:
  sched context set staging --url https://sched.staging.example.com
  sched context use staging
  sched schedules list --context production`,
    );

  const set = contexts
    .command('set')
    .argument('<context>', 'its name')
    .description('store an address and its key, which is asked for or read from standard input')
    .requiredOption('--url <url>', 'where the service is');
  addChangeAction(set, dependencies, async (options, name) => {
    const url = checkUrl(textOf(options, 'url') ?? '', '--url');
    checkName(name);
    const apiKey = checkKey(await askForKey(), 'It');
    return (before) => {
      const byName = new Map(before.byName).set(name, { url, apiKey });
      const current = before.current ?? name;
      const next = current === name ? ' It is in use.' : ` Use it: sched context use ${name}`;
      return {
        contexts: { current, byName },
        answer: {
          json: { name, url, current: current === name },
          text: `Context ${name} is stored.${next}`,
        },
      };
    };
  });

  const list = contexts
    .command('list')
    .description('the contexts; of a key, only its end')
    .option('--json', 'print JSON');
  list.action(async (options: Options) => {
    const stored = await readContexts(contextPath(dependencies.env), dependencies.notify);
    printAnswer(contextsAnswer(stored, dependencies), options, dependencies);
  });

  const use = contexts
    .command('use')
    .argument('<context>', 'its name')
    .description('take this one where none is named');
  addChangeAction(use, dependencies, async (_, name) => (before) => {
    requireContext(before, name);
    return {
      contexts: { ...before, current: name },
      answer: { json: { name, current: true }, text: `Context ${name} is in use.` },
    };
  });

  const remove = contexts
    .command('remove')
    .argument('<context>', 'its name')
    .description('forget one, and its key');
  addChangeAction(remove, dependencies, async (_, name) => (before) => {
    requireContext(before, name);
    const byName = new Map(before.byName);
    byName.delete(name);
    const wasCurrent = before.current === name;
    return {
      contexts: { current: wasCurrent ? null : before.current, byName },
      answer: {
        json: { name, removed: true },
        text: `Context ${name} is removed.${wasCurrent ? ' None is in use now.' : ''}`,
      },
    };
  });
}

interface Change {
  readonly contexts: Contexts;
  readonly answer: Answer;
}

/** First whatever has to be asked for; then the contexts are read, changed and written, with nobody in between. */
function addChangeAction(
  command: Command,
  dependencies: CliDependencies,
  work: (options: Options, name: string) => Promise<(before: Contexts) => Change>,
): void {
  command.option('--json', 'print JSON').action(async () => {
    const path = contextPath(dependencies.env);
    const options: Options = command.opts();
    const change = await work(options, command.args[0] ?? '');
    const answer = await withLock(path, dependencies, async () => {
      const { contexts, answer } = change(await readContexts(path, dependencies.notify));
      await writeContexts(path, contexts);
      return answer;
    });
    printAnswer(answer, options, dependencies);
  });
}

async function askForKey(): Promise<string> {
  if (canAsk()) return askSecret('API key (it is not shown): ');
  if (process.stdin.isTTY) throw wrongUsage('Give the key on standard input.');
  return readSecretFromStdin('The API key');
}

function requireContext(contexts: Contexts, name: string): void {
  if (!contexts.byName.has(name)) throw new CommandFailure(`There is no context ${JSON.stringify(name)}.`);
}

function contextsAnswer({ current, byName }: Contexts, { screen }: CliDependencies): Answer {
  const all = [...byName].map(([name, context]) => ({ name, ...context }));
  if (all.length === 0) return { json: [], text: 'There are no contexts.' };
  return {
    json: all.map(({ name, url, apiKey }) => ({
      name,
      url,
      key_hint: keyHint(apiKey),
      mode: parseApiKey(apiKey),
      current: name === current,
    })),
    text: tableOf<Context & { readonly name: string }>(
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
