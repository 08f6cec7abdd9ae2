import type { Command } from 'commander';
import { CONTROL_SETTINGS, readControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import {
  addAction,
  addOptionalModeOption,
  addProjectOption,
  addSettings,
  type CliDependencies,
  modeOf,
  projectOf,
} from '#src/cli/command.ts';
import { type Answer, instantOr, table } from '#src/cli/terminal/output.ts';
import { type OpenSecret, OVERLAP_DEFAULT, rotateSecret, showSecrets } from '#src/control/secrets.ts';
import { formatInstant } from '#src/domain/instant.ts';
import { auditCommand } from './command-audit.ts';
import {
  addEndpointOption,
  endpointOf,
  endpointSecretCommands,
  rotateForEndpoint,
  showForEndpoint,
} from './endpoint-secret-commands.ts';

export function secretCommands(program: Command, dependencies: CliDependencies): void {
  const secrets = program.command('secret').description('Show and change signing secrets');

  const show = secrets.command('show').description('Show the signing secrets in use, newest first');
  addEndpointOption(addOptionalModeOption(addProjectOption(show)));
  addAction(addSettings(show, CONTROL_SETTINGS), dependencies, async (given) => {
    if (endpointOf(given) !== null) return showForEndpoint(given);
    const [project, mode] = [projectOf(given), modeOf(given)];
    return answerOf(
      await withSecrets(readControlSettings(given), (control) =>
        auditCommand(control, { action: 'secret.reveal', project, mode }, () =>
          showSecrets(control, project, mode),
        ),
      ),
    );
  });

  const rotate = secrets
    .command('rotate')
    .description('Create a new signing secret; earlier ones sign too during the overlap')
    .option('--overlap <duration>', 'how long the earlier secrets sign too', OVERLAP_DEFAULT);
  addEndpointOption(addOptionalModeOption(addProjectOption(rotate)));
  addAction(addSettings(rotate, CONTROL_SETTINGS), dependencies, async (given) => {
    if (endpointOf(given) !== null) return rotateForEndpoint(given);
    const [project, mode, overlap] = [projectOf(given), modeOf(given), given.flags['--overlap']];
    return answerOf(
      await withSecrets(readControlSettings(given), (control) =>
        auditCommand(
          control,
          { action: 'secret.rotate', project, mode, detail: { overlap: overlap ?? OVERLAP_DEFAULT } },
          () => rotateSecret(control, project, mode, overlap),
          ([newest]) => newest?.id ?? '',
        ),
      ),
    );
  });

  endpointSecretCommands(secrets, dependencies);
}

function answerOf(secrets: readonly OpenSecret[]): Answer {
  const rows = secrets.map(({ id, text, createdAt, expiresAt }) => [
    text,
    id,
    formatInstant(createdAt),
    instantOr(expiresAt, '-'),
  ]);
  return {
    json: secrets.map(({ id, text, createdAt, expiresAt }) => ({
      id,
      secret: text,
      created_at: formatInstant(createdAt),
      expires_at: expiresAt === null ? null : formatInstant(expiresAt),
    })),
    text: table([['SECRET', 'ID', 'CREATED', 'SIGNS UNTIL'], ...rows]),
  };
}
