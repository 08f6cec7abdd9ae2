/** The buttons of a schedule, by its state. Canceling asks for a confirmation. */
import { useState } from 'preact/hooks';
import type { Delivery, Schedule } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { refreshLive } from '../live.ts';
import { navigate } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { useRequest } from '../use-request.ts';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { EditScheduleDialog } from './edit-schedule-dialog.tsx';
import { RescheduleDialog } from './reschedule-dialog.tsx';
import { toast } from './toast.tsx';

type Open = 'trigger' | 'edit' | 'reschedule' | 'cancel' | null;

export function ScheduleActions({ schedule }: { readonly schedule: Schedule }) {
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const changeState = async (name: 'pause' | 'resume' | 'cancel', message: string) => {
    await post<Schedule>(apiPath(`schedules/${schedule.id}/${name}`));
    toast('good', message);
    await refreshLive();
  };
  const pausing = useRequest(async () => {
    try {
      await (schedule.state === 'paused'
        ? changeState('resume', 'The schedule is resumed.')
        : changeState('pause', 'The schedule is paused. It does not fire until you resume it.'));
    } catch (error) {
      toast('bad', error instanceof Error ? error.message : 'The request failed. Try again.');
    }
  });
  const trigger = async () => {
    const sent = await post<Delivery>(apiPath(`schedules/${schedule.id}/trigger`));
    toast('good', 'Triggered. This is its delivery.');
    navigate(hrefInProject(`deliveries/${sent.id}`));
  };
  const isOneShot = schedule.kind === 'one_shot';
  if (schedule.state === 'canceled' || schedule.state === 'completed') return null;
  return (
    <>
      {/* Without icons, the buttons need less room on a phone. */}
      <div class="contents max-sm:[&_button]:px-2.5 max-sm:[&_svg]:hidden">
        {isOneShot && schedule.state === 'paused' ? null : (
          <Button icon="deliveries" onClick={() => setOpen('trigger')}>
            {isOneShot ? 'Send now…' : 'Trigger now…'}
          </Button>
        )}
        <Button
          icon={schedule.state === 'paused' ? 'bolt' : 'pause'}
          isBusy={pausing.isBusy}
          onClick={() => void pausing.run()}
        >
          {schedule.state === 'paused' ? 'Resume' : 'Pause'}
        </Button>
        <Button icon="clock" onClick={() => setOpen('reschedule')}>
          Reschedule…
        </Button>
        <Button icon="settings" onClick={() => setOpen('edit')}>
          Edit…
        </Button>
        <Button kind="danger" icon="stop" onClick={() => setOpen('cancel')}>
          Cancel…
        </Button>
      </div>
      {open === 'trigger' ? (
        <Confirm
          title={isOneShot ? 'Send now' : 'Trigger now'}
          action={isOneShot ? 'Send now' : 'Trigger now'}
          onConfirm={trigger}
          onClose={close}
        >
          {isOneShot ? (
            <p>The request is sent now instead of at its time. The schedule then ends as usual.</p>
          ) : (
            <>
              <p>One more request is sent now. The next runs do not change.</p>
              <p class="text-dim">
                It has an Idempotency-Key of its own, so a receiver that deduplicates does not ignore it.
                {schedule.state === 'paused' ? ' The schedule stays paused.' : ''}
              </p>
            </>
          )}
        </Confirm>
      ) : null}
      {open === 'edit' ? <EditScheduleDialog schedule={schedule} onClose={close} /> : null}
      {open === 'reschedule' ? <RescheduleDialog schedule={schedule} onClose={close} /> : null}
      {open === 'cancel' ? (
        <Confirm
          title="Cancel this schedule"
          action="Cancel schedule"
          dismiss="Keep schedule"
          isDanger
          onConfirm={() => changeState('cancel', 'The schedule is canceled.')}
          onClose={close}
        >
          <p>
            The schedule never fires again, and deliveries that wait are canceled. This cannot be undone. The
            history stays.
          </p>
          <p class="text-dim">To stop it for a while, pause it instead.</p>
        </Confirm>
      ) : null}
    </>
  );
}
