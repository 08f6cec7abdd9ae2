/** The actions of `sched alert` open the store beside the service, and find a channel. */
import { type Given, readControlSettings, readHttpAllowed, readPublicOrigins } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import type { AlertCommands } from '#src/control/alerts.ts';
import { requireProject } from '#src/control/projects.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import type { AlertChannel } from '#src/domain/alert.ts';
import type { Partition } from '#src/domain/project.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { AlertPlace } from '#src/texts/alert-text.ts';
import { auditCommand, type CommandAct } from './command-audit.ts';
import { modeOf, projectOf } from './service-options.ts';

export interface AlertSession {
  readonly commands: AlertCommands;
  readonly partition: Partition;
  readonly place: AlertPlace;
  /** Runs an action and records it in the audit log. */
  readonly audited: <T>(
    act: Pick<CommandAct, 'action' | 'subject' | 'detail'>,
    run: () => Promise<T>,
    subjectOf?: (made: T) => string,
  ) => Promise<T>;
}

export function withAlerts<T>(given: Given, run: (session: AlertSession) => Promise<T>): Promise<T> {
  const [project, mode] = [projectOf(given), modeOf(given)];
  const [origin = null] = readPublicOrigins(given) ?? [];
  return withSecrets(readControlSettings(given), async (control) => {
    const { store } = control;
    const { partitions } = await requireProject(store, project);
    return run({
      commands: {
        ...control,
        alerts: store.alerts,
        httpAllowed: readHttpAllowed(given),
      },
      partition: partitions[mode],
      place: { project, mode, dashboard: origin === null ? null : `${origin}/dashboard` },
      audited: (act, work, subjectOf) => auditCommand(control, { ...act, project, mode }, work, subjectOf),
    });
  });
}

/** Finds a channel by its name or its id. */
export async function channelNamed(
  alerts: AlertStore,
  partition: Partition,
  name: string,
): Promise<AlertChannel> {
  const channels = await alerts.listChannels(partition);
  const found = channels.find((one) => one.id === name) ?? channels.find((one) => one.name === name);
  if (found === undefined) throw new ControlRefusal('unknown_alert_channel', name);
  return found;
}
