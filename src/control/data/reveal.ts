/**
 * Header values and bodies, for an admin who asks for them: nowhere else do they leave the vault but towards the
 * receiver. Each asking is in the audit log, before it is answered.
 */
import { found } from '#src/commands/command.ts';
import type { Revealed } from '#src/control/http/data-contract.ts';
import { json, type ProjectAsked, type Route } from '#src/control/http/route.ts';
import type { Headers } from '#src/domain/headers.ts';
import { decodeHeaders, decodePayload } from '#src/domain/payload.ts';
import { openProfileHeaders } from '#src/domain/profile-headers.ts';
import { payloadPlace } from '#src/domain/sealed-places.ts';
import type { DataDependencies } from './dependencies.ts';
import { idOf } from './path-ids.ts';

export function revealRoutes({
  commands: { store, vault },
}: Pick<DataDependencies, 'commands'>): readonly Route<ProjectAsked>[] {
  return [
    {
      method: 'POST',
      path: 'schedules/:id/reveal',
      needs: 'admin',
      audited: { action: 'schedule.reveal', subject: ({ params }) => params.id ?? '' },
      answer: async ({ params, partition }) => {
        const id = idOf('sch', params);
        found(await store.findSchedule(partition, id));
        const sealed = await store.findPayload(partition, id);
        if (sealed === null) return json(revealed([], null));
        const { headers, body } = decodePayload(vault.open(payloadPlace(partition, id), sealed));
        return json(revealed(headers, body === null ? null : Buffer.from(body).toString()));
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/reveal',
      needs: 'admin',
      audited: { action: 'endpoint.reveal', subject: ({ params }) => params.id ?? '' },
      answer: async ({ params, partition }) => {
        const id = idOf('ep', params);
        const profile = found(await store.findProfile(partition, id));
        const sealed = await store.findProfileHeaders(partition, id, profile.version);
        if (sealed === null) return json(revealed([], null));
        return json(revealed(decodeHeaders(openProfileHeaders(vault, profile, sealed)), null));
      },
    },
  ];
}

function revealed(headers: Headers, body: string | null): Revealed {
  return { headers: Object.fromEntries(headers), body };
}
