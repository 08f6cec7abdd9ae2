/** The fields that limit the retries of a delivery: its retry policy and its ttl. */

import { describeWaits } from '../model/describe-policy.ts';
import { DEFAULT_RETRY, type RetryForm } from '../model/policy-form.ts';
import { TextField, type TextFieldProps } from './field.tsx';
import { FieldGroup, type GroupedField } from './field-group.tsx';

const FIELDS: readonly GroupedField<RetryForm>[] = [
  {
    key: 'maxAttempts',
    label: 'Max attempts',
    name: 'max_attempts',
    placeholder: DEFAULT_RETRY.maxAttempts,
    isNumber: true,
  },
  { key: 'base', label: 'Base', name: 'base', placeholder: DEFAULT_RETRY.base },
  { key: 'factor', label: 'Factor', name: 'factor', placeholder: DEFAULT_RETRY.factor, isNumber: true },
  { key: 'max', label: 'Max', name: 'max', placeholder: DEFAULT_RETRY.max },
];

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
    <FieldGroup
      legend="Retry policy"
      hint={
        <>
          {waits === null ? '' : `Waits between attempts: ${waits}. `}The wait after attempt n is base ×
          factorⁿ. Empty fields use the default.
        </>
      }
      fields={FIELDS}
      form={form}
      onForm={onForm}
      error={error}
    />
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
