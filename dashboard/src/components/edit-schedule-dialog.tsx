/** Edits a schedule, except its timing, which is changed by rescheduling. */
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { patch } from '../api.ts';
import { refreshLive } from '../live.ts';
import { LABELS_MAX } from '../model/pairs.ts';
import { type ScheduleForm, scheduleChanges, scheduleFormOf, validateEdit } from '../model/schedule-form.ts';
import { newTiming } from '../model/timing-form.ts';
import { apiPath } from '../session.ts';
import { useForm } from '../use-form.ts';
import { DestinationFields } from './destination-fields.tsx';
import { Dialog, DialogEnd } from './dialog.tsx';
import { NameField } from './field.tsx';
import { NotifyFields } from './notify.tsx';
import { PairsField } from './pairs-field.tsx';
import { RetryFields, TtlField } from './retry-fields.tsx';
import { toast } from './toast.tsx';

function fieldsOf({ destination }: ScheduleForm): readonly string[] {
  const place = destination === 'inline' ? ['endpoint', 'method'] : [];
  return ['name', ...place, 'ttl', 'retry_policy', 'notify', 'metadata'];
}

export function EditScheduleDialog({
  schedule,
  onClose,
}: {
  readonly schedule: Schedule;
  readonly onClose: () => void;
}) {
  const send = async (form: ScheduleForm) => {
    const changes = scheduleChanges(form, schedule);
    if (Object.keys(changes).length > 0) {
      await patch<Schedule>(apiPath(`schedules/${schedule.id}`), changes);
      toast('good', 'Saved.');
    }
    onClose();
    await refreshLive();
  };
  const first = scheduleFormOf(schedule, newTiming('UTC', Date.now()));
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    first,
    send,
    fieldsOf,
    validateEdit,
  );
  return (
    <Dialog title="Edit schedule" onClose={onClose} isWide isKept>
      <form ref={element} onSubmit={submit} noValidate class="space-y-5">
        <NameField
          value={form.name}
          error={errors.name}
          of="schedules that have not ended"
          example="nightly-report"
          onValue={(name) => change({ ...form, name })}
        />
        {form.destination === 'profile' ? (
          <p class="text-dim">
            The destination and the method come from the endpoint profile. Edit them there.
          </p>
        ) : (
          <DestinationFields
            method={form.method}
            url={form.url}
            methodError={errors.method}
            urlError={errors.endpoint}
            isStored
            change={(changed) => change({ ...form, ...changed })}
          />
        )}
        <TtlField value={form.ttl} error={errors.ttl} onValue={(ttl) => change({ ...form, ttl })} />
        <RetryFields
          form={form.retry}
          error={errors.retry_policy}
          onForm={(retry) => change({ ...form, retry })}
        />
        <NotifyFields
          form={form.notify}
          error={errors.notify}
          inherits={form.destination === 'profile'}
          onForm={(notify) => change({ ...form, notify })}
        />
        <PairsField
          legend="Metadata"
          noun="label"
          pairs={form.labels}
          max={LABELS_MAX}
          error={errors.metadata}
          onPairs={(labels) => change({ ...form, labels })}
        />
        <p class="text-sm text-dim">Headers and body do not change. Use Reschedule to change the timing.</p>
        <DialogEnd error={error} isBusy={isBusy} action="Save" onClose={onClose} />
      </form>
    </Dialog>
  );
}
