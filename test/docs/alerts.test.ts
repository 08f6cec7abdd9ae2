import { expect, test } from 'vitest';
import { beginIncident } from '#src/domain/alert-incident.ts';
import { createMessage } from '#src/domain/alert-message.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type {
  AlertChannelId,
  AlertConditionId,
  AlertIncidentId,
  AttemptId,
  DeliveryId,
} from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { alertRequest } from '#src/engine/alerts/alert-request.ts';
import { incidentContent } from '#src/texts/alert-text.ts';
import { pageAt } from './pages.ts';

const AT = instant(Date.UTC(2026, 10, 15, 8, 0, 5));
const PARTITION = 1 as Partition;
const CHANNEL = {
  partition: PARTITION,
  id: 'chn_1' as AlertChannelId,
  kind: 'webhook',
  name: 'ops',
  sealedUrl: Uint8Array.of(),
  shownUrl: '',
  createdAt: AT,
  updatedAt: AT,
  revision: 1,
} as const;

test('docs/alerts.md shows the JSON of a webhook as it is sent', () => {
  const block = pageAt('docs/alerts.md').blocks.find(({ language }) => language === 'json');
  const condition = {
    partition: PARTITION,
    id: 'alc_01m7f3gs00zqgw5m2r7n9x0abf' as AlertConditionId,
    kind: 'breaker_opened',
    threshold: null,
    windowMinutes: null,
    channelIds: [CHANNEL.id],
    enabled: true,
    createdAt: AT,
    updatedAt: AT,
    revision: 1,
  } as const;
  const incidentId = 'inc_01m7f3gs00zqgw5m2r7n9x0abe' as AlertIncidentId;
  const endpoint = 'ep_01m7f3gs00zqgw5m2r7n9x0abd' as EndpointKey;
  const incident = beginIncident(condition, incidentId, { endpoint, count: null }, 'orders', AT);
  const place = { project: 'shop', mode: 'live', dashboard: 'https://sched.example.com/dashboard' } as const;
  const id = 'dlv_01m7f3gs00zqgw5m2r7n9x0abc' as DeliveryId;
  const content = incidentContent('opened', incident, place);
  const about = {
    partition: PARTITION,
    id,
    incidentId,
    channelId: CHANNEL.id,
    kind: 'opened',
    content,
  } as const;
  const { body } = alertRequest({
    channel: CHANNEL,
    url: new URL('https://receiver.example/'),
    message: createMessage(about, AT),
    attemptId: 'att_1' as AttemptId,
    keys: [],
    now: AT,
  });
  expect(JSON.parse(Buffer.from(body ?? []).toString())).toEqual(JSON.parse(block?.text ?? ''));
});
