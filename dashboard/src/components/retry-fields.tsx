/** The fields that limit the retries of a delivery: its retry policy and its ttl. */

import { describeWaits } from '../model/describe-policy.ts';
import { DEFAULT_RETRY, type RetryForm } from '../model/policy-form.ts';
import { TextField, type TextFieldProps } from './field.tsx';

/** The waits of the policy as it is typed. An empty field counts with its default. */
function waitsOf(form: RetryForm): string | null {
  const filled = Object.entries(form).filter(([, text]) => text.trim() !== '');
  const { maxAttempts, base, factor, max }: RetryForm = { ...DEFAULT_RETRY, ...Object.fromEntries(filled) };
  return describeWaits({ max_attempts: Number(maxAttempts), base, factor: Number(factor), max });
}

export function RetryFields({
  form,
  onForm,
  error,
}: {
  readonly form: RetryForm;
  readonly onForm: (form: RetryForm) => void;
  readonly error?: string | undefined;
}) {
  const waits = waitsOf(form);
  return (
    <fieldset>
      <legend class="mb-1 font-medium">Retry policy</legend>
      <p class="mb-2 text-sm text-dim">
        {waits === null ? '' : `Waits between attempts: ${waits}. `}The wait after attempt n is base ×
        factorⁿ. Empty fields use the default.
      </p>
      <div class="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <TextField
          label="Max attempts"
          value={form.maxAttempts}
          placeholder={DEFAULT_RETRY.maxAttempts}
          inputMode="numeric"
          onValue={(maxAttempts) => onForm({ ...form, maxAttempts })}
        />
        <TextField
          label="Base"
          value={form.base}
          placeholder={DEFAULT_RETRY.base}
          onValue={(base) => onForm({ ...form, base })}
        />
        <TextField
          label="Factor"
          value={form.factor}
          placeholder={DEFAULT_RETRY.factor}
          inputMode="decimal"
          onValue={(factor) => onForm({ ...form, factor })}
        />
        <TextField
          label="Max"
          value={form.max}
          placeholder={DEFAULT_RETRY.max}
          onValue={(max) => onForm({ ...form, max })}
        />
      </div>
      {error === undefined ? null : (
        <p class="mt-1 text-sm text-bad" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

export function TtlField(field: Pick<TextFieldProps, 'value' | 'error' | 'onValue'>) {
  return (
    <TextField
      label="TTL"
      placeholder="24h"
      hint="The deadline of a delivery is this long after its due time. No retry starts after the deadline. Empty: no deadline."
      {...field}
    />
  );
}
