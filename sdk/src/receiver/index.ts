/** The receiver's side: whether a request comes from Sched, and that its work is done once. */
export * from './adapters.ts';
export * from './verify.ts';
