import type { Instant } from '#src/domain/instant.ts';
import type { TrustedTime } from '#src/domain/trusted-time.ts';

export interface TrustedTimeRow {
  readonly seen_at: Instant;
  readonly trusted_at: Instant;
  readonly believed_from: Instant | null;
}

/** The only row there is, if there is one. */
export const TRUSTED_TIME = 'SELECT seen_at, trusted_at, believed_from FROM trusted_time';

export function fromTrustedTimeRow({ seen_at, trusted_at, believed_from }: TrustedTimeRow): TrustedTime {
  return { seenAt: seen_at, trustedAt: trusted_at, believedFrom: believed_from };
}
