/** The exports that all adapters share, besides their `receiver`. */
export {
  type BeginResult,
  type DeduplicationStore,
  MemoryStore,
  type MemoryStoreOptions,
} from './deduplication.ts';
export { ReceivedDelivery } from './delivery.ts';
export type { Answer, ReceiverOptions } from './receive.ts';
export type { NotVerified, Reason } from './result.ts';
