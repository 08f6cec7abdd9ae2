/** Tabs that are links. */
import { useEffect, useRef } from 'preact/hooks';

export interface TabLink {
  readonly href: string;
  readonly label: string;
  readonly isCurrent: boolean;
}

export function TabLinks({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) {
  const frame = useRef<HTMLElement>(null);
  // On a phone the current tab may be outside of the visible part.
  useEffect(() => {
    frame.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, []);
  return (
    <nav ref={frame} aria-label={label} class="-mx-1 mb-5 overflow-x-auto border-b border-line">
      <ul class="flex gap-1 px-1">
        {tabs.map((tab) => (
          <li key={tab.href}>
            <a href={tab.href} aria-current={tab.isCurrent ? 'page' : undefined} class="tab">
              {tab.label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
