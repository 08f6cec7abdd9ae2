/**
 * Reveals header values and bodies to an admin. Otherwise they leave the vault only on the way to the receiver. Each
 * request is written into the audit log before it is answered.
 */
import { requireFound } from '#src/commands/command.ts';
import type { Revealed } from '#src/control/http/data-contract.ts';
import { byId } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import type { Headers } from '#src/domain/headers.ts';
import { decodeHeaders, decodePayload } from '#src/domain/payload.ts';
import { payloadContext, profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import type { DataDependencies } from './dependencies.ts';

export function revealRoutes({ commands: { store, vault } }: DataDependencies): readonly ProjectRoute[] {
  return [
    projectRoute('POST schedules/:id/reveal', {
      needs: 'admin',
      params: byId('sch'),
      audited: { action: 'schedule.reveal' },
      handle: async ({ params: { id }, partition }) => {
        const { payloadVersion: version } = requireFound(await store.findSchedule(partition, id)).schedule;
        const sealed = await store.findPayload(partition, id, version);
        if (sealed === null) return json(revealed([], null));
        const { headers, body } = decodePayload(vault.open(payloadContext(partition, id, version), sealed));
        return json(revealed(headers, body === null ? null : Buffer.from(body).toString()));
      },
    }),
    projectRoute('POST endpoints/:id/reveal', {
      needs: 'admin',
      params: byId('ep'),
      audited: { action: 'endpoint.reveal' },
      handle: async ({ params: { id }, partition }) => {
        const profile = requireFound(await store.findProfile(partition, id));
        const sealed = await store.findProfileHeaders(partition, id, profile.version);
        if (sealed === null) return json(revealed([], null));
        const context = profileHeadersContext(partition, id, profile.version);
        return json(revealed(decodeHeaders(vault.open(context, sealed)), null));
      },
    }),
  ];
}

function revealed(headers: Headers, body: string | null): Revealed {
  return { headers: Object.fromEntries(headers), body };
}
