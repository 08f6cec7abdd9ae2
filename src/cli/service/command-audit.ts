import { osUser } from '#src/app/process.ts';
import { type AuditedAction, runAudited } from '#src/control/audit.ts';
import type { ControlDependencies } from '#src/control/dependencies.ts';
import { COMMAND_LINE } from '#src/control/user-rules.ts';
import type { Mode } from '#src/domain/project.ts';

export interface CommandAct extends Pick<AuditedAction, 'action'> {
  /** The object of the action, if it is known before the action. */
  readonly subject?: string;
  /** The name of the project. */
  readonly project?: string;
  readonly mode?: Mode;
  readonly detail?: AuditedAction['detail'];
}

/** Runs the action and records it in the audit log, with the user of this machine who ran the command. */
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
