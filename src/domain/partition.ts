/** Test and live data never meet: everything a customer owns belongs to one (project, mode). */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** The number of one (project, mode); the first part of every stored key. */
export type Partition = number & { readonly __brand: 'Partition' };
