/** Writes the body of a notification. Its parts look as the API shows them. */
import { excerptText } from '#src/domain/excerpt-text.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { ComposeNotification } from '#src/ports/notifications.ts';
import { presentAttempt, presentDelivery } from './present.ts';

export const composeNotification: ComposeNotification = (facts) => {
  const { notification, mode, delivery, schedule, attempts, response } = facts;
  return JSON.stringify({
    type: `delivery.${delivery.status}`,
    id: notification.id,
    created_at: formatInstant(notification.createdAt),
    data: {
      delivery: presentDelivery(delivery, mode),
      schedule: {
        id: schedule.id,
        name: schedule.name,
        metadata: Object.fromEntries(schedule.metadata),
      },
      attempts: attempts.map(presentAttempt),
      response: response && {
        status_code: response.statusCode,
        ...excerptText(response.bytes, response.isTruncated),
        truncated: response.isTruncated,
      },
    },
  });
};
