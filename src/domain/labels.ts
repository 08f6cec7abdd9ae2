/** Metadata: names and values, in the order they were given. */
export type Labels = readonly Label[];
export type Label = readonly [name: string, value: string];

export const LABELS_MAX = 50;
