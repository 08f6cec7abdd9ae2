/** `GET /v1/attempts`: the attempts of all deliveries that have ended. */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { PauseLength } from '#src/commands/pauses.ts';
import { ATTEMPT_OUTCOMES } from '#src/domain/delivery.ts';
import { parseId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Store } from '#src/ports/store.ts';
import type { Call } from './call.ts';
import { answerSmallPage, attemptEnd, parseAttemptEnd, readPage } from './lists.ts';
import { presentRecentAttempt } from './present.ts';
import { readChoice, readText } from './query.ts';

interface AttemptListDependencies {
  readonly store: Pick<Store, 'listRecentAttempts'>;
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

export async function listRecentAttempts(
  { store, pause }: AttemptListDependencies,
  { tenant: { partition }, query, answer }: Pick<Call, 'tenant' | 'query' | 'answer'>,
): Promise<RenderedAnswer> {
  const page = readPage(query, partition, 'attempts', 'attempt_end');
  const outcome = readChoice(query, 'outcome', ATTEMPT_OUTCOMES);
  const endpointText = readText(query, 'endpoint_id');
  const endpointId = endpointText === null ? null : parseId('ep', endpointText);
  // A text that is not an id names no profile, so the list is empty.
  const isEmpty = endpointText !== null && endpointId === null;
  return answer((bytesMax) =>
    answerSmallPage(
      { ...page, bytesMax },
      async (after, limit) => {
        if (isEmpty) return [];
        const before = after === null ? null : parseAttemptEnd(after);
        return store.listRecentAttempts(partition, { outcome, endpointId }, before, limit);
      },
      (recent) => ({ position: attemptEnd(recent.attempt), resource: presentRecentAttempt(recent) }),
      (length) => pause(partition, length),
    ),
  );
}
