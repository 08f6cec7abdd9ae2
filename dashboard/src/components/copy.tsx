/** Text that people copy: ids, URLs, commands. It is always shown as text. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { truncateMiddle } from '../format.ts';
import { hrefInProject } from '../session.ts';
import { Icon } from './icon.tsx';
import { announce, toast } from './toast.tsx';

const CONFIRMED_MS = 1_500;

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce('Copied.');
    } catch {
      // Browsers give access to the clipboard only with TLS.
      toast('bad', 'The browser does not allow copying without TLS. Select the text and copy it.');
    }
  };
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </button>
  );
}

/** A line may break after a separator of a URL or a name, so that it does not break inside a word. */
export function withLineBreaks(text: string): ComponentChildren {
  return text.split(/(?<=[/?&.@:])/).flatMap((part, index) => [part, <wbr key={index} />]);
}

/** Truncates a long text in the middle. The title and the clipboard have the whole text. */
export function TruncatedText({
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
  const cut = truncateMiddle(text, charactersMax);
  return (
    <span class="inline-flex max-w-full min-w-0 items-center gap-0.5">
      <span class={`min-w-0 ${isMono ? 'font-mono text-sm' : ''}`} title={cut === text ? undefined : text}>
        {withLineBreaks(cut)}
      </span>
      {canCopy ? <CopyButton text={text} label={`Copy ${truncateMiddle(text, 24)}`} /> : null}
    </span>
  );
}

const SHORT_ID_CHARACTERS = 16;
const NAME_CHARACTERS_MAX = 60;

/** An id that leads to its page. */
export function IdLink({
  page,
  id,
  name = null,
  isShort = false,
}: {
  readonly page: string;
  readonly id: string;
  /** Shown instead of the id. */
  readonly name?: string | null;
  readonly isShort?: boolean;
}) {
  return (
    <a
      class={`link ${name === null ? 'font-mono text-sm' : ''}`}
      href={hrefInProject(`${page}/${id}`)}
      title={id}
    >
      {name === null
        ? isShort
          ? truncateMiddle(id, SHORT_ID_CHARACTERS)
          : id
        : withLineBreaks(truncateMiddle(name, NAME_CHARACTERS_MAX))}
    </a>
  );
}

/** A destination is shown as text only: its URL is written by a customer and may be anything. */
export function DestinationText({
  url,
  method,
  charactersMax = 52,
  canCopy = false,
}: {
  readonly url: string;
  readonly method?: string;
  readonly charactersMax?: number;
  readonly canCopy?: boolean;
}) {
  return (
    <span class="inline-flex max-w-full items-baseline gap-1.5">
      {method === undefined ? null : <span class="flex-none font-mono text-xs text-dim">{method}</span>}
      <TruncatedText text={url} charactersMax={charactersMax} canCopy={canCopy} />
    </span>
  );
}

/** A command or a secret in a box of its own. */
export function CopyBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <section class="relative rounded-md border border-line bg-sunken" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre class="overflow-x-auto p-3 pr-10 font-mono text-sm" tabIndex={0}>
        {text}
      </pre>
      <div class="absolute top-1.5 right-1.5 rounded bg-sunken">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
    </section>
  );
}
