/** The four kinds of timing, with a preview. It is used to create a schedule and to reschedule it. */
import { describeCron } from '../model/describe-cron.ts';
import type { FieldErrors } from '../model/field-errors.ts';
import {
  CRON_PRESETS,
  DELAY_UNITS,
  type DelayUnit,
  type TimingForm,
  type TimingKind,
} from '../model/timing-form.ts';
import type { PreviewState } from '../use-preview.ts';
import { Choice } from './choice.tsx';
import { ErrorNote } from './error.tsx';
import { SelectField, TextField } from './field.tsx';
import { ClockChanges, RunsList } from './runs-list.tsx';
import { Skeleton } from './skeleton.tsx';
import { ZoneField } from './zone-field.tsx';

const KINDS: readonly { readonly value: TimingKind; readonly label: string }[] = [
  { value: 'delay', label: 'Delay' },
  { value: 'fire_at', label: 'Instant' },
  { value: 'local_fire_at', label: 'Local time' },
  { value: 'cron', label: 'Recurring' },
];
const UNITS = Object.entries(DELAY_UNITS).map(([value, label]) => ({ value: value as DelayUnit, label }));

interface TimingControlProps {
  readonly form: TimingForm;
  readonly onForm: (form: TimingForm) => void;
  readonly errors: FieldErrors;
}

export function TimingControl({ form, onForm, errors }: TimingControlProps) {
  return (
    <div class="space-y-4">
      <div class="-mx-1 overflow-x-auto px-1 pb-0.5">
        <Choice
          label="Timing"
          value={form.kind}
          options={KINDS}
          onValue={(kind) => onForm({ ...form, kind })}
        />
      </div>
      <TimingFields form={form} onForm={onForm} errors={errors} />
    </div>
  );
}

function TimingFields({ form, onForm, errors }: TimingControlProps) {
  const zone = (
    <ZoneField
      value={form.timezone}
      error={errors.timezone}
      onValue={(timezone) => onForm({ ...form, timezone })}
    />
  );
  switch (form.kind) {
    case 'delay':
      return (
        <div class="grid max-w-sm grid-cols-2 gap-3">
          <TextField
            label="Amount"
            value={form.delayAmount}
            inputMode="decimal"
            error={errors.delay}
            hint="A number, or a duration such as 1h30m."
            autocomplete="off"
            onValue={(delayAmount) => onForm({ ...form, delayAmount })}
          />
          <SelectField
            label="Unit"
            value={form.delayUnit}
            options={UNITS}
            onValue={(delayUnit) => onForm({ ...form, delayUnit })}
          />
        </div>
      );
    case 'fire_at':
      return (
        <div class="max-w-sm">
          <TextField
            type="datetime-local"
            label="Time"
            value={form.instant}
            error={errors.fire_at}
            hint={`In the time zone of this page: ${form.viewerZone}.`}
            onValue={(instant) => onForm({ ...form, instant })}
          />
        </div>
      );
    case 'local_fire_at':
      return (
        <div class="grid gap-3 sm:grid-cols-2">
          <TextField
            type="datetime-local"
            label="Time"
            value={form.local}
            error={errors.local_fire_at}
            hint="The time on a clock in that time zone."
            onValue={(local) => onForm({ ...form, local })}
          />
          {zone}
        </div>
      );
    case 'cron':
      return (
        <div class="space-y-3">
          <div class="grid gap-3 sm:grid-cols-2">
            <TextField
              label="Cron expression"
              value={form.cron}
              isMono
              error={errors.cron}
              hint={describeCron(form.cron) ?? 'Minute, hour, day of month, month, day of week.'}
              autocomplete="off"
              maxLength={200}
              onValue={(cron) => onForm({ ...form, cron })}
            />
            {zone}
          </div>
          <Presets form={form} onForm={onForm} />
        </div>
      );
  }
}

function Presets({ form, onForm }: Omit<TimingControlProps, 'errors'>) {
  return (
    <fieldset class="flex flex-wrap gap-1.5">
      <legend class="sr-only">Common expressions</legend>
      {CRON_PRESETS.map((preset) => (
        <button
          key={preset.cron}
          type="button"
          aria-pressed={form.cron.trim() === preset.cron}
          class="chip"
          onClick={() => onForm({ ...form, cron: preset.cron })}
        >
          {preset.label}
        </button>
      ))}
    </fieldset>
  );
}

/** The next runs of the timing. An error that belongs to a field is shown at the field. */
export function TimingPreview({
  state,
  hasRequest,
  fields,
}: {
  readonly state: PreviewState;
  readonly hasRequest: boolean;
  /** The fields of the API that the form shows. */
  readonly fields: readonly string[];
}) {
  const { preview, error } = state;
  if (error !== null && !fields.includes(error.param ?? '')) return <ErrorNote error={error} />;
  if (error !== null) return <p class="text-dim">Correct the timing to see the next runs.</p>;
  if (!hasRequest) return <p class="text-dim">Enter a timing to see the next runs.</p>;
  if (preview === null) return <Skeleton height={96} />;
  return (
    <>
      <p class="mb-1 text-sm text-dim" aria-live="polite">
        {preview.runs.length === 1 ? 'One run' : `The next ${preview.runs.length} runs`} in {preview.timezone}
      </p>
      <RunsList runs={preview.runs} timezone={preview.timezone} />
      <ClockChanges preview={preview} />
    </>
  );
}

/** The errors at fields that follow from a refused preview. */
export function previewErrors({ error }: PreviewState): FieldErrors {
  return error === null || error.param === null ? {} : { [error.param]: error.message };
}
