/**
 * Reveals header values and bodies to an admin, which otherwise leave the vault only on the way to the receiver, and
 * what was kept of an answer to an operator too. Each request is written into the audit log before it is answered.
 */
import { z } from 'zod';
import { presentResponse } from '#src/api/present.ts';
import { openResponse } from '#src/commands/attempt-response.ts';
import { requireFound } from '#src/commands/command.ts';
import type { Revealed } from '#src/control/http/data-contract.ts';
import { attemptNo, byId } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import type { Headers } from '#src/domain/headers.ts';
import { decodeHeaders, decodePayload } from '#src/domain/payload.ts';
import { payloadContext, profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import type { DataDependencies } from './dependencies.ts';

const ANSWER_OF = z.strictObject({ attempt_no: attemptNo });

export function revealRoutes({ commands }: DataDependencies): readonly ProjectRoute[] {
  const { store, vault } = commands;
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
    projectRoute('POST deliveries/:id/reveal', {
      needs: 'operator',
      params: byId('dlv'),
      body: ANSWER_OF,
      audited: {
        action: 'delivery.reveal',
        detail: ({ body }) => ({ attempt_no: body.attempt_no }),
      },
      handle: async ({ params: { id }, body, partition }) =>
        json(presentResponse(await openResponse(commands, partition, id, body.attempt_no))),
    }),
  ];
}

function revealed(headers: Headers, body: string | null): Revealed {
  return { headers: Object.fromEntries(headers), body };
}
