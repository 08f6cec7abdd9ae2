/**
 * Signing secrets of one endpoint profile. As with the project's secrets, every user sees which ones sign and until
 * when. Only an admin sees their texts. The audit log names the endpoint profile.
 */

import { z } from 'zod';
import type { SealingDependencies } from '#src/control/dependencies.ts';
import {
  createEndpointSecret,
  listEndpointSecrets,
  type OpenEndpointSecret,
  openEndpointSecret,
  removeEndpointSecrets,
  requireEndpoint,
  rotateEndpointSecret,
} from '#src/control/endpoint-secrets.ts';
import type { EndpointSecretInfo } from '#src/control/http/contract.ts';
import { name } from '#src/control/http/fields.ts';
import { presentEndpointSecret, presentOpenEndpointSecret } from '#src/control/http/present.ts';
import {
  type AuditRule,
  json,
  list,
  type ProjectRequest,
  projectRoute,
  type Route,
} from '#src/control/http/route.ts';
import { Refusal } from '#src/domain/errors.ts';
import { OVERLAP } from './secrets.ts';

const OF_ENDPOINT = z.object({ id: name });

interface OfEndpoint {
  readonly params: z.output<typeof OF_ENDPOINT>;
}

export function endpointSecretRoutes(dependencies: SealingDependencies): readonly Route<ProjectRequest>[] {
  const profileOf = ({ partition, params }: ProjectRequest & OfEndpoint) =>
    requireEndpoint(dependencies, partition, params.id);
  return [
    projectRoute({
      method: 'GET',
      path: 'endpoints/:id/secrets',
      needs: 'viewer',
      params: OF_ENDPOINT,
      handle: async (request) => {
        const secrets = await listEndpointSecrets(dependencies, await profileOf(request));
        return list(secrets.map(presentEndpointSecret));
      },
    }),
    projectRoute({
      method: 'POST',
      path: 'endpoints/:id/secrets',
      needs: 'admin',
      params: OF_ENDPOINT,
      body: OVERLAP,
      audited: changing('secret.create'),
      handle: async (request) => {
        const profile = await profileOf(request);
        const secrets = await createEndpointSecret(dependencies, profile, request.body.overlap);
        return list(withNewText(secrets), 201);
      },
    }),
    projectRoute({
      method: 'POST',
      path: 'endpoints/:id/secrets/rotate',
      needs: 'admin',
      params: OF_ENDPOINT,
      body: OVERLAP,
      audited: changing('secret.rotate'),
      handle: async (request) => {
        const profile = await profileOf(request);
        const secrets = await rotateEndpointSecret(dependencies, profile, request.body.overlap);
        return list(withNewText(secrets), 201);
      },
    }),
    projectRoute({
      method: 'POST',
      path: 'endpoints/:id/secrets/remove',
      needs: 'admin',
      params: OF_ENDPOINT,
      body: OVERLAP,
      audited: changing('secret.remove'),
      handle: async (request) => {
        const profile = await profileOf(request);
        const secrets = await removeEndpointSecrets(dependencies, profile, request.body.overlap);
        return list(secrets.map(presentEndpointSecret));
      },
    }),
    projectRoute({
      method: 'POST',
      path: 'endpoints/:id/secrets/:secret/reveal',
      needs: 'admin',
      params: z.object({ id: name, secret: name }),
      audited: {
        action: 'secret.reveal',
        subject: ({ params }) => params.id,
        detail: ({ params }) => ({ secret: params.secret }),
      },
      handle: async (request) => {
        const secrets = await listEndpointSecrets(dependencies, await profileOf(request));
        const secret = secrets.find(({ id }) => id === request.params.secret);
        if (secret === undefined) throw new Refusal('not_found');
        return json(presentOpenEndpointSecret(openEndpointSecret(dependencies.vault, secret)));
      },
    }),
  ];
}

function changing(action: string): AuditRule<OfEndpoint & { readonly body: z.output<typeof OVERLAP> }> {
  return { action, subject: ({ params }) => params.id, detail: ({ body }) => body };
}

/** Only the new secret is shown with its text. */
function withNewText([newest, ...others]: readonly OpenEndpointSecret[]): readonly EndpointSecretInfo[] {
  if (newest === undefined)
    throw new Error('The change left the endpoint profile without a secret that signs.');
  return [presentOpenEndpointSecret(newest), ...others.map(presentEndpointSecret)];
}
