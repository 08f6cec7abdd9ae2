/** The texts of the first start. They contain secrets, so they go to standard output and not to the log. */
import type { GeneratedCredential } from '#src/control/bootstrap.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { invitationPath, inviteFirstAdmin } from '#src/control/invitations.ts';
import { DEFAULT_PROJECT } from '#src/domain/project.ts';

export function createdKeysText(generated: readonly GeneratedCredential[]): string {
  if (generated.length === 0) return '';
  const labels = generated.map(({ mode, kind }) => `${mode} ${kind}`);
  const width = Math.max(...labels.map(({ length }) => length));
  const lines = generated.map(({ text }, i) => `  ${labels[i]?.padEnd(width)}  ${text}`);
  return [
    `Keys of the project ${DEFAULT_PROJECT}. Store them now: they are shown only once.`,
    '',
    ...lines,
    '',
    'If you lose a key, create another with `sched key create --mode test`.',
    '`sched secret show --mode test` shows the signing secrets again.',
    '',
    '',
  ].join('\n');
}

/**
 * Creates the link for the first admin. Returns null if there is a user or an invitation already. The link is
 * created only after the service listens: a start that fails before would leave an invitation that nobody saw.
 */
export async function firstInvitation(
  dependencies: ControlDependencies,
  url: string,
  runExclusively: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<string | null> {
  if ((await dependencies.store.people.countUsers()) > 0) return null;
  const made = await runExclusively(() => inviteFirstAdmin(dependencies));
  return made === null ? null : `${withReachableHost(url)}${invitationPath(made.token)}`;
}

/** Replaces the wildcard address with loopback, because a browser cannot open a wildcard. */
function withReachableHost(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

export function invitationText(link: string): string {
  return [
    'The dashboard has no user yet. The first person who opens this link becomes its admin. It is shown only once:',
    '',
    `  ${link}`,
    '',
    'The link expires after 24 hours. If you lose it, run `sched user create --role admin`, or restart the',
    'service after the link has expired.',
    '',
    '',
  ].join('\n');
}
