/** This is shown instead of an empty list. It says why the list is empty, and what to do. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export function EmptyState({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <span class="rounded-full bg-sunken p-3 text-dim">
        <Icon name={icon} size={22} />
      </span>
      <p class="font-medium">{title}</p>
      <div class="flex max-w-full flex-col items-center gap-3 text-dim">{children}</div>
    </div>
  );
}
