/** Reads for notifications. The engine waits for them when it ends a delivery and when it sends a notification. */
import type { NotificationReads } from '#src/ports/notification-reads.ts';
import { ATTEMPT, type ResponseRow, toResponse } from './attempt-rows.ts';
import type { SqlReader, Syntax } from './dialect.ts';
import { FIRING_PROFILE_COLUMNS, firingProfileIn, JOINED_DELIVERY, JOINED_SCHEDULE } from './joined-rows.ts';
import type { Row } from './mapping.ts';

/** Both databases know the size of the labels without reading them. */
const SOURCE = `SELECT ${FIRING_PROFILE_COLUMNS}, coalesce((SELECT octet_length(s.metadata) FROM schedules s
    WHERE s.partition = $1 AND s.id = $2), 0) AS metadata_bytes
  FROM endpoint_profiles p
  JOIN endpoint_profile_versions v ON v.partition = $3 AND v.endpoint_id = p.id AND v.version = p.version
  WHERE p.partition = $4 AND p.id = $5`;

const LAST_ATTEMPTS = `SELECT ${ATTEMPT.columns.join(', ')} FROM attempts
  WHERE partition = $1 AND delivery_id = $2 ORDER BY attempt_no DESC LIMIT $3`;

/** A delivery with its schedule and what is kept of its last answer. Only the answer may be missing. */
function subjectText(longText: Syntax['longText']): string {
  const columns = JOINED_SCHEDULE.columns.replace('s.metadata', longText('s.metadata'));
  return `SELECT ${JOINED_DELIVERY.columns}, ${columns}, r.status_code, r.content_type, r.is_truncated, r.sealed
    FROM deliveries d
    JOIN schedules s ON s.partition = $1 AND s.id = d.schedule_id
    LEFT JOIN attempt_responses r ON r.partition = $2 AND r.delivery_id = d.id AND r.attempt_no = d.attempt_count
    WHERE d.partition = $3 AND d.id = $4`;
}

type SubjectRow = Row & { readonly [Name in keyof ResponseRow]: ResponseRow[Name] | null };

export function notificationReads(reader: SqlReader, longText: Syntax['longText']): NotificationReads {
  const subject = subjectText(longText);
  return {
    findNotificationSource: async (partition, endpointId, scheduleId) => {
      const key = [partition, scheduleId ?? '', partition, partition, endpointId] as const;
      const [row] = await reader.lookUp<Row>(SOURCE, ...key);
      const profile = row === undefined ? null : firingProfileIn(row);
      return profile && { profile, metadataBytes: Number(row?.metadata_bytes ?? 0) };
    },
    findNotificationSubject: async (partition, id, attemptsMax) => {
      const [[row], attempts] = await Promise.all([
        reader.lookUp<SubjectRow>(subject, partition, partition, partition, id),
        reader.lookUp<Row>(LAST_ATTEMPTS, partition, id, attemptsMax),
      ]);
      if (row === undefined) return null;
      return {
        delivery: JOINED_DELIVERY.from(row),
        schedule: JOINED_SCHEDULE.from(row),
        attempts: attempts.map(ATTEMPT.from).toReversed(),
        response: row.sealed === null ? null : toResponse(row as ResponseRow),
      };
    },
  };
}
