/** The work of `sched alert condition`. */
import type { Given } from '#src/app/config.ts';
import { type Answer, table } from '#src/cli/terminal/output.ts';
import {
  type AlertConditionChange,
  changeCondition,
  createCondition,
  removeCondition,
} from '#src/control/alerts.ts';
import { presentCondition } from '#src/control/http/present-alerts.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { ALERT_CONDITION_KINDS } from '#src/domain/alert.ts';
import { type AlertChannelId, type AlertConditionId, parseId } from '#src/domain/id.ts';
import { type AlertSession, channelNamed, withAlerts } from './alert-session.ts';

/** The options that change a condition, with their names in the audit log. */
const AUDITED = [
  ['--threshold', 'threshold'],
  ['--window-minutes', 'window_minutes'],
  ['--channels', 'channel_ids'],
  ['--enabled', 'enabled'],
] as const;

export function runCreate(given: Given): Promise<Answer> {
  const kind = ALERT_CONDITION_KINDS.find((one) => one === given.flags['--kind']) ?? 'breaker_opened';
  return withAlerts(given, async (session) => {
    const { commands, partition, audited } = session;
    const condition = await audited(
      { action: 'alert_condition.create', detail: { kind, ...detailOf(given) } },
      async () => {
        const { threshold = null, windowMinutes = null, channelIds = [] } = await changeIn(given, session);
        const terms = { kind, threshold, windowMinutes, channelIds, enabled: true };
        return createCondition(commands, partition, terms);
      },
      ({ id }) => id,
    );
    return { json: presentCondition(condition), text: `Condition ${condition.id} is created.` };
  });
}

export function runList(given: Given): Promise<Answer> {
  return withAlerts(given, async ({ commands: { alerts }, partition }) => {
    const names = new Map((await alerts.listChannels(partition)).map(({ id, name }) => [id, name]));
    const conditions = await alerts.listConditions(partition);
    const rows = conditions.map(({ id, kind, threshold, windowMinutes, channelIds, enabled }) => [
      id,
      kind,
      threshold === null ? '-' : `more than ${threshold} in ${windowMinutes} min`,
      channelIds.map((channel) => names.get(channel) ?? channel).join(', '),
      enabled ? 'yes' : 'no',
    ]);
    return {
      json: conditions.map(presentCondition),
      text: table([['ID', 'KIND', 'LIMIT', 'CHANNELS', 'ENABLED'], ...rows]),
    };
  });
}

export function runUpdate(given: Given, id: string): Promise<Answer> {
  const enabled = given.flags['--enabled'];
  return withAlerts(given, (session) =>
    session.audited({ action: 'alert_condition.update', subject: id, detail: detailOf(given) }, async () => {
      const change = {
        ...(await changeIn(given, session)),
        ...(enabled !== undefined && { enabled: enabled === 'true' }),
      };
      const condition = await changeCondition(session.commands, session.partition, conditionId(id), change);
      return { json: presentCondition(condition), text: `Condition ${id} is changed.` };
    }),
  );
}

export function runRemove(given: Given, id: string): Promise<Answer> {
  return withAlerts(given, ({ commands, partition, audited }) =>
    audited({ action: 'alert_condition.remove', subject: id }, async () => {
      await removeCondition(commands, partition, conditionId(id));
      return { json: { id, removed: true }, text: `Condition ${id} is removed.` };
    }),
  );
}

async function changeIn(
  { flags }: Given,
  { commands: { alerts }, partition }: AlertSession,
): Promise<AlertConditionChange> {
  const { '--threshold': threshold, '--window-minutes': minutes, '--channels': channels } = flags;
  const channelIds: AlertChannelId[] = [];
  for (const name of channels?.split(',') ?? []) {
    channelIds.push((await channelNamed(alerts, partition, name.trim())).id);
  }
  return {
    ...(threshold !== undefined && { threshold: numberOf(threshold) }),
    ...(minutes !== undefined && { windowMinutes: numberOf(minutes) }),
    ...(channels !== undefined && { channelIds }),
  };
}

/** Returns what the audit log says of a change: the options as they were given. */
function detailOf({ flags }: Given): Readonly<Record<string, string>> {
  const given = AUDITED.flatMap(([option, name]) => {
    const value = flags[option];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

/** A text that is no number becomes one that is refused. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

function conditionId(text: string): AlertConditionId {
  const id = parseId('alc', text);
  if (id === null) throw new ControlRefusal('unknown_alert_condition', text);
  return id;
}
