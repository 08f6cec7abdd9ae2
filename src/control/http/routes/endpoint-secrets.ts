/**
 * Signing secrets of one endpoint profile. As with the project's secrets, every user sees which ones sign and until
 * when. Only an admin sees their texts. The audit log names the endpoint profile.
 */

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
import type { EndpointSecretInfo, Listed } from '#src/control/http/contract.ts';
import { readOptionalText } from '#src/control/http/fields.ts';
import { presentEndpointSecret, presentOpenEndpointSecret } from '#src/control/http/present.ts';
import { type AuditRule, json, type ProjectRequest, type Route } from '#src/control/http/route.ts';
import { OVERLAP_DEFAULT } from '#src/control/secrets.ts';
import { Refusal } from '#src/domain/errors.ts';

export function endpointSecretRoutes(dependencies: SealingDependencies): readonly Route<ProjectRequest>[] {
  const profileOf = ({ partition, params }: ProjectRequest) =>
    requireEndpoint(dependencies, partition, params.id ?? '');
  return [
    {
      method: 'GET',
      path: 'endpoints/:id/secrets',
      needs: 'viewer',
      audited: null,
      handle: async (request) => {
        const secrets = await listEndpointSecrets(dependencies, await profileOf(request));
        return json(listed(secrets.map(presentEndpointSecret)));
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets',
      needs: 'admin',
      audited: changing('secret.create'),
      handle: async (request) => {
        const secrets = await createEndpointSecret(
          dependencies,
          await profileOf(request),
          overlapOf(request),
        );
        return json(listed(withNewText(secrets)), 201);
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets/rotate',
      needs: 'admin',
      audited: changing('secret.rotate'),
      handle: async (request) => {
        const secrets = await rotateEndpointSecret(
          dependencies,
          await profileOf(request),
          overlapOf(request),
        );
        return json(listed(withNewText(secrets)), 201);
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets/remove',
      needs: 'admin',
      audited: changing('secret.remove'),
      handle: async (request) => {
        const secrets = await removeEndpointSecrets(
          dependencies,
          await profileOf(request),
          overlapOf(request),
        );
        return json(listed(secrets.map(presentEndpointSecret)));
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets/:secret/reveal',
      needs: 'admin',
      audited: {
        action: 'secret.reveal',
        subject: ({ params }) => params.id ?? '',
        detail: ({ params }) => ({ secret: params.secret ?? '' }),
      },
      handle: async (request) => {
        const secrets = await listEndpointSecrets(dependencies, await profileOf(request));
        const secret = secrets.find(({ id }) => id === request.params.secret);
        if (secret === undefined) throw new Refusal('not_found');
        return json(presentOpenEndpointSecret(openEndpointSecret(dependencies.vault, secret)));
      },
    },
  ];
}

function overlapOf({ body }: ProjectRequest): string {
  return readOptionalText(body, 'overlap') ?? OVERLAP_DEFAULT;
}

function changing(action: string): AuditRule<ProjectRequest> {
  return {
    action,
    subject: ({ params }) => params.id ?? '',
    detail: (request) => ({ overlap: overlapOf(request) }),
  };
}

/** Only the new secret is shown with its text. */
function withNewText([newest, ...others]: readonly OpenEndpointSecret[]): readonly EndpointSecretInfo[] {
  if (newest === undefined)
    throw new Error('The change left the endpoint profile without a secret that signs.');
  return [presentOpenEndpointSecret(newest), ...others.map(presentEndpointSecret)];
}

function listed(data: readonly EndpointSecretInfo[]): Listed<EndpointSecretInfo> {
  return { data, next_cursor: null };
}
