/**
 * Signing secrets of one endpoint profile. As with those of the project, everybody sees which sign and until when, and
 * their texts are shown to an admin alone. The audit log names the profile.
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
  const endpointRefKey = ({ partition, params }: ProjectRequest) =>
    requireEndpoint(dependencies, partition, params.id ?? '');
  return [
    {
      method: 'GET',
      path: 'endpoints/:id/secrets',
      needs: 'viewer',
      audited: null,
      handle: async (asked) => {
        const secrets = await listEndpointSecrets(dependencies, await endpointRefKey(asked));
        return json(listed(secrets.map(presentEndpointSecret)));
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets',
      needs: 'admin',
      audited: changing('secret.create'),
      handle: async (asked) => {
        const secrets = await createEndpointSecret(
          dependencies,
          await endpointRefKey(asked),
          overlapOf(asked),
        );
        return json(listed(withNewText(secrets)), 201);
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets/rotate',
      needs: 'admin',
      audited: changing('secret.rotate'),
      handle: async (asked) => {
        const secrets = await rotateEndpointSecret(
          dependencies,
          await endpointRefKey(asked),
          overlapOf(asked),
        );
        return json(listed(withNewText(secrets)), 201);
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/secrets/remove',
      needs: 'admin',
      audited: changing('secret.remove'),
      handle: async (asked) => {
        const secrets = await removeEndpointSecrets(
          dependencies,
          await endpointRefKey(asked),
          overlapOf(asked),
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
      handle: async (asked) => {
        const secrets = await listEndpointSecrets(dependencies, await endpointRefKey(asked));
        const secret = secrets.find(({ id }) => id === asked.params.secret);
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
    detail: (asked) => ({ overlap: overlapOf(asked) }),
  };
}

/** Only the text of the new one is news. */
function withNewText([newest, ...others]: readonly OpenEndpointSecret[]): readonly EndpointSecretInfo[] {
  if (newest === undefined) throw new Error('A change left no secret of the profile that signs.');
  return [presentOpenEndpointSecret(newest), ...others.map(presentEndpointSecret)];
}

function listed(data: readonly EndpointSecretInfo[]): Listed<EndpointSecretInfo> {
  return { data, next_cursor: null };
}
