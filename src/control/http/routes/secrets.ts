/**
 * A project's signing secrets. Every user sees which ones sign and until when. Only an admin sees their texts, on
 * creation or when revealing one. Both are recorded in the audit log.
 */

import { z } from 'zod';
import type { SealingDependencies } from '#src/control/dependencies.ts';
import { name, optionalText } from '#src/control/http/fields.ts';
import { presentOpenSecret, presentSecret } from '#src/control/http/present.ts';
import { json, list, type ProjectRequest, projectRoute, type Route } from '#src/control/http/route.ts';
import { OVERLAP_DEFAULT, openSecret, rotateSecret } from '#src/control/secrets.ts';
import { Refusal } from '#src/domain/errors.ts';

/** How long the secrets of before sign too. */
export const OVERLAP = z.object({ overlap: optionalText.transform((text) => text ?? OVERLAP_DEFAULT) });

export function secretRoutes(dependencies: SealingDependencies): readonly Route<ProjectRequest>[] {
  return [
    projectRoute({
      method: 'GET',
      path: 'secrets',
      needs: 'viewer',
      handle: async ({ partition }) => {
        const secrets = await dependencies.store.listSecrets(partition, dependencies.clock.now());
        return list(secrets.map(presentSecret));
      },
    }),
    projectRoute({
      method: 'POST',
      path: 'secrets/rotate',
      needs: 'admin',
      body: OVERLAP,
      audited: { action: 'secret.rotate', subject: () => '', detail: ({ body }) => body },
      handle: async ({ project, mode, body: { overlap } }) => {
        const [newest, ...others] = await rotateSecret(dependencies, project.name, mode, overlap);
        if (newest === undefined)
          throw new Error('The rotation left the project without a secret that signs.');
        // Only the new secret is shown with its text.
        const data = [presentOpenSecret(newest), ...others.map(presentSecret)];
        return list(data, 201, newest.id);
      },
    }),
    projectRoute({
      method: 'POST',
      path: 'secrets/:id/reveal',
      needs: 'admin',
      params: z.object({ id: name }),
      audited: { action: 'secret.reveal', subject: ({ params }) => params.id },
      handle: async ({ partition, params: { id } }) => {
        const secrets = await dependencies.store.listSecrets(partition, dependencies.clock.now());
        const secret = secrets.find((each) => each.id === id);
        if (secret === undefined) throw new Refusal('not_found');
        return json(presentOpenSecret(openSecret(dependencies.vault, secret)));
      },
    }),
  ];
}
