/** Changes the timing of a schedule, with a preview of its runs. */
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { refreshLive } from '../live.ts';
import {
  newTiming,
  previewBody,
  type TimingForm,
  timingBody,
  timingFields,
  timingOf,
} from '../model/timing-form.ts';
import { apiPath } from '../session.ts';
import { displayZone } from '../time.ts';
import { useForm } from '../use-form.ts';
import { usePreview } from '../use-preview.ts';
import { Dialog, DialogEnd } from './dialog.tsx';
import { previewErrors, TimingControl, TimingPreview } from './timing-control.tsx';
import { toast } from './toast.tsx';

export function RescheduleDialog({
  schedule,
  onClose,
}: {
  readonly schedule: Schedule;
  readonly onClose: () => void;
}) {
  const send = async (form: TimingForm) => {
    await post<Schedule>(apiPath(`schedules/${schedule.id}/reschedule`), timingBody(form) ?? {});
    toast('good', 'The schedule is rescheduled.');
    onClose();
    await refreshLive();
  };
  const check = (form: TimingForm) => (timingBody(form) === null ? { [form.kind]: 'Enter a time.' } : {});
  const first = timingOf(schedule, newTiming(displayZone.peek(), Date.now()));
  const { form, change, errors, error, isBusy, submit, element } = useForm(first, send, timingFields, check);
  const request = previewBody(form, schedule.jitter ?? '');
  const preview = usePreview(request);
  return (
    <Dialog title="Reschedule" onClose={onClose} isWide isKept>
      <form ref={element} onSubmit={submit} noValidate class="space-y-4">
        <TimingControl form={form} errors={{ ...previewErrors(preview), ...errors }} onForm={change} />
        <section
          aria-label="Next runs"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          class="max-h-64 overflow-y-auto rounded-md border border-line px-3 py-2"
        >
          <TimingPreview state={preview} hasRequest={request !== null} fields={timingFields(form)} />
        </section>
        <p class="text-sm text-dim">
          {schedule.kind === 'recurring'
            ? 'A cron expression replaces the recurrence. A single time moves only the next run.'
            : 'An attempt that is in flight is not stopped.'}
        </p>
        <DialogEnd error={error} isBusy={isBusy} action="Reschedule" onClose={onClose} />
      </form>
    </Dialog>
  );
}
