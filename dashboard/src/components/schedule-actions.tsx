/** The buttons of a schedule, by its state. Canceling asks for a confirmation. */
import { useState } from 'preact/hooks';
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { refreshLive } from '../live.ts';
import { apiPath } from '../session.ts';
import { useRequest } from '../use-request.ts';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { EditScheduleDialog } from './edit-schedule-dialog.tsx';
import { RescheduleDialog } from './reschedule-dialog.tsx';
import { toast } from './toast.tsx';

type Open = 'edit' | 'reschedule' | 'cancel' | null;

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
  if (schedule.state === 'canceled' || schedule.state === 'completed') return null;
  return (
    <>
      {/* Without icons, the four buttons fit in one row on a phone. */}
      <div class="contents max-sm:[&_button]:px-2.5 max-sm:[&_svg]:hidden">
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
