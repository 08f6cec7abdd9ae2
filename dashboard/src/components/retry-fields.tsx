/** How often and how soon a failed delivery is tried again. */
import { DEFAULT_RETRY, type RetryForm } from '../model/policy-form.ts';
import { TextField } from './field.tsx';

export function RetryFields({
  form,
  onForm,
  error,
}: {
  readonly form: RetryForm;
  readonly onForm: (form: RetryForm) => void;
  readonly error?: string | undefined;
}) {
  return (
    <fieldset>
      <legend class="mb-1 font-medium">Retries</legend>
      <p class="mb-2 text-sm text-dim">
        The wait after a failed attempt grows by the factor, up to the longest wait. What is left empty is the
        default.
      </p>
      <div class="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <TextField
          label="Attempts"
          value={form.maxAttempts}
          placeholder={DEFAULT_RETRY.maxAttempts}
          inputMode="numeric"
          onValue={(maxAttempts) => onForm({ ...form, maxAttempts })}
        />
        <TextField
          label="First wait"
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
          label="Longest wait"
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
