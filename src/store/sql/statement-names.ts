/**
 * The names of all statements. A verb is a list of steps (`steps.ts`), each of which names a statement. Every store has
 * a statement for every name.
 */
import type { SealedColumnName } from '#src/ports/vault.ts';
import type { SharedStatementName } from './statements.ts';

export type InsightStatementName =
  | 'saveStatsRow'
  | 'saveEndpointStats'
  | 'removeStats'
  | 'removeEndpointStats'
  | 'saveBreakerReset'
  | 'removeBreakerReset';

export type ReplayJobStatementName =
  | 'lockPartition'
  | 'noOtherReplayJob'
  | 'insertReplayJob'
  | 'replaceReplayJob'
  | 'clearReplayJob'
  | 'removeReplayJob'
  | 'insertReplayItem'
  | 'takeReplayItem'
  | 'removeReplayItem';

/** Replaces a sealed value, if it is still the one that was read (`sealed.ts`). */
export type SealedStatementName = `reseal ${SealedColumnName}`;

/** Statements of which each store has its own form. */
export type HotStatementName =
  | InsightStatementName
  | ReplayJobStatementName
  | 'slotHeld'
  | 'profileAtRevision'
  | 'insertProfile'
  | 'replaceProfile'
  | 'insertProfileVersion'
  | 'profileUnused'
  | 'insertReceipt'
  | 'removeReceipt'
  | 'insertSchedule'
  | 'replaceSchedule'
  | 'advanceSchedule'
  | 'completeSchedule'
  | 'scheduleInState'
  | 'scheduleExists'
  | 'removeSchedule'
  | 'insertPayload'
  | 'removePayload'
  | 'insertDelivery'
  | 'insertNextDelivery'
  | 'replaceDelivery'
  | 'claimDelivery'
  | 'settleDelivery'
  | 'deferDelivery'
  | 'sweepFirstDeliveries'
  | 'sweepDeliveries'
  | 'insertSweep'
  | 'endSweep'
  | 'removeSweep'
  | 'removeStaleSweep'
  | 'removeDelivery'
  | 'insertAttempt'
  | 'removeAttempts'
  | 'deleteLabel'
  | 'insertLabel'
  | 'completeLabel'
  | 'saveGate'
  | 'removeGate'
  | 'removeOldGate'
  | 'insertProject'
  | 'insertPartition'
  | 'insertKey'
  | 'revokeKey'
  | 'touchKey'
  | 'retireSecrets'
  | 'insertSecret'
  | 'lockProfile'
  | 'noEndpointSecretInForce'
  | 'endEndpointSecret'
  | 'insertEndpointSecret'
  | 'renewLease'
  | 'endLease'
  | 'endLeaseAsSeen'
  | 'nodeLives'
  | 'takeSlot'
  | 'releaseSlot'
  | 'releaseSlotsOf'
  | 'saveTrustedTime'
  | SealedStatementName;

export type StatementName = HotStatementName | SharedStatementName;
