/** How a command that speaks to the service is put together: where it is, with which key, and what it answers. */
import type { Command } from 'commander';
import type { Sched } from '#sdk/index.ts';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { isSet, type Options, textOf } from '#src/cli/options.ts';
import type { Answer } from '#src/cli/terminal/output.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';
import type { Connection } from './connection.ts';

/** Somebody waits at a terminal. */
const RETRIES = 2;

export interface ServiceCall {
  readonly sched: Sched;
  readonly connection: Connection;
  readonly options: Options;
  /** The first argument, mostly an id. */
  readonly argument: string;
  readonly isJson: boolean;
  readonly screen: Screen;
  /** When it is asked: what was answered is not older. */
  readonly now: () => number;
}

export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup('Options of every command that speaks to the service:')
    .option('--url <url>', 'where the service is [SCHED_URL]')
    .option('--context <context>', 'the address and the key of a context [SCHED_CONTEXT]')
    .option('--api-key-file <file>', 'the API key, from a file [SCHED_API_KEY is the key itself]')
    .option('--json', 'print JSON');
}

/** Does the work with the service and prints its answer. */
export function withService(
  command: Command,
  dependencies: CliDependencies,
  work: (call: ServiceCall) => Promise<Answer>,
): Command {
  return addConnectionOptions(command).action(async () => {
    await callService(command, dependencies, async (call) =>
      printAnswer(await work(call), call.options, dependencies),
    );
  });
}

/** Failures of the service become the command's own. */
export async function callService(
  command: Command,
  dependencies: CliDependencies,
  work: (call: ServiceCall) => Promise<void>,
): Promise<void> {
  // Loaded only when a command runs: its help needs none of it.
  const [{ Sched, SchedError }, { resolveConnection: connectionFor }, { failureOf }] = await Promise.all([
    import('#sdk/index.ts'),
    import('./connection.ts'),
    import('./service-failure.ts'),
  ]);
  const options: Options = command.opts();
  const argument = argumentOf(command);
  const connection = await connectionFor(
    {
      url: textOf(options, 'url'),
      context: textOf(options, 'context'),
      apiKeyFile: textOf(options, 'apiKeyFile'),
    },
    dependencies,
  );
  const { url, apiKey } = connection;
  try {
    await work({
      sched: new Sched({ url: url.value, apiKey: apiKey.value, retries: RETRIES }),
      connection,
      options,
      argument,
      isJson: isSet(options, 'json'),
      screen: dependencies.screen,
      now: () => dependencies.clock.now(),
    });
  } catch (error) {
    throw error instanceof SchedError ? failureOf(error, connection, options) : error;
  }
}

/** An empty one would be another address: that of the list. */
function argumentOf({ registeredArguments: [asked], args: [argument = ''] }: Command): string {
  if (asked !== undefined && argument.trim() === '') throw wrongUsage(`<${asked.name()}> must not be empty.`);
  return argument;
}
