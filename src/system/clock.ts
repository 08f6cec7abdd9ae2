import { instant } from '#src/domain/instant.ts';
import type { Clock } from '#src/ports/system.ts';

export const systemClock: Clock = { now: () => instant(Date.now()) };
