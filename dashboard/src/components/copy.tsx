/** Text that is taken along: an id, an address, a command. Shown as text only, whatever is in it. */
import { useEffect, useState } from 'preact/hooks';
import { middleCut } from '../format.ts';
import { Icon } from './icon.tsx';
import { announce, toast } from './toast.tsx';

const SAID_MS = 1_500;

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce('Copied.');
    } catch {
      // Without TLS browsers keep the clipboard to themselves.
      toast('bad', 'The browser does not allow copying here. Select the text and copy it by hand.');
    }
  };
  return (
    <button
      type="button"
      class="inline-flex flex-none rounded p-1 text-dim hover:bg-sunken hover:text-ink"
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </button>
  );
}

/** Cut in the middle where it is long; all of it is in the title and on the clipboard. */
export function CutText({
  text,
  charactersMax = 48,
  isMono = false,
  canCopy = false,
}: {
  readonly text: string;
  readonly charactersMax?: number;
  readonly isMono?: boolean;
  readonly canCopy?: boolean;
}) {
  const cut = middleCut(text, charactersMax);
  return (
    <span class="inline-flex max-w-full items-center gap-0.5">
      <span
        class={`min-w-0 wrap-anywhere ${isMono ? 'font-mono text-sm' : ''}`}
        title={cut === text ? undefined : text}
      >
        {cut}
      </span>
      {canCopy ? <CopyButton text={text} label={`Copy ${middleCut(text, 24)}`} /> : null}
    </span>
  );
}

/** A command or a secret on lines of its own. */
export function CopyBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <section class="relative rounded-md border border-line bg-sunken" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre class="overflow-x-auto p-3 pr-10 font-mono text-sm" tabIndex={0}>
        {text}
      </pre>
      <div class="absolute top-1.5 right-1.5">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
    </section>
  );
}
