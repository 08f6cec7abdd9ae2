import { osUser } from '#src/app/process.ts';
import { type AuditedAction, runAudited } from '#src/control/audit.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { COMMAND_LINE } from '#src/control/user-rules.ts';
import type { Mode } from '#src/domain/project.ts';

export interface CommandAct extends Pick<AuditedAction, 'action'> {
  /** What it is done to, where that is known before. */
  readonly subject?: string;
  /** By name. */
  readonly project?: string;
  readonly mode?: Mode;
  readonly detail?: AuditedAction['detail'];
}

/** Does it, and keeps in the audit log that somebody at the command line did, and as which user of the machine. */
export async function auditCommand<T>(
  dependencies: ControlDependencies,
  { action, subject = '', project, mode, detail = {} }: CommandAct,
  act: () => Promise<T>,
  subjectOf?: (made: T) => string,
): Promise<T> {
  const found = project === undefined ? null : await dependencies.store.findProject(project);
  const given: AuditedAction = {
    userId: null,
    actor: COMMAND_LINE.name,
    address: null,
    peer: null,
    action,
    subject,
    projectId: found?.id ?? null,
    mode: mode ?? null,
    detail: { ...detail, os_user: osUser() },
  };
  return runAudited(dependencies, given, act, subjectOf);
}
