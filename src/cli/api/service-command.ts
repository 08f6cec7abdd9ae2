/** Shared parts of the commands that call the API: the connection, the client, and the answer. */
import type { Command } from 'commander';
import type { Sched } from '#sdk/index.ts';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { isSet, type Options, textOf } from '#src/cli/options.ts';
import type { Answer } from '#src/cli/terminal/output.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';
import type { Connection } from './connection.ts';

/** Fewer than the client's default, because a person waits at the terminal. */
const RETRIES = 2;

export interface ServiceCall {
  readonly sched: Sched;
  readonly connection: Connection;
  readonly options: Options;
  /** The first argument, usually an id. */
  readonly argument: string;
  /** The second argument, or undefined. */
  readonly secondArgument: string | undefined;
  readonly isJson: boolean;
  readonly screen: Screen;
  /** The current time. It is read after the answer, so that no instant in the answer lies ahead of it. */
  readonly now: () => number;
}

export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup('Options of every command that calls the API:')
    .option('--url <url>', 'address of the service [SCHED_URL]')
    .option('--context <context>', 'context with the address and the API key [SCHED_CONTEXT]')
    .option('--api-key-file <file>', 'file that holds the API key [SCHED_API_KEY holds the key]')
    .option('--json', 'print JSON');
}

/** Adds the connection options, and an action that calls the service and prints the answer. */
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

/** Connects and does the work. An error of the service becomes a failure of the command. */
export async function callService(
  command: Command,
  dependencies: CliDependencies,
  work: (call: ServiceCall) => Promise<void>,
): Promise<void> {
  // Loaded only when the command runs, because its help does not need them.
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
      secondArgument: command.args[1],
      isJson: isSet(options, 'json'),
      screen: dependencies.screen,
      now: () => dependencies.clock.now(),
    });
  } catch (error) {
    throw error instanceof SchedError ? failureOf(error, connection, options) : error;
  }
}

/** An empty id would address the list instead of an object. */
function argumentOf({ registeredArguments: [asked], args: [argument = ''] }: Command): string {
  if (asked !== undefined && argument.trim() === '') throw wrongUsage(`<${asked.name()}> must not be empty.`);
  return argument;
}
