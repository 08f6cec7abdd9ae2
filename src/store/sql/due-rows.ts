/** The columns of a delivery that a scan for due work reads. */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { DeliveryId, EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { cachedEndpoint } from '#src/ports/endpoint-cache.ts';

export const DUE_COLUMNS = 'partition, id, due_at, deadline, endpoint_id, url, payload_bytes';
/** SQL: the delivery waits for its time. */
export const WAITING = "status IN ('scheduled', 'retry_scheduled')";

export interface DueRow {
  readonly partition: Partition;
  readonly id: DeliveryId;
  readonly due_at: Instant;
  readonly deadline: Instant | null;
  readonly endpoint_id: EndpointId | null;
  readonly url: string;
  readonly payload_bytes: number;
}

export function toDue(row: DueRow): DueDelivery {
  return {
    partition: row.partition,
    id: row.id,
    dueAt: row.due_at,
    deadline: row.deadline,
    payloadBytes: row.payload_bytes,
    ...cachedEndpoint({ endpointId: row.endpoint_id, url: row.url }),
  };
}
