import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export type ButtonKind = 'primary' | 'plain' | 'danger' | 'quiet';

interface ButtonContent {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
}

export interface ButtonProps extends ButtonContent {
  /** The name for screen readers, for a button that has only an icon. */
  readonly label?: string;
  readonly type?: 'button' | 'submit';
  readonly isBusy?: boolean;
  readonly disabled?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly expanded?: boolean;
}

/** A busy button keeps its place and the focus, but ignores clicks. */
export function Button({
  kind = 'plain',
  icon,
  children,
  label,
  type = 'button',
  isBusy = false,
  disabled = false,
  onClick,
  expanded,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`btn btn-${kind} ${children === undefined ? 'px-2' : ''} ${isBusy ? 'opacity-70' : ''}`}
      disabled={disabled}
      aria-disabled={isBusy}
      aria-busy={isBusy}
      aria-label={label}
      aria-expanded={expanded}
      title={label}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {isBusy ? <span aria-hidden="true">…</span> : null}
    </button>
  );
}

/** A link that looks like a button, for navigation. */
export function ButtonLink({
  kind = 'plain',
  icon,
  children,
  href,
}: ButtonContent & { readonly href: string }) {
  return (
    <a href={href} class={`btn btn-${kind}`}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </a>
  );
}
