import { hash } from 'node:crypto';

/** Metadata: names and values in the given order. */
export type Labels = readonly Label[];
export type Label = readonly [name: string, value: string];

export const LABELS_MAX = 50;

/** A digest of a label: 16 bytes in hexadecimal, so that every label has the same size. */
export type LabelDigest = string & { readonly __brand: 'LabelDigest' };

export const LABEL_DIGEST_CHARACTERS = 32;

export function labelDigest(name: string, value: string): LabelDigest {
  const digest = hash('sha256', JSON.stringify([name, value]), 'hex');
  return digest.slice(0, LABEL_DIGEST_CHARACTERS) as LabelDigest;
}

export function labelDigests(labels: Labels): readonly LabelDigest[] {
  return labels.map(([name, value]) => labelDigest(name, value));
}
