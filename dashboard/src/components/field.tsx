/** Form fields. Label, hint and error are connected for screen readers. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldText {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: string | null | undefined;
  /** The id of the element that says what is wrong, if it belongs to several fields. */
  readonly errorId?: string | undefined;
  readonly isLabelHidden?: boolean | undefined;
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
      <FieldError id={`${id}-error`} error={error} />
    </div>
  );
}

export function FieldError({ id, error }: { readonly id: string; readonly error: FieldText['error'] }) {
  return error === undefined || error === null ? null : (
    <p id={id} class="mt-1 text-sm text-bad" role="alert">
      {error}
    </p>
  );
}

/** The attributes by which a screen reader finds the hint and the error. A form moves the focus to what is invalid. */
function attributesOf(id: string, { hint, error, errorId }: FieldText) {
  const describedBy = error === undefined || error === null ? errorId : `${id}-error`;
  const ids = [describedBy, hint === undefined ? undefined : `${id}-hint`];
  return {
    id,
    'aria-invalid': describedBy === undefined ? undefined : ('true' as const),
    'aria-describedby': ids.join(' ').trim() || undefined,
  };
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
  errorId,
  isLabelHidden,
  isMono = false,
  onValue,
  ...rest
}: TextFieldProps) {
  const id = useId();
  const text = { label, hint, error, errorId, isLabelHidden };
  // The types of preact separate each kind of input. Here the kind is a value.
  const attributes = rest as InputHTMLAttributes<HTMLInputElement>;
  return (
    <Frame {...text} id={id}>
      <input
        type="text"
        {...attributes}
        {...attributesOf(id, text)}
        class={`control ${isMono ? 'font-mono text-sm' : ''}`}
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

export function TextArea(props: TextAreaProps) {
  const id = useId();
  const { rows = 5, isMono = true } = props;
  return (
    <Frame {...props} id={id}>
      <textarea
        {...attributesOf(id, props)}
        rows={rows}
        class={`control ${isMono ? 'font-mono text-sm' : ''}`}
        value={props.value}
        placeholder={props.placeholder}
        spellcheck={false}
        onInput={(event) => props.onValue(event.currentTarget.value)}
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

export function SelectField<V extends string>(props: SelectFieldProps<V>) {
  const id = useId();
  return (
    <Frame {...props} id={id}>
      <select
        {...attributesOf(id, props)}
        class="control"
        value={props.value}
        disabled={props.disabled}
        onChange={(event) => props.onValue(event.currentTarget.value as V)}
      >
        {props.options.map((option) => (
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
  error,
  disabled = false,
}: {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onValue: (isChecked: boolean) => void;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="flex items-start gap-2">
      <input
        {...attributesOf(id, { label, hint, error })}
        type="checkbox"
        class="mt-0.75 size-4 accent-accent"
        checked={isChecked}
        disabled={disabled}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {hint === undefined ? null : (
          <p id={`${id}-hint`} class="text-sm text-dim">
            {hint}
          </p>
        )}
        <FieldError id={`${id}-error`} error={error} />
      </div>
    </div>
  );
}

/** The name of a schedule or an endpoint profile. */
export function NameField({
  of,
  example,
  ...field
}: Pick<TextFieldProps, 'value' | 'error' | 'onValue'> & {
  /** The objects among which the name is unique. */
  readonly of: string;
  readonly example: string;
}) {
  return (
    <TextField
      label="Name"
      placeholder={example}
      maxLength={255}
      autocomplete="off"
      hint={`Optional. Letters, digits and . _ : - after the first. Unique among the ${of}.`}
      {...field}
    />
  );
}
