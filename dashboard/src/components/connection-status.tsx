/** The state of the stream that keeps a page up to date. */
export interface ConnectionState {
  readonly label: string;
  readonly className: string;
  readonly hint?: string;
}

/** `isQuiet`: only the dot is shown where there is little width. */
export function ConnectionStatus({
  state,
  isQuiet = false,
}: {
  readonly state: ConnectionState | null;
  readonly isQuiet?: boolean;
}) {
  return (
    <span
      role="status"
      class={`flex items-center gap-1.5 px-1 text-xs ${state?.className ?? ''}`}
      title={state?.hint}
    >
      {state === null ? null : (
        <>
          <span class="size-2 flex-none rounded-full bg-current" aria-hidden="true" />
          <span class={isQuiet ? 'sr-only sm:not-sr-only' : ''}>{state.label}</span>
        </>
      )}
    </span>
  );
}
