/** A few choices side by side, one of them taken: a range, a mode, a kind. Arrow keys move, as among radio buttons. */
import { useId } from 'preact/hooks';
import type { Option } from './field.tsx';

export interface ChoiceProps<V extends string> {
  /** For screen readers, unless it is shown. */
  readonly label: string;
  readonly value: V;
  readonly options: readonly Option<V>[];
  readonly onValue: (value: V) => void;
}

export function Choice<V extends string>({ label, value, options, onValue }: ChoiceProps<V>) {
  const name = useId();
  return (
    <fieldset class="inline-flex rounded-md border border-line bg-sunken p-0.5">
      <legend class="sr-only">{label}</legend>
      {options.map((option) => (
        <label key={option.value} class="choice">
          <input
            type="radio"
            class="absolute inset-0 cursor-pointer appearance-none opacity-0"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
