/**
 * The names of all statements. A verb is a list of steps (`steps.ts`), each of which names a statement. Every store has
 * a statement for every name.
 */
import type { SealedColumnName } from '#src/ports/vault.ts';

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

/** Statements about users, their sessions and the audit log. */
export type PeopleStatementName =
  | 'adminStays'
  | 'userWithHash'
  | 'insertUser'
  | 'replaceUser'
  | 'renewPasswordHash'
  | 'removeUser'
  | 'insertInvitation'
  | 'useInvitation'
  | 'removeInvitation'
  | 'removeInvitationsOf'
  | 'insertSession'
  | 'touchSession'
  | 'removeSession'
  | 'removeSessionsOf'
  | 'insertLoginFailures'
  | 'replaceLoginFailures'
  | 'undoLoginFailure'
  | 'removeLoginFailures'
  | 'insertAudit'
  | 'endAudit'
  | 'pruneSessions'
  | 'pruneInvitations'
  | 'pruneLoginFailures'
  | 'pruneAudit';

/** Replaces a sealed value, if it is still the one that was read (`sealed.ts`). */
export type SealedStatementName = `reseal ${SealedColumnName}`;

export type StatementName =
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
  | 'closeAttempt'
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
  | SealedStatementName
  | PeopleStatementName;
