/** The exports that all adapters share, besides their `receiver`. */
export type {
  Alert,
  ClosedAlert,
  Incident,
  OpenedAlert,
  ReminderAlert,
  TestAlert,
} from './alert.ts';
export {
  type BeginResult,
  type DeduplicationStore,
  MemoryStore,
  type MemoryStoreOptions,
} from './deduplication.ts';
export { ReceivedDelivery } from './delivery.ts';
export type {
  DeadLetterNotification,
  ExpiredNotification,
  Notification,
  SucceededNotification,
} from './notification.ts';
export type { Answer, ReceiverOptions } from './receive.ts';
export type { NotVerified, Reason } from './result.ts';
