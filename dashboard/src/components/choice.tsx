/** A few options side by side, of which one is selected. They are radio buttons, so arrow keys work. */
import { useId } from 'preact/hooks';
import type { Option } from './field.tsx';

export interface ChoiceProps<V extends string> {
  /** The name of the group, for screen readers. */
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
