/**
 * Alert channels and conditions, for the dashboard and the command line. The URL of a channel is a credential: it is
 * stored encrypted, and no error and no audit entry repeats it. The engine evaluates conditions and sends messages.
 */
import type { RollingUpgrade } from '#src/commands/rolling-upgrade.ts';
import {
  ALERT_CHANNELS_MAX,
  ALERT_CONDITIONS_MAX,
  ALERT_THRESHOLD,
  ALERT_URL_CHARACTERS_MAX,
  ALERT_WINDOW_MINUTES,
  type AlertChannel,
  type AlertChannelKind,
  type AlertCondition,
  type AlertTerms,
  isAlertName,
  isAlertUrl,
  shownUrlOf,
} from '#src/domain/alert.ts';
import { type AlertMessage, createMessage } from '#src/domain/alert-message.ts';
import type { AlertChannelId, AlertConditionId, AlertIncidentId, IdMint } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { alertUrlContext } from '#src/domain/sealing-contexts.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Vault } from '#src/ports/vault.ts';
import { type AlertPlace, testContent } from '#src/texts/alert-text.ts';
import { counted } from '#src/texts/quote.ts';
import { type ControlCode, ControlRefusal } from './refusal.ts';

/** The first version of the program that has alerts. */
const SINCE = '0.3.0';
const CONFLICTS_MAX = 5;

export interface AlertCommands {
  readonly alerts: AlertStore;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly vault: Vault;
  readonly upgrade: Pick<RollingUpgrade, 'requireSince'>;
  /** True if the operator allows plain http:// destinations. */
  readonly httpAllowed: boolean;
}

export interface NewAlertChannel {
  readonly kind: AlertChannelKind;
  readonly name: string;
  readonly url: string;
}

export async function createChannel(
  { alerts, clock, ids, vault, upgrade, httpAllowed }: AlertCommands,
  partition: Partition,
  { kind, name, url }: NewAlertChannel,
): Promise<AlertChannel> {
  if (!isAlertName(name)) throw new ControlRefusal('invalid_channel_name');
  if (!isAlertUrl(url, httpAllowed)) {
    throw new ControlRefusal('invalid_channel_url', counted(ALERT_URL_CHARACTERS_MAX));
  }
  await upgrade.requireSince(SINCE);
  const now = clock.now();
  const id = ids.mint('chn', now);
  const sealedUrl = vault.seal(alertUrlContext(partition, id), Buffer.from(url));
  const times = { createdAt: now, updatedAt: now, revision: 1 };
  const channel = { partition, id, kind, name, sealedUrl, shownUrl: shownUrlOf(url), ...times };
  const answer = await alerts.addChannel(channel);
  if (answer === 'taken') throw new ControlRefusal('channel_name_taken', name);
  if (answer === 'full') throw new ControlRefusal('too_many_alert_channels', String(ALERT_CHANNELS_MAX));
  if (answer === 'stale') throw new ControlRefusal('changed_meanwhile', name);
  return channel;
}

export function renameChannel(
  { alerts, clock }: AlertCommands,
  partition: Partition,
  id: AlertChannelId,
  name: string,
): Promise<AlertChannel> {
  if (!isAlertName(name)) throw new ControlRefusal('invalid_channel_name');
  return changing(id, async () => {
    const before = await requireChannel(alerts, partition, id);
    const channel = { ...before, name, updatedAt: clock.now(), revision: before.revision + 1 };
    const answer = await alerts.replaceChannel(channel);
    if (answer === 'taken') throw new ControlRefusal('channel_name_taken', name);
    return answer === 'done' ? channel : null;
  });
}

export function removeChannel(
  { alerts }: AlertCommands,
  partition: Partition,
  id: AlertChannelId,
): Promise<AlertChannel> {
  return changing(id, async () => {
    const channel = await requireChannel(alerts, partition, id);
    const answer = await alerts.removeChannel(channel);
    if (answer === 'in_use') throw new ControlRefusal('channel_in_use', channel.name);
    return answer === 'done' ? channel : null;
  });
}

/** Returns the whole URL of a channel. */
export async function revealChannel(
  { alerts, vault }: AlertCommands,
  partition: Partition,
  id: AlertChannelId,
): Promise<string> {
  const { sealedUrl } = await requireChannel(alerts, partition, id);
  return Buffer.from(vault.open(alertUrlContext(partition, id), sealedUrl)).toString();
}

/** Creates a test message. The sender delivers it in the background. */
export async function testChannel(
  { alerts, clock, ids, upgrade }: AlertCommands,
  partition: Partition,
  id: AlertChannelId,
  place: AlertPlace,
): Promise<AlertMessage> {
  const { name } = await requireChannel(alerts, partition, id);
  await upgrade.requireSince(SINCE);
  const now = clock.now();
  const given = { partition, id: ids.mint('dlv', now), incidentId: null, channelId: id } as const;
  const message = createMessage({ ...given, kind: 'test', content: testContent(place) }, now);
  const answer = await alerts.addTestMessage(message);
  if (answer === 'missing') throw new ControlRefusal('unknown_alert_channel', name);
  if (answer === 'in_use') throw new ControlRefusal('channel_test_waits', name);
  return message;
}

export interface AlertConditionChange extends Partial<AlertTerms> {
  readonly channelIds?: readonly AlertChannelId[];
  readonly enabled?: boolean;
}

export interface NewAlertCondition extends AlertTerms {
  readonly kind: AlertCondition['kind'];
  readonly channelIds: readonly AlertChannelId[];
  readonly enabled: boolean;
}

export async function createCondition(
  { alerts, clock, ids, upgrade }: AlertCommands,
  partition: Partition,
  given: NewAlertCondition,
): Promise<AlertCondition> {
  checkTerms(given);
  await upgrade.requireSince(SINCE);
  const now = clock.now();
  const id = ids.mint('alc', now);
  const condition = { partition, id, ...given, createdAt: now, updatedAt: now, revision: 1 };
  const answer = await alerts.addCondition(condition);
  if (answer === 'missing') throw wrongChannels();
  if (answer === 'full') throw new ControlRefusal('too_many_alert_conditions', String(ALERT_CONDITIONS_MAX));
  if (answer === 'stale') throw new ControlRefusal('changed_meanwhile', id);
  return condition;
}

/** A condition that is disabled ends its incidents without messages, because a person has decided it. */
export function changeCondition(
  { alerts, clock }: AlertCommands,
  partition: Partition,
  id: AlertConditionId,
  change: AlertConditionChange,
): Promise<AlertCondition> {
  return changing(id, async () => {
    const before = await requireCondition(alerts, partition, id);
    const next = { ...before, ...change, updatedAt: clock.now(), revision: before.revision + 1 };
    checkTerms(next);
    const answer = await alerts.replaceCondition(next);
    if (answer === 'missing') throw wrongChannels();
    return answer === 'done' ? next : null;
  });
}

export function removeCondition(
  { alerts, clock }: AlertCommands,
  partition: Partition,
  id: AlertConditionId,
): Promise<AlertCondition> {
  return changing(id, async () => {
    const condition = await requireCondition(alerts, partition, id);
    return (await alerts.removeCondition(condition, clock.now())) === 'done' ? condition : null;
  });
}

export async function requireChannel(alerts: AlertStore, partition: Partition, id: AlertChannelId) {
  return found(await alerts.findChannel(partition, id), 'unknown_alert_channel', id);
}

export async function requireCondition(alerts: AlertStore, partition: Partition, id: AlertConditionId) {
  return found(await alerts.findCondition(partition, id), 'unknown_alert_condition', id);
}

export async function requireIncident(alerts: AlertStore, partition: Partition, id: AlertIncidentId) {
  return found(await alerts.findIncident(partition, id), 'unknown_incident', id);
}

function found<T>(object: T | null, code: ControlCode, id: string): T {
  if (object === null) throw new ControlRefusal(code, id);
  return object;
}

/** Reads, decides and writes again until no other change came in between. `write` returns null if one did. */
async function changing<T>(id: string, write: () => Promise<T | null>): Promise<T> {
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    const written = await write();
    if (written !== null) return written;
  }
  throw new ControlRefusal('changed_meanwhile', id);
}

function checkTerms({
  kind,
  threshold,
  windowMinutes,
  channelIds,
}: Pick<AlertCondition, 'kind' | 'threshold' | 'windowMinutes' | 'channelIds'>): void {
  const hasTerms = kind === 'deliveries_failed';
  checkTerm('invalid_threshold', threshold, hasTerms, ALERT_THRESHOLD);
  checkTerm('invalid_window', windowMinutes, hasTerms, ALERT_WINDOW_MINUTES);
  const isDistinct = new Set(channelIds).size === channelIds.length;
  if (channelIds.length < 1 || channelIds.length > ALERT_CHANNELS_MAX || !isDistinct) throw wrongChannels();
}

function checkTerm(
  code: ControlCode,
  value: number | null,
  isNeeded: boolean,
  { min, max }: { readonly min: number; readonly max: number },
): void {
  const isInRange = value !== null && Number.isInteger(value) && value >= min && value <= max;
  if (isNeeded ? !isInRange : value !== null) {
    throw new ControlRefusal(code, `from ${min} to ${counted(max)}`);
  }
}

function wrongChannels(): ControlRefusal {
  return new ControlRefusal('invalid_channels', String(ALERT_CHANNELS_MAX));
}
