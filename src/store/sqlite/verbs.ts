import type { Instant } from '#src/domain/instant.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { makeVerbs } from '#src/store/sql/verbs.ts';
import type { DiskCheckStatementName } from './statements.ts';

export const verbs = {
  ...makeVerbs({ label: (digest) => digest, delivery: () => [], gate: () => [] }),
  check: (now: Instant): readonly Step<DiskCheckStatementName>[] => [['beat', null, now]],
  takeRoom: (): readonly Step<DiskCheckStatementName>[] => [['takeRoom', null]],
  giveRoomBack: (): readonly Step<DiskCheckStatementName>[] => [['giveRoomBack', null]],
};
