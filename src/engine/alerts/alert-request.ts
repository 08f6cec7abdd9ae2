/** Builds the request of an alert message: a webhook that is signed like a delivery, or a message for Slack. */
import type { KeyObject } from 'node:crypto';
import type { AlertChannel } from '#src/domain/alert.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { AttemptId } from '#src/domain/id.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import { JSON_TYPE, outboundHeaders, traceId, USER_AGENT } from '#src/domain/outbound-headers.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { slackMessage } from '#src/texts/slack-message.ts';

const METHOD = 'POST';
const TYPED: Headers = [['Content-Type', JSON_TYPE]];

export interface AlertAttempt {
  readonly channel: AlertChannel;
  readonly url: URL;
  readonly message: AlertMessage;
  readonly attemptId: AttemptId;
  /** They sign a webhook. */
  readonly keys: readonly KeyObject[];
  readonly now: Instant;
}

export function alertRequest(attempt: AlertAttempt): OutboundRequest {
  const { channel, url, message } = attempt;
  const value = channel.kind === 'slack' ? slackMessage(message.content) : webhook(message);
  const body = Buffer.from(JSON.stringify(value));
  return {
    customer: message.partition,
    method: METHOD,
    url,
    headers: channel.kind === 'slack' ? [...TYPED, USER_AGENT] : signedHeaders(attempt, body),
    body,
    isOverdue: false,
    excerptBytesMax: 0,
  };
}

/** The JSON is documented in docs/alerts.md, and typed in the SDK. */
function webhook({ kind, id, createdAt, content }: AlertMessage) {
  return { type: `alert.${kind}`, id, created_at: formatInstant(createdAt), data: content };
}

function signedHeaders({ url, message, attemptId, keys, now }: AlertAttempt, body: Uint8Array): Headers {
  const { id, attemptCount } = message;
  const target = { url: url.href, method: METHOD, endpointId: null, endpointVersion: null } as const;
  return outboundHeaders({
    delivery: { id, idempotencyKey: id, target, occurrence: null, movedFrom: null },
    attempt: { id: attemptId, attemptNo: attemptCount + 1 },
    path: url.pathname,
    trace: traceId(id),
    headers: TYPED,
    body,
    keys,
    standardKeys: null,
    now,
  });
}
