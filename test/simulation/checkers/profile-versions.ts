/** Which versions of each endpoint profile were the present one, and until when. */
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { VirtualTime } from '../virtual-time.ts';

interface PresentVersion {
  readonly version: number;
  /** Infinity for the present one. */
  untilMs: number;
}

export interface ProfileVersions {
  changed(before: EndpointProfile | null, after: EndpointProfile): void;
  /** The versions that were the present one at some time since then. */
  presentSince(id: EndpointId | null, sinceMs: number): readonly number[];
}

export function profileVersions(time: Pick<VirtualTime, 'elapsedMs'>): ProfileVersions {
  const all = new Map<EndpointId, PresentVersion[]>();
  return {
    changed(before, { id, version }) {
      if (before?.version === version) return;
      const known = all.get(id) ?? [];
      const last = known.at(-1);
      if (last !== undefined) last.untilMs = time.elapsedMs;
      all.set(id, [...known, { version, untilMs: Number.POSITIVE_INFINITY }]);
    },
    presentSince(id, sinceMs) {
      const known = id === null ? [] : (all.get(id) ?? []);
      return known.filter(({ untilMs }) => untilMs >= sinceMs).map(({ version }) => version);
    },
  };
}
