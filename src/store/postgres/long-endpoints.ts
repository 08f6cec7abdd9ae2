/**
 * Since schema version 3 endpoint keys have a maximum length (`domain/endpoint-key.ts`). Waiting deliveries with a
 * longer key get the slot and the digest of the shortened key. With the old ones no node would send them.
 */
import { endpointKeyOf, KEY_CHARACTERS_MAX } from '#src/domain/endpoint-key.ts';
import type { Partition } from '#src/domain/project.ts';
import { slotOf } from '#src/domain/slot.ts';
import { endpointDigest } from '#src/store/sql/digests.ts';
import type { Queryable } from './connect.ts';
import { decodeText } from './parameter-encoding.ts';

const BATCH_MAX = 1_000;

/** A key has at most three characters for each byte of its URL. */
const LONG_URLS = `SELECT partition::text, id, url FROM deliveries
  WHERE finalized_at IS NULL AND endpoint_id IS NULL AND 3 * octet_length(url) > ${KEY_CHARACTERS_MAX}
    AND (partition, id) > ($1::bigint, $2)
  ORDER BY partition, id LIMIT ${BATCH_MAX}`;

const REWRITE = `UPDATE deliveries d SET slot = t.slot, endpoint_key = t.endpoint_key
  FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[]) AS t (partition, id, slot, endpoint_key)
  WHERE d.partition = t.partition AND d.id = t.id AND d.endpoint_key <> t.endpoint_key`;

interface Row {
  readonly partition: string;
  readonly id: string;
  readonly url: string;
}

export async function rewriteLongEndpoints(client: Queryable): Promise<void> {
  let after: Pick<Row, 'partition' | 'id'> | undefined = { partition: '0', id: '' };
  while (after !== undefined) {
    const rows = (await client.query(LONG_URLS, [after.partition, after.id])).rows as readonly Row[];
    const changed = rows.map(({ partition, id, url }) => {
      const endpoint = endpointKeyOf({ endpointId: null, url: decodeText(url) });
      const slot = slotOf(Number(partition) as Partition, endpoint);
      return { partition, id, slot, digest: endpointDigest(endpoint) };
    });
    await client.query(REWRITE, [
      changed.map(({ partition }) => partition),
      changed.map(({ id }) => id),
      changed.map(({ slot }) => slot),
      changed.map(({ digest }) => digest),
    ]);
    after = rows.at(-1);
  }
}
