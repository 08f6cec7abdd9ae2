/** The work of `sched secret … --endpoint ep_…`: the signing secrets of one endpoint profile. */
import { type Given, readControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import { type Answer, instantOr, table } from '#src/cli/terminal/output.ts';
import type { SealingDependencies } from '#src/control/dependencies.ts';
import {
  createEndpointSecret,
  type EndpointProfileRef,
  findEndpointMode,
  type OpenEndpointSecret,
  removeEndpointSecrets,
  requireEndpointOf,
  rotateEndpointSecret,
  showEndpointSecrets,
} from '#src/control/endpoint-secrets.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { OVERLAP_DEFAULT } from '#src/control/secrets.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { auditCommand } from './command-audit.ts';
import { modeOf, projectOf } from './service-options.ts';

type Change = (
  dependencies: SealingDependencies,
  place: EndpointProfileRef,
  overlap: string,
) => Promise<readonly OpenEndpointSecret[]>;

export function runCreate(given: Given): Promise<Answer> {
  return changeSecrets(given, 'secret.create', createEndpointSecret);
}

export function runRemove(given: Given): Promise<Answer> {
  return changeSecrets(given, 'secret.remove', removeEndpointSecrets);
}

export function endpointOf({ flags }: Given): string | null {
  return flags['--endpoint'] ?? null;
}

export function showForEndpoint(given: Given): Promise<Answer> {
  return runForEndpoint(given, 'secret.reveal', {}, showEndpointSecrets);
}

export function rotateForEndpoint(given: Given): Promise<Answer> {
  return changeSecrets(given, 'secret.rotate', rotateEndpointSecret);
}

function changeSecrets(given: Given, action: string, change: Change): Promise<Answer> {
  const overlap = given.flags['--overlap'] ?? OVERLAP_DEFAULT;
  return runForEndpoint(given, action, { overlap }, (control, place) => change(control, place, overlap));
}

async function runForEndpoint(
  given: Given,
  action: string,
  detail: Readonly<Record<string, string>>,
  act: (
    dependencies: SealingDependencies,
    place: EndpointProfileRef,
  ) => Promise<readonly OpenEndpointSecret[]>,
): Promise<Answer> {
  const [id, project] = [endpointOf(given) ?? '', projectOf(given)];
  const secrets = await withSecrets(readControlSettings(given), async (control) => {
    const mode = '--mode' in given.flags ? modeOf(given) : await findEndpointMode(control, project, id);
    if (mode === null) throw new ControlRefusal('unknown_endpoint', id);
    return auditCommand(control, { action, subject: id, project, mode, detail }, async () =>
      act(control, await requireEndpointOf(control, project, mode, id)),
    );
  });
  return answerOf(secrets);
}

function answerOf(secrets: readonly OpenEndpointSecret[]): Answer {
  const rows = secrets.map(({ id, text, createdAt, expiresAt, aloneFrom }) => [
    text,
    id,
    formatInstant(createdAt),
    instantOr(expiresAt, '-'),
    instantOr(aloneFrom, '-'),
  ]);
  return {
    json: secrets.map(({ id, text, createdAt, expiresAt, aloneFrom }) => ({
      id,
      secret: text,
      created_at: formatInstant(createdAt),
      expires_at: formatOrNull(expiresAt),
      alone_from: formatOrNull(aloneFrom),
    })),
    text:
      rows.length === 0
        ? "This endpoint profile has no signing secret. The project's secrets sign its deliveries."
        : table([['SECRET', 'ID', 'CREATED', 'SIGNS UNTIL', 'ALONE FROM'], ...rows]),
  };
}

function formatOrNull(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at);
}
