/** The work of `sched secret show` and `sched secret rotate`. */
import { type Given, readControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import { type Answer, instantOr, table } from '#src/cli/terminal/output.ts';
import { type OpenSecret, OVERLAP_DEFAULT, rotateSecret, showSecrets } from '#src/control/secrets.ts';
import { formatInstant } from '#src/domain/instant.ts';
import { auditCommand } from './command-audit.ts';
import { endpointOf, rotateForEndpoint, showForEndpoint } from './endpoint-secret-actions.ts';
import { modeOf, projectOf } from './service-options.ts';

export async function runShow(given: Given): Promise<Answer> {
  if (endpointOf(given) !== null) return showForEndpoint(given);
  const [project, mode] = [projectOf(given), modeOf(given)];
  return answerOf(
    await withSecrets(readControlSettings(given), (control) =>
      auditCommand(control, { action: 'secret.reveal', project, mode }, () =>
        showSecrets(control, project, mode),
      ),
    ),
  );
}

export async function runRotate(given: Given): Promise<Answer> {
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
