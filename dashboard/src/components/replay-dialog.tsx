/** Confirms a bulk replay: how many deliveries, at which pace, and what receivers see. */
import { useEffect, useState } from 'preact/hooks';
import type { DeliveryCount, ReplayJobInfo } from '../../../src/control/http/data-contract.ts';
import { type ApiError, asApiError, get, post } from '../api.ts';
import { formatCount, plural } from '../format.ts';
import { type DeliveryFilter, deliveryQuery, pathWithQuery, queryOf } from '../model/filters.ts';
import { navigate } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { useRequest } from '../use-request.ts';
import { Dialog, DialogEnd } from './dialog.tsx';
import { ErrorNote } from './error.tsx';
import { FilterText } from './filter-text.tsx';
import { Skeleton } from './skeleton.tsx';

export function ReplayDialog({
  filter,
  onClose,
}: {
  readonly filter: DeliveryFilter;
  readonly onClose: () => void;
}) {
  // Deliveries that fail after the dialog was opened are not part of the replay.
  const [query] = useState(() => {
    const now = Date.now();
    return { created_before: new Date(now).toISOString(), ...deliveryQuery(filter, now) };
  });
  const [found, setFound] = useState<DeliveryCount | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    get<DeliveryCount>(apiPath(pathWithQuery('replays/count', queryOf(query))), stop.signal)
      .then(setFound)
      .catch((cause: unknown) => {
        if (!stop.signal.aborted) setError(asApiError(cause));
      });
    return () => stop.abort();
  }, [query]);
  const request = useRequest(async () => {
    const job = await post<ReplayJobInfo>(apiPath('replays'), { ...query, expected: found?.count ?? 0 });
    navigate(hrefInProject(`replays/${job.id}`));
  });
  const amount = found === null ? '' : `${found.is_exact ? '' : 'at least '}${formatCount(found.count)}`;
  return (
    <Dialog title="Replay in bulk" onClose={onClose}>
      <form
        class="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void request.run();
        }}
      >
        {error === null ? null : <ErrorNote error={error} />}
        {found === null ? (
          <Skeleton height={88} />
        ) : (
          <div class="space-y-3">
            <p>
              <strong class="text-lg tabular-nums">{amount}</strong>{' '}
              {found.count === 1 && found.is_exact ? 'delivery' : 'deliveries'} <FilterText query={query} />{' '}
              will be replayed.
            </p>
            <ul class="list-disc space-y-1.5 pl-5 text-dim">
              <li>
                Each replay is a new delivery. The original does not change, so it is replayed again even if
                it was replayed before.
              </li>
              <li>
                Replays are sent at the pace of each endpoint’s retry budget (by default 10 per second, 100 at
                once), so that an endpoint that has just recovered is not overloaded.
              </li>
              <li>
                Replays have the Idempotency-Key of the original. A receiver that deduplicates ignores those
                it has processed.
              </li>
              <li>The bulk replay survives a restart of the service. You can stop it at any time.</li>
            </ul>
          </div>
        )}
        <DialogEnd
          error={request.error}
          isBusy={request.isBusy}
          disabled={found === null || found.count === 0}
          action={
            found === null
              ? 'Replay'
              : `Replay ${found.is_exact ? '' : 'at least '}${plural(found.count, 'delivery', 'deliveries')}`
          }
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
