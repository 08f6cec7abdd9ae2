/** A project's API keys. Every user sees the list. Only an admin creates and revokes them. */

import type { ControlDependencies } from '#src/control/dependencies.ts';
import { byId } from '#src/control/http/fields.ts';
import { presentKey } from '#src/control/http/present.ts';
import { DONE, json, list, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { makeKey, revokeKey } from '#src/control/keys.ts';
import { Refusal } from '#src/domain/errors.ts';

export function keyRoutes(dependencies: ControlDependencies): readonly ProjectRoute[] {
  return [
    projectRoute('GET keys', {
      needs: 'viewer',
      handle: async ({ partition }) => {
        const keys = await dependencies.store.listKeys(partition);
        return list(keys.map(presentKey).toReversed());
      },
    }),
    projectRoute('POST keys', {
      needs: 'admin',
      audited: { action: 'key.create' },
      handle: async ({ project, mode }) => {
        const { key, text } = await makeKey(dependencies, project, mode);
        return json({ ...presentKey(key), key: text }, 201, key.id);
      },
    }),
    projectRoute('POST keys/:id/revoke', {
      needs: 'admin',
      params: byId('key'),
      audited: { action: 'key.revoke' },
      handle: async ({ partition, params: { id } }) => {
        // `revokeKey` takes only an id, so this check keeps keys of other projects from being revoked here.
        const keys = await dependencies.store.listKeys(partition);
        if (!keys.some((key) => key.id === id)) throw new Refusal('not_found');
        await revokeKey(dependencies, id);
        return json(DONE);
      },
    }),
  ];
}
