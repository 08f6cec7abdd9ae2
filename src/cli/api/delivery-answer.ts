/** Shows one delivery with its attempts. */
import type { Delivery } from '#sdk/index.ts';
import { type Answer, type Json, tableOf } from '#src/cli/terminal/output.ts';
import { ATTEMPT_COLUMNS } from './columns.ts';
import { deliveryText } from './details.ts';
import type { ServiceCall } from './service-command.ts';

/** The most attempts that a retry policy allows. */
export const ATTEMPTS_MAX = 50;

export async function deliveryAnswer(
  { sched, isJson, screen, now }: ServiceCall,
  delivery: Delivery,
): Promise<Answer> {
  const json = delivery as unknown as Json;
  if (isJson) return { json, text: '' };
  const text = deliveryText(delivery, screen, now());
  if (delivery.attempt_count === 0) return { json, text };
  const attempts = await sched.deliveries
    .attempts(delivery.id, { limit: ATTEMPTS_MAX })
    .toArray(ATTEMPTS_MAX);
  return { json, text: `${text}\n\n${tableOf(ATTEMPT_COLUMNS, attempts, screen)}` };
}
