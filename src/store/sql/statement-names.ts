/**
 * The names of all statements. A verb is a list of steps (`steps.ts`), each of which names a statement. Shared
 * statements have one text for every store (`statements.ts`). Each store has its own form of the hot ones.
 */
import type { SharedStatementName } from './statements.ts';

export type HotStatementName =
  | 'saveStatsRow'
  | 'saveEndpointStats'
  | 'removeStats'
  | 'removeEndpointStats'
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
  | 'nodeLives'
  | 'takeSlot'
  | 'releaseSlot';

export type StatementName = HotStatementName | SharedStatementName;
