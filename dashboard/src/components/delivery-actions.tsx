/** The buttons of a delivery, by its status: replay it, or cancel its retries. */
import { useState } from 'preact/hooks';
import type { Delivery } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { refreshLive } from '../live.ts';
import { isReplayable } from '../model/status.ts';
import { navigate } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { toast } from './toast.tsx';

export function DeliveryActions({
  delivery,
  canCancel,
}: {
  readonly delivery: Delivery;
  readonly canCancel: boolean;
}) {
  const [open, setOpen] = useState<'replay' | 'cancel' | null>(null);
  const close = () => setOpen(null);
  const path = `deliveries/${encodeURIComponent(delivery.id)}`;
  const replay = async () => {
    const created = await post<Delivery>(apiPath(`${path}/replay`));
    toast('good', 'Replayed. This is the new delivery.');
    navigate(hrefInProject(`deliveries/${created.id}`));
  };
  const cancel = async () => {
    await post<Delivery>(apiPath(`${path}/cancel`));
    toast('good', 'The delivery is canceled.');
    await refreshLive();
  };
  return (
    <>
      {isReplayable(delivery.status) ? (
        <Button icon="retry" onClick={() => setOpen('replay')}>
          Replay…
        </Button>
      ) : null}
      {canCancel ? (
        <Button kind="danger" icon="stop" onClick={() => setOpen('cancel')}>
          Cancel…
        </Button>
      ) : null}
      {open === 'replay' ? (
        <Confirm title="Replay this delivery" action="Replay" onConfirm={replay} onClose={close}>
          <p>A new delivery is created and sent now. This one does not change.</p>
          <p class="text-dim">
            The new delivery has the same Idempotency-Key. A receiver that deduplicates ignores the new one,{' '}
            {delivery.status === 'succeeded' ? 'because' : 'if'} it has processed this one.
          </p>
        </Confirm>
      ) : null}
      {open === 'cancel' ? (
        <Confirm
          title="Cancel this delivery"
          action="Cancel delivery"
          dismiss="Keep delivery"
          isDanger
          onConfirm={cancel}
          onClose={close}
        >
          <p>
            No further attempt is made.{delivery.schedule_id === null ? '' : ' The schedule goes on.'} The
            attempts so far stay in the history.
          </p>
          <p class="text-dim">A canceled delivery cannot be replayed.</p>
        </Confirm>
      ) : null}
    </>
  );
}
