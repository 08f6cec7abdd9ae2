/** Text fields that are one field of the API together, such as a retry policy. An error names one of them. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { indexNamedIn } from '../model/field-errors.ts';
import { FieldError, TextField } from './field.tsx';

export interface GroupedField<F> {
  /** The name in the form. */
  readonly key: keyof F;
  readonly label: string;
  /** The name in the API, by which an error names it. */
  readonly name: string;
  readonly placeholder: string;
  readonly isNumber?: boolean;
}

export function FieldGroup<F>({
  legend,
  hint,
  fields,
  form,
  onForm,
  error,
  columns = 'sm:grid-cols-4',
}: {
  readonly legend: string;
  readonly hint: ComponentChildren;
  readonly fields: readonly GroupedField<F>[];
  readonly form: F;
  readonly onForm: (form: F) => void;
  readonly error: string | undefined;
  readonly columns?: string;
}) {
  const errorId = useId();
  const wrong =
    error === undefined
      ? null
      : indexNamedIn(
          error,
          fields.map(({ name }) => name),
        );
  return (
    <fieldset>
      <legend class="mb-1 font-medium">{legend}</legend>
      <p class="mb-2 text-sm text-dim">{hint}</p>
      <div class={`grid grid-cols-2 gap-3 ${columns}`}>
        {fields.map(({ key, label, placeholder, isNumber = false }, index) => (
          <TextField
            key={label}
            label={label}
            value={String(form[key])}
            placeholder={placeholder}
            inputMode={isNumber ? 'decimal' : 'text'}
            errorId={index === wrong ? errorId : undefined}
            onValue={(value) => onForm({ ...form, [key]: value })}
          />
        ))}
      </div>
      <FieldError id={errorId} error={error} />
    </fieldset>
  );
}
