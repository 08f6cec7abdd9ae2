import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { type Options, textOf } from '#src/cli/options.ts';
import { readSecretFromStdin } from '#src/cli/terminal/input.ts';
import { type Answer, tableOf } from '#src/cli/terminal/output.ts';
import { askSecret, canAsk } from '#src/cli/terminal/prompt.ts';
import { keyHint, parseApiKey } from '#src/domain/api-key.ts';
import { URL_CUT } from './columns.ts';
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

export function contextCommands(contexts: Command, dependencies: CliDependencies): void {
  contexts.addHelpText(
    'after',
    `
Contexts are stored in $XDG_CONFIG_HOME/sched/contexts.json, or in the file that
SCHED_CONFIG names. Only you can read the file. The API key of a context is only
sent to the address that it was stored with.

Examples:
  sched context set staging --url https://sched.staging.example.com
  sched context use staging
  sched schedules list --context production`,
  );

  const set = contexts
    .command('set')
    .argument('<context>', 'name of the context')
    .description('Store an address with its API key, read from a prompt or standard input')
    .requiredOption('--url <url>', 'address of the service');
  addChangeAction(set, dependencies, async (options, name) => {
    const url = checkUrl(textOf(options, 'url') ?? '', '--url');
    checkName(name);
    const apiKey = checkKey(await askForKey(), 'The input');
    return (before) => {
      const byName = new Map(before.byName).set(name, { url, apiKey });
      const current = before.current ?? name;
      const next =
        current === name
          ? ' It is the current context.'
          : ` To make it the current context: sched context use ${name}`;
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
    .description('List the contexts, with the last characters of each API key')
    .option('--json', 'print JSON');
  list.action(async (options: Options) => {
    const stored = await readContexts(contextPath(dependencies.env), dependencies.notify);
    printAnswer(contextsAnswer(stored, dependencies), options, dependencies);
  });

  const use = contexts
    .command('use')
    .argument('<context>', 'name of the context')
    .description('Make a context the current one, used when no other is named');
  addChangeAction(use, dependencies, async (_, name) => (before) => {
    requireContext(before, name);
    return {
      contexts: { ...before, current: name },
      answer: { json: { name, current: true }, text: `Context ${name} is now the current context.` },
    };
  });

  const remove = contexts
    .command('remove')
    .argument('<context>', 'name of the context')
    .description('Remove a context and its API key');
  addChangeAction(remove, dependencies, async (_, name) => (before) => {
    requireContext(before, name);
    const byName = new Map(before.byName);
    byName.delete(name);
    const wasCurrent = before.current === name;
    return {
      contexts: { current: wasCurrent ? null : before.current, byName },
      answer: {
        json: { name, removed: true },
        text: `Context ${name} is removed.${wasCurrent ? ' There is no current context now.' : ''}`,
      },
    };
  });
}

interface Change {
  readonly contexts: Contexts;
  readonly answer: Answer;
}

/** Asks the user first. Then, under the lock, it reads, changes and writes the contexts. */
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
  if (canAsk()) return askSecret('API key (not shown): ');
  if (process.stdin.isTTY) throw wrongUsage('Give the API key on standard input.');
  return readSecretFromStdin('The API key');
}

function requireContext(contexts: Contexts, name: string): void {
  if (!contexts.byName.has(name))
    throw wrongUsage(`There is no context ${JSON.stringify(name)}. "sched context list" lists the contexts.`);
}

function contextsAnswer({ current, byName }: Contexts, { screen }: CliDependencies): Answer {
  const all = [...byName].map(([name, context]) => ({ name, ...context }));
  if (all.length === 0)
    return { json: [], text: 'There are no contexts. Store one with "sched context set".' };
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
        { title: 'CURRENT', cell: ({ name }) => (name === current ? 'yes' : '-') },
        { title: 'MODE', cell: ({ apiKey }) => parseApiKey(apiKey) ?? '-', rank: 4 },
        { title: 'KEY', cell: ({ apiKey }) => `…${keyHint(apiKey)}`, rank: 5 },
        { title: 'URL', cell: ({ url }) => url, rank: 3, cut: URL_CUT },
      ],
      all,
      screen,
    ),
  };
}
