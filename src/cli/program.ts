/**
 * The tree of commands. Only the file of the called command is loaded. Help and completion load the whole tree, so
 * these files load little: the server, the stores and the time zones are most of the code, and a command imports them
 * when it runs.
 */
import { Command } from 'commander';
import { packageVersion } from '#src/app/process.ts';
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
  3 not found     4 API key not accepted     5 service unreachable or failing`;

type Add = (program: Command, dependencies: CliDependencies) => void;

interface Group {
  readonly heading: string;
  readonly commands: Readonly<Record<string, () => Promise<Add>>>;
}

const TOOLS = 'Tools:';

const GROUPS: readonly Group[] = [
  {
    heading: 'Run and administer the service:',
    commands: {
      dev: async () => (await import('./service/serve-commands.ts')).devCommand,
      serve: async () => (await import('./service/serve-commands.ts')).serveCommand,
      migrate: async () => (await import('./service/migrate-command.ts')).migrateCommand,
      move: async () => (await import('./service/move-command.ts')).moveCommand,
      reseal: async () => (await import('./service/reseal-command.ts')).resealCommand,
      project: async () => (await import('./service/project-commands.ts')).projectCommands,
      key: async () => (await import('./service/key-commands.ts')).keyCommands,
      secret: async () => (await import('./service/secret-commands.ts')).secretCommands,
      user: async () => (await import('./service/user-commands.ts')).userCommands,
    },
  },
  {
    heading: 'Call the API of a service:',
    commands: {
      schedules: async () => (await import('./api/schedule-commands.ts')).scheduleCommands,
      deliveries: async () => (await import('./api/delivery-commands.ts')).deliveryCommands,
      endpoints: async () => (await import('./api/endpoint-commands.ts')).endpointCommands,
      tail: async () => (await import('./api/tail-command.ts')).tailCommand,
      context: async () => (await import('./api/context-commands.ts')).contextCommands,
    },
  },
  {
    heading: TOOLS,
    commands: {
      preview: async () => (await import('./tools/preview-command.ts')).previewCommand,
      verify: async () => (await import('./tools/verify-command.ts')).verifyCommand,
      completion: async () => (await import('./tools/completion-command.ts')).completionCommand,
    },
  },
];

/** The commands that show other commands, so they need the whole tree. */
const SHOW_ALL: ReadonlySet<string> = new Set(['help', 'completion']);

/** Builds only the called command. Without one, or with an unknown one, it builds the whole tree. */
export async function buildProgram(dependencies: CliDependencies, called?: string): Promise<Command> {
  const program = new Command('sched')
    .description('Scheduled HTTP requests, on time and never lost.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--no-color', 'print no colours, even on a terminal')
    .addHelpText('after', AFTER_HELP)
    .addHelpCommand(
      new Command('help').argument('[command]').description('Print the help of a command').helpGroup(TOOLS),
    );
  const isAlone =
    called !== undefined &&
    !SHOW_ALL.has(called) &&
    GROUPS.some(({ commands }) => Object.hasOwn(commands, called));
  for (const { heading, commands } of GROUPS) {
    program.commandsGroup(heading);
    const needed = Object.entries(commands).filter(([name]) => !isAlone || name === called);
    for (const add of await Promise.all(needed.map(([, load]) => load()))) add(program, dependencies);
  }
  for (const command of program.commands) command.helpCommand(false);
  return program;
}
