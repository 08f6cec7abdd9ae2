/** A filter with a few values, as buttons of which one is pressed. */
import type { BadgeStyle } from './badge.tsx';
import { Icon } from './icon.tsx';

export function ChipFilter<T extends string>({
  label,
  any,
  options,
  value,
  onValue,
}: {
  readonly label: string;
  /** The text of the first button, which removes the filter. */
  readonly any: string;
  readonly options: readonly { readonly value: T; readonly badge: BadgeStyle | undefined }[];
  readonly value: T | null;
  readonly onValue: (value: T | null) => void;
}) {
  return (
    <fieldset class="mb-3 flex flex-wrap gap-1.5">
      <legend class="sr-only">{label}</legend>
      {[{ value: null, badge: undefined }, ...options].map((option) => (
        <button
          key={option.value ?? 'any'}
          type="button"
          aria-pressed={option.value === value}
          class="chip"
          onClick={() => onValue(option.value)}
        >
          {option.badge === undefined ? null : <Icon name={option.badge.icon} size={12} />}
          {option.badge?.label ?? option.value ?? any}
        </button>
      ))}
    </fieldset>
  );
}
