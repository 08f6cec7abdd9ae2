/** How much a question may look at, where whoever asks does not say. */

/** A week by the minute of five nodes. */
export const STATS_ROWS_MAX = 50_000;
/** The newest rows of endpoints that are looked at for which of them were active: by the hour and the node. */
export const ACTIVE_ROWS_MAX = 20_000;
/** Waiting deliveries of one customer that PostgreSQL counts. */
export const DUE_ROWS_MAX = 20_000;
export const GATE_ROWS_MAX = 10_000;
/** The newest profiles, and how many of them may have the destination that is looked for. */
export const PROFILES_SCANNED_MAX = 10_000;
export const PROFILES_MATCHING_MAX = 1_000;

/** Of one removal of old stats: partitions, and in each of them steps of time, or rows of endpoints. */
export const PRUNED_PARTITIONS = 10;
export const PRUNED_STEPS = 30;
export const PRUNED_ROWS = 50;
/** Sorts after every digest of an endpoint. */
export const PAST_EVERY_DIGEST = 'g';
