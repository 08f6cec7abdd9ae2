/** A button that opens a panel below it. Escape, a click elsewhere and Tab close it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface MenuProps {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, button, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const closeOutside = (event: Event) => {
      if (!frame.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it from anywhere inside.
    <div
      ref={frame}
      class="relative"
      onKeyDown={(event) => (event.key === 'Escape' && isOpen ? close() : undefined)}
    >
      <button
        ref={opener}
        type="button"
        aria-label={label}
        aria-expanded={isOpen}
        class="menu-button"
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen ? (
        <div class="card absolute top-full right-0 z-20 mt-1 w-72 p-3 shadow-lg">{children(close)}</div>
      ) : null}
    </div>
  );
}
