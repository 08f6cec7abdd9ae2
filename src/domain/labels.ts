/** Metadata: names and values, in the order they were given. */
export type Labels = readonly (readonly [name: string, value: string])[];

export const LABELS_MAX = 50;
