/** What can be done with a schedule, by its state; what cannot be undone is asked about first. */
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
  const changeState = async (name: 'pause' | 'resume' | 'cancel', said: string) => {
    await post<Schedule>(apiPath(`schedules/${schedule.id}/${name}`));
    toast('good', said);
    await refreshLive();
  };
  const pausing = useRequest(async () => {
    try {
      await (schedule.state === 'paused'
        ? changeState('resume', 'Resumed.')
        : changeState('pause', 'Paused: nothing fires until it is resumed.'));
    } catch (error) {
      toast('bad', error instanceof Error ? error.message : 'That did not work.');
    }
  });
  if (schedule.state === 'canceled' || schedule.state === 'completed') return null;
  return (
    <>
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
      {open === 'edit' ? <EditScheduleDialog schedule={schedule} onClose={close} /> : null}
      {open === 'reschedule' ? <RescheduleDialog schedule={schedule} onClose={close} /> : null}
      {open === 'cancel' ? (
        <Confirm
          title="Cancel this schedule"
          action="Cancel the schedule"
          isDanger
          onConfirm={() => changeState('cancel', 'Canceled.')}
          onClose={close}
        >
          <p>
            It never fires again, and that cannot be undone. What is waiting to be sent is called off; the
            history stays.
          </p>
          <p class="text-dim">To stop it for a while, pause it instead.</p>
        </Confirm>
      ) : null}
    </>
  );
}
