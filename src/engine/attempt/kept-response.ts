/** What is stored of the beginning of an answer. It is sealed, because a receiver may repeat secrets of the request. */
import type { Attempt } from '#src/domain/delivery.ts';
import type { AttemptResult } from '#src/domain/delivery-lifecycle.ts';
import { responseContext } from '#src/domain/sealing-contexts.ts';
import type { AnswerExcerpt } from '#src/ports/egress.ts';
import type { KeptResponse } from '#src/ports/kept-response.ts';
import type { Vault } from '#src/ports/vault.ts';

/** Null for an attempt without an answer. */
export function keptResponse(
  vault: Vault,
  { partition, deliveryId, attemptNo }: Attempt,
  { statusCode }: AttemptResult,
  { contentType, bytes, isTruncated }: AnswerExcerpt,
): KeptResponse | null {
  if (statusCode === null) return null;
  const sealed = vault.seal(responseContext(partition, deliveryId, attemptNo), bytes);
  return { statusCode, contentType, isTruncated, sealed };
}
