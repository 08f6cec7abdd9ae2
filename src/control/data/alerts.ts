/**
 * Alerts: channels, conditions, incidents and their messages. Everybody sees the origin of a channel's URL. Only an admin
 * sees all of it, and that is recorded in the audit log.
 */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '#src/api/cursor.ts';
import { requireFound } from '#src/commands/command.ts';
import {
  type AlertCommands,
  type AlertConditionChange,
  changeCondition,
  createChannel,
  createCondition,
  removeChannel,
  removeCondition,
  renameChannel,
  requireIncident,
  revealChannel,
  testChannel,
} from '#src/control/alerts.ts';
import { byId, choice, cursor, idOf, limit, saying, text } from '#src/control/http/fields.ts';
import {
  presentChannel,
  presentCondition,
  presentIncident,
  presentMessage,
} from '#src/control/http/present-alerts.ts';
import { DONE, json, list, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { ALERT_CHANNEL_KINDS, ALERT_CONDITION_KINDS, ALERT_URL_CHARACTERS_MAX } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import { type AlertIncidentId, parseId } from '#src/domain/id.ts';
import type { DataDependencies } from './dependencies.ts';

const MESSAGES_SHOWN_MAX = 100;
/** More than a condition may name, so that its own message refuses them. */
const CHANNELS_READ_MAX = 100;
const BY_CHANNEL = byId('chn');
const BY_CONDITION = byId('alc');
const BY_INCIDENT = byId('inc');

/** A wrong URL gets a message that does not repeat it. */
const URL_TEXT = saying(
  (name) => `${name} must be a string of at most ${ALERT_URL_CHARACTERS_MAX} characters.`,
);
const NUMBER = saying((name) => `${name} must be a whole number or null.`);
const FLAG = saying((name) => `${name} must be true or false.`);
const CHANNEL_IDS = saying((name) => `${name} must be a list of ids of alert channels.`);

const NEW_CHANNEL = z.strictObject({
  kind: oneOf(ALERT_CHANNEL_KINDS),
  name: text,
  url: z.string(URL_TEXT).max(ALERT_URL_CHARACTERS_MAX, URL_TEXT),
});
const RENAME = z.strictObject({ name: text });

const number = z.int(NUMBER).nullish();
const channelIds = z.array(idOf('chn'), CHANNEL_IDS).max(CHANNELS_READ_MAX, CHANNEL_IDS);
const enabled = z.boolean(FLAG).optional();
const NEW_CONDITION = z.strictObject({
  kind: oneOf(ALERT_CONDITION_KINDS),
  threshold: number,
  window_minutes: number,
  channel_ids: channelIds,
  enabled,
});
const CHANGE = z.strictObject({
  threshold: number,
  window_minutes: number,
  channel_ids: channelIds.optional(),
  enabled,
});

function oneOf<const T extends string>(choices: readonly T[]) {
  return z.enum(
    choices,
    saying((name) => `${name} must be one of ${choices.join(', ')}.`),
  );
}

export function alertRoutes(dependencies: DataDependencies): readonly ProjectRoute[] {
  const { alerts, commands: shared, upgrade, httpAllowed } = dependencies;
  const commands = { ...shared, alerts, upgrade, httpAllowed };
  return [
    ...channelRoutes(dependencies, commands),
    ...conditionRoutes(commands),
    ...incidentRoutes(dependencies),
  ];
}

function channelRoutes(
  { alerts, dashboard, wakeAlerts }: DataDependencies,
  commands: AlertCommands,
): readonly ProjectRoute[] {
  return [
    projectRoute('GET alerts/channels', {
      needs: 'viewer',
      handle: async ({ partition }) => list((await alerts.listChannels(partition)).map(presentChannel)),
    }),
    projectRoute('POST alerts/channels', {
      needs: 'admin',
      body: NEW_CHANNEL,
      audited: {
        action: 'alert_channel.create',
        detail: ({ body: { kind, name } }) => ({ kind, name }),
      },
      handle: async ({ partition, body }) => {
        const channel = await createChannel(commands, partition, body);
        return json(presentChannel(channel), 201, channel.id);
      },
    }),
    projectRoute('PATCH alerts/channels/:id', {
      needs: 'admin',
      params: BY_CHANNEL,
      body: RENAME,
      audited: { action: 'alert_channel.rename', detail: ({ body }) => body },
      handle: async ({ partition, params: { id }, body: { name } }) =>
        json(presentChannel(await renameChannel(commands, partition, id, name))),
    }),
    projectRoute('POST alerts/channels/:id/remove', {
      needs: 'admin',
      params: BY_CHANNEL,
      audited: { action: 'alert_channel.remove' },
      handle: async ({ partition, params: { id } }) => {
        await removeChannel(commands, partition, id);
        return json(DONE);
      },
    }),
    projectRoute('POST alerts/channels/:id/reveal', {
      needs: 'admin',
      params: BY_CHANNEL,
      audited: { action: 'alert_channel.reveal' },
      handle: async ({ partition, params: { id } }) =>
        json({ url: await revealChannel(commands, partition, id) }),
    }),
    projectRoute('POST alerts/channels/:id/test', {
      needs: 'operator',
      params: BY_CHANNEL,
      audited: { action: 'alert_channel.test' },
      handle: async ({ partition, project, mode, params: { id } }) => {
        const place = { project: project.name, mode, dashboard };
        const message = await testChannel(commands, partition, id, place);
        wakeAlerts();
        return json(presentMessage(message), 201);
      },
    }),
  ];
}

function conditionRoutes(commands: AlertCommands): readonly ProjectRoute[] {
  return [
    projectRoute('GET alerts/conditions', {
      needs: 'viewer',
      handle: async ({ partition }) =>
        list((await commands.alerts.listConditions(partition)).map(presentCondition)),
    }),
    projectRoute('POST alerts/conditions', {
      needs: 'admin',
      body: NEW_CONDITION,
      audited: { action: 'alert_condition.create', detail: ({ body }) => detailOf(body) },
      handle: async ({ partition, body }) => {
        const { kind, threshold = null, window_minutes: windowMinutes = null, enabled: isOn = true } = body;
        const given = { kind, threshold, windowMinutes, channelIds: body.channel_ids, enabled: isOn };
        const condition = await createCondition(commands, partition, given);
        return json(presentCondition(condition), 201, condition.id);
      },
    }),
    projectRoute('PATCH alerts/conditions/:id', {
      needs: 'admin',
      params: BY_CONDITION,
      body: CHANGE,
      audited: { action: 'alert_condition.update', detail: ({ body }) => detailOf(body) },
      handle: async ({ partition, params: { id }, body }) =>
        json(presentCondition(await changeCondition(commands, partition, id, changeIn(body)))),
    }),
    projectRoute('POST alerts/conditions/:id/remove', {
      needs: 'admin',
      params: BY_CONDITION,
      audited: { action: 'alert_condition.remove' },
      handle: async ({ partition, params: { id } }) => {
        await removeCondition(commands, partition, id);
        return json(DONE);
      },
    }),
  ];
}

function incidentRoutes({ alerts }: DataDependencies): readonly ProjectRoute[] {
  return [
    projectRoute('GET alerts/incidents', {
      needs: 'viewer',
      query: z.object({ state: choice(['open']), cursor, limit }),
      handle: async ({ partition, query }) => {
        const { state } = query;
        const incidents = { partition, name: state === null ? 'incidents' : 'open incidents' };
        const before =
          query.cursor === null ? null : decodeCursor(incidents, query.cursor, (id) => parseId('inc', id));
        const page =
          state === null
            ? await alerts.listIncidents(partition, before, query.limit + 1)
            : openBefore(await alerts.listOpenIncidents(partition), before);
        const shown = page.slice(0, query.limit);
        const last = shown.at(-1);
        const hasMore = page.length > shown.length && last !== undefined;
        const next_cursor = hasMore ? encodeCursor(incidents, last.id) : null;
        return json({ data: shown.map(presentIncident), next_cursor });
      },
    }),
    projectRoute('GET alerts/incidents/:id', {
      needs: 'viewer',
      params: BY_INCIDENT,
      handle: async ({ partition, params: { id } }) =>
        json(presentIncident(await requireIncident(alerts, partition, id))),
    }),
    projectRoute('GET alerts/incidents/:id/messages', {
      needs: 'viewer',
      params: BY_INCIDENT,
      handle: async ({ partition, params: { id } }) => {
        await requireIncident(alerts, partition, id);
        return list((await alerts.listMessages(partition, id, MESSAGES_SHOWN_MAX)).map(presentMessage));
      },
    }),
    projectRoute('GET alerts/messages/:id', {
      needs: 'viewer',
      params: byId('dlv'),
      handle: async ({ partition, params: { id } }) =>
        json(presentMessage(requireFound(await alerts.findMessage(partition, id)))),
    }),
  ];
}

/** All open incidents are few (`OPEN_INCIDENTS_MAX` for each condition), so they are read at once. */
function openBefore(oldestFirst: readonly AlertIncident[], before: AlertIncidentId | null) {
  return oldestFirst.toReversed().filter(({ id }) => before === null || id < before);
}

function changeIn(body: z.output<typeof CHANGE>): AlertConditionChange {
  return {
    ...(body.threshold !== undefined && { threshold: body.threshold }),
    ...(body.window_minutes !== undefined && { windowMinutes: body.window_minutes }),
    ...(body.channel_ids !== undefined && { channelIds: body.channel_ids }),
    ...(body.enabled !== undefined && { enabled: body.enabled }),
  };
}

/** A list is written as one text. */
function detailOf({ channel_ids, ...body }: z.output<typeof CHANGE> & { readonly kind?: string }) {
  const given = Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return { ...Object.fromEntries(given), ...(channel_ids && { channel_ids: channel_ids.join(', ') }) };
}
