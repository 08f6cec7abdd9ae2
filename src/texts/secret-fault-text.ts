/** Says why Standard Webhooks cannot be used with a signing secret. The secret itself is never repeated. */
import { formatInstant, type Instant } from '#src/domain/instant.ts';

/** `expiresAt` is the end of the secret; null while it has none. */
export function standardSecretText(owner: 'project' | 'endpoint profile', expiresAt: Instant | null): string {
  const why = `standard_webhooks needs signing secrets that are whsec_ and base64, and one of the ${owner} has another form`;
  return expiresAt === null
    ? `${why}. Rotate it in the dashboard or with "sched secret rotate", and try again when the old one has stopped signing. With an overlap of 0, that is at once.`
    : `${why}. It signs until ${formatInstant(expiresAt)}. Try again after that, or rotate once more with an overlap of 0.`;
}
