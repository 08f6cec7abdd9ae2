/**
 * Stores alerts. An incident and its messages are written in one transaction, under the fence of the upkeep node and
 * guarded by revisions. So an incident begins once and ends once, whatever happens to the nodes. The messages are the
 * outbox: one that is not marked as ended is sent again.
 */
import type { AlertChannel, AlertCondition } from '#src/domain/alert.ts';
import type { AlertIncident } from '#src/domain/alert-incident.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import type { AlertChannelId, AlertConditionId, AlertIncidentId, DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Fence } from '#src/domain/slot.ts';

/** A change of an incident, decided on the condition as it was read. */
export interface IncidentWrite {
  readonly condition: AlertCondition;
  readonly incident: AlertIncident;
  readonly messages: readonly AlertMessage[];
}

export interface AlertStore {
  /** Lists channels, oldest first. There are at most `ALERT_CHANNELS_MAX`. */
  listChannels(partition: Partition): Promise<readonly AlertChannel[]>;
  findChannel(partition: Partition, id: AlertChannelId): Promise<AlertChannel | null>;
  /** `taken`: another channel has the name. `full`: there are too many. */
  addChannel(channel: AlertChannel): Promise<'done' | 'stale' | 'taken' | 'full'>;
  /** Replaces the name. */
  replaceChannel(channel: AlertChannel): Promise<'done' | 'stale' | 'taken'>;
  /** `in_use`: a condition names it. */
  removeChannel(channel: AlertChannel): Promise<'done' | 'stale' | 'in_use'>;

  /** Lists conditions, oldest first. There are at most `ALERT_CONDITIONS_MAX`. */
  listConditions(partition: Partition): Promise<readonly AlertCondition[]>;
  findCondition(partition: Partition, id: AlertConditionId): Promise<AlertCondition | null>;
  /** `missing`: one of its channels does not exist. `full`: there are too many. */
  addCondition(condition: AlertCondition): Promise<'done' | 'stale' | 'missing' | 'full'>;
  /**
   * Replaces the condition. One that is not enabled any more ends its incidents at `updatedAt`, without messages, and
   * drops those that wait.
   */
  replaceCondition(condition: AlertCondition): Promise<'done' | 'stale' | 'missing'>;
  /** Removes the condition, ends its incidents without messages, and drops those that wait. */
  removeCondition(condition: AlertCondition, now: Instant): Promise<'done' | 'stale'>;
  /** Lists partitions that have conditions, after `after` in a fixed order. */
  listPartitionsWithConditions(after: Partition | null, limit: number): Promise<readonly Partition[]>;

  /** Lists the open incidents of all conditions, oldest first. */
  listOpenIncidents(partition: Partition): Promise<readonly AlertIncident[]>;
  /** Lists incidents before this one, newest first. */
  listIncidents(
    partition: Partition,
    before: AlertIncidentId | null,
    limit: number,
  ): Promise<readonly AlertIncident[]>;
  findIncident(partition: Partition, id: AlertIncidentId): Promise<AlertIncident | null>;
  /**
   * Adds the incident with its messages. `stale`: the condition was changed, such an incident is open already, or the
   * fence does not hold any more.
   */
  addIncident(write: IncidentWrite, fence?: Fence): Promise<'done' | 'stale'>;
  /** Replaces the incident and adds the messages. `stale`: as above, or the incident was changed. */
  replaceIncident(write: IncidentWrite, fence?: Fence): Promise<'done' | 'stale'>;

  /** `missing`: the channel does not exist. `in_use`: a test message of the channel still waits. */
  addTestMessage(message: AlertMessage): Promise<'done' | 'missing' | 'in_use'>;
  findMessage(partition: Partition, id: DeliveryId): Promise<AlertMessage | null>;
  /** Lists messages of the incident, newest first. */
  listMessages(partition: Partition, id: AlertIncidentId, limit: number): Promise<readonly AlertMessage[]>;
  /** Lists partitions with waiting messages that are due, after `after` in a fixed order. */
  listPartitionsWithMessages(
    after: Partition | null,
    now: Instant,
    limit: number,
  ): Promise<readonly Partition[]>;
  /**
   * Lists for each channel with a message that is due the first one. A message is not due before earlier ones of its
   * incident to the same channel, so that the last word arrives last.
   */
  listDueMessages(partition: Partition, now: Instant): Promise<readonly AlertMessage[]>;
  /** Replaces the message, guarded by its revision. */
  replaceMessage(message: AlertMessage): Promise<'done' | 'stale'>;

  /**
   * Removes messages and incidents that ended before. Returns the number of removed rows. A number below `limit` means
   * that nothing is left to remove.
   */
  prune(endedBefore: Instant, limit: number): Promise<number>;
}
