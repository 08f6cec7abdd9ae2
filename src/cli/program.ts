/**
 * The tree of commands. Only the file of the called command is loaded, and the general help loads none. Completion and
 * unknown commands load the whole tree, so these files load little: the server, the stores and the time zones are most
 * of the code, and a command imports them when it runs.
 */
import { Command } from 'commander';
import { guidePath, packageVersion } from '#src/app/process.ts';
import type { CliDependencies } from './command.ts';

const AFTER_HELP = `
Examples:
  sched dev
  sched schedules create --endpoint http://127.0.0.1:8080/inbox/hook --delay 5s
  sched tail
  sched preview "0 9 * * MON-FRI" --tz Europe/Berlin

Commands that call the API find the service through SCHED_URL and
SCHED_API_KEY, or through a context (sched context --help). Without either,
they call the service of "sched dev" on this machine.

Exit codes:
  0 done          1 refused or failed        2 wrong usage or settings
  3 not found     4 API key not accepted     5 service unreachable or failing

A running service has its API reference at /docs.`;

function afterHelp(): string {
  const guide = guidePath();
  return guide === null ? AFTER_HELP : `${AFTER_HELP} The guide is here:\n  ${guide}`;
}

/** Adds options, subcommands and an action to a command. */
type Fill = (command: Command, dependencies: CliDependencies) => void;

interface Entry {
  readonly about: string;
  readonly load: () => Promise<Fill>;
}

interface Group {
  readonly heading: string;
  readonly commands: Readonly<Record<string, Entry>>;
}

const TOOLS = 'Tools:';

const GROUPS: readonly Group[] = [
  {
    heading: 'Run and administer the service:',
    commands: {
      dev: {
        about: 'Run a local service to try things out: fixed keys, plain HTTP to this machine, an inbox',
        load: async () => (await import('./service/serve-commands.ts')).devCommand,
      },
      serve: {
        about: 'Run the service',
        load: async () => (await import('./service/serve-commands.ts')).serveCommand,
      },
      migrate: {
        about: 'Create the database, or update its schema',
        load: async () => (await import('./service/migrate-command.ts')).migrateCommand,
      },
      move: {
        about: 'Copy everything from the data directory to an empty PostgreSQL database',
        load: async () => (await import('./service/move-command.ts')).moveCommand,
      },
      reseal: {
        about:
          'Encrypt all stored values again with the current master key, so that an earlier key can be removed',
        load: async () => (await import('./service/reseal-command.ts')).resealCommand,
      },
      project: {
        about: 'Create and list projects, each with its own keys, secrets and data',
        load: async () => (await import('./service/project-commands.ts')).projectCommands,
      },
      key: {
        about: 'Create, list and revoke API keys',
        load: async () => (await import('./service/key-commands.ts')).keyCommands,
      },
      secret: {
        about: 'Show and change signing secrets',
        load: async () => (await import('./service/secret-commands.ts')).secretCommands,
      },
      alert: {
        about: 'Manage alerts: channels, conditions and incidents',
        load: async () => (await import('./service/alert-commands.ts')).alertCommands,
      },
      user: {
        about: 'Invite, list and remove users of the dashboard',
        load: async () => (await import('./service/user-commands.ts')).userCommands,
      },
    },
  },
  {
    heading: 'Call the API of a service:',
    commands: {
      schedules: {
        about: 'Create, show and change schedules',
        load: async () => (await import('./api/schedule-commands.ts')).scheduleCommands,
      },
      deliveries: {
        about: 'List, show, replay and cancel deliveries',
        load: async () => (await import('./api/delivery-commands.ts')).deliveryCommands,
      },
      attempts: {
        about: 'List the attempts of all deliveries',
        load: async () => (await import('./api/attempt-commands.ts')).attemptCommands,
      },
      endpoints: {
        about: 'Create, show and change endpoint profiles: destinations that schedules share',
        load: async () => (await import('./api/endpoint-commands.ts')).endpointCommands,
      },
      tail: {
        about: 'Follow deliveries as they happen, one line for each attempt',
        load: async () => (await import('./api/tail-command.ts')).tailCommand,
      },
      context: {
        about: 'Store the address and API key of services by name',
        load: async () => (await import('./api/context-commands.ts')).contextCommands,
      },
    },
  },
  {
    heading: TOOLS,
    commands: {
      preview: {
        about: 'Print when a cron expression or a wall-clock time fires',
        load: async () => (await import('./tools/preview-command.ts')).previewCommand,
      },
      verify: {
        about: 'Check whether Sched signed a received request, and say why not',
        load: async () => (await import('./tools/verify-command.ts')).verifyCommand,
      },
      completion: {
        about: 'Print a shell script that completes commands, flags and values',
        load: async () => (await import('./tools/completion-command.ts')).completionCommand,
      },
    },
  },
];

/** The commands that show other commands, so they need the whole tree. */
const SHOW_ALL: ReadonlySet<string> = new Set(['help', 'completion']);

/** Builds only the called command. Without one, or with an unknown one, it builds the whole tree. */
export async function buildProgram(dependencies: CliDependencies, called?: string): Promise<Command> {
  const isAlone =
    called !== undefined &&
    !SHOW_ALL.has(called) &&
    GROUPS.some(({ commands }) => Object.hasOwn(commands, called));
  const program = buildOverview(isAlone ? called : undefined);
  const fills = GROUPS.flatMap(({ commands }) => Object.entries(commands)).map(async ([name, { load }]) => {
    const command = program.commands.find((each) => each.name() === name);
    return command === undefined ? null : ([command, await load()] as const);
  });
  for (const filled of await Promise.all(fills)) {
    if (filled === null) continue;
    const [command, fill] = filled;
    fill(command, dependencies);
    command.helpCommand(false);
  }
  return program;
}

/** The names and descriptions of all commands, or of one. The general help needs no more. */
export function buildOverview(only?: string): Command {
  const program = new Command('sched')
    .description('Scheduled HTTP requests, on time and never lost.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--no-color', 'print no colours, even on a terminal')
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText('after', afterHelp)
    .addHelpCommand(
      new Command('help').argument('[command]').description('Print the help of a command').helpGroup(TOOLS),
    );
  for (const { heading, commands } of GROUPS) {
    program.commandsGroup(heading);
    for (const [name, { about }] of Object.entries(commands)) {
      if (only === undefined || name === only) program.command(name).description(about);
    }
  }
  return program;
}

/** The name of a command with the arguments that it needs, such as `show <id>`. */
function termOf(command: Command): string {
  const needed = command.registeredArguments.filter(({ required }) => required);
  return [command.name(), ...needed.map((argument) => `<${argument.name()}>`)].join(' ');
}
