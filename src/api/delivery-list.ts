/** `GET /v1/deliveries`. Some filters have an index, and the others need a search (see the store port). */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { PauseLength } from '#src/commands/pauses.ts';
import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import { type DeliveryId, parseId } from '#src/domain/id.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import { type DeliveryFilter, hasIndex } from '#src/ports/lists.ts';
import type { Store } from '#src/ports/store.ts';
import type { Call } from './call.ts';
import { answerFound, answerSmallPage, type Item, type PageRequest, readPage } from './lists.ts';
import { readChoice, readInstant, readText } from './query.ts';

interface DeliveryListDependencies {
  readonly store: Pick<Store, 'findDeliveries' | 'listDeliveries' | 'searchDeliveries'>;
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

type ListCall = Pick<Call, 'tenant' | 'query' | 'answer'>;
type ShowDelivery = (delivery: Delivery, mode: Mode) => object;

export async function listDeliveries(
  dependencies: DeliveryListDependencies,
  call: ListCall,
  show: ShowDelivery,
): Promise<RenderedAnswer> {
  const { query, tenant } = call;
  const page = readPage(query, tenant.partition, 'deliveries', 'dlv');
  return listDeliveriesIn(dependencies, call, show, page, readFilter(query));
}

/** A filter of null gives an empty list. */
export async function listDeliveriesIn(
  { store, pause: pauseFor }: DeliveryListDependencies,
  { tenant: { partition, mode }, answer }: ListCall,
  showDelivery: ShowDelivery,
  page: PageRequest<DeliveryId>,
  filter: DeliveryFilter | null,
): Promise<RenderedAnswer> {
  const pause = (length?: PauseLength) => pauseFor(partition, length);
  const show = (delivery: Delivery): Item<DeliveryId> => ({
    position: delivery.id,
    resource: showDelivery(delivery, mode),
  });
  if (filter === null || hasIndex(filter)) {
    return answer((bytesMax) =>
      answerSmallPage(
        { ...page, bytesMax },
        async (before, limit) =>
          filter === null ? [] : store.listDeliveries(partition, filter, { before, limit }),
        show,
        pause,
      ),
    );
  }
  const found = await store.searchDeliveries(partition, filter, { before: page.after, limit: page.limit });
  // A found delivery may have changed since the search.
  const showIfListed = (delivery: Delivery) =>
    isListed(delivery, filter) ? show(delivery) : { position: delivery.id, resource: null };
  return answer((bytesMax) =>
    answerFound(
      { ...page, bytesMax },
      found,
      async (ids) => ({ items: await store.findDeliveries(partition, ids), hasMore: false }),
      showIfListed,
      pause,
    ),
  );
}

/** Returns null if no delivery can match: a text that is not an id names nothing. */
function readFilter(query: URLSearchParams): DeliveryFilter | null {
  const status = readChoice(query, 'status', DELIVERY_STATUSES);
  const createdAfter = readInstant(query, 'created_after', 'down');
  const createdBefore = readInstant(query, 'created_before', 'up');
  const scheduleId = readId(query, 'schedule_id', (text) => parseId('sch', text));
  const endpointId = readId(query, 'endpoint_id', (text) => parseId('ep', text));
  const replayOf = readId(query, 'replay_of', (text) => parseId('dlv', text));
  const notificationOf = readId(query, 'notification_of', (text) => parseId('dlv', text));
  if (scheduleId === undefined || endpointId === undefined) return null;
  if (replayOf === undefined || notificationOf === undefined) return null;
  return { status, createdAfter, createdBefore, scheduleId, endpointId, replayOf, notificationOf };
}

/** Returns null if there is none, and undefined if the text is not an id. */
function readId<Id>(
  query: URLSearchParams,
  name: string,
  parse: (text: string) => Id | null,
): Id | null | undefined {
  const text = readText(query, name);
  return text === null ? null : (parse(text) ?? undefined);
}

/** The other conditions never change. */
function isListed({ status, target }: Delivery, wanted: DeliveryFilter): boolean {
  return (
    (wanted.status === null || status === wanted.status) &&
    (wanted.endpointId == null || target.endpointId === wanted.endpointId)
  );
}
