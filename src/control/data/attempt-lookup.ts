/** `GET attempts/:id/delivery`: receivers log the ids of attempts. */
import { byId } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { TIMEOUT_MAX_MS } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { creationOf } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { DataDependencies } from './dependencies.ts';

/** Most attempts end within seconds, so one is found among those that ended soon after it began. */
const SCANNED_MAX = 10_000;

export function attemptLookupRoute({ insight }: DataDependencies): ProjectRoute {
  return projectRoute('GET attempts/:id/delivery', {
    needs: 'viewer',
    params: byId('att'),
    handle: async ({ params: { id }, partition }) => {
      const began = creationOf(id);
      const until = instant(began + TIMEOUT_MAX_MS);
      const found = await insight.findDeliveryOfAttempt(partition, id, began, until, SCANNED_MAX);
      if (found === null) throw new Refusal('not_found');
      return json({ delivery_id: found });
    },
  });
}
