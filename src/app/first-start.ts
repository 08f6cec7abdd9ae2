/** What a person reads at the first start. It goes to standard output only: it must not end up in a log. */
import { DEFAULT_PROJECT, type GeneratedCredential } from '#src/control/bootstrap.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { invitationPath, inviteFirstAdmin } from '#src/control/invitations.ts';

export function announcement(made: readonly GeneratedCredential[]): string {
  if (made.length === 0) return '';
  const labels = made.map(({ mode, kind }) => `${mode} ${kind}`);
  const width = Math.max(...labels.map(({ length }) => length));
  const lines = made.map(({ text }, i) => `  ${labels[i]?.padEnd(width)}  ${text}`);
  return [
    `Project ${DEFAULT_PROJECT}. These are shown once, keep them:`,
    '',
    ...lines,
    '',
    'A lost key is replaced with `sched key create --mode test`, and',
    '`sched secret show --mode test` shows the signing secrets again.',
    '',
    '',
  ].join('\n');
}

/**
 * The link by which the first admin comes; null where there is somebody, or who was invited. It is made once the
 * address is known by which it is told: a start that fails before would leave one that nobody ever saw.
 */
export async function firstInvitation(
  dependencies: ControlDependencies,
  url: string,
  alone: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<string | null> {
  if ((await dependencies.store.people.countUsers()) > 0) return null;
  const made = await alone(() => inviteFirstAdmin(dependencies));
  return made === null ? null : `${reachable(url)}${invitationPath(made.token)}`;
}

/** Where it listens on every address, the one of the machine itself. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

export function invitationText(link: string): string {
  return [
    'Nobody can use the dashboard yet. Whoever opens this link becomes its first admin; it is shown once:',
    '',
    `  ${link}`,
    '',
    'The link expires after 24 hours; a start after that prints another. A lost link is replaced with',
    '`sched user create --role admin`.',
    '',
    '',
  ].join('\n');
}
