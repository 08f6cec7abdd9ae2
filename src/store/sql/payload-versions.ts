/**
 * Finds whether a delivery still names a version of a payload. The deliveries are those of one schedule. Those that have
 * ended are searched by the ids of the time in which the version was the present one. Nearly all of these name it, so
 * the first that is read tells. A clock that was set makes ids of another time, so those that may still be sent are
 * searched whatever their ids. When too many name other versions, the answer is that there may be a use.
 */
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-lifecycle.ts';
import type { Syntax } from './dialect.ts';

/** How many deliveries of each status are read. */
const READ_MAX = 100;

export type PayloadUse = 'found' | 'unknown' | 'none';

/** SQL expressions. */
interface Version {
  readonly partition: string;
  readonly scheduleId: string;
  readonly version: string;
  readonly sinceId: string;
  readonly lastId: string;
}

/** SQL: a `PayloadUse`. */
export function payloadUse(indexedBy: Syntax['indexedBy'], of: Version): string {
  const scans = DELIVERY_STATUSES.map(
    (status) => `SELECT d.payload_version FROM deliveries d ${indexedBy('deliveries_of_schedule')}
      WHERE d.partition = ${of.partition} AND d.schedule_id = ${of.scheduleId} AND d.status = '${status}'
        ${isTerminal(status) ? `AND d.id >= ${of.sinceId} AND d.id <= ${of.lastId}` : ''} ORDER BY d.id DESC`,
  );
  const isFound = scans.map((scan) => `${of.version} IN (${scan} LIMIT ${READ_MAX})`);
  const isLong = scans.map((scan) => `EXISTS (${scan} LIMIT 1 OFFSET ${READ_MAX})`);
  return `CASE WHEN ${isFound.join(' OR ')} THEN 'found' WHEN ${isLong.join(' OR ')} THEN 'unknown' ELSE 'none' END`;
}
