/** Opens what was kept of the answer of an attempt. */

import { Refusal } from '#src/domain/errors.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { responseContext } from '#src/domain/sealing-contexts.ts';
import type { KeptResponse } from '#src/ports/kept-response.ts';
import { noResponseText } from '#src/texts/id-fault-text.ts';
import { type Commands, requireFound } from './command.ts';

export interface OpenedResponse extends Omit<KeptResponse, 'sealed'> {
  readonly bytes: Uint8Array;
}

export async function openResponse(
  { store, vault }: Pick<Commands, 'store' | 'vault'>,
  partition: Partition,
  id: DeliveryId,
  attemptNo: number,
): Promise<OpenedResponse> {
  const kept = await store.findResponse(partition, id, attemptNo);
  if (kept === null) {
    requireFound(await store.findDelivery(partition, id), id);
    throw new Refusal('not_found', null, noResponseText(attemptNo));
  }
  const { sealed, ...rest } = kept;
  return { ...rest, bytes: vault.open(responseContext(partition, id, attemptNo), sealed) };
}
