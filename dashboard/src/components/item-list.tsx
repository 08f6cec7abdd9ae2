/** A list whose items are sentences with buttons. On phones the buttons are below. */
import type { ComponentChildren } from 'preact';

export function ItemList({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return <ul aria-label={label}>{children}</ul>;
}

export function Item({
  title,
  badge,
  note,
  actions,
}: {
  readonly title: ComponentChildren;
  readonly badge: ComponentChildren;
  readonly note: ComponentChildren;
  readonly actions: ComponentChildren;
}) {
  return (
    <li class="flex flex-wrap items-start justify-between gap-x-4 gap-y-1 border-t border-line px-4 py-2.5">
      <div class="min-w-0 flex-[1_1_20rem]">
        <div class="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <span class="min-w-0 font-medium">{title}</span>
          {badge}
        </div>
        <div class="text-sm text-dim">{note}</div>
      </div>
      <div class="-mx-3 flex flex-wrap">{actions}</div>
    </li>
  );
}
