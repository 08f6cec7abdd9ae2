/** Form fields. Label, hint and error are connected for screen readers. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldText {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: string | null | undefined;
  readonly isLabelHidden?: boolean;
}

function Frame({
  id,
  label,
  hint,
  error,
  isLabelHidden = false,
  children,
}: FieldText & { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <div class="min-w-0">
      <label for={id} class={isLabelHidden ? 'sr-only' : 'mb-1 block font-medium'}>
        {label}
      </label>
      {children}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="mt-1 text-sm text-dim">
          {hint}
        </p>
      )}
      {error === undefined || error === null ? null : (
        <p id={`${id}-error`} class="mt-1 text-sm text-bad" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function describedBy(id: string, { hint, error }: FieldText): string | undefined {
  const ids = [
    ...(error === undefined || error === null ? [] : [`${id}-error`]),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ];
  return ids.length === 0 ? undefined : ids.join(' ');
}

export interface TextFieldProps extends FieldText {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'password' | 'search' | 'number' | 'datetime-local' | 'url';
  readonly isMono?: boolean;
  readonly autocomplete?: string;
  readonly autoFocus?: boolean;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | string;
  readonly maxLength?: number;
  readonly list?: string;
  readonly name?: string;
  readonly inputMode?: 'numeric' | 'decimal' | 'text' | 'search' | 'url';
}

export function TextField({
  label,
  hint,
  error,
  isLabelHidden,
  value,
  onValue,
  isMono = false,
  type = 'text',
  ...rest
}: TextFieldProps) {
  const id = useId();
  const text = { label, hint, error, isLabelHidden: isLabelHidden ?? false };
  // The types of preact separate each kind of input. Here the kind is a value.
  const kind = { ...rest, type } as InputHTMLAttributes<HTMLInputElement>;
  return (
    <Frame id={id} {...text}>
      <input
        {...kind}
        id={id}
        class={`control ${isMono ? 'font-mono text-sm' : ''}`}
        value={value}
        aria-invalid={error === undefined || error === null ? undefined : 'true'}
        aria-describedby={describedBy(id, text)}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Frame>
  );
}

export interface TextAreaProps extends FieldText {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly rows?: number;
  readonly isMono?: boolean;
  readonly placeholder?: string;
}

export function TextArea({
  label,
  hint,
  error,
  isLabelHidden,
  value,
  onValue,
  rows = 5,
  isMono = true,
  placeholder,
}: TextAreaProps) {
  const id = useId();
  const text = { label, hint, error, isLabelHidden: isLabelHidden ?? false };
  return (
    <Frame id={id} {...text}>
      <textarea
        id={id}
        rows={rows}
        class={`control ${isMono ? 'font-mono text-sm' : ''}`}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        aria-invalid={error === undefined || error === null ? undefined : 'true'}
        aria-describedby={describedBy(id, text)}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Frame>
  );
}

export interface Option<V extends string> {
  readonly value: V;
  readonly label: string;
}

export interface SelectFieldProps<V extends string> extends FieldText {
  readonly value: V;
  readonly options: readonly Option<V>[];
  readonly onValue: (value: V) => void;
  readonly disabled?: boolean;
}

export function SelectField<V extends string>({
  label,
  hint,
  error,
  isLabelHidden,
  value,
  options,
  onValue,
  disabled = false,
}: SelectFieldProps<V>) {
  const id = useId();
  const text = { label, hint, error, isLabelHidden: isLabelHidden ?? false };
  return (
    <Frame id={id} {...text}>
      <select
        id={id}
        class="control"
        value={value}
        disabled={disabled}
        aria-describedby={describedBy(id, text)}
        onChange={(event) => onValue(event.currentTarget.value as V)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export function Checkbox({
  label,
  isChecked,
  onValue,
  hint,
  disabled = false,
}: {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onValue: (isChecked: boolean) => void;
  readonly hint?: string;
  readonly disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        class="mt-0.75 size-4 accent-accent"
        checked={isChecked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {hint === undefined ? null : (
          <p id={`${id}-hint`} class="text-sm text-dim">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
