/** Verification and deduplication for receivers, without a framework. */
export * from './adapters.ts';
export * from './verify.ts';
