/** Where something is sent: text only, since the address is a customer's and may say anything. */
import { CutText } from './copy.tsx';

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
      <CutText text={url} charactersMax={charactersMax} canCopy={canCopy} />
    </span>
  );
}
