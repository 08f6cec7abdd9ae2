import { hash } from 'node:crypto';

/** Metadata: names and values in the given order. */
export type Labels = readonly Label[];
export type Label = readonly [name: string, value: string];

export const LABELS_MAX = 50;

/** A digest of a label: 16 bytes in hexadecimal, so that every label has the same size. */
export type LabelDigest = string & { readonly __brand: 'LabelDigest' };

export const LABEL_DIGEST_CHARACTERS = 32;

export function labelDigest(name: string, value: string): LabelDigest {
  return shortened(JSON.stringify([name, value]));
}

function shortened(text: string): LabelDigest {
  return hash('sha256', text, 'hex').slice(0, LABEL_DIGEST_CHARACTERS) as LabelDigest;
}

/** The digest of a schedule's name, which is found like a label. No label has the same digest. */
export function nameDigest(name: string): LabelDigest {
  return shortened(`name/${name}`);
}

/** The digests of a schedule's labels, and of its name. */
export function labelDigests(labels: Labels, name: string | null): readonly LabelDigest[] {
  const digests = labels.map(([label, value]) => labelDigest(label, value));
  return name === null ? digests : [...digests, nameDigest(name)];
}
