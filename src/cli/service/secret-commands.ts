import type { Command } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { OVERLAP_DEFAULT } from '#src/control/secrets.ts';
import { addAction, addOptionalModeOption, addProjectOption } from './service-options.ts';

const ENDPOINT = '--endpoint <id>';

export function secretCommands(secrets: Command, dependencies: CliDependencies): void {
  const actions = () => import('./secret-actions.ts');

  const show = secrets.command('show').description('Show the signing secrets in use, newest first');
  addAction(addOwnerOptions(show), dependencies, async (given) => (await actions()).runShow(given));

  const rotate = secrets
    .command('rotate')
    .description('Create a new signing secret; earlier ones sign too during the overlap')
    .option('--overlap <duration>', 'how long the earlier secrets sign too', OVERLAP_DEFAULT);
  addAction(addOwnerOptions(rotate), dependencies, async (given) => (await actions()).runRotate(given));

  const endpointActions = () => import('./endpoint-secret-actions.ts');
  const create = secrets
    .command('create')
    .description('Create a signing secret for an endpoint profile; it signs alone after the overlap')
    .requiredOption(ENDPOINT, 'endpoint profile')
    .option('--overlap <duration>', "how long the project's secrets sign too", OVERLAP_DEFAULT);
  addAction(addOptionalModeOption(addProjectOption(create)), dependencies, async (given) =>
    (await endpointActions()).runCreate(given),
  );

  const remove = secrets
    .command('remove')
    .description("Remove the signing secrets of an endpoint profile; the project's secrets sign instead")
    .requiredOption(ENDPOINT, 'endpoint profile')
    .option('--overlap <duration>', 'how long the removed secrets sign too', OVERLAP_DEFAULT);
  addAction(addOptionalModeOption(addProjectOption(remove)), dependencies, async (given) =>
    (await endpointActions()).runRemove(given),
  );
}

/** The secrets belong to a mode of a project, or to an endpoint profile. */
function addOwnerOptions(command: Command): Command {
  return addOptionalModeOption(addProjectOption(command)).option(
    ENDPOINT,
    'endpoint profile whose secrets are meant; default: the secrets of the project',
  );
}
