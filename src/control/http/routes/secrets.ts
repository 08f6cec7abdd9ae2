/**
 * The signing secrets of a project, and those of one endpoint profile. Every user sees which ones sign and until when.
 * Only an admin sees their texts, on creation or when revealing one. Both are recorded in the audit log, which names
 * the endpoint profile.
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
import { byId, idOf, optionalText } from '#src/control/http/fields.ts';
import { presentEndpointSecret, presentSecret } from '#src/control/http/present.ts';
import { json, list, type ProjectRequest, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { type OpenSecret, OVERLAP_DEFAULT, openSecret, rotateSecret } from '#src/control/secrets.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';

/** How long the secrets of before sign too. */
const OVERLAP = z.strictObject({ overlap: optionalText.transform((text) => text ?? OVERLAP_DEFAULT) });
const OF_ENDPOINT = byId('ep');

export function secretRoutes(dependencies: SealingDependencies): readonly ProjectRoute[] {
  return [...ofProject(dependencies), ...ofEndpoint(dependencies)];
}

function ofProject(dependencies: SealingDependencies): readonly ProjectRoute[] {
  const { store, clock, vault } = dependencies;
  const signing = (partition: Partition) => store.listSecrets(partition, clock.now());
  return [
    projectRoute('GET secrets', {
      needs: 'viewer',
      handle: async ({ partition }) => list((await signing(partition)).map(presentSecret)),
    }),
    projectRoute('POST secrets/rotate', {
      needs: 'admin',
      body: OVERLAP,
      audited: { action: 'secret.rotate', detail: ({ body }) => body },
      handle: async ({ project, mode, body: { overlap } }) => {
        const secrets = await rotateSecret(dependencies, project.name, mode, overlap);
        return list(withNewText(secrets, presentSecret), 201, secrets[0]?.id);
      },
    }),
    projectRoute('POST secrets/:id/reveal', {
      needs: 'admin',
      params: byId('sec'),
      audited: { action: 'secret.reveal' },
      handle: async ({ partition, params: { id } }) => {
        const open = openSecret(vault, find(await signing(partition), id));
        return json(withText(open, presentSecret));
      },
    }),
  ];
}

function ofEndpoint(dependencies: SealingDependencies): readonly ProjectRoute[] {
  const profileOf = ({
    partition,
    params,
  }: ProjectRequest & { readonly params: { readonly id: EndpointId } }) =>
    requireEndpoint(dependencies, partition, params.id);
  const created = (secrets: readonly OpenEndpointSecret[]) =>
    list(withNewText(secrets, presentEndpointSecret), 201);
  const remaining = (secrets: readonly OpenEndpointSecret[]) => list(secrets.map(presentEndpointSecret));
  const changeRoute = (
    name: `POST endpoints/:id/secrets${'' | '/rotate' | '/remove'}`,
    action: string,
    change: typeof createEndpointSecret,
    answer: typeof created,
  ) =>
    projectRoute(name, {
      needs: 'admin',
      params: OF_ENDPOINT,
      body: OVERLAP,
      audited: { action, detail: ({ body }) => body },
      handle: async (request) =>
        answer(await change(dependencies, await profileOf(request), request.body.overlap)),
    });
  return [
    projectRoute('GET endpoints/:id/secrets', {
      needs: 'viewer',
      params: OF_ENDPOINT,
      handle: async (request) => {
        const secrets = await listEndpointSecrets(dependencies, await profileOf(request));
        return list(secrets.map(presentEndpointSecret));
      },
    }),
    changeRoute('POST endpoints/:id/secrets', 'secret.create', createEndpointSecret, created),
    changeRoute('POST endpoints/:id/secrets/rotate', 'secret.rotate', rotateEndpointSecret, created),
    changeRoute('POST endpoints/:id/secrets/remove', 'secret.remove', removeEndpointSecrets, remaining),
    projectRoute('POST endpoints/:id/secrets/:secret/reveal', {
      needs: 'admin',
      params: OF_ENDPOINT.extend({ secret: idOf('sec') }),
      audited: { action: 'secret.reveal', detail: ({ params }) => ({ secret: params.secret }) },
      handle: async (request) => {
        const secrets = await listEndpointSecrets(dependencies, await profileOf(request));
        const open = openEndpointSecret(dependencies.vault, find(secrets, request.params.secret));
        return json(withText(open, presentEndpointSecret));
      },
    }),
  ];
}

function find<S extends { readonly id: string }>(secrets: readonly S[], id: string): S {
  const found = secrets.find((secret) => secret.id === id);
  if (found === undefined) throw new Refusal('not_found');
  return found;
}

function withText<S extends OpenSecret, T>(secret: S, present: (secret: S) => T) {
  return { ...present(secret), text: secret.text };
}

/** Only the new secret is shown with its text. */
function withNewText<S extends OpenSecret, T>([newest, ...others]: readonly S[], present: (secret: S) => T) {
  if (newest === undefined) throw new Error('The change left no secret that signs.');
  return [withText(newest, present), ...others.map(present)];
}
