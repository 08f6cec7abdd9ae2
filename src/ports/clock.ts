import type { Instant } from '#src/domain/instant.ts';

export interface Clock {
  now(): Instant;
}
