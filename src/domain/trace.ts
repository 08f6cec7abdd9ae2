/** W3C trace context: one trace for each delivery, one span for each attempt, both made from their ids. */
import { hash } from 'node:crypto';
import type { AttemptId, DeliveryId } from './id.ts';

const TRACE_ID_CHARACTERS = 32;
const SPAN_ID_CHARACTERS = 16;

export function traceparent(deliveryId: DeliveryId, attemptId: AttemptId): string {
  const trace = hash('sha256', deliveryId, 'hex').slice(0, TRACE_ID_CHARACTERS);
  const span = hash('sha256', attemptId, 'hex').slice(0, SPAN_ID_CHARACTERS);
  return `00-${trace}-${span}-01`;
}
