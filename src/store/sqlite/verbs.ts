/** The verbs of the SQLite store. Its tables have no columns for slots and digests, and `unhex` decodes label digests. */
import { type KeyParameters, makeVerbs } from '#src/store/sql/verbs.ts';

const keyParameters: KeyParameters = {
  label: (digest) => digest,
  delivery: () => [],
  gate: () => [],
};

export const verbs = makeVerbs(keyParameters);
