import type { Instant } from '#src/domain/instant.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { makeVerbs } from '#src/store/sql/verbs.ts';
import type { OwnName } from './statements.ts';

export const verbs = {
  ...makeVerbs({ label: (digest) => digest, delivery: () => [], gate: () => [] }),
  check: (now: Instant): readonly Step<OwnName>[] => [['beat', null, now]],
  takeRoom: (): readonly Step<OwnName>[] => [['takeRoom', null]],
  giveRoomBack: (): readonly Step<OwnName>[] => [['giveRoomBack', null]],
};
