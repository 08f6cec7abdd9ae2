/** The work of `sched alert incident`. */
import type { Given } from '#src/app/config.ts';
import { wrongUsage } from '#src/cli/failure.ts';
import { type Answer, instantOr, table } from '#src/cli/terminal/output.ts';
import { requireIncident } from '#src/control/alerts.ts';
import { presentIncident, presentMessage } from '#src/control/http/present-alerts.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant } from '#src/domain/instant.ts';
import { incidentWords } from '#src/texts/alert-text.ts';
import { withAlerts } from './alert-session.ts';

const LISTED_MAX = 1_000;
const MESSAGES_SHOWN_MAX = 100;

export function runList(given: Given): Promise<Answer> {
  const limit = Number(given.flags['--limit']);
  if (!Number.isInteger(limit) || limit < 1 || limit > LISTED_MAX) {
    throw wrongUsage(`--limit must be a whole number from 1 to ${LISTED_MAX}.`);
  }
  return withAlerts(given, async ({ commands: { alerts }, partition }) => {
    const incidents = await alerts.listIncidents(partition, null, limit);
    const rows = incidents.map((incident) => [
      incident.id,
      formatInstant(incident.begunAt),
      instantOr(incident.endedAt, 'open'),
      titleOf(incident),
    ]);
    return {
      json: incidents.map(presentIncident),
      text: table([['ID', 'OPENED', 'CLOSED', 'TITLE'], ...rows]),
    };
  });
}

export function runShow(given: Given, text: string): Promise<Answer> {
  return withAlerts(given, async ({ commands: { alerts }, partition }) => {
    const id = parseId('inc', text);
    if (id === null) throw new ControlRefusal('unknown_incident', text);
    const incident = await requireIncident(alerts, partition, id);
    const messages = await alerts.listMessages(partition, id, MESSAGES_SHOWN_MAX);
    const names = new Map((await alerts.listChannels(partition)).map((one) => [one.id, one.name]));
    const { begunAt, endedAt } = incident;
    const rows = messages.map(({ kind, channelId, status, attemptCount, error }) => [
      kind,
      names.get(channelId) ?? channelId,
      status,
      String(attemptCount),
      error ?? '-',
    ]);
    return {
      json: { ...presentIncident(incident), messages: messages.map(presentMessage) },
      text: [
        `${titleOf(incident)}\nOpened ${formatInstant(begunAt)}, closed ${instantOr(endedAt, '-')}`,
        table([['MESSAGE', 'CHANNEL', 'STATUS', 'ATTEMPTS', 'ERROR'], ...rows]),
      ].join('\n\n'),
    };
  });
}

function titleOf(incident: AlertIncident): string {
  return incidentWords('opened', incident).title;
}
