/**
 * Alerts, for every store that speaks SQL. A person's changes lock the partition, so that their limits and references
 * hold. What the upkeep node writes is guarded by its fence and by revisions.
 */
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import type { AlertChannelId, AlertConditionId, AlertIncidentId, DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { type Fence, UPKEEP_SLOT } from '#src/domain/slot.ts';
import type { AlertStore, IncidentWrite } from '#src/ports/alert-store.ts';
import { ALERT_CHANNEL, ALERT_CONDITION, ALERT_INCIDENT, ALERT_MESSAGE } from './alert-rows.ts';
import type { Syntax } from './dialect.ts';
import { endpointDigest } from './digests.ts';
import type { Mapping, Row } from './mapping.ts';
import { BEFORE_EVERY_PARTITION, PAST_EVERY_ID } from './page-bounds.ts';
import { guard, type Rejection, type SqlRunner, type Step } from './steps.ts';
import { held } from './verbs.ts';

const OF_ONE = 'WHERE partition = $1 AND id = $2';
const IN_ORDER = 'WHERE partition = $1 ORDER BY id';

const CHANNELS = `SELECT ${ALERT_CHANNEL.columns.join(', ')} FROM alert_channels`;
const CONDITIONS = `SELECT ${ALERT_CONDITION.columns.join(', ')} FROM alert_conditions`;
const INCIDENTS = `SELECT ${ALERT_INCIDENT.columns.join(', ')} FROM alert_incidents`;
const MESSAGES = `SELECT ${ALERT_MESSAGE.columns.join(', ')} FROM alert_messages`;

const PARTITIONS_WITH_CONDITIONS = `SELECT DISTINCT partition FROM alert_conditions
  WHERE partition > $1 ORDER BY partition LIMIT $2`;
const INCIDENTS_BEFORE = `${INCIDENTS} WHERE partition = $1 AND id < $2 ORDER BY id DESC LIMIT $3`;
const PARTITIONS_WITH_MESSAGES = `SELECT DISTINCT partition FROM alert_messages
  WHERE status = 'waiting' AND partition > $1 AND due_at <= $2 ORDER BY partition LIMIT $3`;
/** Takes partition and instant, then the partition twice. */
function dueMessages(indexedBy: Syntax['indexedBy']): string {
  return `SELECT ${ALERT_MESSAGE.columns.map((column) => `message.${column}`).join(', ')}
    FROM (SELECT DISTINCT channel_id FROM alert_messages ${indexedBy('alert_messages_due')}
      WHERE partition = $1 AND status = 'waiting' AND due_at <= $2) c
    JOIN alert_messages message ON message.partition = $3 AND message.id = (
      SELECT first.id FROM alert_messages first ${indexedBy('alert_messages_due')}
      WHERE first.partition = $4 AND first.channel_id = c.channel_id AND first.status = 'waiting'
      ORDER BY first.due_at, first.id LIMIT 1)
    ORDER BY message.channel_id`;
}
const CONDITION_SWITCHED_OFF = 'the condition was switched off';
const ENDED = ['alert_messages', 'alert_incidents'] as const;
const REMOVALS = { alert_messages: 'removeAlertMessage', alert_incidents: 'removeAlertIncident' } as const;

interface EndedRow {
  readonly partition: Partition;
  readonly id: string;
}

export class SqlAlerts implements AlertStore {
  readonly #sql: Pick<SqlRunner, 'query' | 'run'>;
  readonly #openIncidents: string;
  readonly #messagesOfIncident: string;
  readonly #dueMessages: string;

  constructor(sql: Pick<SqlRunner, 'query' | 'run'>, { indexedBy }: Pick<Syntax, 'indexedBy'>) {
    this.#sql = sql;
    this.#openIncidents = `${INCIDENTS} ${indexedBy('alert_incidents_open')}
      WHERE partition = $1 AND ended_at IS NULL ORDER BY id`;
    this.#messagesOfIncident = `${MESSAGES} ${indexedBy('alert_messages_of_incident')}
      WHERE partition = $1 AND incident_id = $2 ORDER BY id DESC LIMIT $3`;
    this.#dueMessages = dueMessages(indexedBy);
  }

  listChannels(partition: Partition): Promise<readonly AlertChannel[]> {
    return this.#list(ALERT_CHANNEL, `${CHANNELS} ${IN_ORDER}`, partition);
  }

  findChannel(partition: Partition, id: AlertChannelId): Promise<AlertChannel | null> {
    return this.#find(ALERT_CHANNEL, `${CHANNELS} ${OF_ONE}`, partition, id);
  }

  addChannel(channel: AlertChannel): Promise<'done' | 'stale' | 'taken' | 'full'> {
    const { partition, name, id } = channel;
    return this.#change(partition, [
      ['alertChannelFits', 'full', partition],
      ['noOtherAlertChannelNamed', 'taken', partition, name, id],
      ['insertAlertChannel', null, ...ALERT_CHANNEL.values(channel)],
    ]);
  }

  replaceChannel(channel: AlertChannel): Promise<'done' | 'stale' | 'taken'> {
    const { partition, name, id } = channel;
    return this.#change(partition, [
      ['noOtherAlertChannelNamed', 'taken', partition, name, id],
      ['replaceAlertChannel', 'stale', ...ALERT_CHANNEL.mutable.values(channel), ...guard(channel)],
    ]);
  }

  removeChannel({ partition, id, revision }: AlertChannel): Promise<'done' | 'stale' | 'in_use'> {
    return this.#change(partition, [
      ['alertChannelUnused', 'in_use', partition, `%"${id}"%`],
      ['removeAlertChannel', 'stale', partition, id, revision],
    ]);
  }

  listConditions(partition: Partition): Promise<readonly AlertCondition[]> {
    return this.#list(ALERT_CONDITION, `${CONDITIONS} ${IN_ORDER}`, partition);
  }

  findCondition(partition: Partition, id: AlertConditionId): Promise<AlertCondition | null> {
    return this.#find(ALERT_CONDITION, `${CONDITIONS} ${OF_ONE}`, partition, id);
  }

  addCondition(condition: AlertCondition): Promise<'done' | 'stale' | 'missing' | 'full'> {
    return this.#change(condition.partition, [
      ['alertConditionFits', 'full', condition.partition],
      ...channelsExist(condition),
      ['insertAlertCondition', null, ...ALERT_CONDITION.values(condition)],
    ]);
  }

  replaceCondition(condition: AlertCondition): Promise<'done' | 'stale' | 'missing'> {
    const values = [...ALERT_CONDITION.mutable.values(condition), ...guard(condition)];
    return this.#change(condition.partition, [
      ...channelsExist(condition),
      ['replaceAlertCondition', 'stale', ...values],
      ...(condition.enabled ? [] : endIncidents(condition, condition.updatedAt)),
    ]);
  }

  removeCondition(condition: AlertCondition, now: Instant): Promise<'done' | 'stale'> {
    const { partition, id, revision } = condition;
    return this.#change<'stale'>(partition, [
      ['removeAlertCondition', 'stale', partition, id, revision],
      ...endIncidents(condition, now),
    ]);
  }

  listPartitionsWithConditions(after: Partition | null, limit: number): Promise<readonly Partition[]> {
    return this.#partitions(PARTITIONS_WITH_CONDITIONS, after ?? BEFORE_EVERY_PARTITION, limit);
  }

  listOpenIncidents(partition: Partition): Promise<readonly AlertIncident[]> {
    return this.#list(ALERT_INCIDENT, this.#openIncidents, partition);
  }

  listIncidents(
    partition: Partition,
    before: AlertIncidentId | null,
    limit: number,
  ): Promise<readonly AlertIncident[]> {
    return this.#list(ALERT_INCIDENT, INCIDENTS_BEFORE, partition, before ?? PAST_EVERY_ID, limit);
  }

  findIncident(partition: Partition, id: AlertIncidentId): Promise<AlertIncident | null> {
    return this.#find(ALERT_INCIDENT, `${INCIDENTS} ${OF_ONE}`, partition, id);
  }

  addIncident({ condition, incident, messages }: IncidentWrite, fence?: Fence): Promise<'done' | 'stale'> {
    const digest = incident.endpoint === null ? '' : endpointDigest(incident.endpoint);
    return this.#sql.run([
      ...mayWrite(condition, fence),
      ['insertAlertIncident', 'stale', ...ALERT_INCIDENT.values(incident), digest],
      ...messages.map(insertMessage),
    ]);
  }

  replaceIncident(
    { condition, incident, messages }: IncidentWrite,
    fence?: Fence,
  ): Promise<'done' | 'stale'> {
    return this.#sql.run([
      ...mayWrite(condition, fence),
      ['replaceAlertIncident', 'stale', ...ALERT_INCIDENT.mutable.values(incident), ...guard(incident)],
      ...messages.flatMap((message) => [insertMessage(message), ...inOrder(message)]),
    ]);
  }

  addTestMessage(message: AlertMessage): Promise<'done' | 'missing' | 'in_use'> {
    const { partition, channelId } = message;
    return this.#sql.run([
      ['lockPartition', 'missing', partition],
      ['alertChannelExists', 'missing', partition, channelId],
      ['noAlertTestWaits', 'in_use', partition, channelId],
      insertMessage(message),
    ]);
  }

  findMessage(partition: Partition, id: DeliveryId): Promise<AlertMessage | null> {
    return this.#find(ALERT_MESSAGE, `${MESSAGES} ${OF_ONE}`, partition, id);
  }

  listMessages(partition: Partition, id: AlertIncidentId, limit: number): Promise<readonly AlertMessage[]> {
    return this.#list(ALERT_MESSAGE, this.#messagesOfIncident, partition, id, limit);
  }

  listPartitionsWithMessages(
    after: Partition | null,
    now: Instant,
    limit: number,
  ): Promise<readonly Partition[]> {
    return this.#partitions(PARTITIONS_WITH_MESSAGES, after ?? BEFORE_EVERY_PARTITION, now, limit);
  }

  listDueMessages(partition: Partition, now: Instant): Promise<readonly AlertMessage[]> {
    return this.#list(ALERT_MESSAGE, this.#dueMessages, partition, now, partition, partition);
  }

  replaceMessage(message: AlertMessage): Promise<'done' | 'stale'> {
    const values = [...ALERT_MESSAGE.mutable.values(message), ...guard(message)];
    return this.#sql.run([['replaceAlertMessage', 'stale', ...values], ...inOrder(message)]);
  }

  async prune(endedBefore: Instant, limit: number): Promise<number> {
    let removed = 0;
    for (const table of ENDED) {
      if (removed >= limit) break;
      const ended = `SELECT partition, id FROM ${table} WHERE ended_at < $1 ORDER BY ended_at LIMIT $2`;
      const rows = await this.#sql.query<EndedRow>(ended, endedBefore, limit - removed);
      for (const ofOne of Map.groupBy(rows, ({ partition }) => partition).values()) {
        await this.#sql.run(
          ofOne.map(({ partition, id }) => [REMOVALS[table], null, partition, id] as const),
        );
      }
      removed += rows.length;
    }
    return removed;
  }

  /** A change by a person. */
  #change<A extends Rejection>(partition: Partition, steps: readonly Step[]): Promise<'done' | 'stale' | A> {
    return this.#sql.run<A | 'stale'>([['lockPartition', 'stale', partition], ...steps]);
  }

  async #list<T>(
    mapping: Pick<Mapping<T>, 'from'>,
    sql: string,
    ...parameters: readonly (string | number)[]
  ): Promise<readonly T[]> {
    return (await this.#sql.query<Row>(sql, ...parameters)).map(mapping.from);
  }

  async #find<T>(mapping: Pick<Mapping<T>, 'from'>, sql: string, ...key: readonly (string | number)[]) {
    return (await this.#list(mapping, sql, ...key))[0] ?? null;
  }

  async #partitions(sql: string, ...parameters: readonly number[]): Promise<readonly Partition[]> {
    const rows = await this.#sql.query<{ readonly partition: Partition }>(sql, ...parameters);
    return rows.map(({ partition }) => partition);
  }
}

/** The upkeep node may write what it decided on this condition. */
function mayWrite({ partition, id, revision }: AlertCondition, fence: Fence | undefined): readonly Step[] {
  return [
    ...(fence === undefined ? [] : [held(UPKEEP_SLOT, fence)]),
    ['alertConditionAtRevision', 'stale', partition, id, revision],
  ];
}

function channelsExist({ partition, channelIds }: AlertCondition): readonly Step[] {
  return channelIds.map((id): Step => ['alertChannelExists', 'missing', partition, id]);
}

/** Nothing more is told of incidents that end so. A message that waits would be the last word about them. */
function endIncidents({ partition, id }: AlertCondition, now: Instant): readonly Step[] {
  return [
    ['dropAlertMessages', null, CONDITION_SWITCHED_OFF, now, partition, partition, id],
    ['endAlertIncidents', null, now, partition, id],
  ];
}

/** A message is not due before the earlier ones of its incident that wait, so a channel gets them in their order. */
function inOrder({ partition, incidentId, channelId, status }: AlertMessage): readonly Step[] {
  if (incidentId === null || status !== 'waiting') return [];
  const those = [partition, partition, incidentId, channelId] as const;
  return [['delayLaterAlertMessages', null, ...those, ...those]];
}

function insertMessage(message: AlertMessage): Step {
  return ['insertAlertMessage', null, ...ALERT_MESSAGE.values(message)];
}
