/** Verification and deduplication for receivers, without a framework. */
export * from './adapters.ts';
export { isAlert } from './alert.ts';
export { isNotification } from './notification.ts';
export * from './verify.ts';
