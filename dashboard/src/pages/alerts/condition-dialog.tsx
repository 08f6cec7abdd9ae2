/** Adds a condition, or changes the terms and channels of one. */
import type { AlertChannelInfo, AlertConditionInfo } from '../../../../src/control/http/alert-contract.ts';
import { patch, post } from '../../api.ts';
import { Dialog, DialogEnd } from '../../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { refreshLive } from '../../live.ts';
import {
  type ConditionForm,
  type ConditionKind,
  conditionBody,
  conditionChanges,
  conditionFields,
  conditionFormOf,
  KIND_LABELS,
  newCondition,
  sentenceOf,
  validateCondition,
} from '../../model/alerts.ts';
import { apiPath } from '../../session.ts';
import { useForm } from '../../use-form.ts';

const KINDS = (Object.entries(KIND_LABELS) as [ConditionKind, string][]).map(([value, label]) => ({
  value,
  label,
}));

const HINTS: Readonly<Record<ConditionKind, string>> = {
  breaker_opened:
    'Each endpoint has an incident of its own. It is over when the breaker has been closed for 5 minutes.',
  deliveries_failed: 'Dead letters and expired deliveries of all endpoints are counted together.',
  occurrences_skipped:
    'The service was down, cut off from its database or overloaded. Skips that a policy asks for do not count.',
};

export function ConditionDialog({
  before,
  channels,
  onClose,
}: {
  /** Null for a new one. */
  readonly before: AlertConditionInfo | null;
  readonly channels: readonly AlertChannelInfo[];
  readonly onClose: () => void;
}) {
  const send = async (form: ConditionForm) => {
    if (before === null) await post<AlertConditionInfo>(apiPath('alerts/conditions'), conditionBody(form));
    else
      await patch<AlertConditionInfo>(
        apiPath(`alerts/conditions/${before.id}`),
        conditionChanges(form, before),
      );
    toast('good', before === null ? 'The condition is added.' : 'Saved.');
    onClose();
    await refreshLive();
  };
  const first = before === null ? newCondition(channels.map(({ id }) => id)) : conditionFormOf(before);
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    first,
    send,
    conditionFields,
    validateCondition,
  );
  return (
    <Dialog title={before === null ? 'Add a condition' : 'Change this condition'} onClose={onClose} isKept>
      <form ref={element} onSubmit={submit} noValidate class="space-y-4">
        {before === null ? (
          <SelectField
            label="What is wrong"
            value={form.kind}
            options={KINDS}
            hint={HINTS[form.kind]}
            onValue={(kind) => change({ ...form, kind })}
          />
        ) : (
          <p class="font-medium">{sentenceOf(form)}</p>
        )}
        {form.kind === 'deliveries_failed' ? (
          <div class="grid grid-cols-2 items-start gap-3">
            <TextField
              label="More than"
              value={form.threshold}
              error={errors.threshold}
              inputMode="numeric"
              hint="dead letters and expired deliveries"
              onValue={(threshold) => change({ ...form, threshold })}
            />
            <TextField
              label="Within"
              value={form.minutes}
              error={errors.window_minutes}
              inputMode="numeric"
              hint="minutes, at most 1,440"
              onValue={(minutes) => change({ ...form, minutes })}
            />
          </div>
        ) : null}
        <fieldset>
          <legend class="mb-1.5 font-medium">Channels that are told</legend>
          <div class="space-y-1.5">
            {channels.map(({ id, name }, index) => (
              <Checkbox
                key={id}
                label={name}
                isChecked={form.channelIds.includes(id)}
                error={index === 0 ? errors.channel_ids : undefined}
                onValue={(isTold) =>
                  change({
                    ...form,
                    channelIds: isTold
                      ? [...form.channelIds, id]
                      : form.channelIds.filter((one) => one !== id),
                  })
                }
              />
            ))}
          </div>
        </fieldset>
        <DialogEnd
          error={error}
          isBusy={isBusy}
          action={before === null ? 'Add condition' : 'Save'}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
