import { expect, test } from 'vitest';
import { beginIncident } from '#src/domain/alert-incident.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { parseId } from '#src/domain/id.ts';
import { instant, MS_PER_MINUTE } from '#src/domain/instant.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';

const open = useDataHarness();

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

/** Begins an incident a minute after the one before, which may have ended. Returns its id. */
async function incident(harness: DataHarness, condition: string, minute: number, hasEnded: boolean) {
  const { store, ids, clock } = harness.control;
  const id = parseId('alc', condition);
  const found = id && (await store.alerts.findCondition(harness.project.partitions.test, id));
  if (!found) throw new Error('There is no condition.');
  const at = instant(clock.now() + minute * MS_PER_MINUTE);
  const finding = { endpoint: `https://shop.example/${minute}` as EndpointKey, count: null };
  const begun = beginIncident(found, ids.mint('inc', at), finding, null, at);
  const endedAt = hasEnded ? instant(at + MS_PER_MINUTE) : null;
  await store.alerts.addIncident({ condition: found, incident: { ...begun, endedAt }, messages: [] });
  return begun.id;
}

async function pages(harness: DataHarness, query: string): Promise<readonly (readonly string[])[]> {
  const read: string[][] = [];
  let cursor = '';
  do {
    const { body } = await harness.get(`alerts/incidents?${query}${cursor}`, 'viewer');
    const { data, next_cursor } = body as Listed;
    read.push(data.map(({ id }) => id));
    cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`;
  } while (cursor !== '');
  return read;
}

test('incidents are listed newest first, all of them or those that are open', async () => {
  const harness = await open();
  const url = 'https://hooks.example/a';
  const channel = await harness.post('alerts/channels', { kind: 'slack', name: 'ops', url }, 'admin');
  const terms = { kind: 'breaker_opened', channel_ids: [channel.body.id] };
  const { body: condition } = await harness.post('alerts/conditions', terms, 'admin');
  const ids: string[] = [];
  for (const [minute, hasEnded] of [false, true, false, true, false].entries())
    ids.push(await incident(harness, condition.id, minute, hasEnded));
  const [first, second, third, fourth, fifth] = ids;

  expect(await pages(harness, 'limit=2')).toEqual([[fifth, fourth], [third, second], [first]]);
  expect(await pages(harness, 'state=open&limit=2')).toEqual([[fifth, third], [first]]);
  const elsewhere = await open();
  expect(await pages(elsewhere, 'state=open')).toEqual([[]]);
  const { status, body } = await harness.get('alerts/incidents?state=ended');
  expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'state' });
});
